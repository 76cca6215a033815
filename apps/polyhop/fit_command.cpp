// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop fit: data in, a model that all agents agree on out.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "data_input.hpp"
#include "experiment_run.hpp"
#include "json_output.hpp"
#include "option_flags.hpp"
#include "polyhop/core/atomic_file.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/named_entry.hpp"
#include "polyhop/core/npz_writer.hpp"
#include "polyhop/experiment/include.hpp"
#include "polyhop/experiment/registry.hpp"
#include "polyhop/fit/fit.hpp"
#include "polyhop/report/html_fit.hpp"
#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

struct FitArguments {
  std::string data;
  std::string output = "model.npz";
  std::optional<std::string> report;
  std::string graph = "erdos-renyi";
  Index agents = 8;
  std::vector<std::string> settings;
  std::string target;
  Value options = Value::Table{};  // of FitOptions, as flags gave them
  Index threads = 0;
  bool quiet = false;
  bool json = false;
  ClusterArguments cluster;
};

// [graph] from the flags, and from --set graph.key=value for what a topology needs besides.
GraphOptions graph_of(const FitArguments& arguments, Sources& sources) {
  Value root = Value::Table{};
  root["graph"]["topology"] = Value(arguments.graph);
  if (arguments.graph != "file" && arguments.graph != "grid" && arguments.graph != "torus") {
    root["graph"]["agents"] = Value(arguments.agents);
  }
  sources.apply({arguments.settings.begin(), arguments.settings.end()}, root);
  sources.keep(root);
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
  const bool own_files = arguments.data.find("{agent}") != std::string::npos;
  (!own_files && is_bundled(arguments.data) ? source.bundled : source.file) = arguments.data;
  source.target = arguments.target;
  return source;
}

// `sources` tells which of the network's options --set gave.
FitOptions options_of(const FitArguments& arguments, const Registry& registry, Sources& sources) {
  FitOptions options = FitOptions::fields().read(arguments.options, "");
  settle(options.model, registry.losses(), "", FitOptions::fields().names());
  options.data = source_of(arguments);
  options.graph = graph_of(arguments, sources);
  options.threads = arguments.threads;
  return options;
}

// All that decides the model, but where the data are: several processes must want the same.
std::string wanted(const FitOptions& options) {
  return options.data.target + "\n" + FitOptions::fields().write(options).text();
}

bool holds_out(const FitOptions& options) { return options.held_out || !options.model.batch.all; }

std::string progress_line(const FitState& state, const FitOptions& options) {
  std::string out = fmt::format("iteration {}: ", state.iteration);
  if (options.model.batch.all) out += fmt::format("gradient {:.1e}, ", state.gradient);
  if (holds_out(options)) out += fmt::format("held-out cost {:.6g}, ", state.held_out);
  return out + fmt::format("disagreement {:.1e}", state.disagreement);
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
          options.iterations, options.model.batch.all ? reached : "samples held out are still predicted better");
    case FitEnd::diverged:
      return fmt::format("Diverged after {} iterations: try --standardise.", result.state.iteration);
    case FitEnd::stopped:
      return fmt::format(
          "Stopped after {} iterations: {}.", result.state.iteration,
          options.model.batch.all ? reached : fmt::format("held-out cost {:.6g}", result.state.held_out));
  }
  return "";
}

Json metrics_json(const ModelEvaluation& evaluation) {
  Json out = Json::object();
  for (const auto& [key, value] : evaluation.metrics) out[key] = value;
  return out;
}

Json json_of(const FitResult& result, const FitArguments& arguments, const FitOptions& options) {
  Json out = {{"model", arguments.output},
              {"converged", result.end == FitEnd::converged || result.end == FitEnd::plateau},
              {"iterations", result.state.iteration},
              {"disagreement", result.state.disagreement},
              {"cost", result.cost},
              {"metrics", metrics_json(result.fitted)},
              {"samples", result.samples},
              {"agents", result.agents},
              {"rounds", result.traffic.rounds},
              {"vectors", result.traffic.vectors},
              {"scalars", result.traffic.scalars},
              {"gradients", result.gradients},
              {"seconds", result.seconds}};
  if (arguments.report) out["report"] = *arguments.report;
  if (options.model.batch.all) out["gradient"] = result.state.gradient;
  if (!result.held_out) return out;
  out["held_out"] = result.state.held_out;
  out["held_out_samples"] = result.held_out->samples;
  out["held_out_metrics"] = metrics_json(*result.held_out);
  return out;
}

// "accuracy 0.984, log-loss 0.0559, AUC 0.996"
std::string metrics_line(const ModelEvaluation& evaluation) {
  std::string out;
  for (const auto& [key, value] : evaluation.metrics) {
    if (key == "mean_loss") continue;
    out += (out.empty() ? "" : ", ") + std::string(metric_text(key).name) + " " + significant(value, 4);
  }
  return out;
}

void print_result(const FitResult& result, const FitArguments& arguments, const FitOptions& options) {
  const Index held_out = result.held_out ? result.held_out->samples : 0;
  fmt::print("{} on {} samples of {} agents: cost {:.6g}.\n{}\n", result.model.options.loss.name,
             result.samples - held_out, result.agents, result.cost, end_message(result, options));
  fmt::print("On the samples fitted to: {}.\n", metrics_line(result.fitted));
  if (result.held_out) fmt::print("On {} samples held out: {}.\n", held_out, metrics_line(*result.held_out));
  fmt::print("Sent: {} vectors and {} scalars over the links, in {} rounds; {:.2g} s.\nThe model: {}\n",
             result.traffic.vectors, result.traffic.scalars, result.traffic.rounds, result.seconds,
             printable(arguments.output));
  if (arguments.report) fmt::print("The page: {}\n", printable(*arguments.report));
}

// What a fit writes, opened before the work, so that it is not for nothing.
struct FitOutputs {
  explicit FitOutputs(const FitArguments& arguments) : model(opened<NpzWriter>("-o", arguments.output)) {
    if (!arguments.report) return;
    std::error_code error;
    if (std::filesystem::weakly_canonical(*arguments.report, error) ==
        std::filesystem::weakly_canonical(arguments.output, error)) {
      throw InputError("--report", "is the model's file too; give each a name of its own");
    }
    page.emplace(opened<AtomicFile>("--report", *arguments.report));
  }

  template <class File>
  static File opened(const char* flag, const std::string& path) {
    try {
      return File(path);
    } catch (const Error& e) {
      throw InputError(flag, e.what());
    }
  }

  NpzWriter model;
  std::optional<AtomicFile> page;
};

// The flag that stands for a key of an experiment or of the fit; "" where the message says enough.
std::string flag_of(const std::string& key, const Value& given) {
  constexpr std::string_view problem = "problem.";
  if (key == "problem.data") return "";
  if (key == "graph.topology") return "--graph";
  if (key == "graph.agents") return "--agents";
  if (key.starts_with("graph.")) return "--set " + key;
  if (key.starts_with(problem)) return flag_name(key.substr(problem.size()));
  return given.find(key) != nullptr ? flag_name(key) : key;
}

// Does `work`, whose messages then name the flags instead of an experiment's keys.
template <class F>
void by_flags(const FitArguments& arguments, const Sources& sources, F work) {
  try {
    work();
  } catch (const InputError& e) {
    const InputError located = sources.located(e);
    throw InputError(located.file() == e.file() ? flag_of(e.path(), arguments.options) : e.path(), e.message(),
                     located.line(), located.file());
  }
}

int fit_command(const FitArguments& arguments, const Registry& registry) {
  Team& team = join_team(arguments.cluster);
  FitOptions options;
  Sources sources;
  std::optional<FitOutputs> opened;
  stop_on_signals();  // before a file is opened, which would stay behind
  team.together([&] {
    by_flags(arguments, sources, [&] { options = options_of(arguments, registry, sources); });
    if (team.is_first()) opened.emplace(arguments);
  });
  agree_on(team, "set of flags", wanted(options));
  FitControl control;
  control.team = &team;
  control.placement = arguments.cluster.placed();
  auto told = std::chrono::steady_clock::now();
  control.on_check = [&](const FitState& state) {
    const auto now = std::chrono::steady_clock::now();
    if (arguments.quiet || now - told < std::chrono::seconds(1)) return;
    told = now;
    tell(progress_line(state, options) + "\n");
  };
  control.stop = [] { return stop_signal() != 0; };
  FitResult result;
  by_flags(arguments, sources, [&] { result = fit(options, control); });
  if (!team.is_first()) return done;
  FitOutputs& outputs = *opened;
  if (result.end == FitEnd::stopped && result.state.iteration == 0) {
    tell("polyhop: Stopped before the first iteration. No model was written.\n");
    return app::ending(not_converged);
  }
  if (outputs.page) {
    outputs.page->write(html_fit(options, result, end_message(result, options)));
    outputs.page->commit();
  }
  if (result.end == FitEnd::diverged) {
    tell("polyhop: " + end_message(result, options) + " No model was written.\n");
    return not_converged;
  }
  save_model(result.model, outputs.model);
  if (arguments.json) {
    print_json(json_of(result, arguments, options));
  } else {
    print_result(result, arguments, options);
  }
  flush_output();
  return app::ending(result.end == FitEnd::iterations ? not_converged : done);
}

}  // namespace

void add_fit(CommandLine& line) {
  const auto a = std::make_shared<FitArguments>();
  Command command = line.command("fit", "fit a linear model to data that agents hold, without tuning");
  command
      .option("DATA", a->data,
              "LIBSVM, CSV, NPY, NPZ or IDX file, also gzipped; with {agent} in it a file of each agent's own; or "
              "a set of `polyhop data`")
      .required();
  command.instead_of_more("name the files of all agents by one pattern, such as 'site-{agent}.csv'");
  command.option("-o,--output", a->output, "the model file (default: model.npz)");
  command.option("--report", a->report, "also a page that shows the fit: FILE.html");
  command.option("--target", a->target,
                 "the column to predict, by name (CSV) or number (CSV, NPY) from 1 (default: the last)");
  command.option("--agents", a->agents, "how many (default: 8)").within(1, 1000000);
  command.option("--graph", a->graph, "the network's topology (default: erdos-renyi)");
  command.option("--set", a->settings, "a key of the graph: --set graph.probability=0.3");
  const Registry& registry = line.registry();
  const auto check_field = [&registry](const Value& table) {
    const FitOptions options = FitOptions::fields().read(table, "");
    if (table.find("loss") != nullptr) (void)entry_named(registry.losses(), options.model.loss.name, "loss");
  };
  std::vector<FieldInfo> fields = FitOptions::fields().info();
  std::erase_if(fields, [](const FieldInfo& field) { return field.name == "graph"; });
  const auto loss = std::ranges::find(fields, "loss", &FieldInfo::name);
  loss->type.clear();
  for (const LossEntry& entry : registry.losses()) loss->type += (loss->type.empty() ? "" : " | ") + entry.name;
  add_options(command, fields, a->options, check_field);
  for (const LossEntry& entry : registry.losses()) {
    add_options(command, entry.options, a->options, [&](const Value& table) { (void)entry.read(table, ""); });
  }
  command.option("--threads", a->threads, "how many to use (default: as many cores as pay off; under mpirun 1 a rank)")
      .within(1, 4096);
  add_cluster(command, a->cluster);
  command.flag("--json", a->json, "print what was reached as JSON");
  command.flag("--quiet", a->quiet, "no progress on the standard error");
  command.callback([a, &registry] { return fit_command(*a, registry); });
}

}  // namespace polyhop::app
