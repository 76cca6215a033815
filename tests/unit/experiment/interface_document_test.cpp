// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// The tables of docs/interface.md are those of the options and columns themselves. POLYHOP_UPDATE_DOCS=1 writes them
// anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "polyhop/experiment/config.hpp"
#include "polyhop/experiment/record.hpp"
#include "polyhop/method/algorithm_table.hpp"

namespace polyhop::interface_document_test {
namespace {

const std::string document = std::string(POLYHOP_SOURCE_DIR) + "/docs/interface.md";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string table(const std::vector<FieldInfo>& fields) {
  std::string out = "| key | value | default | |\n|---|---|---|---|\n";
  for (const auto& field : fields) {
    // These have tables of their own.
    if (field.type == "table" && field.name != "step" && field.name != "algorithm" && field.name != "of") continue;
    out += "| `" + field.name + "` | " + escaped(field.type) +
           (field.constraint.empty() ? "" : " " + escaped(field.constraint)) + " | " + escaped(field.default_text) +
           " | " + escaped(field.help) + " |\n";
  }
  return out + "\n";
}

// What each entry is, and the keys of those that have some.
template <class Entries>
std::string named(const std::string& key, const Entries& entries) {
  const auto title = [&](const std::string& name) { return "`" + key + "\"" + name + "\"`"; };
  std::string list = "| name | what it is |\n|---|---|\n";
  std::string keys;
  for (const auto& entry : entries) {
    list += "| " + title(entry.name) + " | " + escaped(entry.summary) + " |\n";
    if (!entry.options.empty()) keys += "### " + title(entry.name) + "\n\n" + table(entry.options);
  }
  return list + "\n" + keys;
}

std::string all_tables() {
  std::string out = "### Top level\n\n" + table(ExperimentOptions::fields().info());
  out += "### `[graph]`\n\n" + table(GraphOptions::fields().info());
  out += "### `[problem]`\n\n" + table(ProblemOptions::fields().info());
  out += "### Losses\n\n" + named("loss = ", losses());
  out +=
      "### `partition = { ... }`\n\nIn `[problem]`, for example `partition = { kind = \"dirichlet\", alpha = 0.3 "
      "}`.\n\n" +
      table(PartitionOptions::fields().info());
  out += "### `[faults]`\n\n" + table(FaultOptions::fields().info());
  out += "### `[record]`\n\n" + table(RecordOptions::fields().info());
  out += "### `[tuning]`\n\n" + table(TuningOptions::fields().info());
  out += "### `[[method]]`\n\n" + table(method_fields());
  out += "### Algorithms\n\n" + named("algorithm = ", algorithms());
  out += "### Step-size rules\n\nOptions go beside the name: `step = { rule = \"gap\", sweeps = 5 }`.\n\n" +
         named("step = ", rules());
  return out;
}

std::string read(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::string column_table() {
  std::string out = "| column | kind | unit | meaning |\n|---|---|---|---|\n";
  for (const PointColumn& column : point_columns) {
    out += "| `" + std::string(column.name) + "` | " + name_of(column.kind) + " | " + std::string(column.unit) + " | " +
           escaped(std::string(column.help)) + " |\n";
  }
  return out + "\n";
}

// What stands between the two marks of this name is `tables`.
void expect_between_marks(const std::string& name, const std::string& tables) {
  const std::string begin_mark = "<!-- begin of what the " + name + " say themselves -->\n";
  const std::string end_mark = "<!-- end of what the " + name + " say themselves -->\n";
  const std::string text = read(document);
  const auto begin = text.find(begin_mark);
  const auto end = text.find(end_mark);
  ASSERT_NE(begin, std::string::npos) << document;
  ASSERT_NE(end, std::string::npos) << document;
  const std::string fresh = text.substr(0, begin + begin_mark.size()) + "\n" + tables + text.substr(end);
  if (std::getenv("POLYHOP_UPDATE_DOCS") != nullptr) std::ofstream(document) << fresh;
  EXPECT_EQ(read(document), fresh) << "run experiment_test with POLYHOP_UPDATE_DOCS=1 and commit docs/interface.md";
}

TEST(InterfaceDocument, HasTheTablesOfTheOptions) { expect_between_marks("options", all_tables()); }

TEST(InterfaceDocument, HasTheTableOfTheColumns) { expect_between_marks("columns", column_table()); }

}  // namespace
}  // namespace polyhop::interface_document_test
