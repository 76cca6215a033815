// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "polyhop/core/words.hpp"
#include "polyhop/report/ranking.hpp"
#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

constexpr std::chrono::milliseconds between_redraws(100);

}  // namespace

StatusLine::StatusLine() : width_(isatty(STDERR_FILENO) != 0 ? error_width() : 0) {}

void StatusLine::show(const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& piece : pieces) {
    if (in_place() && !text.empty() && display_width(text + piece) >= width_) break;
    text += piece;
  }
  // The last column stays empty: some terminals move to the next line when it is filled.
  tell(in_place() ? "\r\033[K" + shortened(text, width_ - 1) : text + "\n");
  drawn_ = in_place();
}

void StatusLine::leave() {
  if (drawn_) tell("\n");
  drawn_ = false;
}

void StatusLine::clear() {
  if (drawn_) tell("\r\033[K");
  drawn_ = false;
}

Progress::Progress(bool quiet, Index iterations, Index total, std::string label, Now now)
    : quiet_(quiet || (!label.empty() && isatty(STDERR_FILENO) == 0)),
      iterations_(static_cast<double>(std::max<Index>(1, iterations))),
      label_(label.empty() ? "" : std::move(label) + "  "),
      total_(total),
      now_(std::move(now)) {}

double Progress::share() const {
  if (total_ == 0) return 0;
  double done = static_cast<double>(finished_);
  // Plain lines come when runs end, and count those alone.
  if (line_.in_place()) {
    for (const auto& [cell, part] : running_) done += part;
  }
  return std::min(1.0, done / static_cast<double>(total_));
}

void Progress::search(const std::string& method) {
  has_begun_ = false;
  if (method == searched_) return;
  searched_ = method;
  first_tried_ = -1;
}

void Progress::trial(const std::string& method, Index tried, Index budget) {
  search(method);
  // Searches have no tenths that would all come: elsewhere, a line now and then.
  if (!line_.in_place() && now_() - shown_ < std::chrono::seconds(1)) return;
  show_search({": " + count_of(tried, "step") + " tried", fmt::format(", at most {}", budget)},
              static_cast<double>(tried), budget);
}

void Progress::trial_point(const std::string& method, const TrialPoint& at, Index budget) {
  search(method);
  const double tried = static_cast<double>(at.number - 1) + at.part;
  if (first_tried_ < 0) {
    first_tried_ = tried;
    begin_ = now_();
  }
  // Elsewhere, only when a step takes long.
  if (now_() - shown_ < (line_.in_place() ? between_redraws : std::chrono::seconds(10))) return;
  show_search({fmt::format(": step {} of at most {}", at.number, budget), fmt::format(" ({:.3g})", at.step),
               fmt::format(", seed {}: {:.0f}%", at.seed, std::floor(100 * at.part))},
              tried, budget);
}

void Progress::show_search(std::vector<std::string> pieces, double tried, Index budget) {
  if (quiet_) return;
  const auto now = now_();
  shown_ = now;
  pieces.front() = label_ + "tuning " + printable(searched_) + pieces.front();
  const double left = static_cast<double>(budget) - tried;
  if (first_tried_ >= 0 && tried > first_tried_ && left > 0) {
    const double passed = std::chrono::duration<double>(now - begin_).count();
    pieces.push_back(", up to " + duration_text(passed / (tried - first_tried_) * left) + " left");
  }
  line_.show(pieces);
}

// What is left is judged by the runs alone, not by the searches before them.
void Progress::begin() {
  if (has_begun_) return;
  begin_ = now_();
  has_begun_ = true;
  searched_.clear();
}

void Progress::found(Index finished, Index total) {
  finished_ = finished;
  total_ = total;
}

void Progress::point(const Cell& cell) {
  begin();
  const double part = static_cast<double>(cell.points.back().iteration) / iterations_;
  // Where a run is when it is first heard of, it may have been before.
  const auto [at, is_new] = running_.try_emplace({cell.method, cell.seed}, part);
  if (!is_new) gained_ += part - std::exchange(at->second, part);
  show(cell, false);
}

void Progress::cell(const Cell& cell, Index finished, Index total) {
  const auto at = running_.find({cell.method, cell.seed});
  gained_ += at == running_.end() ? 1 : 1 - at->second;
  if (at != running_.end()) running_.erase(at);
  finished_ = finished;
  total_ = total;
  show(cell, true);
}

void Progress::show(const Cell& cell, bool ended) {
  if (quiet_) return;
  const auto now = now_();
  const bool is_last = ended && finished_ == total_;
  if (line_.in_place() && !ended && now - shown_ < between_redraws) return;
  const double part = std::max(told_, share());  // runs that were interrupted no longer count, which is no step back
  if (!line_.in_place() && !is_last && (!ended || part < told_ + 0.1 - 1e-9)) return;
  shown_ = now;
  told_ = part;
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  // Rounded down: 100% is when all is done.
  std::vector<std::string> pieces = {fmt::format("{}{:3.0f}%", label_, std::floor(100 * part)),
                                     fmt::format("  {}/{} runs", finished_, total_)};
  if (gained_ > 0 && part > 0 && part < 1) {
    pieces.push_back(", " + duration_text(elapsed * (1 - part) * static_cast<double>(total_) / gained_) + " left");
  }
  pieces.push_back(fmt::format("  {} seed {}", printable(cell.method), cell.seed));
  if (ended) pieces.back() += ": " + name_of(cell.status);
  if (!cell.points.empty()) {
    pieces.push_back(fmt::format("{}iteration {}", ended ? " at " : ": ", cell.points.back().iteration));
    pieces.push_back(", excess risk " + risk_text(cell.points.back().excess_risk, shown_floor(std::span(&cell, 1)), 3));
  }
  line_.show(pieces);
}

void Progress::note(const std::string& text) {
  line_.clear();
  tell(paragraph(text, error_width()));
}

void Progress::end() {
  if (label_.empty()) {
    line_.leave();
  } else {
    line_.clear();
  }
}

}  // namespace polyhop::app
