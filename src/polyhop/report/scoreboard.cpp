// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/scoreboard.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "polyhop/report/ranking.hpp"

namespace polyhop {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

bool is_risk(Score score) { return score != Score::iterations && score != Score::vectors; }

// What a constant is tuned for that is compared by this score.
TuningGoal goal_for(Score score) {
  if (!is_risk(score)) return TuningGoal::iterations_to_target;
  const bool averaged = score == Score::final_risk_averaged || score == Score::equal_vectors_averaged;
  return averaged ? TuningGoal::final_risk_averaged : TuningGoal::final_risk;
}

// An entry of the resolved configuration as text; "" where there is none.
std::string setting(const Value& config, std::string_view table, std::string_view key) {
  const Value* found = config.find(table);
  found = found != nullptr ? found->find(key) : nullptr;
  if (found == nullptr) return "";
  const auto* text = found->as<std::string>();
  return text != nullptr ? *text : found->text();
}

Index agents_of(const Record& record) {
  if (!record.networks.empty()) return record.networks.front().agents;
  const Value* graph = record.config.find("graph");
  const Value* agents = graph != nullptr ? graph->find("agents") : nullptr;
  const auto* count = agents != nullptr ? agents->as<std::int64_t>() : nullptr;
  return count != nullptr ? *count : 0;
}

MethodScore score_of(const Standing& standing, const Tuning* tuning) {
  MethodScore out;
  if (tuning != nullptr) {
    out.trials = tuning->trials;
    out.goal = tuning->goal;
    out.trial_iterations = tuning->iterations;
    out.trial_vectors = tuning->vectors;
  }
  out.runs = standing.runs;
  out.reached = standing.reached;
  out.diverged = standing.diverged;
  out.missing = standing.unfinished + standing.failed;
  const bool any = standing.runs > 0;
  out.value[Score::iterations] = any ? standing.iterations.median : unknown;
  out.value[Score::vectors] = any ? standing.vectors.median : unknown;
  out.value[Score::final_risk] = any ? standing.final_risk.median : unknown;
  out.value[Score::final_risk_averaged] = standing.final_risk_averaged.median;
  out.value[Score::equal_vectors] = unknown;
  out.value[Score::equal_vectors_averaged] = unknown;
  out.ratio.list.fill(unknown);
  out.best_ratio.list.fill(unknown);
  return out;
}

double ratio(double x, double baseline) {
  if (std::isnan(x) || std::isnan(baseline)) return unknown;
  if (std::isinf(x) && std::isinf(baseline)) return unknown;
  if (std::isinf(x) || std::isinf(baseline)) return std::isinf(x) ? never : 0;
  if (x == baseline) return 1;
  return baseline > 0 ? x / baseline : unknown;
}

// The first method that was tuned and runs with the whole of the step that was found.
const Tuning* baseline_of(const Record& record) {
  for (const auto& [method, cells] : ended_by_method(record)) {
    const Tuning* tuning = tuning_of(record, method);
    if (tuning != nullptr && tuning->factor == 1) return tuning;
  }
  return nullptr;
}

// The instance with its methods in the order of the record.
ScoreInstance instance_of(const Record& record) {
  ScoreInstance out;
  out.name = record.name;
  out.agents = agents_of(record);
  out.topology = setting(record.config, "graph", "topology");
  out.loss = setting(record.config, "problem", "loss");
  out.batch = setting(record.config, "problem", "batch");
  out.target = record.target;
  std::set<std::uint64_t> seeds;
  for (const Cell& cell : record.cells) seeds.insert(cell.seed);
  out.seeds.assign(seeds.begin(), seeds.end());
  out.floor = risk_floor(record);
  const auto standings = rank(record);
  for (const auto& [method, cells] : ended_by_method(record)) {
    const auto standing = std::ranges::find(standings, method, &Standing::method);
    out.methods.push_back(score_of(*standing, tuning_of(record, method)));
  }
  return out;
}

// A tuned method of the resolved configuration, but for its goal: those of one baseline are alike.
std::string without_goal(const Record& record, const std::string& method) {
  const Value* list = record.config.find("method");
  const auto* methods = list != nullptr ? list->as<Value::Array>() : nullptr;
  std::string out;
  if (methods == nullptr) return out;
  for (const Value& entry : *methods) {
    const Value* name = entry.find("name");
    if (name == nullptr || name->as<std::string>() == nullptr || *name->as<std::string>() != method) continue;
    for (const char* key : {"algorithm", "faults"}) {
      if (const Value* found = entry.find(key)) out += found->text() + "\n";
    }
    const Value* step = entry.find("step");
    const Value* of = step != nullptr ? step->find("of") : nullptr;
    if (of != nullptr) out += of->text();
  }
  return out;
}

// Which method is the baseline of each score.
void choose_baselines(ScoreInstance& instance, const Record& record, const std::vector<std::string>& methods,
                      const Tuning& baseline) {
  instance.has_baseline = true;
  instance.baseline = baseline;
  const std::string alike = without_goal(record, baseline.method);
  for (const auto& [score, name] : EnumNames<Score>::names) {
    instance.baselines[score] = baseline.method;
    for (const std::string& method : methods) {
      const Tuning* tuning = tuning_of(record, method);
      if (tuning == nullptr || tuning->factor != 1 || instance.fitting[score]) continue;
      if (tuning->goal != goal_for(score) || without_goal(record, method) != alike) continue;
      instance.baselines[score] = method;
      instance.fitting[score] = true;
    }
  }
}

// The medians of all methods' risks at the vectors that the baseline sent in all, on each seed. Where it diverged, the
// most that it sent on any.
void measure_at_equal_vectors(ScoreInstance& instance, const Record& record) {
  const auto by_method = ended_by_method(record);
  for (const auto& [score, member] : {std::pair(Score::equal_vectors, &Point::excess_risk),
                                      std::pair(Score::equal_vectors_averaged, &Point::excess_risk_averaged)}) {
    std::map<std::uint64_t, Index> sent;
    Index most = -1;
    for (const auto& [method, cells] : by_method) {
      if (method != instance.baselines[score]) continue;
      for (const Cell* cell : cells) {
        if (cell->points.empty()) continue;
        most = std::max(most, cell->points.back().vectors);
        if (cell->status != Status::diverged) sent[cell->seed] = cell->points.back().vectors;
      }
    }
    if (most < 0) continue;
    for (std::size_t m = 0; m < by_method.size(); ++m) {
      std::vector<double> risks;
      bool recorded = false;
      for (const Cell* cell : by_method[m].second) {
        const Index vectors = sent.contains(cell->seed) ? sent[cell->seed] : most;
        double risk = unknown;
        for (const Point& point : cell->points) {
          if (point.vectors <= vectors) risk = point.*member;
        }
        recorded = recorded || !std::isnan(risk);
        risks.push_back(cell->status == Status::diverged ? never : risk);
      }
      instance.methods[m].value[score] = recorded ? spread(risks).median : unknown;
    }
  }
}

void compare(ScoreInstance& instance, const std::vector<std::string>& methods) {
  for (const auto& [score, name] : EnumNames<Score>::names) {
    const auto base = static_cast<std::size_t>(std::ranges::find(methods, instance.baselines[score]) - methods.begin());
    double best = never;
    for (std::size_t m = 0; m < methods.size(); ++m) {
      const double cost = instance.cost(m, score);
      if (instance.methods[m].trials > 0 && cost < best) best = cost;
    }
    for (std::size_t m = 0; m < methods.size(); ++m) {
      instance.methods[m].ratio[score] = ratio(instance.cost(m, score), instance.cost(base, score));
      instance.methods[m].best_ratio[score] = ratio(instance.cost(m, score), best);
    }
  }
}

// A method that an instance lacks.
MethodScore absent() {
  MethodScore out;
  out.value.list.fill(unknown);
  out.ratio.list.fill(unknown);
  out.best_ratio.list.fill(unknown);
  return out;
}

ScoreSummary summary_of(const std::vector<ScoreInstance>& instances, std::size_t method, Score score,
                        PerScore<double> MethodScore::*ratios) {
  ScoreSummary out;
  out.worst = unknown;
  double logs = 0;
  for (const ScoreInstance& instance : instances) {
    const double ratio = (instance.methods[method].*ratios)[score];
    if (std::isnan(ratio)) continue;
    ++out.comparable;
    for (std::size_t b = 0; b < out.within.size(); ++b) out.within[b] += ratio <= ScoreSummary::bounds[b] ? 1 : 0;
    if (!(ratio <= out.worst)) {
      out.worst = ratio;
      out.worst_instance = instance.name;
    }
    if (!(ratio > 0) || std::isinf(ratio)) continue;
    ++out.averaged;
    logs += std::log(ratio);
  }
  out.mean = out.averaged > 0 ? std::exp(logs / static_cast<double>(out.averaged)) : unknown;
  return out;
}

MethodSummary summary_of(const Scoreboard& board, std::size_t method) {
  MethodSummary out;
  out.method = board.methods[method];
  for (const ScoreInstance& instance : board.instances) {
    const MethodScore& score = instance.methods[method];
    out.instances += score.runs > 0 ? 1 : 0;
    out.solved += std::isfinite(score.value[Score::iterations]) ? 1 : 0;
    out.runs += score.runs;
    out.diverged += score.diverged;
    out.trials += score.trials;
    out.trial_iterations += score.trial_iterations;
    out.trial_vectors += score.trial_vectors;
  }
  for (const auto& [score, name] : EnumNames<Score>::names) {
    out.scores[score] = summary_of(board.instances, method, score, &MethodScore::ratio);
    out.best[score] = summary_of(board.instances, method, score, &MethodScore::best_ratio);
  }
  return out;
}

// The smallest of any method; infinite if none has one.
double smallest_cost(const ScoreInstance& instance, Score score) {
  double best = never;
  for (std::size_t m = 0; m < instance.methods.size(); ++m) {
    const double cost = instance.cost(m, score);
    if (cost < best) best = cost;
  }
  return best;
}

// On how many instances a method has a cost, negative, and the geometric mean of these relative to the smallest of any
// method: smaller is better.
using OwnCost = std::pair<Index, double>;
OwnCost own_cost(const Scoreboard& board, std::size_t method, Score score) {
  Index count = 0;
  double logs = 0;
  for (const ScoreInstance& instance : board.instances) {
    const double r = ratio(instance.cost(method, score), smallest_cost(instance, score));
    if (!std::isfinite(r)) continue;
    ++count;
    logs += std::log(r);
  }
  return {-count, count > 0 ? logs / static_cast<double>(count) : never};
}

// Methods that run with shares of one constant were each charged its search, which ran once.
double seconds_of(const Record& record) {
  double seconds = 0;
  for (const Cell& cell : record.cells) seconds += cell.points.empty() ? 0 : cell.points.back().seconds;
  std::set<std::pair<double, double>> searches;
  for (const Tuning& tuning : record.tunings) searches.emplace(tuning.value, tuning.seconds);
  for (const auto& [value, of_search] : searches) seconds += of_search;
  return seconds;
}

// All that was said, once; of dates the first and the last tell all.
std::string joined(const std::string& name, const std::set<std::string>& texts) {
  if (name == "date") return *texts.begin() + (texts.size() > 1 ? " to " + *texts.rbegin() : "");
  std::string out;
  for (const auto& text : texts) out += (out.empty() ? "" : "; ") + text;
  return out;
}

}  // namespace

double ScoreInstance::cost(std::size_t method, Score score) const {
  const double x = methods[method].value[score];
  return is_risk(score) && x < floor ? floor : x;
}

void ScoreboardMaker::add(const Record& record) {
  std::vector<std::string> methods;
  for (const auto& [method, cells] : ended_by_method(record)) {
    methods.push_back(method);
    if (std::ranges::count(board_.methods, method) == 0) board_.methods.push_back(method);
  }
  board_.instances.push_back(instance_of(record));
  if (const Tuning* baseline = baseline_of(record)) {
    choose_baselines(board_.instances.back(), record, methods, *baseline);
    measure_at_equal_vectors(board_.instances.back(), record);
    compare(board_.instances.back(), methods);
  }
  methods_.push_back(std::move(methods));
  board_.seconds += seconds_of(record);
  for (const auto& [name, text] : record.provenance) {
    auto place = std::ranges::find(
        provenance_, name, [](const auto& entry) -> const auto& { return entry.first; });
    if (place == provenance_.end()) place = provenance_.insert(provenance_.end(), {name, {}});
    place->second.insert(text);
  }
}

Scoreboard ScoreboardMaker::scoreboard() const {
  Scoreboard board = board_;
  for (std::size_t i = 0; i < board.instances.size(); ++i) {
    std::vector<MethodScore> aligned(board.methods.size(), absent());
    for (std::size_t m = 0; m < methods_[i].size(); ++m) {
      const auto place = std::ranges::find(board.methods, methods_[i][m]) - board.methods.begin();
      aligned[place] = board.instances[i].methods[m];
    }
    board.instances[i].methods = std::move(aligned);
  }
  for (std::size_t m = 0; m < board.methods.size(); ++m) board.summaries.push_back(summary_of(board, m));
  for (const auto& [name, texts] : provenance_) board.provenance.emplace_back(name, joined(name, texts));
  return board;
}

std::vector<std::size_t> ranked(const Scoreboard& board) {
  using Key = std::tuple<Index, Index, double, OwnCost, OwnCost>;
  std::vector<Key> keys;
  for (std::size_t m = 0; m < board.methods.size(); ++m) {
    const ScoreSummary& iterations = board.summaries[m].scores[Score::iterations];
    keys.emplace_back(-board.summaries[m].solved, -iterations.averaged,
                      std::isnan(iterations.mean) ? never : iterations.mean, own_cost(board, m, Score::iterations),
                      own_cost(board, m, Score::final_risk));
  }
  std::vector<std::size_t> order(board.methods.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t m) { return keys[m]; });
  return order;
}

bool baseline_never_solves(const Scoreboard& board) {
  bool any = false;
  for (const ScoreInstance& instance : board.instances) {
    if (!instance.has_baseline) continue;
    const auto base = std::ranges::find(board.methods, instance.baselines[Score::iterations]) - board.methods.begin();
    if (std::isfinite(instance.methods[base].value[Score::iterations])) return false;
    any = true;
  }
  return any;
}

Profiles performance_profiles(const Scoreboard& board, Score score) {
  Profiles out;
  out.ratios.resize(board.methods.size());
  for (const ScoreInstance& instance : board.instances) {
    const double best = smallest_cost(instance, score);
    if (std::isinf(best)) continue;
    ++out.instances;
    for (std::size_t m = 0; m < board.methods.size(); ++m) {
      const double r = ratio(instance.cost(m, score), best);
      if (std::isfinite(r)) out.ratios[m].push_back(r);
    }
  }
  for (auto& ratios : out.ratios) std::ranges::sort(ratios);
  return out;
}

}  // namespace polyhop
