// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop data: the data sets that Debian packages provide, listed, or one of them as CSV.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "data_input.hpp"
#include "json_output.hpp"
#include "memory_flag.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/problem/bundled_data.hpp"
#include "polyhop/report/csv_cell.hpp"
#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

struct DataArguments {
  std::string name;
  std::optional<std::string> output;
  bool json = false;
};

void print_sets() {
  constexpr auto right = TextTable::Align::right;
  TextTable table(
      {{"name"}, {"what it is"}, {"samples", right}, {"features", right}, {"classes", right}, {"package"}, {"status"}});
  for (const BundledSet& set : bundled_sets()) {
    table.add({set.name, set.summary, std::to_string(set.samples), std::to_string(set.features),
               set.classes == 0 ? "-" : std::to_string(set.classes), set.package,
               is_installed(set) ? "installed" : "missing"});
  }
  fmt::print("{}\npolyhop data NAME writes one as CSV.\n", table.text(output_width(), wants_color()));
}

Value sets_json() {
  Value::Array out;
  for (const BundledSet& set : bundled_sets()) {
    out.push_back(Value::Table{{"name", set.name},
                               {"summary", set.summary},
                               {"samples", set.samples},
                               {"features", set.features},
                               {"classes", set.classes},
                               {"package", set.package},
                               {"installed", is_installed(set)}});
  }
  return out;
}

std::string header_of(const DataTable& data) {
  std::string line;
  for (Index j = 0; j < data.features.columns(); ++j) {
    line += data.names.empty() ? "x" + std::to_string(j + 1) : csv_cell(data.names[j]);
    line += ",";
  }
  return line + (data.target_name.empty() ? "target" : csv_cell(data.target_name)) + "\n";
}

// Bundled sets are dense and have targets.
void write_table(const DataTable& data, CsvOutput& out) {
  out.write(header_of(data));
  std::string line;
  for (Index n = 0; n < data.features.rows(); ++n) {
    line.clear();
    for (const double x : data.features.dense().row(n)) line += shortest(x) + ",";
    const double target = data.targets[n];
    line += data.labels.empty() ? shortest(target) : csv_cell(data.labels[static_cast<std::size_t>(target)]);
    out.write(line + "\n");
  }
}

void data_command(const DataArguments& arguments) {
  if (arguments.name.empty()) {
    if (arguments.output) throw InputError("-o", "give the NAME of the set to write");
    if (arguments.json) return print_json(sets_json());
    print_sets();
    return flush_output();
  }
  if (arguments.json) throw InputError("--json", "lists the sets; one of them is written as CSV");
  CsvOutput out(arguments.output);
  write_table(read_bundled(arguments.name), out);
  out.finish();
}

}  // namespace

void add_data(CommandLine& line) {
  const auto arguments = std::make_shared<DataArguments>();
  Command data = line.command("data", "list the data sets that Debian packages provide, or write one as CSV");
  std::vector<std::string> names;
  for (const BundledSet& set : bundled_sets()) names.push_back(set.name);
  data.option("NAME", arguments->name, "the set to write").suggests(names);
  data.option("-o,--output", arguments->output, "the CSV file to write (default: the standard output)").takes("FILE");
  data.flag("--json", arguments->json, "print the list as JSON");
  add_memory_limit(data);
  add_color(data);
  data.callback([arguments] {
    data_command(*arguments);
    return done;
  });
}

}  // namespace polyhop::app
