// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "run_many.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "commands.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/words.hpp"
#include "polyhop/experiment/load.hpp"
#include "polyhop/experiment/store.hpp"
#include "polyhop/report/scoreboard.hpp"
#include "polyhop/report/text_table.hpp"
#include "scoreboard_output.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& name) {
  std::error_code ignored;
  return fs::is_directory(name, ignored);
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (auto entry = fs::directory_iterator(folder, failed); !failed && entry != fs::directory_iterator();
       entry.increment(failed)) {
    const fs::path& path = entry->path();
    if (path.extension() == ".toml" && !path.filename().string().starts_with('_')) files.push_back(path.string());
  }
  if (failed) throw InputError("", "cannot be read: " + failed.message(), 0, folder);
  if (files.empty() && fs::exists(Store::file_in(folder), failed)) {
    throw InputError("", "holds results; `polyhop report " + folder + "` shows them", 0, folder);
  }
  if (files.empty())
    throw InputError("", "holds no experiment, a file *.toml whose name does not begin with _", 0, folder);
  std::ranges::sort(files);
  return files;
}

struct Experiment {
  std::string file;
  Config config;
  fs::path folder;
};

fs::path output_folder(const RunArguments& arguments) {
  if (arguments.output) return *arguments.output;
  if (arguments.files.size() > 1) return "out";
  return "out" / fs::canonical(arguments.files.front()).filename();
}

std::vector<Experiment> read_all(const RunArguments& arguments, const fs::path& output) {
  std::vector<Experiment> experiments;
  std::map<std::string, std::string> file_of;
  for (const std::string& name : arguments.files) {
    for (const std::string& file : is_folder(name) ? files_in(name) : std::vector<std::string>{name}) {
      Config config = read_config_file(file, arguments.settings, *arguments.registry);
      const std::string& called = config.options.name;
      const auto [same, is_new] = file_of.try_emplace(called, file);
      if (!is_new) {
        throw InputError("name", in_quotes(called) + " is also the name of " + same->second + "; each needs its own", 0,
                         file);
      }
      const fs::path folder = output / folder_name(called, file);
      experiments.push_back({file, std::move(config), folder});
    }
  }
  return experiments;
}

// Says what became of each experiment, a line each, and remembers what went wrong until the end.
class Log {
 public:
  Log(const RunArguments& arguments, const std::vector<Experiment>& experiments)
      : quiet_(arguments.quiet), total_(experiments.size()) {
    for (const auto& e : experiments) {
      width_ = std::max(width_, display_width(printable(e.config.options.name)));
    }
  }

  /// The prefix of all messages about the current experiment.
  std::string begin(const std::string& name) {
    ++number_;
    const std::string shown = printable(name);
    const auto fill = static_cast<std::size_t>(width_ - display_width(shown));
    begun_ = std::chrono::steady_clock::now();
    return line_ = fmt::format("[{:{}}/{}] {}{}", number_, std::to_string(total_).size(), total_, shown,
                               std::string(fill, ' '));
  }

  void ended(const Record& record) {
    Index finished = 0;
    for (const Cell& cell : record.cells) {
      finished += cell.status != Status::unfinished && cell.status != Status::failed ? 1 : 0;
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
    const auto all = static_cast<Index>(record.cells.size());
    if (all == 0) {
      say("stopped while searching for a constant");
    } else if (finished < all) {
      say(fmt::format("{} of {} in {}", finished, count_of(all, "run"), duration_text(seconds)));
    } else {
      say(fmt::format("{} in {}", count_of(all, "run"), duration_text(seconds)));
    }
  }

  void failed(const std::string& file, const std::string& message) {
    say("failed");
    failures_.push_back("polyhop: failed: " + printable(file) + ": " + printable(message) + "\n");
  }

  void tell_failures() const {
    for (const auto& text : failures_) tell(text);
  }

 private:
  void say(const std::string& what) const {
    if (!quiet_) tell(line_ + "  " + what + "\n");
  }
  bool quiet_;
  std::size_t total_;
  std::size_t number_ = 0;
  Index width_ = 0;
  std::string line_;
  std::vector<std::string> failures_;
  std::chrono::steady_clock::time_point begun_;
};

int worse(int a, int b) {
  if (a == internal_error || b == internal_error) return internal_error;
  return std::max(a, b);
}

// Runs one experiment; an error is printed and remembered for the exit code.
int run_next(const Experiment& e, const RunArguments& arguments, Team& team, Log& log, std::vector<Record>& failed) {
  const std::string label = log.begin(e.config.options.name);
  Progress progress(arguments.quiet, e.config.options.iterations,
                    static_cast<Index>(e.config.methods.size() * e.config.options.seeds.list.size()), label);
  try {
    Record record = run_experiment(e.config, e.folder, arguments, progress, team).record;
    log.ended(record);
    const bool any = std::ranges::any_of(record.cells, [](const Cell& c) { return c.status == Status::failed; });
    if (any) failed.push_back(std::move(record));
    return done;
  } catch (const LostPeer&) {
    throw;
  } catch (const InputError& error) {
    progress.end();
    log.failed(e.file, error.what());
    return bad_input;
  } catch (const std::exception& error) {
    progress.end();
    log.failed(e.file, error.what());
    return internal_error;
  }
}

// The command that makes all this again, wherever its output goes.
std::string command_of(const RunArguments& arguments) {
  const auto quoted = [](const std::string& text) {
    constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./=,";
    if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
  };
  std::string out = "polyhop run";
  for (const auto& file : arguments.files) out += " " + quoted(file);
  for (const auto& setting : arguments.settings) out += " --set " + quoted(setting.text);
  return out;
}

}  // namespace

bool is_many(const RunArguments& arguments) { return arguments.files.size() > 1 || is_folder(arguments.files.front()); }

int run_many(const RunArguments& arguments) {
  Team& team = join_team(arguments.cluster);
  fs::path output;
  std::vector<Experiment> experiments;
  std::optional<ScoreboardFiles> files;
  team.together([&] {
    output = output_folder(arguments);
    experiments = read_all(arguments, output);
    if (!team.is_first()) return;
    if (fs::exists(Store::file_in(output.string()))) {
      throw InputError("-o", "'" + output.string() + "' is the folder of one experiment; choose another for many");
    }
    files.emplace(output);
  });
  std::string all;
  for (const Experiment& e : experiments) all += resolved(e.config).text() + "\n";
  agree_on(team, "set of experiments", all);

  Log log(arguments, experiments);
  std::vector<Record> failed;
  int code = done;
  std::vector<std::string> stores;
  for (const Experiment& e : experiments) {
    if (is_stopped(team, stop_signal() != 0)) break;
    code = worse(code, run_next(e, arguments, team, log, failed));
    if (team.is_first() && fs::exists(Store::file_in(e.folder.string()))) stores.push_back(e.folder.string());
  }
  if (!team.is_first()) return done;
  log.tell_failures();
  for (const Record& record : failed) code = worse(code, tell_failures(record, record.name + ": "));

  const Scoreboard board = load_scoreboard(stores);
  if (!board.instances.empty()) {
    if (board.instances.size() < experiments.size() && !arguments.json) {
      say_inked(fmt::format("Only {} of {} ran; nothing below counts the others.", board.instances.size(),
                            count_of(std::ssize(experiments), "experiment")),
                Ink::warning);
    }
    files->write(board, command_of(arguments));
    print_scoreboard(board, *files, arguments.json);
  }
  if (stop_signal() != 0 && !arguments.json) say("Stopped early; run the same command to continue.");
  flush_output();
  return ending(code);
}

}  // namespace polyhop::app
