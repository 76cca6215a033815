// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "scoreboard_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <system_error>

#include "polyhop/core/error.hpp"
#include "polyhop/core/machine.hpp"
#include "polyhop/experiment/load.hpp"
#include "polyhop/experiment/store.hpp"
#include "polyhop/report/html_scoreboard.hpp"
#include "polyhop/report/profile_figure.hpp"
#include "polyhop/report/scoreboard_export.hpp"
#include "polyhop/report/scoreboard_text.hpp"
#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {

namespace fs = std::filesystem;

ScoreboardFiles::ScoreboardFiles(const fs::path& folder) try
    : folder_(folder),
      made_(folder),
      markdown_((folder / "scoreboard.md").string()),
      page_((folder / "scoreboard.html").string()),
      csv_((folder / "scoreboard.csv").string()) {
} catch (const OutputError&) {
  throw;
} catch (const Error& e) {
  throw InputError("-o", e.what());
}

bool ScoreboardFiles::draw(const Scoreboard& board) const {
  if (!find_program("gnuplot")) return false;
  for (const Score score : profiled) {
    if (performance_profiles(board, score).instances == 0) return false;
  }
  fs::create_directories(folder_ / "figures");
  for (const Score score : profiled) {
    write_profile_figure(board, score, (folder_ / "figures" / ("scoreboard-" + name_of(score) + ".svg")).string());
  }
  return true;
}

void ScoreboardFiles::write(const Scoreboard& board, const std::string& command) {
  const bool figures = draw(board);
  markdown_.write(scoreboard_markdown(board, {command, figures}));
  markdown_.commit();
  page_.write(html_scoreboard(board, fs::weakly_canonical(folder_).filename().string()));
  page_.commit();
  csv_.write(scoreboard_csv(board));
  csv_.commit();
}

std::vector<std::string> experiments_in(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code failed;
  for (auto entry = fs::directory_iterator(folder, failed); !failed && entry != fs::directory_iterator();
       entry.increment(failed)) {
    const std::string path = entry->path().string();
    std::error_code ignored;
    if (fs::exists(Store::file_in(path), ignored)) found.push_back(path);
  }
  std::ranges::sort(found);
  return found;
}

Scoreboard load_scoreboard(const std::vector<std::string>& folders) {
  ScoreboardMaker maker;
  std::vector<std::string> added;
  for (const std::string& folder : folders) {
    const Record record = load_record(folder, false);
    // A store whose experiment was stopped before its first run knows nothing yet.
    if (record.cells.empty()) continue;
    maker.add(record);
    added.push_back(fs::path(folder).filename().string());
  }
  Scoreboard board = maker.scoreboard();
  // Experiments of one name go by their folders.
  std::map<std::string, int> count;
  for (const ScoreInstance& instance : board.instances) ++count[instance.name];
  for (std::size_t n = 0; n < added.size(); ++n) {
    if (count[board.instances[n].name] > 1) board.instances[n].name = added[n];
  }
  return board;
}

void print_scoreboard(const Scoreboard& board, const ScoreboardFiles& files, bool json) {
  if (json) {
    fmt::print("{}", scoreboard_json(board));
    return;
  }
  say_inked(scoreboard_headline(board), Ink::bold);
  fmt::print("\n{}\nThe page: {}\nThe data: {}, {}\n", scoreboard_text(board, output_width(), wants_color()),
             printable(files.page()), printable(files.document()), printable(files.table()));
}

}  // namespace polyhop::app
