// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// The command line: reads arguments, calls the library, prints. No numerics here.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/experiment/run.hpp"
#include "polyhop/report/atomic_file.hpp"
#include "polyhop/report/curves_csv.hpp"
#include "polyhop/report/npz_writer.hpp"
#include "polyhop/report/ranking.hpp"
#include "polyhop/report/text_table.hpp"

namespace {

using namespace polyhop;

enum ExitCode { done = 0, internal_error = 1, usage_error = 2, bad_input = 3 };

struct RunArguments {
  std::string file;
  std::string output;
  std::vector<std::string> settings;
  std::string seeds;
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

int run_command(RunArguments arguments) {
  if (!arguments.seeds.empty()) arguments.settings.push_back("seeds=" + arguments.seeds);
  const Config config = read_config_file(arguments.file, arguments.settings);
  const std::filesystem::path folder =
      arguments.output.empty() ? std::filesystem::path("out") / config.options.name : std::filesystem::path(arguments.output);
  // The first instance is made before anything is written, so that a file that cannot run leaves no trace.
  (void)make_instance(config.options, config.options.seeds.list.front());
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw InputError("-o", "cannot make the folder '" + folder.string() + "': " + failed.message());
  AtomicFile curves((folder / "curves.csv").string());
  NpzWriter models((folder / "models.npz").string());

  const Record record = run(config, {arguments.threads, Progress(arguments.quiet)});
  write_curves(record, [&](std::string_view text) { curves.write(text); });
  curves.commit();
  write_models(record, models);
  models.close();

  const auto runs = static_cast<Index>(record.cells.size());
  fmt::print("{}: {} runs, medians over {} seeds; iterations, vectors, evaluations and seconds are those to reach {}\n",
             printable(record.name), runs, config.options.seeds.list.size(), significant(record.target, 3));
  fmt::print("{}", ranking_text(record, terminal_width()));
  fmt::print("\nWritten: {}\n         {}\n", (folder / "curves.csv").string(), (folder / "models.npz").string());
  return done;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{"polyhop: decentralized optimization over networks, with step sizes that know the graph"};
  app.set_version_flag("--version", std::string("polyhop ") + POLYHOP_VERSION);
  app.require_subcommand(1);
  RunArguments arguments;
  auto* run = app.add_subcommand("run", "run an experiment file and rank its methods");
  run->add_option("FILE", arguments.file, "the experiment, a TOML file")->required();
  run->add_option("-o,--output", arguments.output, "folder for curves.csv and models.npz (default: out/NAME)");
  run->add_option("--set", arguments.settings, "change a key: --set graph.agents=20 --set method.GAP.step.sweeps=5");
  run->add_option("--seeds", arguments.seeds, "instead of the file's: 3, \"[1, 5]\" or 0..19");
  run->add_option("--threads", arguments.threads, "how many to use (default: all cores)")->check(CLI::PositiveNumber);
  run->add_flag("--quiet", arguments.quiet, "no progress on the standard error");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? done : usage_error;
  }
  return run_command(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const InputError& e) {
    fmt::print(stderr, "polyhop: {}\n", printable(e.what()));
    return bad_input;
  } catch (const std::exception& e) {
    fmt::print(stderr, "polyhop: {}\n", printable(e.what()));
    return internal_error;
  }
}
