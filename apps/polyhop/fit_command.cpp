// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop fit: data in, a model that all agents agree on out.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "data_input.hpp"
#include "experiment_run.hpp"
#include "json_output.hpp"
#include "key_arguments.hpp"
#include "memory_flag.hpp"
#include "option_flags.hpp"
#include "output_path.hpp"
#include "polyhop/core/atomic_file.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/named_entry.hpp"
#include "polyhop/core/npz_writer.hpp"
#include "polyhop/core/words.hpp"
#include "polyhop/experiment/advice.hpp"
#include "polyhop/experiment/include.hpp"
#include "polyhop/experiment/record.hpp"
#include "polyhop/experiment/registry.hpp"
#include "polyhop/fit/fit.hpp"
#include "polyhop/problem/agent_files.hpp"
#include "polyhop/problem/column_choice.hpp"
#include "polyhop/report/html_fit.hpp"
#include "polyhop/report/text_table.hpp"
#include "progress.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

constexpr Index agents_by_default = 8;

struct FitArguments {
  std::string data;
  std::string output = "model.npz";
  std::optional<std::string> report;
  std::string graph = "erdos-renyi";
  std::optional<Index> agents;
  std::vector<std::string> settings;
  std::string target, columns, drop, id;
  Value options = Value::Table{};  // of FitOptions, as flags gave them
  Index threads = 0;
  bool skip_missing = false;
  bool quiet = false;
  bool json = false;
  ClusterArguments cluster;
};

// A topology that says itself how many agents there are.
bool has_own_agents(const std::string& topology) {
  return topology == "file" || topology == "grid" || topology == "torus";
}

// [graph] from the flags, and from --set graph.key=value for what a topology needs besides.
GraphOptions graph_of(const FitArguments& arguments, Sources& sources) {
  Value root = Value::Table{};
  root["graph"]["topology"] = Value(arguments.graph);
  if (!has_own_agents(arguments.graph)) {
    root["graph"]["agents"] = Value(arguments.agents.value_or(agents_by_default));
  }
  sources.apply({arguments.settings.begin(), arguments.settings.end()}, root);
  sources.keep(root);
  for (const auto& [key, value] : *root.as<Value::Table>()) {
    if (key == "graph") continue;
    const std::string near = nearest_name(key, GraphOptions::fields().names());
    throw InputError("--set " + key,
                     "only keys of graph can be set here" +
                         (near.empty() ? ", such as graph.probability=0.3" : "; did you mean 'graph." + near + "'?"));
  }
  // Twice what keeps a random graph connected.
  const Value* agents = root["graph"].find("agents");
  const auto* count = agents != nullptr ? agents->as<std::int64_t>() : nullptr;
  const bool random = root["graph"]["topology"].text() == "\"erdos-renyi\"";
  if (random && count != nullptr && root["graph"].find("probability") == nullptr) {
    const auto k = static_cast<double>(std::max<Index>(*count, 2));
    root["graph"]["probability"] = Value(std::min(1.0, 2 * std::log(k) / k));
  }
  return GraphOptions::fields().read(root["graph"], "graph");
}

DataSource source_of(const FitArguments& arguments) {
  DataSource source;
  const bool own_files = AgentFiles::from(arguments.data).has_value();
  (!own_files && is_bundled(arguments.data) ? source.bundled : source.file) = arguments.data;
  source.target = arguments.target;
  source.choice = {listed(arguments.columns), listed(arguments.drop), arguments.id, true};
  source.skip_missing = arguments.skip_missing;
  return source;
}

// What the topology needs besides the number of agents, as flags with examples.
std::string graph_flags(const FitArguments& arguments) {
  std::string name = arguments.graph;
  constexpr std::string_view chosen = "graph.topology=";
  for (const std::string& setting : arguments.settings) {
    if (setting.starts_with(chosen)) name = setting.substr(chosen.size());
  }
  const Topology topology = Codec<Topology>::read(Value(name));
  std::string out;
  for (const auto& [key, value] : needed_keys(topology)) {
    if (key != "agents") out += " --set graph." + key + "=" + value;
  }
  return out;
}

// If an option is given, it should do something.
void refuse_without_effect(const FitArguments& arguments, const FitOptions& options) {
  const auto given = [&](const char* key) { return arguments.options.find(key) != nullptr; };
  const std::string method = "--method " + std::string(name_of(options.chosen_method()));
  const auto refuse_flag = [](const char* key, const std::string& why) {
    throw InputError(key, "has no effect " + why);
  };
  if (options.has_full_gradients() && !options.model.batch.all) {
    refuse_flag("batch", "with " + method + ", which takes all samples; leave it out, or use --method auto");
  }
  if (given("sampling") && options.model.batch.all)
    refuse_flag("sampling", "without --batch; leave it out, or give that");
  if (given("tolerance") && !options.has_full_gradients()) {
    refuse_flag("tolerance", "with " + method + ", which ends on samples held out; leave it out, or use --method tree");
  }
  if (given("partition") && options.data.bundled.empty() && options.data.file.find("{agent") != std::string::npos) {
    refuse_flag("partition", "where every agent has a file of its own; leave it out");
  }
  const Topology topology = options.graph.topology;
  const bool fixes_agents = topology == Topology::file || topology == Topology::grid || topology == Topology::torus;
  if (arguments.agents && fixes_agents) {
    throw InputError("graph.agents", topology == Topology::file
                                         ? "has no effect: the network's file says how many there are; leave it out"
                                         : "has no effect: the network has rows times columns agents; leave it out, "
                                           "and write" +
                                               graph_flags(arguments) + ", for example");
  }
}

// Whether the number of agents is given.
bool says_agents(const FitArguments& arguments) {
  const auto sets = [](const std::string& setting) { return setting.starts_with("graph.agents="); };
  return arguments.agents || has_own_agents(arguments.graph) || std::ranges::any_of(arguments.settings, sets);
}

// No site is left out silently: the files that were counted must be all there are.
void refuse_gap(const FitArguments& arguments, Index found) {
  if (found <= 0) return;
  AgentFiles files = *AgentFiles::from(arguments.data);
  std::error_code unknown;
  const auto exists = [&](Index agent) {
    return files.first() + agent >= 0 && std::filesystem::exists(files.of(agent), unknown);
  };
  if (!exists(0)) return;  // told elsewhere
  const std::string way_out = "; give --agents " + std::to_string(found) + " to leave it out";
  if (exists(-1)) {
    throw InputError(
        "", "is there, too, but '" + arguments.data + "' starts from " + std::to_string(files.first()) + way_out, 0,
        files.of(-1));
  }
  constexpr Index looked_at = 100;
  for (Index agent = found + 1; agent <= found + looked_at; ++agent) {
    if (!exists(agent)) continue;
    throw InputError("", "exists, but " + files.of(found) + " is missing" + way_out, 0, files.of(agent));
  }
}

// If agents have their own files and their number is not given, there are as many agents as files. Processes that do
// not see the same files cannot count them.
void count_agents(FitArguments& arguments, Team& team) {
  Index found = -1;
  team.together([&] {
    const auto files = AgentFiles::from(arguments.data);
    if (!files || says_agents(arguments)) return;
    found = files->existing();
    // Files numbered from 1 are counted, too; reading the first one then fails with the right pattern.
    if (found == 0) found = files->from_next().existing();
  });
  for (const std::string& other : team.tell(std::to_string(found))) {
    if (other == std::to_string(found)) continue;
    throw InputError("--agents", "missing: the processes do not see the same files, so say how many agents there are");
  }
  if (found > 0) arguments.agents = found;
  team.together([&] { refuse_gap(arguments, found); });
}

// `sources` tells which of the network's options --set gave.
FitOptions options_of(const FitArguments& arguments, const Registry& registry, Sources& sources) {
  FitOptions options = FitOptions::fields().read(arguments.options, "");
  settle(options.model, registry.losses(), "", FitOptions::fields().names());
  options.data = source_of(arguments);
  options.graph = graph_of(arguments, sources);
  options.threads = arguments.threads;
  refuse_without_effect(arguments, options);
  return options;
}

// All that decides the model, but where the data are: several processes must want the same.
std::string deciding_flags(const FitOptions& options) {
  const ColumnChoice& choice = options.data.choice;
  const Value columns = Codec<std::vector<std::string>>::write(choice.columns);
  const Value drop = Codec<std::vector<std::string>>::write(choice.drop);
  return options.data.target + "\n" + columns.text() + drop.text() + choice.id +
         (options.data.skip_missing ? "\nskip missing\n" : "\n") + FitOptions::fields().write(options).text();
}

bool holds_out(const FitOptions& options) { return options.held_out || !options.has_full_gradients(); }

bool is_tree(const FitOptions& options) { return options.chosen_method() == FitMethod::tree; }

// How the fit goes about it, and what it will send.
std::string plan_text(const FitPlan& plan, const FitOptions& options) {
  std::string out =
      fmt::format("Fitting {} to {} of {}{}, {} per model, with ", plan.loss, count_of(plan.samples, "sample"),
                  count_of(plan.agents, "agent"), plan.held_out > 0 ? fmt::format(" ({} held out)", plan.held_out) : "",
                  count_of(plan.dimension, "number"));
  switch (plan.method) {
    case FitMethod::tree:
      return out + fmt::format(
                       "L-BFGS over a spanning tree of height {}.\n"
                       "Each evaluation sends {} along the tree; most fits take 20 to 200 evaluations, hard ones "
                       "several hundred.",
                       plan.height, count_of(plan.vectors, "vector"));
    case FitMethod::exact_diffusion:
      return out + fmt::format(
                       "exact diffusion between neighbours.\n"
                       "Each iteration sends {}; most fits take hundreds to thousands of iterations.",
                       count_of(plan.vectors, "vector"));
    case FitMethod::automatic:
      return out + fmt::format("auto on batches{}, in several passes over the data.",
                               options.model.batch.all ? " of all samples" : "");
  }
  return out;
}

// A part of a model's size; 0 where rounding makes it.
std::string disagreement_text(const FitState& state) {
  const double x = state.disagreement;
  return "disagreement " + (x < std::numeric_limits<double>::epsilon() ? "0" : fmt::format("{:.1e}", x));
}

// Shows how a fit proceeds, now and then, with the share that is done where that can be told.
class FitProgress {
 public:
  FitProgress(const FitArguments& arguments, const FitOptions& options)
      : options_(options),
        quiet_(arguments.quiet),
        // Without it, the limit is far above what a fit takes.
        has_limit_(arguments.options.find("iterations") != nullptr) {}

  void check(const FitState& state) {
    const auto now = std::chrono::steady_clock::now();
    advance(state);
    const auto between = line_.in_place() ? std::chrono::milliseconds(100) : std::chrono::milliseconds(1000);
    if (quiet_ || now - told_ < between) return;
    told_ = now;
    has_told_ = true;
    show(state);
  }

  // Whoever watched sees how it ended.
  void end(const FitResult& result) {
    if (result.end != FitEnd::stopped && result.end != FitEnd::diverged) share_ = 1;
    if (has_told_) show(result.state);
    line_.leave();
  }

 private:
  // A gradient falls about evenly on a logarithmic scale.
  void advance(const FitState& state) {
    if (has_limit_) reach(static_cast<double>(state.iteration) / static_cast<double>(options_.iterations));
    if (!options_.has_full_gradients() || !(state.gradient > 0)) return;
    if (first_gradient_ == 0) first_gradient_ = state.gradient;
    reach(std::log(first_gradient_ / state.gradient) / std::log(first_gradient_ / options_.tolerance));
  }
  // 100% is for the end.
  void reach(double share) {
    if (share > share_) share_ = std::min(share, 0.99);
  }
  void show(const FitState& state) {
    std::vector<std::string> pieces = {share_ > 0 ? fmt::format("{:3.0f}%  ", std::floor(100 * share_)) : ""};
    pieces.front() += fmt::format("iteration {}", state.iteration);
    if (options_.has_full_gradients()) pieces.push_back(fmt::format(", relative gradient {:.1e}", state.gradient));
    if (holds_out(options_)) pieces.push_back(fmt::format(", held-out loss {:.6g}", state.held_out));
    if (!is_tree(options_)) pieces.push_back(", " + disagreement_text(state));
    line_.show(pieces);
  }

  const FitOptions& options_;
  bool quiet_;
  bool has_limit_;
  StatusLine line_;
  std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
  bool has_told_ = false;
  double first_gradient_ = 0;
  double share_ = 0;
};

// What to do about a fit that took too long.
std::string way_out(const FitOptions& options) {
  if (!options.has_full_gradients()) return "Raise --iterations.";
  return is_tree(options) ? "Raise --iterations or --l2." : "Raise --iterations, or use --method tree.";
}

std::string ending_text(const FitResult& result, const FitOptions& options) {
  const FitState& state = result.state;
  const std::string after =
      "after " + count_of(state.iteration, "iteration") +
      (is_tree(options) ? fmt::format(" ({})", count_of(state.evaluations, "evaluation")) : std::string());
  std::string reached = options.has_full_gradients() ? fmt::format("relative gradient {:.1e}", state.gradient)
                                                     : fmt::format("held-out loss {:.6g}", state.held_out);
  if (!is_tree(options)) reached += ", " + disagreement_text(state);
  switch (result.end) {
    case FitEnd::converged:
      return fmt::format("Converged {}: {}.", after, reached);
    case FitEnd::plateau:
      return fmt::format("Stopped {}: the held-out loss no longer falls.", after);
    case FitEnd::separated:
      return fmt::format(
          "Stopped {}: a plane separates the classes, so without a penalty the cost has no minimum and the "
          "coefficients would grow forever. All samples are on the right side; give --l2 for a definite model.",
          after);
    case FitEnd::iterations:
      return fmt::format("Not converged {}: {}. {}", after, reached, way_out(options));
    case FitEnd::diverged:
      return fmt::format("Diverged {}.{}", after, is_tree(options) ? "" : " Use --method tree.");
    case FitEnd::stopped:
      return fmt::format("Interrupted {}, not converged: {}. To fit in full, run the command again: a fit starts over.",
                         after, reached);
  }
  return "";
}

std::string end_message(const FitResult& result, const FitOptions& options) {
  std::string out = ending_text(result, options);
  if (!result.held_out) return out;
  return out + fmt::format(" Kept: the model of iteration {}, with the lowest held-out loss, {:.6g}.",
                           result.state.kept, result.state.held_out);
}

// What a model is worth that predicts worse than the targets' mean or the classes' frequencies do; empty: nothing to
// say.
std::string warning(const FitResult& result, const FitOptions& options) {
  const std::string null = options.model.intercept ? (result.model.classes.empty() ? "the mean of the targets"
                                                                                   : "the frequencies of the classes")
                                                   : "a model of zeros";
  const auto worse = [&](const char* on, double loss, double of_null) {
    return fmt::format("On {} this model is no better than {}: cost {:.6g}, theirs {:.6g}.", on, null, loss, of_null);
  };
  if (!(result.cost < result.null_cost) && result.null_cost > 0) {
    return worse("the fitted samples", result.cost, result.null_cost);
  }
  if (result.held_out && !(result.state.held_out < result.null_held_out)) {
    return worse("the held-out samples", result.state.held_out, result.null_held_out);
  }
  return "";
}

// What a penalty does to columns of unlike size.
std::string unit_warning(const FitResult& result) {
  if (result.column_spread <= unlike_columns) return "";
  return fmt::format(
      "The columns differ in size by a factor of {}, and --l2 acts on coefficients in the table's units, so it all but "
      "removes the smallest columns; add --standardise.",
      significant(result.column_spread, 2));
}

// Columns from which nothing can be learned.
std::string constant_note(const FitResult& result) {
  if (result.constant.empty()) return "";
  constexpr std::size_t most = 5;
  const std::vector<std::string>& features = result.model.features;
  std::vector<std::string> names;
  for (const Index j : std::span(result.constant).first(std::min(result.constant.size(), most))) {
    names.push_back(features.empty() ? std::to_string(j + 1) : "'" + printable(features[j]) + "'");
  }
  const Index others = std::ssize(result.constant) - std::ssize(names);
  if (others > 0) names.push_back(count_of(others, "other"));
  const std::string noun = features.empty() ? "Feature" : "Column";
  if (names.size() == 1)
    return noun + " " + names[0] + " has one value in all samples: nothing can be learned from it.";
  return noun + "s " + series(names) + " have one value each in all samples: nothing can be learned from them.";
}

Value metrics_json(const ModelEvaluation& evaluation) {
  return Value::Table(evaluation.metrics.begin(), evaluation.metrics.end());
}

Value json_of(const FitResult& result, const FitArguments& arguments, const FitOptions& options) {
  Value out = Value::Table{{"model", arguments.output},
                           {"loss", result.model.options.loss.name},
                           {"converged", is_good(result.end)},
                           {"method", name_of(options.chosen_method())},
                           {"iterations", result.state.iteration},
                           {"disagreement", result.state.disagreement},
                           {"cost", result.cost},
                           {"metrics", metrics_json(result.fitted)},
                           {"samples", result.samples},
                           {"skipped", result.skipped},
                           {"agents", result.agents},
                           {"rounds", result.traffic.rounds},
                           {"vectors", result.traffic.vectors},
                           {"scalars", result.traffic.scalars},
                           {"gradients", result.gradients},
                           {"seconds", result.seconds}};
  if (!result.why_loss.empty()) out["why_loss"] = result.why_loss;
  if (arguments.report) out["report"] = *arguments.report;
  if (options.has_full_gradients()) out["gradient"] = result.state.gradient;
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
    out += (out.empty() ? "" : ", ") + std::string(metric_text(key).name) + " " +
           (std::isnan(value) ? "not defined" : significant(value, 4));
  }
  return out;
}

void print_result(const FitResult& result, const FitArguments& arguments, const FitOptions& options) {
  const Index held_out = result.held_out ? result.held_out->samples : 0;
  say(fmt::format("{} on {} of {}: cost {:.6g}.", result.model.options.loss.name,
                  count_of(result.samples - held_out, "sample"), count_of(result.agents, "agent"), result.cost));
  if (result.skipped > 0) say_inked("S" + skipped_text(result.skipped).substr(1) + ".", Ink::warning);
  say(end_message(result, options));
  for (const std::string& text : {warning(result, options), unit_warning(result), constant_note(result)}) {
    if (!text.empty()) say_inked(text, Ink::warning);
  }
  say(fmt::format("On the fitted samples: {}.", metrics_line(result.fitted)));
  if (result.held_out) {
    say(fmt::format("On {}: {}.", count_of(held_out, "held-out sample"), metrics_line(*result.held_out)));
  }
  say(fmt::format("Sent: {} and {} over the links, in {}; {}.", count_of(result.traffic.vectors, "vector"),
                  count_of(result.traffic.scalars, "scalar"), count_of(result.traffic.rounds, "round"),
                  duration_text(result.seconds)));
  fmt::print("The model: {}\n", printable(arguments.output));
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
    require_folder(flag, path);
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
    std::vector<InputError> errors;
    for (const InputError& each : e.all()) {
      const InputError located = sources.located(each);
      const bool lacks_keys = each.path().starts_with("graph.") && each.message().starts_with("missing;");
      errors.emplace_back(located.file() == each.file() ? flag_of(each.path(), arguments.options) : each.path(),
                          each.message() + (lacks_keys ? "; write" + graph_flags(arguments) : ""), located.line(),
                          located.file());
    }
    throw InputError(errors);
  }
}

int fit_command(FitArguments arguments, const Registry& registry) {
  Team& team = join_team(arguments.cluster);
  FitOptions options;
  Sources sources;
  std::optional<FitOutputs> opened;
  by_flags(arguments, sources, [&] { count_agents(arguments, team); });
  stop_on_signals();  // before a file is opened, which would stay behind
  team.together([&] {
    by_flags(arguments, sources, [&] { options = options_of(arguments, registry, sources); });
    if (team.is_first()) opened.emplace(arguments);
  });
  agree_on(team, "set of flags", deciding_flags(options));
  FitControl control;
  control.team = &team;
  control.placement = arguments.cluster.placed();
  FitProgress progress(arguments, options);
  control.on_check = [&](const FitState& state) { progress.check(state); };
  control.on_plan = [&](const FitPlan& plan) {
    if (!arguments.json && !plan.why_loss.empty() && stop_signal() == 0) {
      say(fmt::format("The loss is {}, because {}; --loss chooses another.", plan.loss, printable(plan.why_loss)));
      flush_output();
    }
    if (arguments.quiet) return;
    const std::string note = batch_note(options.model.batch, (plan.samples + plan.agents - 1) / plan.agents);
    tell(paragraph(plan_text(plan, options) + (note.empty() ? "" : "\n" + note), error_width()));
  };
  control.stop = [] { return stop_signal() != 0; };
  FitResult result;
  by_flags(arguments, sources, [&] { result = fit(options, control); });
  progress.end(result);
  if (!team.is_first()) return done;
  FitOutputs& outputs = *opened;
  if (result.end == FitEnd::stopped && result.state.iteration == 0) {
    complain("Stopped before the first iteration. No model was written.");
    return app::ending(not_converged);
  }
  if (outputs.page) {
    std::string ending = end_message(result, options);
    for (const std::string& text : {unit_warning(result), constant_note(result)}) {
      if (!text.empty()) ending += " " + text;
    }
    outputs.page->write(html_fit(options, result, ending));
    outputs.page->commit();
  }
  if (result.end == FitEnd::diverged) {
    complain(end_message(result, options) + " No model was written.");
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
              "LIBSVM, CSV, NPY, NPZ or IDX file, possibly gzipped; a name with {agent} stands for one file per agent, "
              "numbered from 0 ({agent+1}: from 1); or the name of a set that `polyhop data` lists")
      .required();
  command.instead_of_more("name the files of all agents by one pattern, such as 'site-{agent}.csv'");
  command.option("-o,--output", a->output, "the model file (default: model.npz)").writes("FILE");
  command.option("--report", a->report, "also write a page that shows the fit, such as fit.html").writes("FILE");
  command
      .option("--target", a->target,
              "the column to predict, by name (CSV) or number (CSV, NPY) from 1 (default: the last)")
      .takes("COLUMN");
  command
      .option("--columns", a->columns,
              "the feature columns, by name (CSV) or number from 1 (CSV, NPY, NPZ): age,3-7 (default: all but the "
              "target)")
      .takes("COLUMNS");
  command.option("--drop", a->drop, "columns to leave out, in the same way").takes("COLUMNS");
  command
      .option("--id", a->id,
              "the column that names the samples: it is not a feature, and `predict` copies it from CSV files")
      .takes("COLUMN");
  command.flag("--skip-missing", a->skip_missing,
               "leave out rows of CSV files with missing values, and report how many");
  command.option("--agents", a->agents, "number of agents (default: one per file where each has its own; else 8)")
      .within(1, 1000000);
  command.option("--graph", a->graph, "the network's topology (default: erdos-renyi)").suggests(Codec<Topology>::all());
  command.option("--set", a->settings, "change a key of the graph: --set graph.probability=0.3")
      .takes("KEY=VALUE")
      .begins_with(graph_setting_beginnings());
  const Registry& registry = line.registry();
  const auto check_field = [&registry](const Value& table) {
    const FitOptions options = FitOptions::fields().read(table, "");
    if (table.find("loss") != nullptr) (void)entry_named(registry.losses(), options.model.loss.name, "loss");
  };
  std::vector<FieldInfo> fields = FitOptions::fields().info();
  std::erase_if(fields, [](const FieldInfo& field) { return field.name == "graph"; });
  const auto loss = std::ranges::find(fields, "loss", &FieldInfo::name);
  loss->type.clear();
  loss->default_text = "from the target: logistic or softmax for classes, least-squares for numbers";
  for (const LossEntry& entry : registry.losses()) loss->type += (loss->type.empty() ? "" : " | ") + entry.name;
  add_options(command, fields, a->options, check_field);
  for (const LossEntry& entry : registry.losses()) {
    add_options(command, entry.options, a->options, [&](const Value& table) { (void)entry.read(table, ""); });
  }
  command
      .option("--threads", a->threads, "number of threads (default: as many cores as pay off; under mpirun 1 per rank)")
      .within(1, 4096);
  add_cluster(command, a->cluster);
  command.flag("--json", a->json, "print the result as JSON");
  command.flag("--quiet", a->quiet, "no progress on the standard error");
  add_memory_limit(command);
  add_color(command);
  command.callback([a, &registry] { return fit_command(*a, registry); });
}

}  // namespace polyhop::app
