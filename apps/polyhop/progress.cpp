// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {
Progress::Progress(bool quiet, Index iterations, Index total, std::string label)
    : quiet_(quiet || (!label.empty() && isatty(STDERR_FILENO) == 0)),
      terminal_(isatty(STDERR_FILENO) != 0),
      iterations_(static_cast<double>(std::max<Index>(1, iterations))),
      label_(label.empty() ? "" : std::move(label) + "  "),
      total_(total) {}

double Progress::share() const {
  if (total_ == 0) return 0;
  double done = static_cast<double>(finished_);
  // Plain lines come when runs end, and count those alone.
  if (terminal_) {
    for (const auto& [cell, part] : running_) done += part;
  }
  return std::min(1.0, done / static_cast<double>(total_));
}

void Progress::trial(const std::string& method, Index tried, Index budget) {
  if (quiet_ || !terminal_) return;
  tell(fmt::format("\r\033[K{}searching the constant of {}: {} steps tried, at most {}", label_, printable(method),
                   tried, budget));
  line_ = true;
}

void Progress::point(const Cell& cell) {
  running_[{cell.method, cell.seed}] = static_cast<double>(cell.points.back().iteration) / iterations_;
  show(cell, false);
}

void Progress::cell(const Cell& cell, Index finished, Index total) {
  running_.erase({cell.method, cell.seed});
  finished_ = finished;
  total_ = total;
  if (first_finished_ < 0) first_finished_ = finished - 1;
  show(cell, true);
}

void Progress::show(const Cell& cell, bool ended) {
  if (quiet_) return;
  const auto now = std::chrono::steady_clock::now();
  constexpr auto between = std::chrono::milliseconds(100);
  if (terminal_ && !ended && now - shown_ < between) return;
  const double part = share();
  if (!terminal_ && (!ended || part < told_ + 0.1 - 1e-9)) return;
  shown_ = now;
  told_ = std::max(told_, part);
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  const double before =
      total_ == 0 ? 0 : static_cast<double>(std::max<Index>(0, first_finished_)) / static_cast<double>(total_);
  std::string left;
  if (part > before && part < 1) left = ", " + duration(elapsed * (1 - part) / (part - before)) + " left";
  std::string where = ended ? name_of(cell.status) : "";
  if (!cell.points.empty()) {
    where += fmt::format("{}iteration {}, excess risk {}", ended ? " at " : "", cell.points.back().iteration,
                         significant(cell.points.back().excess_risk, 3));
  }
  const std::string text = fmt::format("{:3.0f}%  {}/{} runs{}  {} seed {}: {}", 100 * part, finished_, total_, left,
                                       printable(cell.method), cell.seed, where);
  tell(fmt::format("{}{}{}{}", terminal_ ? "\r\033[K" : "", label_, text, terminal_ ? "" : "\n"));
  line_ = terminal_;
}

void Progress::end() {
  if (line_) tell(label_.empty() ? "\n" : "\r\033[K");
  line_ = false;
}

}  // namespace polyhop::app
