// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/scoreboard_export.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "polyhop/report/csv_cell.hpp"

namespace polyhop {
namespace {

using Json = nlohmann::ordered_json;

// "final-risk" as a key: final_risk.
std::string key(std::string_view name) {
  std::string out(name);
  std::ranges::replace(out, '-', '_');
  return out;
}

// Numbers that are not finite become null when they are written.
Json json(const ScoreSummary& s) {
  return {{"geometric_mean", s.mean},   {"averaged", s.averaged},
          {"comparable", s.comparable}, {"within_1.05", s.within[0]},
          {"within_1.5", s.within[1]},  {"within_3", s.within[2]},
          {"worst", s.worst},           {"worst_instance", s.worst_instance}};
}

// What the search for a constant took; null where there was none.
template <class Score>
Json search_json(const Score& s) {
  if (s.trials == 0) return nullptr;
  return {{"trials", s.trials}, {"iterations", s.trial_iterations}, {"vectors", s.trial_vectors}};
}

Json json(const MethodSummary& s) {
  Json out = {{"method", s.method}, {"instances", s.instances}, {"solved", s.solved},
              {"runs", s.runs},     {"diverged", s.diverged},   {"search", search_json(s)}};
  for (const auto& [score, name] : EnumNames<Score>::names) out[key(name)] = json(s.scores[score]);
  return out;
}

Json json(const std::string& method, const MethodScore& s) {
  Json out = {{"method", method},       {"runs", s.runs},       {"reached", s.reached},
              {"diverged", s.diverged}, {"missing", s.missing}, {"search", search_json(s)}};
  for (const auto& [score, name] : EnumNames<Score>::names) {
    out[key(name)] = {{"value", s.value[score]}, {"ratio", s.ratio[score]}};
  }
  return out;
}

Json json(const ScoreInstance& i, const std::vector<std::string>& methods) {
  Json baseline;
  if (i.has_baseline) {
    const Tuning& t = i.baseline;
    baseline = {{"method", t.method},         {"step", t.value},      {"trials", t.trials},
                {"iterations", t.iterations}, {"vectors", t.vectors}, {"seconds", t.seconds}};
  }
  Json list = Json::array();
  for (std::size_t m = 0; m < methods.size(); ++m) list.push_back(json(methods[m], i.methods[m]));
  return {{"name", i.name},       {"agents", i.agents}, {"topology", i.topology}, {"loss", i.loss},
          {"batch", i.batch},     {"target", i.target}, {"seeds", i.seeds},       {"floor", i.floor},
          {"baseline", baseline}, {"methods", list}};
}

Json profile_json(const Scoreboard& board, Score score) {
  const Profiles profiles = performance_profiles(board, score);
  Json ratios = Json::array();
  for (const auto& list : profiles.ratios) ratios.push_back(list);
  return {{"instances", profiles.instances}, {"ratios", ratios}};
}

std::string cell(std::string_view text) { return csv_cell(text); }

std::string cell(double x) {
  if (std::isnan(x)) return "nan";
  return std::isinf(x) ? (x > 0 ? "inf" : "-inf") : shortest(x);
}

std::string cell(Index n) { return std::to_string(n); }

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
  for (const double x : s.value.list) cells.push_back(cell(x));
  for (const double x : s.ratio.list) cells.push_back(cell(x));
  std::string out;
  for (const auto& text : cells) out += (out.empty() ? "" : ",") + text;
  return out + "\n";
}

}  // namespace

std::string scoreboard_json(const Scoreboard& board) {
  Json methods = Json::array();
  for (const std::size_t m : ranked(board)) methods.push_back(json(board.summaries[m]));
  Json instances = Json::array();
  for (const ScoreInstance& instance : board.instances) instances.push_back(json(instance, board.methods));
  Json profiles = {{"methods", board.methods}};
  for (const Score score : profiled) profiles[key(name_of(score))] = profile_json(board, score);
  Json provenance = Json::object();
  for (const auto& [name, text] : board.provenance) provenance[name] = text;
  const Json out = {{"methods", methods},
                    {"instances", instances},
                    {"profiles", profiles},
                    {"seconds", board.seconds},
                    {"provenance", provenance}};
  // Names may hold any bytes; JSON holds UTF-8 only.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string scoreboard_csv(const Scoreboard& board) {
  std::string out =
      "instance,method,agents,topology,loss,batch,target,seeds,floor,baseline,baseline_step,trials,"
      "trial_iterations,trial_vectors,runs,reached,diverged,missing";
  for (const auto& [score, name] : EnumNames<Score>::names) out += "," + key(name);
  for (const auto& [score, name] : EnumNames<Score>::names) out += "," + key(name) + "_ratio";
  out += "\n";
  for (const ScoreInstance& instance : board.instances) {
    for (std::size_t m = 0; m < board.methods.size(); ++m) {
      out += csv_line(instance, board.methods[m], instance.methods[m]);
    }
  }
  return out;
}

}  // namespace polyhop
