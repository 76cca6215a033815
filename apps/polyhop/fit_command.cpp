// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop fit: data in, a model that all agents agree on out.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "experiment_run.hpp"
#include "json_output.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/experiment/fit.hpp"
#include "polyhop/experiment/toml_reader.hpp"
#include "polyhop/problem/bundled_data.hpp"
#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

struct FitArguments {
  std::string data;
  std::string output = "model.npz";
  std::string loss = "least-squares";
  std::string graph = "erdos-renyi";
  std::string partition = "iid";
  std::string batch = "all";
  std::vector<std::string> settings;
  std::string target;
  Index agents = 8;
  Real l2 = 0;
  Real delta = 1;
  Real alpha = 1;
  Real tolerance = 1e-8;
  Real held_out = 0.1;
  Index iterations = 50000;
  Index seed = 0;
  Index threads = 0;
  bool no_intercept = false;
  bool standardise = false;
  bool quiet = false;
  bool json = false;
};

// A value given on the command line, read as a field of that type would be, with the flag's name in the message.
template <class T>
T read_flag(const std::string& flag, const Value& value) {
  try {
    return Codec<T>::read(value);
  } catch (const InputError& e) {
    throw e.at(flag, 0);
  }
}

// [graph] from the flags, and from --set graph.key=value for what a topology needs besides.
GraphOptions graph_of(const FitArguments& arguments) {
  Value root = Value::Table{};
  root["graph"]["topology"] = Value(arguments.graph);
  if (arguments.graph != "file" && arguments.graph != "grid" && arguments.graph != "torus") {
    root["graph"]["agents"] = Value(arguments.agents);
  }
  for (const std::string& setting : arguments.settings) apply_setting(root, setting);
  for (const auto& [key, value] : *root.as<Value::Table>()) {
    if (key != "graph") throw InputError("--set " + key, "only keys of graph can be set here");
  }
  // Twice what keeps a random graph connected.
  const Value* agents = root["graph"].find("agents");
  const auto* count = agents != nullptr ? agents->as<std::int64_t>() : nullptr;
  const bool random = root["graph"]["topology"].text() == "\"erdos-renyi\"";
  if (random && count != nullptr && root["graph"].find("probability") == nullptr) {
    const auto k = static_cast<Real>(std::max<Index>(*count, 2));
    root["graph"]["probability"] = Value(std::min(1.0, 2 * std::log(k) / k));
  }
  return GraphOptions::fields().read(root["graph"], "graph");
}

DataSource source_of(const FitArguments& arguments) {
  DataSource source;
  const auto sets = bundled_sets();
  const bool bundled = !std::filesystem::exists(arguments.data) &&
                       std::ranges::find(sets, arguments.data, &BundledSet::name) != sets.end();
  (bundled ? source.bundled : source.file) = arguments.data;
  source.target = arguments.target;
  source.partition.kind = read_flag<PartitionKind>("--partition", Value(arguments.partition));
  source.partition.alpha = arguments.alpha;
  return source;
}

FitOptions options_of(const FitArguments& arguments) {
  for (const auto& [flag, number] :
       {std::pair("--l2", arguments.l2), std::pair("--delta", arguments.delta), std::pair("--alpha", arguments.alpha),
        std::pair("--held-out", arguments.held_out), std::pair("--tolerance", arguments.tolerance)}) {
    if (!std::isfinite(number)) throw InputError(flag, "found " + shortest(number) + ", expected a finite number");
  }
  FitOptions options;
  options.data = source_of(arguments);
  options.loss = read_flag<LossName>("--loss", Value(arguments.loss));
  options.l2 = arguments.l2;
  options.delta = arguments.delta;
  options.intercept = !arguments.no_intercept;
  options.standardise = arguments.standardise;
  options.graph = graph_of(arguments);
  if (arguments.batch != "all") {
    char* end = nullptr;
    const long long size = std::strtoll(arguments.batch.c_str(), &end, 10);
    if (*end != '\0' || size < 1) {
      throw InputError("--batch", "found " + in_quotes(arguments.batch) + ", expected integer >= 1 or \"all\"");
    }
    options.batch = {size, false};
  }
  options.iterations = arguments.iterations;
  options.tolerance = arguments.tolerance;
  options.held_out = arguments.held_out;
  options.seed = static_cast<std::uint64_t>(arguments.seed);
  options.threads = arguments.threads;
  return options;
}

std::string progress_line(const FitState& state, bool full) {
  return full ? fmt::format("iteration {}: gradient {:.1e}, disagreement {:.1e}", state.iteration, state.gradient,
                            state.disagreement)
              : fmt::format("iteration {}: held-out cost {:.6g}, disagreement {:.1e}", state.iteration, state.held_out,
                            state.disagreement);
}

std::string end_message(const FitResult& result, const FitOptions& options) {
  const std::string reached = fmt::format("the gradient is {:.1e} of the first, agents differ by {:.1e} of the model",
                                          result.state.gradient, result.state.disagreement);
  switch (result.end) {
    case FitEnd::converged:
      return fmt::format("Converged after {} iterations: {}.", result.state.iteration, reached);
    case FitEnd::plateau:
      return fmt::format("Stopped after {} iterations: samples held out are predicted no better (cost {:.6g}).",
                         result.state.iteration, result.state.held_out);
    case FitEnd::iterations:
      return fmt::format(
          "Not converged after {} iterations: {}. Raise --iterations, or give --standardise or a larger "
          "--l2.",
          options.iterations, options.batch.all ? reached : "samples held out are still predicted better");
    case FitEnd::diverged:
      return fmt::format("Diverged after {} iterations: try --standardise.", result.state.iteration);
    case FitEnd::stopped:
      return fmt::format("Stopped after {} iterations: {}.", result.state.iteration,
                         options.batch.all ? reached : fmt::format("held-out cost {:.6g}", result.state.held_out));
  }
  return "";
}

Json to_json(const FitResult& result, const std::string& output, bool full) {
  return {{"model", output},
          {"converged", result.end == FitEnd::converged || result.end == FitEnd::plateau},
          {"iterations", result.state.iteration},
          {full ? "gradient" : "held_out", full ? result.state.gradient : result.state.held_out},
          {"disagreement", result.state.disagreement},
          {"cost", result.cost},
          {"samples", result.samples},
          {"agents", result.agents},
          {"rounds", result.traffic.rounds},
          {"vectors", result.traffic.vectors},
          {"scalars", result.traffic.scalars},
          {"gradients", result.gradients},
          {"seconds", result.seconds}};
}

int fit_command(const FitArguments& arguments) {
  const FitOptions options = options_of(arguments);
  // The folder must be there before the work, not after it.
  const auto folder = std::filesystem::path(arguments.output).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    throw InputError("-o", "there is no folder '" + folder.string() + "'");
  }
  if (std::filesystem::is_directory(arguments.output)) {
    throw InputError("-o", "'" + arguments.output + "' is a folder; give the name of a file");
  }
  stop_on_signals();
  FitControl control;
  auto told = std::chrono::steady_clock::now();
  control.on_check = [&](const FitState& state) {
    const auto now = std::chrono::steady_clock::now();
    if (arguments.quiet || now - told < std::chrono::seconds(1)) return;
    told = now;
    tell(progress_line(state, options.batch.all) + "\n");
  };
  control.stop = [] { return stop_signal() != 0; };
  const FitResult result = fit(options, control);
  if (result.end == FitEnd::diverged) {
    tell("polyhop: " + end_message(result, options) + " No model was written.\n");
    return not_converged;
  }
  save_model(result.model, arguments.output);
  if (arguments.json) {
    print_json(to_json(result, arguments.output, options.batch.all));
  } else {
    fmt::print("{} on {} samples of {} agents: cost {:.6g}.\n{}\n", result.model.loss, result.samples, result.agents,
               result.cost, end_message(result, options));
    fmt::print("Sent: {} vectors and {} scalars over the links, in {} rounds; {:.2g} s.\nThe model: {}\n",
               result.traffic.vectors, result.traffic.scalars, result.traffic.rounds, result.seconds,
               printable(arguments.output));
  }
  flush_output();
  return app::ending(result.end == FitEnd::iterations ? not_converged : done);
}

}  // namespace

void add_fit(CLI::App& app, int& code) {
  const auto a = std::make_shared<FitArguments>();
  auto* command = app.add_subcommand("fit", "fit a linear model to data that agents hold, without tuning");
  command
      ->add_option("DATA", a->data,
                   "LIBSVM, CSV, NPY, NPZ or IDX file, also gzipped; with {agent} in it a file of each agent's own; or "
                   "a set of `polyhop data`")
      ->required();
  command->add_option("-o,--output", a->output, "the model file (default: model.npz)");
  command->add_option("--loss", a->loss, "least-squares, logistic, softmax, huber, smoothed-hinge or poisson");
  command->add_option("--l2", a->l2, "adds (l2/2)||w||^2 to the mean loss")->check(CLI::NonNegativeNumber);
  command->add_option("--delta", a->delta, "where the Huber loss turns into a line")->check(CLI::PositiveNumber);
  command->add_option("--target", a->target, "CSV: the column to predict, by name or number (default: the last)");
  command->add_option("--agents", a->agents, "how many (default: 8)")->check(CLI::Range(Index{1}, Index{1000000}));
  command->add_option("--graph", a->graph, "the network's topology (default: erdos-renyi)");
  command->add_option("--set", a->settings, "a key of the graph: --set graph.probability=0.3")->allow_extra_args(false);
  command->add_option("--partition", a->partition, "how samples are dealt: iid, blocks, label, dirichlet or sizes");
  command->add_option("--alpha", a->alpha, "of dirichlet and sizes: the smaller, the less even")
      ->check(CLI::PositiveNumber);
  command->add_flag("--standardise", a->standardise, "features with mean 0 and deviation 1, agreed on along the links");
  command->add_flag("--no-intercept", a->no_intercept, "no constant term");
  command->add_option("--batch", a->batch, "samples an agent and iteration, for large data (default: all)");
  command->add_option("--held-out", a->held_out, "with --batch: share of the samples that decides when to stop")
      ->check(CLI::Range(0.001, 0.9));
  command->add_option("--tolerance", a->tolerance, "stop when the gradient is this small, relative to the first")
      ->check(CLI::PositiveNumber);
  command->add_option("--iterations", a->iterations, "at most (default: 50000)")->check(CLI::PositiveNumber);
  command->add_option("--seed", a->seed, "of everything that is random")->check(CLI::NonNegativeNumber);
  command->add_option("--threads", a->threads, "how many to use (default: all cores)")->check(CLI::Range(1, 4096));
  command->add_flag("--json", a->json, "print what was reached as JSON");
  command->add_flag("--quiet", a->quiet, "no progress on the standard error");
  command->callback([a, &code] { code = fit_command(*a); });
}

}  // namespace polyhop::app
