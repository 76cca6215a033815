// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop report: experiments that were run, shown again: on the terminal, as a page, as figures for a paper.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "experiment_file.hpp"
#include "json_output.hpp"
#include "memory_flag.hpp"
#include "output_path.hpp"
#include "polyhop/core/atomic_file.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/words.hpp"
#include "polyhop/experiment/load.hpp"
#include "polyhop/experiment/store.hpp"
#include "polyhop/report/figure.hpp"
#include "polyhop/report/html_report.hpp"
#include "polyhop/report/profile_figure.hpp"
#include "polyhop/report/ranking.hpp"
#include "polyhop/report/scoreboard_export.hpp"
#include "polyhop/report/summary_json.hpp"
#include "polyhop/report/text_plot.hpp"
#include "polyhop/report/text_table.hpp"
#include "scoreboard_output.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

struct ReportArguments {
  std::vector<std::string> folders;
  std::optional<std::string> output;
  std::vector<std::string> figures;
  FigureOptions figure;
  std::optional<double> height;  // without it follows from the width
  Score score = Score::iterations;
  bool no_band = false;
  bool plain = false;
  bool json = false;
  bool quiet = false;
};

// An option whose value is one of an enumeration's names.
template <class E>
void add_named(Command& command, const std::string& flag, E& value, const std::string& help) {
  const auto read = [&value](const std::string& name) { value = Codec<E>::read(Value(name)); };
  command.option(flag, read, help).suggests(Codec<E>::all());
}

// Reads a length into `cm`.
template <class Number>
std::function<void(const std::string&)> length(Number& cm) {
  return [&cm](const std::string& text) { cm = figure_length(text); };
}

// The page: what -o names, or else a file beside the store, unless only figures or JSON are wanted.
std::optional<std::string> page_file(const ReportArguments& arguments) {
  if (arguments.output || !arguments.figures.empty() || arguments.json) return arguments.output;
  if (arguments.folders.size() > 1) return "report.html";
  return (std::filesystem::path(arguments.folders.front()) / "report.html").string();
}

// The page, opened before anything is shown: where -o names a file that cannot be written, nothing is. Where that is
// beside the store, whose folder may be one to read only, `trouble` is what to say after the rest.
std::optional<AtomicFile> opened_page(const ReportArguments& arguments, std::string& trouble) {
  const auto file = page_file(arguments);
  if (arguments.output) require_folder("-o", *arguments.output);
  try {
    return file ? std::make_optional<AtomicFile>(*file) : std::nullopt;
  } catch (const OutputError&) {
    throw;
  } catch (const Error& e) {
    if (arguments.output) throw InputError("-o", e.what());
    trouble = std::string(e.what()) + "; -o FILE writes the page elsewhere";
    return {};
  }
}

// Does `work`, whose messages then name flags.
template <class F>
void naming_flags(F work) {
  try {
    work();
  } catch (const InputError& e) {
    const std::string& path = e.path();
    const bool is_flag = path == "figure" || path == "legend" || path == "bands";
    throw InputError(path == "methods" ? "--method" : is_flag ? "--" + path : path, e.message(), e.line(), e.file());
  }
}

// What --bands takes besides the names of methods.
constexpr std::array<const char*, 3> band_words = {"auto", "all", "none"};

FigureOptions figure_of(const ReportArguments& arguments) {
  FigureOptions out = arguments.figure;
  const FigureOptions usual;
  out.height = arguments.height.value_or(out.width * usual.height / usual.width);
  const bool word =
      std::ranges::any_of(out.bands, [](const std::string& name) { return std::ranges::count(band_words, name) > 0; });
  if (word && out.bands.size() > 1) {
    throw InputError("--bands", "takes auto, all or none alone; or names of methods, each with a --bands of its own");
  }
  const std::string chosen = word ? out.bands.front() : "";
  out.band = !arguments.no_band && chosen != "none";
  if (chosen == "auto" || chosen == "none") out.bands.clear();
  return out;
}

void print_record(const Record& record, const ReportArguments& arguments) {
  constexpr Index plot_height = 16;
  const Index width = output_width();
  const auto ended = std::ranges::count_if(record.cells, [](const Cell& cell) {
    return cell.status != Status::unfinished && cell.status != Status::failed;
  });
  fmt::print("{}: {} of {} ended\n", inked(printable(record.name), Ink::bold), ended,
             count_of(std::ssize(record.cells), "run"));
  fmt::print("{}\n", ranking_text(record, width, wants_color()));
  const std::string plot = text_plot(record, std::min(width, widest_plot), plot_height,
                                     {.x = arguments.figure.x, .y = arguments.figure.y, .plain = arguments.plain});
  if (!plot.empty()) fmt::print("{}\n", plot);
}

// The standard output is for JSON alone where that is asked for.
void print_written(const std::string& file, const ReportArguments& arguments) {
  if (!arguments.json && !arguments.quiet) fmt::print("Written: {}\n", printable(file));
}

// One experiment as in its summary.json, several as a list of these.
void print_summaries(const std::vector<Record>& records) {
  if (records.size() == 1) return print_json(summary(records.front()));
  Value::Array all;
  for (const Record& record : records) all.push_back(summary(record));
  print_json(all);
}

// Whether a folder holds no experiment itself but folders that do.
bool holds_many(const std::string& folder) {
  return !std::filesystem::exists(Store::file_in(folder)) && !experiments_in(folder).empty();
}

// A folder of experiments: their scoreboard again, from the stores.
int report_scoreboard(const ReportArguments& arguments) {
  if (arguments.folders.size() > 1 || arguments.output) {
    throw InputError(arguments.folders.front(),
                     "a folder of experiments is shown alone, and its files are written into it; name the " +
                         std::string("experiments in it to show them in one page"));
  }
  const std::string& folder = arguments.folders.front();
  const Scoreboard board = load_scoreboard(experiments_in(folder));
  if (board.instances.empty()) throw InputError(folder, "no experiment in it has any run");
  if (!arguments.figures.empty()) {
    for (const auto& name : arguments.figures) {
      require_folder("--figure", name);
      naming_flags([&] { write_profile_figure(board, arguments.score, name, figure_of(arguments)); });
      print_written(name, arguments);
    }
  }
  if (arguments.json) fmt::print("{}", scoreboard_json(board));
  if (arguments.json || !arguments.figures.empty()) {
    flush_output();
    return done;
  }
  ScoreboardFiles files(folder);
  files.write(board, "polyhop report " + folder);
  if (!arguments.quiet) print_scoreboard(board, files, false);
  flush_output();
  return done;
}

// Warns about flags for figures when no figure is drawn.
void tell_without_effect(const ReportArguments& arguments) {
  const FigureOptions usual;
  const FigureOptions& given = arguments.figure;
  for (const auto& [flag, is_given] : {std::pair("--method", !given.methods.empty()),
                                       {"--width", given.width != usual.width},
                                       {"--height", arguments.height.has_value()},
                                       {"--legend", given.legend != usual.legend},
                                       {"--font", given.font != usual.font || given.font_size != usual.font_size},
                                       {"--bands", !given.bands.empty()}}) {
    if (is_given) complain(std::string(flag) + " has no effect without --figure");
  }
}

// Experiments of one name go by their folders, as where the same file was run with other settings.
void tell_apart(std::vector<Record>& records, const std::vector<std::string>& folders) {
  std::map<std::string, int> count;
  for (const Record& record : records) ++count[record.name];
  for (std::size_t n = 0; n < records.size(); ++n) {
    if (count[records[n].name] > 1) records[n].name = folders[n];
  }
}

int report_command(const ReportArguments& arguments) {
  if (std::ranges::any_of(arguments.folders, holds_many)) return report_scoreboard(arguments);
  const FigureOptions figure = figure_of(arguments);
  std::vector<Record> records;
  for (const auto& folder : arguments.folders) {
    records.push_back(load_record(folder, false));
    if (records.back().cells.empty()) {
      throw InputError(folder,
                       "has no runs yet: it was stopped before the first, as in the search for a constant; "
                       "`polyhop run` with its file continues it");
    }
  }
  if (!arguments.json) tell_apart(records, arguments.folders);
  naming_flags([&] { require_methods(records, figure.methods); });
  if (arguments.figures.empty()) tell_without_effect(arguments);
  std::string trouble;
  auto page = opened_page(arguments, trouble);
  // Before anything is printed, so that an error in a figure does not come after a page of text.
  for (const auto& name : arguments.figures) {
    require_folder("--figure", name);
    naming_flags([&] { write_figure(records, figure, name); });
  }

  if (arguments.json) {
    print_summaries(records);
  } else if (!arguments.quiet) {
    for (const Record& record : records) print_record(record, arguments);
  }
  for (const auto& name : arguments.figures) print_written(name, arguments);
  if (page) {
    page->write(html_report(records));
    page->commit();
    print_written(page->path(), arguments);
  }
  flush_output();
  if (!trouble.empty()) throw InputError("", trouble);
  return done;
}

}  // namespace

void add_report(CommandLine& line) {
  const auto a = std::make_shared<ReportArguments>();
  Command report = line.command("report", "show experiments that were run: ranking, page, figures");
  report.option("DIR", a->folders,
                "folders that run wrote; several are shown together; a folder of experiments shows their scoreboard "
                "(default: the "
                "experiment in out, if there is only one)");
  report.option("-o,--output", a->output, "the page (default: DIR/report.html; none with --figure or --json)")
      .writes("FILE");
  report.option("--figure", a->figures, "draw the curves into this file: .svg, .pdf or .png; may be repeated")
      .writes("FILE");
  add_named(report, "--x", a->figure.x, "the horizontal axis of figures and of the plot on the terminal");
  add_named(report, "--y", a->figure.y, "the vertical axis of figures and of the plot on the terminal");
  add_named(report, "--score", a->score, "for a folder of experiments: the score whose profile figures show");
  report.option("--method", a->figure.methods, "draw only this method in figures; may be repeated").takes("NAME");
  report.option("--width", length(a->figure.width), "width of figures, such as 3.5in, 89mm or 8.8cm (default: 8.8cm)")
      .takes("LENGTH");
  report.option("--height", length(a->height), "height of figures (default: follows from the width)").takes("LENGTH");
  add_named(report, "--legend", a->figure.legend,
            "where the legend of a figure goes (auto: in a free corner, or else below)");
  report
      .option(
          "--font",
          [a](const std::string& text) {
            const FigureFont font = FigureFont::read(text);
            a->figure.font = font.name;
            a->figure.font_size = font.size;
          },
          "font of figures: a name, a size in points, or both, such as Times,9 (default: Helvetica,8)")
      .takes("FONT");
  report
      .option(
          "--bands", a->figure.bands,
          "curves that have bands in figures, 10% to 90% over seeds: auto (all, if at most four), all, none, or the "
          "name of a method; may be repeated")
      .takes("WHICH")
      .begins_with({band_words.begin(), band_words.end()});
  report.flag("--no-band", a->no_band, "the same as --bands none");
  report.flag("--plain", a->plain, "use only ASCII in the plot on the terminal");
  report.flag(
      "--json", a->json,
      "print the ranking as JSON, as in summary.json (several experiments: a list; a folder of experiments: the "
      "scoreboard), and write only what -o and --figure name");
  report.flag("--quiet", a->quiet, "print nothing, only write files");
  add_memory_limit(report);
  add_color(report);
  report.callback([a] {
    if (a->folders.empty()) a->folders.push_back(only_results_here(a->quiet || a->json));
    return report_command(*a);
  });
}

}  // namespace polyhop::app
