// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/config.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "polyhop/experiment/include.hpp"
#include "polyhop/experiment/toml_reader.hpp"

namespace polyhop {
namespace {

constexpr Index max_seeds = 99999;

// "3..7", both ends included.
std::optional<Seeds> read_range(const std::string& text) {
  const auto dots = text.find("..");
  if (dots == std::string::npos) return {};
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto a = std::from_chars(begin, begin + dots, first);
  const auto b = std::from_chars(begin + dots + 2, end, last);
  constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();  // the largest that TOML can hold
  if (a.ec != std::errc{} || a.ptr != begin + dots || b.ec != std::errc{} || b.ptr != end || last < first ||
      last > largest || last - first >= static_cast<std::uint64_t>(max_seeds)) {
    return {};
  }
  Seeds seeds{{}};
  for (std::uint64_t s = first; s <= last; ++s) seeds.list.push_back(s);
  return seeds;
}

struct MethodOptions {
  std::string name;
  Value algorithm = Value("atc");
  Value step;
  GradientEstimate gradient = GradientEstimate::plain;
  bool average = true;
  static const FieldTable<MethodOptions>& fields() {
    using O = MethodOptions;
    static const auto table = FieldTable<O>()
                                  .add("name", &O::name,
                                       "its name in tables and files; {option} in it stands for the value if that "
                                       "option is a list")
                                  .add("algorithm", &O::algorithm, "the recursion: a name, or { name = \"...\", ... }")
                                  .add("step", &O::step, "the step-size rule: \"gap\" or { rule = \"gap\", ... }")
                                  .add("gradient", &O::gradient,
                                       "plain: the batch's own; saga, lsvrg: with less noise, from every sample's "
                                       "last gradient or the full gradient at an earlier point")
                                  .add("average", &O::average, "whether to record the averaged iterate as well");
    return table;
  }
};

// An option whose value may be a list.
bool takes_list(const std::string& key) { return key == "optimum"; }

// The name of a method that was made from a list of values: "{key}" in the name stands for the value; without it the
// value is appended.
std::string name_for(std::string name, const std::string& key, const std::string& value) {
  const std::string mark = "{" + key + "}";
  const std::size_t place = name.find(mark);
  if (place != std::string::npos) return name.replace(place, mark.size(), value);
  return (name.empty() ? "" : name + " ") + key + "=" + value;
}

// Replaces the first list among a method's options by one method per entry; repeated until no list is left.
void expand(const Value& method, std::vector<Value>& out) {
  // `part` is "step" or "algorithm", or empty for the method itself.
  const auto split = [&](const std::string& key, const std::string& part, const Value::Array& list, int line) {
    if (list.empty()) throw InputError("method." + key, "found an empty list", line);
    for (const Value& entry : list) {
      Value copy = method;
      Value& place = part.empty() ? copy[key] : copy[part][key];
      place = entry;
      const Value* name = method.find("name");
      const auto* text = name != nullptr ? name->as<std::string>() : nullptr;
      const auto* word = entry.as<std::string>();
      copy["name"] = Value(name_for(text != nullptr ? *text : "", key, word != nullptr ? *word : entry.text()));
      expand(copy, out);
    }
  };
  const auto search = [&](const Value* options, const std::string& part) {
    const auto* table = options != nullptr ? options->as<Value::Table>() : nullptr;
    if (table == nullptr) return false;
    for (const auto& [key, value] : *table) {
      const auto* list = value.as<Value::Array>();
      if (list == nullptr || (part == "step" ? takes_list(key) : key == "name")) continue;
      split(key, part, *list, value.line);
      return true;
    }
    return false;
  };
  if (search(&method, "") || search(method.find("algorithm"), "algorithm") || search(method.find("step"), "step")) {
    return;
  }
  constexpr std::size_t most = 10000;
  if (out.size() == most) throw InputError("method", "its lists make more than 10000 methods", method.line);
  out.push_back(method);
}

// Names appear in tables, files and archives, not all of which can hold control characters, or what XML forbids.
void check_name(const std::string& name, const std::string& path, const Value& table) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  const Value* value = table.find("name");
  const int line = value != nullptr && value->line != 0 ? value->line : table.line;
  constexpr std::size_t longest = 1000;  // archives hold at most 65,535 bytes, a page's table far fewer
  if (name.empty()) throw InputError(path, "found an empty name", line);
  if (name.size() > longest) {
    throw InputError(
        path, "a name of " + std::to_string(name.size()) + " bytes, expected at most " + std::to_string(longest), line);
  }
  if (std::ranges::any_of(name, is_control) || name.find("\xEF\xBF\xBE") != std::string::npos ||
      name.find("\xEF\xBF\xBF") != std::string::npos) {
    throw InputError(path, "found " + in_quotes(name) + ", expected a name without control characters", line);
  }
}

// Relative file names start from the experiment file's folder.
void settle_file(Value& table, std::string_view key, const std::string& folder) {
  const Value* found = table.find(key);
  const auto* name = found != nullptr ? found->as<std::string>() : nullptr;
  if (name == nullptr || folder.empty() || std::filesystem::path(*name).is_absolute()) return;
  const int line = found->line;
  Value settled((std::filesystem::path(folder) / *name).string());
  settled.line = line;
  table[key] = std::move(settled);
}

// The same for a method's step.
void settle_step_files(Value& method, const std::string& folder) {
  const Value* step = method.find("step");
  const Value* optimum = step != nullptr ? step->find("optimum") : nullptr;
  if (optimum != nullptr && optimum->find("file") != nullptr) settle_file(method["step"]["optimum"], "file", folder);
  if (step != nullptr && step->find("file") != nullptr) settle_file(method["step"], "file", folder);
}

// Collects errors from several places, to report them together.
class AllErrors {
 public:
  /// Does the work; false if that found errors.
  template <class F>
  bool of(F work) {
    try {
      work();
      return true;
    } catch (const InputError& e) {
      for (const InputError& each : e.all()) errors_.push_back(each);
      return false;
    }
  }
  void add(InputError error) { errors_.push_back(std::move(error)); }
  [[nodiscard]] const std::vector<InputError>& all() const { return errors_; }
  /// Whether a key, or anything in its value, is wrong.
  [[nodiscard]] bool any_at(const std::string& path) const {
    return std::ranges::any_of(errors_, [&](const InputError& e) {
      return e.path() == path || e.path().starts_with(path + ".") || e.path().starts_with(path + "[");
    });
  }
  /// Throws them all, if there are any.
  void tell() const {
    if (!errors_.empty()) throw InputError(errors_);
  }

 private:
  std::vector<InputError> errors_;
};

// The name in a [[method]] table that may be wrong otherwise; "" if there is none.
std::string given_name(const Value& method) {
  const Value* name = method.find("name");
  const auto* text = name != nullptr ? name->as<std::string>() : nullptr;
  return text != nullptr ? *text : "";
}

std::vector<Method> read_methods(const Value& root, const std::string& folder, const Registry& registry) {
  const Value* list = root.find("method");
  const auto* entries = list != nullptr ? list->as<Value::Array>() : nullptr;
  if (list != nullptr && entries == nullptr) {
    const std::string found = list->as<Value::Table>() != nullptr ? "one table" : list->text();
    throw InputError("method", "found " + found + ", expected a list of tables; in a file, write [[method]]",
                     list->line);
  }
  if (entries == nullptr || entries->empty()) {
    throw InputError("method", "found none, expected at least one [[method]]", list != nullptr ? list->line : 0);
  }
  std::vector<Method> methods;
  std::set<std::string> names;
  AllErrors errors;
  for (std::size_t n = 0; n < entries->size(); ++n) {
    const std::string path = "method[" + std::to_string(n) + "]";
    std::vector<Value> expanded;
    errors.of([&] { expand((*entries)[n], expanded); });
    for (Value& value : expanded) {
      // Reports an error in each of a list of values, but an error that they share only once.
      const bool is_good = errors.of([&] {
        settle_step_files(value, folder);
        methods.push_back(read_method(value, path, registry));
      });
      const std::string name = is_good ? methods.back().name : given_name(value);
      const bool is_new = errors.of([&] {
        if (name.empty() || names.insert(name).second) return;
        throw InputError(path + ".name", "two methods are called " + in_quotes(name) + "; give each its own name",
                         value.line);
      });
      if (!is_good || !is_new) break;
    }
  }
  errors.tell();
  return methods;
}

// A word that is close to one of the names is no file's.
void refuse_misspelt_start(const Value& start) {
  const auto& word = *start.as<std::string>();
  static const std::vector<std::string> names = {"zero", "normal"};
  const std::string near = nearest_name(word, names);
  if (near.empty() || word.find_first_of("./") != std::string::npos) return;
  throw InputError("start",
                   "found " + start.text() + ", expected \"zero\", \"normal\", or a file; did you mean '" + near + "'?",
                   start.line);
}

void settle_files(Value& root, const std::string& folder) {
  if (root.as<Value::Table>() == nullptr) return;
  if (root.find("graph") != nullptr && root["graph"].as<Value::Table>() != nullptr) {
    settle_file(root["graph"], "file", folder);
  }
  if (root.find("problem") != nullptr && root["problem"].as<Value::Table>() != nullptr) {
    settle_file(root["problem"], "data", folder);
  }
  if (const Value* start = root.find("start"); start != nullptr && start->as<std::string>() != nullptr) {
    const auto& word = *start->as<std::string>();
    if (word != "zero" && word != "normal") {
      refuse_misspelt_start(*start);
      settle_file(root, "start", folder);
    }
  }
}

// A data file given as an experiment is recognised as such, instead of failing at its first character that is not TOML.
Value read_experiment(const std::string& file) {
  static const std::set<std::string> of_data = {".csv", ".svm", ".libsvm", ".npy", ".npz", ".gz"};
  try {
    return read_toml_file(file);
  } catch (const InputError& e) {
    if (e.line() == 0 || !of_data.contains(std::filesystem::path(file).extension().string())) throw;
    throw InputError("", "is not an experiment; `polyhop fit` takes data", 0, file);
  }
}

// Rejects what would fill memory with cells or points, and says what to change.
void refuse_too_large(const Config& config) {
  constexpr double max_cells = 99999;
  constexpr double max_points = 2e7;
  const double cells =
      static_cast<double>(config.methods.size()) * static_cast<double>(config.options.seeds.list.size());
  if (cells > max_cells) {
    throw InputError("seeds", std::to_string(config.methods.size()) + " methods on " +
                                  std::to_string(config.options.seeds.list.size()) + " seeds are " + shortest(cells) +
                                  " runs; at most 99999 are allowed");
  }
  const double points =
      cells * (static_cast<double>(config.options.iterations) / static_cast<double>(config.options.record_every) + 2);
  if (points > max_points) {
    const double enough = cells * static_cast<double>(config.options.iterations) / (max_points - 2 * cells);
    throw InputError("record_every", "found " + std::to_string(config.options.record_every) + ", which makes " +
                                         shortest(std::round(points)) + " points; at most 2e7 are allowed: use " +
                                         shortest(std::ceil(enough)) + " or more");
  }
}

}  // namespace

Seeds Codec<Seeds>::read(const Value& v) {
  if (const auto* n = v.as<std::int64_t>(); n != nullptr && *n >= 0) return {{static_cast<std::uint64_t>(*n)}};
  if (const auto* text = v.as<std::string>()) {
    if (auto seeds = read_range(*text)) return *seeds;
  }
  if (const auto* list = v.as<Value::Array>(); list != nullptr && !list->empty()) {
    Seeds seeds{{}};
    std::set<std::int64_t> seen;
    for (const Value& entry : *list) {
      const auto* n = entry.as<std::int64_t>();
      if (n == nullptr || *n < 0 || !seen.insert(*n).second) {
        throw_mismatch(entry, "different integers >= 0 in the list of seeds");
      }
      seeds.list.push_back(static_cast<std::uint64_t>(*n));
    }
    return seeds;
  }
  throw_mismatch(v, "an integer >= 0, a list of them, or \"0..19\" (both ends included, at most 99999 seeds)");
}

Value Codec<Seeds>::write(const Seeds& seeds) {
  if (seeds.list.size() == 1) return static_cast<std::int64_t>(seeds.list[0]);
  Value::Array list;
  bool range = true;
  for (std::size_t n = 0; n < seeds.list.size(); ++n) {
    range = range && seeds.list[n] == seeds.list[0] + n;
    list.emplace_back(static_cast<std::int64_t>(seeds.list[n]));
  }
  if (range) return std::to_string(seeds.list.front()) + ".." + std::to_string(seeds.list.back());
  return list;
}

RecordedAgents Codec<RecordedAgents>::read(const Value& v) {
  using Kind = RecordedAgents::Kind;
  if (const auto* n = v.as<std::int64_t>(); n != nullptr && *n >= 1) return {Kind::some, *n};
  if (const auto* text = v.as<std::string>()) {
    if (*text == "auto") return {};
    if (*text == "all") return {Kind::all, 0};
  }
  throw_mismatch(v, in_words(type()));
}

Value Codec<RecordedAgents>::write(const RecordedAgents& agents) {
  if (agents.kind == RecordedAgents::Kind::some) return agents.count;
  return agents.kind == RecordedAgents::Kind::all ? "all" : "auto";
}

const FieldTable<RecordOptions>& RecordOptions::fields() {
  using O = RecordOptions;
  static const auto table =
      FieldTable<O>()
          .add("agents", &O::agents, "agents whose models the excess risk is averaged over")
          .add("steps", &O::steps, "summary: the minimum, median and maximum of the steps; agents: every agent's step");
  return table;
}

const FieldTable<TuningOptions>& TuningOptions::fields() {
  using O = TuningOptions;
  static const auto table =
      FieldTable<O>()
          .add("seeds", &O::seeds, "seeds to tune on, none of them reported; default: the next ones, at most 5")
          .add("goal", &O::goal,
               "fewest iterations to the target, or smallest final excess risk, of the last or of the averaged "
               "iterates; medians over seeds")
          .add("resolution", &O::resolution, "how close to the best step to get, as a ratio", {above(0)})
          .add("budget", &O::budget, "the most steps to try", {count_from(1)});
  return table;
}

const FieldTable<ExperimentOptions>& ExperimentOptions::fields() {
  using O = ExperimentOptions;
  static const auto table =
      FieldTable<O>()
          .add("name", &O::name, "its name in outputs")
          .add("seeds", &O::seeds, "each method runs once per seed")
          .add("iterations", &O::iterations, "iterations per run", {count_from(0)})
          .add("record_every", &O::record_every, "points are recorded at 0, n, 2n, ... and at the end", {count_from(1)})
          .add("target", &O::target, "excess risk that counts as solved", {above(0)})
          .add("stop_at_target", &O::stop_at_target, "end a run at the first recorded point that reaches the target")
          .add("start", &O::start, "\"zero\", \"normal\", or a file of M or K x M numbers")
          .add("time_limit", &O::time_limit, "seconds of iterating after which a run ends", above(0))
          .add("checkpoint_every", &O::checkpoint_every, "seconds of work between checkpoints", {above(0)})
          .require("graph", &O::graph, "the network")
          .require("problem", &O::problem, "the agents' costs")
          .add("faults", &O::faults, "what happens to messages between agents")
          .add("record", &O::record, "what is recorded")
          .add("tuning", &O::tuning, "how to search for the best constant step");
  return table;
}

std::vector<FieldInfo> method_fields() { return MethodOptions::fields().info(); }

Method read_method(const Value& table, const std::string& path, const Registry& registry) {
  const std::string prefix = path.empty() ? "" : path + ".";
  AllErrors errors;
  MethodOptions options;
  if (!errors.of([&] { options = MethodOptions::fields().read(table, path); })) {
    if (const Value* step = table.find("step")) options.step = *step;
    if (const Value* algorithm = table.find("algorithm")) options.algorithm = *algorithm;
  }
  Method method;
  errors.of([&] {
    method.rule = options.step.empty() ? own_steps() : read_rule(options.step, prefix + "step", registry.rules());
  });
  const bool chosen = method.rule.name == "auto" && table.find("algorithm") == nullptr;
  errors.of([&] {
    method.algorithm =
        read_algorithm(chosen ? Value("auto") : options.algorithm, prefix + "algorithm", registry.algorithms());
  });
  errors.tell();
  check_pair(method.algorithm, method.rule, prefix + "step", options.step.empty() ? table.line : options.step.line);
  const bool own = method.rule.gives == Steps::own;
  if (own) method.rule = own_steps();  // whichever way it was requested
  method.name = options.name;
  if (method.name.empty()) {
    method.name = method.algorithm.name + (own ? "" : " " + method.rule.name);
    if (options.gradient != GradientEstimate::plain) method.name += " " + name_of(options.gradient);
  }
  check_name(method.name, prefix + "name", table);
  method.gradient = options.gradient;
  if (own && method.gradient != GradientEstimate::plain) {
    throw InputError(prefix + "gradient",
                     in_quotes(method.algorithm.name) + " chooses its steps from the gradients; leave `gradient` out",
                     table.line);
  }
  method.average = options.average;
  if (method.rule.name == "tuned") {
    const TunedStep tuned = TunedStep::fields().read(method.rule.options, prefix + "step");
    const std::vector<RuleEntry> rules(registry.rules().begin(), registry.rules().end());
    method.tuned = {tuned, [tuned, rules](double constant) { return with_constant(tuned, constant, "step", rules); }};
  }
  return method;
}

namespace {

// The keys of a loss are checked last, after all tables. So that an error elsewhere does not hide theirs, checks what
// is left of [problem] without the keys that are wrong already; what is missing then may be one of these.
void check_rest_of_problem(const Value& root, const Registry& registry, AllErrors& errors) {
  const Value* problem = root.find("problem");
  const auto* table = problem != nullptr ? problem->as<Value::Table>() : nullptr;
  const auto is_wrong = [&](const std::string& key) { return errors.any_at("problem." + key); };
  if (table == nullptr || is_wrong("loss") || is_wrong("source")) return;
  Value rest = *problem;
  std::erase_if(*rest.as<Value::Table>(), [&](const auto& entry) { return is_wrong(entry.first); });
  const bool is_whole = rest.as<Value::Table>()->size() == table->size();
  AllErrors more;
  more.of([&] {
    ProblemOptions options = ProblemOptions::fields().read(rest, "problem");
    settle(options, registry.losses(), registry.problems());
  });
  for (const InputError& e : more.all()) {
    const bool is_there = rest.find(e.path().substr(e.path().find('.') + 1)) != nullptr;
    if ((is_whole || is_there) && !errors.any_at(e.path())) errors.add(e);
  }
}

}  // namespace

Config read_config(Value root, const std::string& folder, const Registry& registry) {
  settle_files(root, folder);
  Config config;
  AllErrors errors;
  const bool is_good = errors.of([&] {
    config.options = ExperimentOptions::fields().read(root, "", {"method"});
    check_name(config.options.name, "name", root);
    settle(config.options.problem, registry.losses(), registry.problems());
  });
  if (!is_good) check_rest_of_problem(root, registry, errors);
  errors.of([&] { config.methods = read_methods(root, folder, registry); });
  errors.tell();
  refuse_too_large(config);
  return config;
}

Config read_config_file(const std::string& file, const std::vector<KeySetting>& settings, const Registry& registry) {
  Value root = read_experiment(file);
  Sources sources = carry_out_includes(root, file);
  sources.apply(settings, root);
  sources.keep(root);
  try {
    Config config = read_config(std::move(root), std::filesystem::path(file).parent_path().string(), registry);
    config.sources = std::move(sources);
    return config;
  } catch (const InputError& e) {
    throw sources.located(e);
  }
}

void add_gradient(const Method& method, Value& settings) {
  if (method.gradient == GradientEstimate::plain) return;
  settings["gradient"] = Codec<GradientEstimate>::write(method.gradient);
}

Value to_value(const AlgorithmSpec& algorithm) {
  Value::Table table = *algorithm.options.as<Value::Table>();
  if (table.empty()) return algorithm.name;
  table.insert(table.begin(), {"name", Value(algorithm.name)});
  return table;
}

Value written(const ExperimentOptions& options) {
  Value root = ExperimentOptions::fields().write(options);
  root["problem"] = written(options.problem);
  return root;
}

Value identity(const ExperimentOptions& options) {
  // The keys of [problem] as version 0.1 wrote them, when every loss had Huber's delta beside it. New ones are
  // appended.
  static const std::vector<std::string> first = {"loss",        "l2",           "delta",
                                                 "source",      "dimension",    "samples",
                                                 "noise",       "scale_spread", "minimiser_spread",
                                                 "data",        "target",       "partition",
                                                 "standardise", "unit_rows",    "intercept",
                                                 "batch",       "sampling",     "reference",
                                                 "seed"};
  Value root = written(options);
  auto& problem = *root["problem"].as<Value::Table>();
  if (!options.problem.own && root["problem"].find("delta") == nullptr) problem.emplace_back("delta", Value(1.0));
  std::ranges::stable_sort(problem, {},
                           [](const auto& entry) { return std::ranges::find(first, entry.first) - first.begin(); });
  // Without faults, in double precision, a run is identical to one that version 0.2 stored.
  const auto leave_out = [](Value::Table& table, const char* key) {
    std::erase_if(table, [&](const auto& entry) { return entry.first == key; });
  };
  if (options.problem.precision == Element::float64) leave_out(problem, "precision");
  if (!options.faults.any()) leave_out(*root.as<Value::Table>(), "faults");
  // Earlier versions rounded sums along rows of more than a line of numbers differently.
  const bool is_a_line = options.problem.source == "synthetic" &&
                         options.problem.dimension + (options.problem.model.intercept ? 1 : 0) <= Rows::line;
  if (!is_a_line) root["arithmetic"] = Value(3);
  return root;
}

Value resolved(const Config& config) {
  Value root = written(config.options);
  if (config.options.problem.source != "synthetic" && !config.options.problem.own) {
    // They have no effect on real data, and 0 is not a size that the file may give.
    std::erase_if(*root["problem"].as<Value::Table>(), [](const auto& entry) { return is_for_synthetic(entry.first); });
  }
  Value::Array methods;
  for (const Method& method : config.methods) {
    Value::Table table = {{"name", Value(method.name)}, {"algorithm", to_value(method.algorithm)}};
    if (method.rule.gives != Steps::own) {
      Value step = method.rule.options;
      step.as<Value::Table>()->insert(step.as<Value::Table>()->begin(), {"rule", Value(method.rule.name)});
      table.emplace_back("step", std::move(step));
    }
    table.emplace_back("gradient", Codec<GradientEstimate>::write(method.gradient));
    table.emplace_back("average", Value(method.average));
    methods.emplace_back(std::move(table));
  }
  root["method"] = std::move(methods);
  return root;
}

}  // namespace polyhop
