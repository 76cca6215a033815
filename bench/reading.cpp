// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// The rate of reading a generated data file, and peak memory as a multiple of what is kept. Names read
// reading/FORMAT/MEGABYTES. Files are in the temporary folder and deleted afterwards.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "polyhop/problem/data_file.hpp"

namespace {

using namespace polyhop;

/// A file of about `bytes` bytes that is removed at the end.
class GeneratedFile {
 public:
  GeneratedFile(const std::string& format, std::size_t bytes) : folder_(std::filesystem::temp_directory_path()) {
    if (format == "idx") {
      path_ = (folder_ / "polyhop-reading-images-idx3-ubyte").string();
      write_images(bytes / pixels);
      return;
    }
    path_ = (folder_ / ("polyhop_reading_bench." + format)).string();
    std::ofstream out(path_, std::ios::binary);
    if (format == "npy") {
      write_matrix(out, bytes / (columns * sizeof(double)));
      return;
    }
    std::string line;
    for (std::size_t written = 0; written < bytes; written += line.size()) {
      line = format == "svm" ? sparse_line() : dense_line();
      out << line;
    }
  }
  ~GeneratedFile() {
    std::filesystem::remove(path_);
    std::filesystem::remove(labels());
  }
  GeneratedFile(const GeneratedFile&) = delete;
  GeneratedFile& operator=(const GeneratedFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  static constexpr std::size_t pixels = 784;
  static constexpr std::size_t columns = 101;

  [[nodiscard]] std::filesystem::path labels() const { return folder_ / "polyhop-reading-labels-idx1-ubyte"; }

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
    for (std::size_t c = 1; c < columns; ++c) line += number() + ",";
    return line + (random(2) == 0 ? "0\n" : "1\n");
  }

  /// Version 1.0 of NumPy's format, numbers of 8 bytes.
  void write_matrix(std::ofstream& out, std::size_t rows) {
    std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                         std::to_string(columns) + "), }";
    header.resize(117, ' ');
    out << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header << '\n';
    for (std::size_t n = 0; n < rows * columns; ++n) {
      const double x = static_cast<double>(random(1000000)) / 1e6;
      out.write(reinterpret_cast<const char*>(&x), sizeof x);
    }
  }

  /// Images of 28 x 28 bytes and, in a second file, their classes.
  void write_images(std::size_t count) {
    const auto word = [](std::size_t n) {
      std::string out;
      for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((n >> shift) & 255U);
      return out;
    };
    std::ofstream images(path_, std::ios::binary);
    images << std::string("\0\0\x08\x03", 4) << word(count) << word(28) << word(28);
    for (std::size_t n = 0; n < count * pixels; ++n) images << static_cast<char>(random(256));
    std::ofstream classes(labels(), std::ios::binary);
    classes << std::string("\0\0\x08\x01", 4) << word(count);
    for (std::size_t n = 0; n < count; ++n) classes << static_cast<char>(random(10));
  }

  std::filesystem::path folder_;
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
  double bytes = static_cast<double>(table.targets.size() * sizeof(double));
  if (!features.is_sparse()) {
    return bytes + static_cast<double>(features.rows() * features.dense().stride()) * sizeof(double);
  }
  for (Index n = 0; n < features.rows(); ++n) {
    bytes +=
        sizeof(Index) + static_cast<double>(features.columns_of(n).size()) * (sizeof(std::int32_t) + sizeof(double));
  }
  return bytes;
}

void reading(benchmark::State& state, const std::string& format, std::size_t megabytes) {
  const GeneratedFile file(format, megabytes * 1'000'000);
  const auto bytes = static_cast<double>(std::filesystem::file_size(file.path()));
  for (auto _ : state) {
    state.PauseTiming();
    std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
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
  for (const auto& [format, megabytes] :
       {std::pair{"svm", 300}, {"svm", 1000}, {"csv", 300}, {"npy", 300}, {"idx", 100}}) {
    const std::string name = std::string("reading/") + format + "/" + std::to_string(megabytes);
    benchmark::RegisterBenchmark(name.c_str(), reading, format, megabytes)->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
