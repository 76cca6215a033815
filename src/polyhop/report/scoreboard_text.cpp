// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/scoreboard_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "polyhop/core/words.hpp"
#include "polyhop/report/text_table.hpp"

namespace polyhop {
namespace {

// A ratio to the baseline; "+" where the baseline never got there, "-" where the method did not.
std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio)) return "-";
  if (ratio == 0) return "+";
  return ratio < 1000 ? significant(ratio, 3) : ratio < 1e6 ? number(ratio, 3) : significant(ratio, 2);
}

std::string part_of(Index part, Index whole) { return fmt::format("{}/{}", part, whole); }

// A geometric mean, and of how many instances where those are not all. Where they are few, often the easy ones, the
// mean itself is in brackets; where they are fewer than half, it is left out.
std::string mean_text(const ScoreSummary& s, Index instances) {
  if (s.averaged == 0) return "-";
  if (s.averaged == instances) return ratio_text(s.mean);
  const std::string of = part_of(s.averaged, instances);
  if (2 * s.averaged < instances) return "- (" + of + ")";
  if (5 * s.averaged < 4 * instances) return "(" + ratio_text(s.mean) + ") " + of;
  return ratio_text(s.mean) + " (" + of + ")";
}

// Of all instances: one where a method did not run, or nobody got there, is not within anything.
std::string within_text(const ScoreSummary& s, std::size_t bound, Index instances) {
  return s.comparable == 0 ? "-" : part_of(s.within[bound], instances);
}

std::string worst_text(const ScoreSummary& s) {
  if (s.comparable == 0) return "-";
  return (std::isinf(s.worst) ? "never" : ratio_text(s.worst)) + " on " + s.worst_instance;
}

// The names of baselines, which most often is one.
std::string baselines(const Scoreboard& board) {
  std::set<std::string> names;
  for (const ScoreInstance& instance : board.instances) {
    if (instance.has_baseline) names.insert(instance.baseline.method);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string seeds_text(const std::vector<std::uint64_t>& seeds) {
  if (seeds.size() > 2 && seeds.back() - seeds.front() == seeds.size() - 1) {
    return fmt::format("{}..{}", seeds.front(), seeds.back());
  }
  return fmt::format("{}", fmt::join(seeds, ", "));
}

/// Rows of cells under headers, however they are then written.
struct Grid {
  std::vector<TextTable::Column> columns;
  std::vector<std::vector<std::string>> rows;
};

std::string plain(const Grid& grid, Index width, bool color, bool best_first) {
  TextTable table(grid.columns);
  for (const auto& row : grid.rows) {
    const bool is_best = best_first && table.rows() == 0;
    table.add(row, is_best ? std::make_optional(Ink::good) : std::nullopt);
  }
  return table.text(width, color);
}

// A text from outside that means nothing to Markdown.
std::string in_markdown(std::string_view text) {
  constexpr std::string_view special = "\\`*_{}[]<>#|~";
  std::string out;
  for (const char c : printable(text)) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string markdown(const Grid& grid) {
  std::string head = "|", rule = "|", body;
  for (const auto& column : grid.columns) {
    head += " " + in_markdown(column.header) + " |";
    rule += column.align == TextTable::Align::right ? "---:|" : "---|";
  }
  for (const auto& row : grid.rows) {
    body += "|";
    for (const auto& cell : row) body += " " + in_markdown(cell) + " |";
    body += "\n";
  }
  return head + "\n" + rule + "\n" + body + "\n";
}

constexpr auto left = TextTable::Align::left;
constexpr auto right = TextTable::Align::right;

Grid summary_grid(const Scoreboard& board) {
  Grid grid{{{"method", left},
             {"ran", right},
             {"iterations", right},
             {"vectors", right},
             {"final risk", right},
             {"averaged", right},
             {"within 1.05", right},
             {"within 1.5", right},
             {"within 3", right},
             {"solved", right},
             {"diverged", right},
             {"trial runs", right},
             {"worst", left}},
            {}};
  const auto all = std::ssize(board.instances);
  for (const std::size_t m : ranked(board)) {
    const MethodSummary& s = board.summaries[m];
    const ScoreSummary& iterations = s.scores[Score::iterations];
    const auto mean = [&](Score score) { return mean_text(s.scores[score], all); };
    grid.rows.push_back({s.method, part_of(s.instances, all), mean(Score::iterations), mean(Score::vectors),
                         mean(Score::final_risk), mean(Score::final_risk_averaged), within_text(iterations, 0, all),
                         within_text(iterations, 1, all), within_text(iterations, 2, all), part_of(s.solved, all),
                         part_of(s.diverged, s.runs), s.trials > 0 ? amount(static_cast<double>(s.trials)) : "-",
                         worst_text(iterations)});
  }
  return grid;
}

// On how many instances a method is at most 1.05 times the best of all tuned methods.
Grid best_grid(const Scoreboard& board) {
  Grid grid{{{"method", left},
             {"iterations", right},
             {"vectors", right},
             {"final risk", right},
             {"averaged", right},
             {"equal vectors", right},
             {"averaged", right}},
            {}};
  for (const std::size_t m : ranked(board)) {
    std::vector<std::string> row = {board.summaries[m].method};
    for (const auto& [score, name] : EnumNames<Score>::names) {
      row.push_back(within_text(board.summaries[m].best[score], 0, std::ssize(board.instances)));
    }
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

// Where a score has no baseline that was tuned for it.
std::string goal_note(const Scoreboard& board, Score score) {
  std::vector<std::string> others;
  for (const ScoreInstance& instance : board.instances) {
    if (instance.has_baseline && !instance.fitting[score]) others.push_back(in_markdown(instance.name));
  }
  if (others.empty()) return " Baselines were tuned for exactly this.";
  if (others.size() == board.instances.size()) return " No baseline was tuned for this.";
  return fmt::format(" The baseline was tuned for something else on {}.", fmt::join(others, ", "));
}

// What stands in a table of instances x methods, the best method first, and below it. The text is that of an instance
// and one of its methods.
template <class Text>
Grid instances_by_methods(const Scoreboard& board, const Text& text) {
  Grid grid{{{"instance", left}}, {}};
  const std::vector<std::size_t> order = ranked(board);
  for (const std::size_t m : order) grid.columns.push_back({board.methods[m], right});
  for (const ScoreInstance& instance : board.instances) {
    std::vector<std::string> row = {instance.name};
    for (const std::size_t m : order) row.push_back(text(instance, m));
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

template <class Text>
void add_summary_row(Grid& grid, const Scoreboard& board, const std::string& title, Score score, const Text& text) {
  std::vector<std::string> row = {title};
  for (const std::size_t m : ranked(board)) row.push_back(text(board.summaries[m].scores[score]));
  grid.rows.push_back(std::move(row));
}

Grid ratio_grid(const Scoreboard& board, Score score) {
  Grid grid = instances_by_methods(board, [&](const ScoreInstance& instance, std::size_t m) {
    const MethodScore& s = instance.methods[m];
    const bool is_lost = board.methods[m] == instance.baselines[score] && std::isinf(s.value[score]);
    return is_lost ? "never" : ratio_text(s.ratio[score]);
  });
  add_summary_row(grid, board, "geometric mean", score,
                  [&](const ScoreSummary& s) { return mean_text(s, std::ssize(board.instances)); });
  for (std::size_t b = 0; b < ScoreSummary::bounds.size(); ++b) {
    add_summary_row(grid, board, "within " + shortest(ScoreSummary::bounds[b]), score,
                    [&](const ScoreSummary& s) { return within_text(s, b, std::ssize(board.instances)); });
  }
  add_summary_row(grid, board, "worst", score, [](const ScoreSummary& s) {
    return s.comparable > 0 && std::isinf(s.worst) ? std::string("never") : ratio_text(s.worst);
  });
  return grid;
}

Grid diverged_grid(const Scoreboard& board) {
  return instances_by_methods(board, [](const ScoreInstance& instance, std::size_t m) {
    const MethodScore& s = instance.methods[m];
    return s.runs > 0 ? part_of(s.diverged, s.runs) : "-";
  });
}

Grid instance_grid(const Scoreboard& board) {
  Grid grid{{{"instance", left},
             {"K", right},
             {"topology", left},
             {"loss", left},
             {"batch", right},
             {"target", right},
             {"seeds", right},
             {"step found", right},
             {"goal", left},
             {"trial runs", right},
             {"their iterations", right},
             {"their vectors", right}},
            {}};
  for (const ScoreInstance& i : board.instances) {
    const auto searched = [&](double x) { return i.has_baseline ? amount(x) : "-"; };
    grid.rows.push_back(
        {i.name, std::to_string(i.agents), i.topology, i.loss, i.batch, significant(i.target, 3), seeds_text(i.seeds),
         i.has_baseline ? significant(i.baseline.value, 3) : "-", i.has_baseline ? name_of(i.baseline.goal) : "-",
         searched(static_cast<double>(i.baseline.trials)), searched(static_cast<double>(i.baseline.iterations)),
         searched(static_cast<double>(i.baseline.vectors))});
  }
  return grid;
}

struct Title {
  Score score;
  std::string_view text;
  std::string_view note;
};
constexpr std::array<Title, scores> titles = {
    {{Score::iterations, "Iterations to the target", "Until the excess risk, averaged over agents, is at the target."},
     {Score::vectors, "Vectors to the target",
      "All that agents send each other until then, what the step sizes take among it. The search for the constant is "
      "not: the table of instances has it."},
     {Score::final_risk, "Final excess risk", "Of the last iterates."},
     {Score::final_risk_averaged, "Final excess risk, averaged iterates",
      "Of the averages over all iterations, a method's against the baseline's."},
     {Score::equal_vectors, "Excess risk at equal vectors",
      "Of the last iterates, when a method has sent as many vectors as the baseline in its whole run."},
     {Score::equal_vectors_averaged, "Excess risk at equal vectors, averaged iterates", "The same of the averages."}}};

// Where round-off decides and ratios are of floors.
std::string floor_note(const Scoreboard& board, Score score) {
  std::vector<std::string> raised;
  for (const ScoreInstance& instance : board.instances) {
    const bool any =
        std::ranges::any_of(instance.methods, [&](const MethodScore& s) { return s.value[score] < instance.floor; });
    if (any) raised.push_back(in_markdown(instance.name));
  }
  if (raised.empty()) return "";
  return fmt::format(
      " Excess risks below 1e-13 of the risk at the start, or below the accuracy of the reference, are raised to that: "
      "some on {}.",
      fmt::join(raised, ", "));
}

std::string missing_note(const Scoreboard& board) {
  std::vector<std::string> lacking;
  for (const ScoreInstance& instance : board.instances) {
    Index missing = 0;
    for (const MethodScore& score : instance.methods) missing += score.missing;
    if (missing > 0) {
      lacking.push_back(fmt::format("{} ({})", in_markdown(instance.name), count_of(missing, "run")));
    }
  }
  return lacking.empty() ? "" : fmt::format("Not finished: {}.\n\n", fmt::join(lacking, ", "));
}

std::string figure_link(Score score, std::string_view what) {
  const std::string name = name_of(score);
  return fmt::format("![share of instances solved within tau times the best, by {}](figures/scoreboard-{}.svg)\n\n",
                     what, name);
}

std::string provenance(const Scoreboard& board, const std::string& command) {
  std::string out = "## Where it comes from\n\n";
  if (!command.empty()) out += "    " + printable(command) + "\n\n";
  out += "makes it; nothing here is typed by hand.\n\n| | |\n|---|---|\n";
  for (const auto& [name, text] : board.provenance)
    out += "| " + in_markdown(name) + " | " + in_markdown(text) + " |\n";
  return out + "| time inside iterations | " + duration_text(board.seconds) + ", searches included |\n";
}

}  // namespace

std::string scoreboard_headline(const Scoreboard& board) {
  std::set<std::size_t> seeds;
  for (const ScoreInstance& instance : board.instances) seeds.insert(instance.seeds.size());
  std::string text =
      count_of(std::ssize(board.instances), "instance") + ", " + count_of(std::ssize(board.methods), "method");
  if (!seeds.empty()) {
    text += *seeds.begin() == *seeds.rbegin() ? ", " + count_of(static_cast<Index>(*seeds.begin()), "seed")
                                              : fmt::format(", {} to {} seeds", *seeds.begin(), *seeds.rbegin());
  }
  const std::string names = baselines(board);
  if (names.empty()) return text + "; no method was tuned, so there is nothing to compare with";
  text += "; medians over seeds, relative to the best constant step (" + printable(names) + ")";
  return text + (baseline_never_solves(board)
                     ? ", which never reached the target; most solved first, then fewest iterations, then lowest risk"
                     : "");
}

constexpr std::string_view how_to_read =
    "Ratios to that step (below 1 is better): geometric means, with the number of instances in brackets; where those "
    "are fewer than four in five, the mean is in brackets, as it says little. -: there is no ratio, or on fewer than "
    "half of the instances, as the method or the step never got there; +: the method did, the step did not. Each score "
    "is compared with the step that was "
    "tuned for it, where there is one. "
    "Within 1.05: the number of instances on which it took at most 1.05 times the iterations. Solved: where most of "
    "its runs reached the target. Worst: its largest ratio.";

std::string scoreboard_text(const Scoreboard& board, Index width, bool color) {
  return plain(summary_grid(board), width, color, true) + "\n" + paragraph(how_to_read, width) +
         "\nIterations to the target:\n\n" + plain(ratio_grid(board, Score::iterations), width, color, false);
}

std::string scoreboard_markdown(const Scoreboard& board, const MarkdownOptions& options) {
  std::string out = "# Scoreboard\n\n" + in_markdown(scoreboard_headline(board)) + ".\n\n";
  out +=
      "Every number is a ratio: a method's median over seeds to that of the baseline, the constant step that a search "
      "found best on seeds that are not reported here. Below 1 is better than the tuned constant. A dash: the method "
      "never got there, in half of its runs or more. A plus: it did, and the baseline did not.\n\n";
  out += "## Over all instances\n\n" + markdown(summary_grid(board));
  out +=
      "Instances on which a method ran; geometric means, with how many instances they are over where some have no "
      "ratio, themselves in brackets where fewer than four in five have one, and a dash where fewer than half have "
      "one; "
      "instances within 1.05, 1.5 and 3 times the baseline's "
      "iterations; instances where most runs reached the target; runs that diverged; runs that the searches for "
      "constants took, which no ratio counts; the largest ratio of iterations. Most solved first.\n\n";
  out += "## Against the best of all tuned methods\n\n" + markdown(best_grid(board));
  out +=
      "Instances on which a method is at most 1.05 times the best of all methods that were tuned there, whatever their "
      "algorithms: by iterations and vectors to the target, by the final excess risk of last and averaged iterates, "
      "and "
      "by the same at equal vectors.\n\n";
  out += missing_note(board);
  if (options.figures) {
    out += figure_link(Score::iterations, "iterations") + figure_link(Score::vectors, "vectors sent") +
           figure_link(Score::final_risk_averaged, "final excess risk of the averaged iterates") +
           "Performance profiles (Dolan and Mor\u00e9 2002): the share of instances that a method solves within tau "
           "times the cost of the best method there.\n\n";
  }
  out += "## Instances\n\n" + markdown(instance_grid(board));
  out +=
      "The step is that of the baseline, the best for its goal. Its search ran on other seeds; all its trial runs are "
      "counted here and "
      "nowhere "
      "else.\n\n";
  for (const Title& title : titles) {
    out += fmt::format("## {}\n\n", title.text) + markdown(ratio_grid(board, title.score));
    const bool risk = title.score != Score::iterations && title.score != Score::vectors;
    out +=
        std::string(title.note) + goal_note(board, title.score) + (risk ? floor_note(board, title.score) : "") + "\n\n";
  }
  Index diverged = 0;
  for (const MethodSummary& s : board.summaries) diverged += s.diverged;
  out += "## Diverged runs\n\n" + (diverged > 0 ? markdown(diverged_grid(board)) : "None.\n\n");
  return out + provenance(board, options.command);
}

}  // namespace polyhop
