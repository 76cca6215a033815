// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop run: an experiment file in, a ranking and files out.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/experiment/run.hpp"
#include "polyhop/report/atomic_file.hpp"
#include "polyhop/report/curves_csv.hpp"
#include "polyhop/report/npz_writer.hpp"
#include "polyhop/report/ranking.hpp"
#include "polyhop/report/text_table.hpp"

namespace polyhop::app {
namespace {

struct RunArguments {
  std::string file;
  std::optional<std::string> output;
  std::vector<std::string> settings;
  std::optional<std::string> seeds;
  Index threads = 0;
  bool quiet = false;
};

Index terminal_width() {
  winsize size{};
  return isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// Cells as they end, in place on a terminal, a line per 10% elsewhere.
class Progress {
 public:
  explicit Progress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}
  void operator()(const Cell& cell, Index finished, Index total) {
    if (quiet_) return;
    const Index percent = 100 * finished / total;
    const std::string line = fmt::format("{:3}%  {}/{} runs  {} seed {}: {}", percent, finished, total,
                                         printable(cell.method), cell.seed, name_of(cell.status));
    if (terminal_) {
      fmt::print(stderr, "\r\033[K{}{}", line, finished == total ? "\n" : "");
    } else if (percent / 10 > told_) {
      told_ = percent / 10;
      fmt::print(stderr, "{}\n", line);
    }
    std::fflush(stderr);
  }

 private:
  bool quiet_;
  bool terminal_;
  Index told_ = 0;
};

// A folder made with its parents. Those that had to be made go again when nothing is in them at the end.
class OutputFolder {
 public:
  explicit OutputFolder(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code failed;
    for (auto p = path_; !p.empty() && !std::filesystem::exists(p, failed) && p != p.parent_path();
         p = p.parent_path()) {
      made_.push_back(p);
    }
    std::filesystem::create_directories(path_, failed);
    if (!failed) return;
    remove_empty();
    throw Error("cannot make the folder '" + path_.string() + "': " + failed.message());
  }
  ~OutputFolder() { remove_empty(); }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  void remove_empty() const {
    std::error_code ignored;
    for (const auto& p : made_) std::filesystem::remove(p, ignored);
  }
  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;  // deepest first
};

// What a run writes, opened before it starts; nothing stays of it when the run fails.
struct Outputs {
  explicit Outputs(const std::filesystem::path& place) try
      : folder(place), curves(folder.file("curves.csv")), models(folder.file("models.npz")) {
  } catch (const Error& e) {
    throw InputError("-o", e.what());
  }
  OutputFolder folder;
  AtomicFile curves;
  NpzWriter models;
};

std::filesystem::path output_folder(const RunArguments& arguments, const std::string& name) {
  if (arguments.output) return *arguments.output;
  const std::filesystem::path folder(name);
  if (folder.filename() != folder || name == "." || name == "..") {
    throw InputError("name", in_quotes(name) + " cannot be the name of a folder; choose one with -o", 0,
                     arguments.file);
  }
  return std::filesystem::path("out") / folder;
}

void write_models(const Record& record, NpzWriter& out) {
  const auto add = [&](const std::string& name, const Rows& models) {
    if (models.rows() == 0) return;
    std::vector<Real> flat;
    for (Index k = 0; k < models.rows(); ++k) flat.insert(flat.end(), models.row(k).begin(), models.row(k).end());
    out.add(name, flat, {models.rows(), models.columns()});
  };
  for (const Cell& cell : record.cells) {
    const std::string name = cell.method + "/" + std::to_string(cell.seed);
    add(name, cell.models);
    add(name + "/averaged", cell.averaged);
  }
}

Record run_config(const Config& config, const RunArguments& arguments) {
  try {
    return run(config, {arguments.threads, Progress(arguments.quiet)});
  } catch (const InputError& e) {
    throw e.in_file(arguments.file);
  }
}

int run_command(RunArguments arguments) {
  if (arguments.seeds) arguments.settings.push_back("seeds=" + *arguments.seeds);
  const Config config = read_config_file(arguments.file, arguments.settings);
  Outputs outputs(output_folder(arguments, config.options.name));

  const Record record = run_config(config, arguments);
  write_models(record, outputs.models);
  outputs.models.close();
  write_curves(record, [&](std::string_view text) { outputs.curves.write(text); });
  outputs.curves.commit();

  const auto runs = static_cast<Index>(record.cells.size());
  const auto seeds = config.options.seeds.list.size();
  fmt::print("{}: {} runs, {}; iterations, vectors, evaluations and seconds are those to reach {}\n",
             printable(record.name), runs, seeds == 1 ? "one seed" : fmt::format("medians over {} seeds", seeds),
             significant(record.target, 3));
  fmt::print("{}", ranking_text(record, terminal_width()));
  fmt::print("\nWritten: {}\n         {}\n", printable(outputs.folder.file("curves.csv")),
             printable(outputs.folder.file("models.npz")));
  if (std::fflush(stdout) != 0) throw Error("cannot write the results to the standard output");
  return done;
}

}  // namespace

void add_run(CLI::App& app, int& code) {
  const auto arguments = std::make_shared<RunArguments>();
  auto* run = app.add_subcommand("run", "run an experiment file and rank its methods");
  run->add_option("FILE", arguments->file, "the experiment, a TOML file")->required();
  run->add_option("-o,--output", arguments->output, "folder for curves.csv and models.npz (default: out/NAME)");
  run->add_option("--set", arguments->settings, "change a key: --set graph.agents=20 --set method.GAP.step.sweeps=5")
      ->allow_extra_args(false);
  run->add_option("--seeds", arguments->seeds, "instead of the file's: 3, \"[1, 5]\" or 0..19");
  run->add_option("--threads", arguments->threads, "how many to use (default: all cores)")->check(CLI::Range(1, 4096));
  run->add_flag("--quiet", arguments->quiet, "no progress on the standard error");
  run->callback([arguments, &code] { code = run_command(*arguments); });
}

}  // namespace polyhop::app
