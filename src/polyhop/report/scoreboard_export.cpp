// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/scoreboard_export.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "polyhop/core/json.hpp"
#include "polyhop/report/csv_cell.hpp"

namespace polyhop {
namespace {

// "final-risk" as a key: final_risk.
std::string key(std::string_view name) {
  std::string out(name);
  std::ranges::replace(out, '-', '_');
  return out;
}

// Numbers that are not finite become null when they are written.
Value json(const ScoreSummary& s) {
  return Value::Table{{"geometric_mean", s.mean},   {"averaged", s.averaged},
                      {"comparable", s.comparable}, {"within_1.05", s.within[0]},
                      {"within_1.5", s.within[1]},  {"within_3", s.within[2]},
                      {"worst", s.worst},           {"worst_instance", s.worst_instance}};
}

// What the search for a constant took; null where there was none.
template <class Score>
Value search_json(const Score& s) {
  if (s.trials == 0) return {};
  return Value::Table{{"trials", s.trials}, {"iterations", s.trial_iterations}, {"vectors", s.trial_vectors}};
}

std::string goal_text(const MethodScore& s) { return s.goal ? name_of(*s.goal) : ""; }

Value json(const MethodSummary& s) {
  Value out = Value::Table{{"method", s.method}, {"instances", s.instances}, {"solved", s.solved},
                           {"runs", s.runs},     {"diverged", s.diverged},   {"search", search_json(s)}};
  for (const auto& [score, name] : EnumNames<Score>::names) {
    out[key(name)] = json(s.scores[score]);
    out[key(name)]["best"] = json(s.best[score]);
  }
  return out;
}

Value json(const std::string& method, const MethodScore& s) {
  Value out = Value::Table{{"method", method},       {"runs", s.runs},       {"reached", s.reached},
                           {"diverged", s.diverged}, {"missing", s.missing}, {"search", search_json(s)}};
  if (s.goal) out["search"]["goal"] = goal_text(s);
  for (const auto& [score, name] : EnumNames<Score>::names) {
    out[key(name)] =
        Value::Table{{"value", s.value[score]}, {"ratio", s.ratio[score]}, {"best_ratio", s.best_ratio[score]}};
  }
  return out;
}

Value json(const ScoreInstance& i, const std::vector<std::string>& methods) {
  Value baseline;
  if (i.has_baseline) {
    const Tuning& t = i.baseline;
    baseline = Value::Table{{"method", t.method},         {"step", t.value},      {"trials", t.trials},
                            {"iterations", t.iterations}, {"vectors", t.vectors}, {"seconds", t.seconds},
                            {"goal", name_of(t.goal)}};
  }
  Value::Array seeds;
  for (const std::uint64_t seed : i.seeds) seeds.push_back(static_cast<std::int64_t>(seed));
  Value::Array list;
  for (std::size_t m = 0; m < methods.size(); ++m) list.push_back(json(methods[m], i.methods[m]));
  return Value::Table{{"name", i.name},       {"agents", i.agents}, {"topology", i.topology}, {"loss", i.loss},
                      {"batch", i.batch},     {"target", i.target}, {"seeds", seeds},         {"floor", i.floor},
                      {"baseline", baseline}, {"methods", list}};
}

Value profile_json(const Scoreboard& board, Score score) {
  const Profiles profiles = performance_profiles(board, score);
  Value::Array ratios;
  for (const auto& list : profiles.ratios) ratios.push_back(Value::Array(list.begin(), list.end()));
  return Value::Table{{"instances", profiles.instances}, {"ratios", ratios}};
}

std::string cell(std::string_view text) { return csv_cell(text); }

std::string cell(double x) {
  if (std::isnan(x)) return "nan";
  return std::isinf(x) ? (x > 0 ? "inf" : "-inf") : shortest(x);
}

std::string cell(Index n) { return std::to_string(n); }

// The columns of a method's numbers, in their order: new ones come last.
template <class Action>
void for_each_number(const Action& action) {
  constexpr std::array first = {Score::iterations, Score::vectors, Score::final_risk, Score::final_risk_averaged};
  constexpr std::array later = {Score::equal_vectors, Score::equal_vectors_averaged};
  for (const char* suffix : {"", "_ratio"}) {
    for (const Score score : first) action(score, suffix);
  }
  for (const char* suffix : {"", "_ratio"}) {
    for (const Score score : later) action(score, suffix);
  }
  for (const auto& [score, name] : EnumNames<Score>::names) action(score, "_best_ratio");
}

std::string csv_line(const ScoreInstance& i, const std::string& method, const MethodScore& s) {
  std::vector<std::string> cells = {cell(i.name),
                                    cell(method),
                                    cell(i.agents),
                                    cell(i.topology),
                                    cell(i.loss),
                                    cell(i.batch),
                                    cell(i.target),
                                    cell(static_cast<Index>(i.seeds.size())),
                                    cell(i.floor),
                                    i.has_baseline ? cell(i.baseline.method) : "",
                                    cell(i.has_baseline ? i.baseline.value : std::nan("")),
                                    cell(s.trials),
                                    cell(s.trial_iterations),
                                    cell(s.trial_vectors),
                                    cell(s.runs),
                                    cell(s.reached),
                                    cell(s.diverged),
                                    cell(s.missing)};
  for_each_number([&](Score score, std::string_view suffix) {
    const auto& numbers = suffix.empty() ? s.value : suffix == "_ratio" ? s.ratio : s.best_ratio;
    cells.push_back(cell(numbers[score]));
  });
  cells.push_back(goal_text(s));
  cells.push_back(i.has_baseline ? name_of(i.baseline.goal) : "");
  std::string out;
  for (const auto& text : cells) out += (out.empty() ? "" : ",") + text;
  return out + "\n";
}

}  // namespace

std::string scoreboard_json(const Scoreboard& board) {
  Value::Array methods;
  for (const std::size_t m : ranked(board)) methods.push_back(json(board.summaries[m]));
  Value::Array instances;
  for (const ScoreInstance& instance : board.instances) instances.push_back(json(instance, board.methods));
  Value profiles = Value::Table{{"methods", Value::Array(board.methods.begin(), board.methods.end())}};
  for (const Score score : profiled) profiles[key(name_of(score))] = profile_json(board, score);
  const Value out = Value::Table{{"methods", methods},
                                 {"instances", instances},
                                 {"profiles", profiles},
                                 {"seconds", board.seconds},
                                 {"provenance", Value::Table(board.provenance.begin(), board.provenance.end())}};
  // Names may hold any bytes; JSON holds UTF-8 only.
  return json_text(out, true);
}

std::string scoreboard_csv(const Scoreboard& board) {
  std::string out =
      "instance,method,agents,topology,loss,batch,target,seeds,floor,baseline,baseline_step,trials,"
      "trial_iterations,trial_vectors,runs,reached,diverged,missing";
  for_each_number(
      [&](Score score, std::string_view suffix) { out += "," + key(name_of(score)) + std::string(suffix); });
  out += ",goal,baseline_goal\n";
  for (const ScoreInstance& instance : board.instances) {
    for (std::size_t m = 0; m < board.methods.size(); ++m) {
      out += csv_line(instance, board.methods[m], instance.methods[m]);
    }
  }
  return out;
}

}  // namespace polyhop
