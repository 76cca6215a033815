// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Rate of reading a generated data file, and the memory it takes at its peak as a multiple of what is kept: names read
// reading/FORMAT/MEGABYTES. The files stand in the temporary folder and go when they are read.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "polyhop/problem/data_file.hpp"

namespace {

using namespace polyhop;

/// A file of about `bytes` bytes that is removed at the end.
class GeneratedFile {
 public:
  GeneratedFile(const std::string& format, std::size_t bytes)
      : path_((std::filesystem::temp_directory_path() / ("polyhop_reading_bench." + format)).string()) {
    std::ofstream out(path_, std::ios::binary);
    std::string line;
    for (std::size_t written = 0; written < bytes; written += line.size()) {
      line = format == "svm" ? sparse_line() : dense_line();
      out << line;
    }
  }
  ~GeneratedFile() { std::filesystem::remove(path_); }
  GeneratedFile(const GeneratedFile&) = delete;
  GeneratedFile& operator=(const GeneratedFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::uint64_t random(std::uint64_t below) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 33) % below;
  }
  std::string number() { return "0." + std::to_string(100000 + random(900000)); }

  /// 50 to 150 features of 47236, six digits each, as in RCV1.
  std::string sparse_line() {
    std::string line = random(2) == 0 ? "-1" : "1";
    std::uint64_t index = 0;
    for (std::uint64_t n = 50 + random(100); n > 0; --n) {
      index += 1 + random(300);
      line += " " + std::to_string(index) + ":" + number();
    }
    return line + "\n";
  }

  std::string dense_line() {
    std::string line;
    for (int c = 0; c < 100; ++c) line += number() + ",";
    return line + (random(2) == 0 ? "0\n" : "1\n");
  }

  std::string path_;
  std::uint64_t state_ = 1;
};

/// A line of /proc/self/status in bytes.
double memory(const std::string& name) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name + ":")) return 1024.0 * std::stod(line.substr(name.size() + 1));
  }
  return 0;
}

double kept(const DataTable& table) {
  const Features& features = table.features;
  double bytes = static_cast<double>(table.targets.size() * sizeof(Real));
  if (!features.is_sparse()) {
    return bytes + static_cast<double>(features.rows() * features.dense().stride()) * sizeof(Real);
  }
  for (Index n = 0; n < features.rows(); ++n) {
    bytes += sizeof(Index) + static_cast<double>(features.columns_of(n).size()) * (sizeof(std::int32_t) + sizeof(Real));
  }
  return bytes;
}

void reading(benchmark::State& state, const std::string& format, std::size_t megabytes) {
  const GeneratedFile file(format, megabytes * 1'000'000);
  const auto bytes = static_cast<double>(std::filesystem::file_size(file.path()));
  for (auto _ : state) {
    state.PauseTiming();
    std::ofstream("/proc/self/clear_refs") << "5";  // forgets the peak so far
    const double before = memory("VmRSS");
    state.ResumeTiming();
    const DataTable table = read_data(file.path());
    state.PauseTiming();
    state.counters["peak/kept"] = (memory("VmHWM") - before) / kept(table);
    state.ResumeTiming();
  }
  state.counters["MB/s"] = benchmark::Counter(bytes / 1e6, benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace

int main(int argc, char** argv) {
  for (const char* format : {"svm", "csv"}) {
    const std::string name = std::string("reading/") + format + "/300";
    benchmark::RegisterBenchmark(name.c_str(), reading, format, 300)->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
