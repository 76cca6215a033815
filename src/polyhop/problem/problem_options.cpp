// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/problem_options.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "polyhop/core/serial_collective.hpp"
#include "polyhop/problem/bundled_data.hpp"
#include "polyhop/problem/synthetic.hpp"

namespace polyhop {

ReferenceChoice Codec<ReferenceChoice>::read(const Value& v) {
  if (const auto* text = v.as<std::string>()) {
    if (*text == "solve") return {};
    if (*text == "none") return {false, {}};
  } else if (v.as<double>() != nullptr || v.as<std::int64_t>() != nullptr) {
    const double x = Codec<double>::read(v);
    if (std::isfinite(x)) return {false, x};
  }
  throw_mismatch(v, in_words(type()));
}

Value Codec<ReferenceChoice>::write(const ReferenceChoice& choice) {
  if (choice.value) return *choice.value;
  return choice.solve ? "solve" : "none";
}

const FieldTable<ProblemOptions>& ProblemOptions::fields() {
  using O = ProblemOptions;
  static const auto table =
      FieldTable<O>()
          .embed(&O::model)
          .add("source", &O::source, "where the data come from: \"synthetic\", \"file\", or a set of `polyhop data`")
          .add("dimension", &O::dimension, "synthetic (required): M, the number of features", {count_from(1)})
          .add("samples", &O::samples, "synthetic (required): N, the samples per agent", {count_from(1)})
          .add(
              "noise", &O::noise,
              "synthetic: standard deviation of the noise added to the targets (before the sign is taken, for classes)",
              {at_least(0)})
          .add("scale_spread", &O::scale_spread, "synthetic: sigma of a log-normal factor on each agent's features",
               {at_least(0)})
          .add("minimiser_spread", &O::minimiser_spread,
               "synthetic: how far agents' own minimisers are from the common one", {at_least(0)})
          .add("data", &O::data,
               "file: its name; with {agent} in it, one file per agent, numbered from 0; {agent+1}: from 1")
          .add("target", &O::target, "file: the column to predict, by name or number; default: the last")
          .add("columns", &O::columns,
               "file: the columns to use as features, by name or number: \"age,3-7\"; default: all but the target")
          .add("drop", &O::drop, "file: columns to leave out, in the same form")
          .add("skip_missing", &O::skip_missing, "CSV: leave out rows with missing values, and report how many")
          .add("reference", &O::reference, "where J(w^o) comes from")
          .add("precision", &O::precision, "precision of features, models, gradients and messages")
          .add("seed", &O::seed, "the data's own seed: the same data whatever the run's seed", count_from(0));
  return table;
}

namespace {

// The keys of any problem, besides its own options.
constexpr std::array of_any_problem = {"source", "batch", "sampling", "reference", "precision", "seed"};

[[noreturn]] void refuse_key(const std::string& key, const std::string& message) {
  throw InputError("problem." + key, message);
}

void check_synthetic(const ProblemOptions& options) {
  std::vector<InputError> missing;
  for (const auto& [key, given] : {std::pair{"dimension", options.dimension}, {"samples", options.samples}}) {
    if (given < 1) missing.emplace_back("problem." + std::string(key), "missing; expected an integer >= 1");
  }
  if (!missing.empty()) throw InputError(missing);
  for (const auto& [key, given] :
       {std::pair{"data", options.data}, {"columns", options.columns}, {"drop", options.drop}}) {
    if (given) refuse_key(key, "is for source = \"file\"");
  }
  if (options.skip_missing) refuse_key("skip_missing", "is for source = \"file\"");
  const Task task = options.model.loss.task;
  if (task == Task::classes || task == Task::counts) {
    refuse_key("loss",
               in_quotes(options.model.loss.name) + " needs real data: source = \"file\", or a set of `polyhop data`");
  }
}

void check_real(const ProblemOptions& options) {
  if (options.dimension > 0) refuse_key("dimension", "is for synthetic data; a file has its own");
  if (options.samples > 0) refuse_key("samples", "is for synthetic data; a file has its own");
  if (options.source == "file" && !options.data) refuse_key("data", "missing; expected the name of a data file");
}

void check_source(const ProblemOptions& options, std::span<const ProblemEntry> problems) {
  std::vector<std::string> names = {"synthetic", "file"};
  for (const BundledSet& set : bundled_sets()) names.push_back(set.name);
  if (std::ranges::find(names, options.source) != names.end()) return;
  for (const ProblemEntry& problem : problems) names.push_back(problem.name);
  refuse_key("source", "unknown name " + in_quotes(options.source) + suggestion(options.source, names));
}

// Your own problem has no loss and no data: such keys are rejected.
void settle_own(ProblemOptions& options, const ProblemEntry& problem) {
  const Value given = ProblemOptions::fields().write(options);
  const Value unsaid = ProblemOptions::fields().write({});
  std::vector<std::string> known(of_any_problem.begin(), of_any_problem.end());
  for (const FieldInfo& option : problem.options) known.push_back(option.name);
  const auto refuse_foreign = [&](const std::string& key) {
    if (std::ranges::find(known, key) != known.end()) return;
    refuse_key(key, "is not a key of source = " + in_quotes(problem.name) + suggestion(key, known));
  };
  for (const auto& [key, value] : *given.as<Value::Table>()) {
    const Value* other = unsaid.find(key);
    if (other == nullptr || other->text() != value.text()) refuse_foreign(key);
  }
  for (const auto& [key, value] : *options.model.loss_options.as<Value::Table>()) refuse_foreign(key);
  options.own = problem.read(options.model.loss_options, "problem");
}

}  // namespace

void settle(ProblemOptions& options, std::span<const LossEntry> losses, std::span<const ProblemEntry> problems) {
  const auto own = std::ranges::find(problems, options.source, &ProblemEntry::name);
  if (own != problems.end()) return settle_own(options, *own);
  std::vector<InputError> wrong;
  const auto note = [&wrong](const auto& check) {
    try {
      check();
    } catch (const InputError& e) {
      wrong.push_back(e);
    }
  };
  note([&] { check_source(options, problems); });
  note([&] { settle(options.model, losses, "problem", ProblemOptions::fields().names()); });
  if (!wrong.empty()) throw InputError(wrong);
  // A key that is missing may be one that was misspelt.
  options.source == "synthetic" ? check_synthetic(options) : check_real(options);
}

Value written(const ProblemOptions& options) {
  Value table = ProblemOptions::fields().write(options);
  if (!options.own) return table;
  auto& entries = *table.as<Value::Table>();
  std::erase_if(entries, [](const auto& entry) {
    return std::ranges::find(of_any_problem, entry.first) == of_any_problem.end();
  });
  for (const auto& entry : *options.own->options.as<Value::Table>()) entries.push_back(entry);
  return table;
}

bool is_for_synthetic(std::string_view key) {
  constexpr std::array<std::string_view, 5> keys = {"dimension", "samples", "noise", "scale_spread",
                                                    "minimiser_spread"};
  return std::ranges::find(keys, key) != keys.end();
}

std::uint64_t data_seed(const ProblemOptions& options, std::uint64_t seed) {
  return options.seed ? static_cast<std::uint64_t>(*options.seed) : seed;
}

std::unique_ptr<DataProblem> make_problem(const ProblemOptions& options, const Block& block, Index agents,
                                          std::uint64_t seed) {
  const double bytes = static_cast<double>(block.size()) * static_cast<double>(options.samples) *
                       static_cast<double>(options.dimension) * static_cast<double>(sizeof(double));
  if (bytes > memory_left()) {
    throw InputError("problem", std::to_string(block.size()) + " agents x " + std::to_string(options.samples) +
                                    " samples x " + std::to_string(options.dimension) + " features need " +
                                    memory_text(bytes) + "; " + memory_limit_text());
  }
  const ModelOptions& model = options.model;
  const SyntheticData synthetic = {options.dimension, options.samples, options.noise, options.scale_spread,
                                   options.minimiser_spread};
  Dataset data = synthesise(synthetic, block, model.loss.task == Task::two_classes, data_seed(options, seed));
  LinearOptions linear{.l2 = model.l2, .batch = model.batch, .sampling = model.sampling, .element = options.precision};
  linear.share = {block.first, agents, agents * options.samples};
  return model.loss.build(std::move(data), 0, std::move(linear));
}

Reference make_reference(const ReferenceChoice& choice, const Problem& problem) {
  SerialCollective alone;
  return make_reference(choice, problem, alone, {0, problem.agents()});
}

Reference make_reference(const ReferenceChoice& choice, const Problem& problem, Collective& collective,
                         const Block& here) {
  if (choice.solve) return problem.minimise(collective, here);
  Reference reference;
  reference.value = choice.value.value_or(0);
  reference.known = choice.value.has_value();
  reference.how = choice.value ? "given" : "none: excess risk is the risk itself";
  return reference;
}

}  // namespace polyhop
