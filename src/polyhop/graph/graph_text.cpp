// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/graph_text.hpp"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <unordered_map>

#include "polyhop/core/error.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/core/value.hpp"

namespace polyhop {
namespace {

constexpr Index max_agents = std::numeric_limits<std::int32_t>::max();

/// For messages: quoted, cut to one line.
std::string shown(std::string_view text) {
  constexpr std::size_t most = 40;
  return text.size() <= most ? in_quotes(text) : in_quotes(text.substr(0, most)) + "...";
}

[[noreturn]] void refuse_line(Index line, const std::string& message) {
  throw InputError("", message, static_cast<int>(std::min<Index>(line, std::numeric_limits<int>::max())));
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<Index> to_integer(std::string_view word) {
  Index n = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return n;
}

double to_number(std::string_view word, Index line, const std::string& what) {
  double x = 0;
  const std::string_view digits = !word.empty() && word.front() == '+' ? word.substr(1) : word;
  const auto [end, error] = fast_float::from_chars(digits.data(), digits.data() + digits.size(), x);
  if (error != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(x)) {
    refuse_line(line, "found " + shown(word) + " as " + what + ", expected a finite number");
  }
  return x;
}

std::int32_t to_agent(std::string_view word, Index line, Index first, Index last) {
  const auto n = to_integer(word);
  if (!n || *n < first || *n > last) {
    refuse_line(line, "found " + shown(word) + " as an agent, expected an integer from " + std::to_string(first) +
                          " to " + std::to_string(last));
  }
  return static_cast<std::int32_t>(*n - first);
}

/// The lines of a text that hold more than a comment, with their numbers.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
  }

  bool next() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      line = trimmed(line.substr(0, line.find_first_of("#%")));
      if (line.empty()) continue;
      split(line);
      return true;
    }
    return false;
  }

  [[nodiscard]] Index number() const { return number_; }
  [[nodiscard]] const std::vector<std::string_view>& words() const { return words_; }

 private:
  /// Words are separated by blanks or single commas.
  void split(std::string_view line) {
    words_.clear();
    while (true) {
      const std::size_t end = std::min(line.find_first_of(", \t"), line.size());
      if (end == 0) refuse_line(number_, "a comma with nothing before it, expected a number");
      words_.push_back(line.substr(0, end));
      line = trimmed(line.substr(end));
      if (line.empty()) return;
      if (line.front() != ',') continue;
      line = trimmed(line.substr(1));
      if (line.empty()) refuse_line(number_, "a comma with nothing after it, expected a number");
    }
  }

  std::string_view rest_;
  std::vector<std::string_view> words_;
  Index number_ = 0;
};

GraphText::Entry entry(Index row, Index column, Index line, double value) {
  return {static_cast<std::int32_t>(row), static_cast<std::int32_t>(column),
          static_cast<std::int32_t>(std::min(line, max_agents)), value};
}

/// Finds the line numbers of ascending positions in a text, in one pass.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}
  Index at(std::ptrdiff_t offset) {
    const auto end = std::clamp<std::ptrdiff_t>(offset, 0, static_cast<std::ptrdiff_t>(text_.size()));
    for (; place_ < end; ++place_) line_ += text_[place_] == '\n';
    return line_;
  }

 private:
  std::string_view text_;
  std::ptrdiff_t place_ = 0;
  Index line_ = 1;
};

/// What the XML library allocates counts against the memory limit; nullptr tells it that there is no more. The size is
/// stored before the memory, for when it is freed.
constexpr std::size_t before_xml = alignof(std::max_align_t);

void* take_for_xml(std::size_t bytes) {
  try {
    HeldMemory held(static_cast<double>(bytes + before_xml));
    auto* data = static_cast<std::size_t*>(std::malloc(bytes + before_xml));
    if (data == nullptr) return nullptr;
    held.keep();
    *data = bytes;
    return reinterpret_cast<char*>(data) + before_xml;
  } catch (const OverMemoryLimit&) {
    return nullptr;
  }
}

void return_from_xml(void* memory) {
  if (memory == nullptr) return;
  auto* data = reinterpret_cast<std::size_t*>(static_cast<char*>(memory) - before_xml);
  return_memory(static_cast<double>(*data + before_xml));
  std::free(data);
}

/// The ids of the keys that carry an edge's weight, and the default weight.
struct WeightKey {
  std::string id;
  std::string fallback;
};

WeightKey weight_key(const pugi::xml_node& graphml) {
  for (const pugi::xml_node& key : graphml.children("key")) {
    const std::string scope = key.attribute("for").as_string("all");
    if ((scope == "edge" || scope == "all") && std::string(key.attribute("attr.name").value()) == "weight") {
      return {key.attribute("id").value(), key.child("default").text().get()};
    }
  }
  return {};
}

double edge_weight(const pugi::xml_node& edge, const WeightKey& key, Index line) {
  std::string word = edge.attribute("weight").value();
  if (word.empty()) word = key.fallback;
  for (const pugi::xml_node& data : edge.children("data")) {
    if (!key.id.empty() && key.id == data.attribute("key").value()) word = data.text().get();
  }
  const std::string_view bare = trimmed(word);
  return bare.empty() ? GraphText::no_value : to_number(bare, line, "a weight");
}

/// "%%MatrixMarket matrix coordinate FIELD SYMMETRY", in any case.
struct MarketHeader {
  bool pattern = false;
  bool symmetric = false;
};

MarketHeader market_header(std::string_view text) {
  std::string line(text.substr(0, text.find('\n')));
  std::transform(line.begin(), line.end(), line.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::vector<std::string> words;
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", i), line.size());
    if (end > i) words.push_back(line.substr(i, end - i));
    i = end + 1;
  }
  const auto is = [&](std::size_t i, std::initializer_list<const char*> allowed) {
    return i < words.size() &&
           std::any_of(allowed.begin(), allowed.end(), [&](const char* a) { return words[i] == a; });
  };
  if (words.size() != 5 || !is(0, {"%%matrixmarket"}) || !is(1, {"matrix"}) || !is(2, {"coordinate"}) ||
      !is(3, {"real", "double", "integer", "pattern"}) || !is(4, {"general", "symmetric"})) {
    refuse_line(1, "found " + shown(trimmed(text.substr(0, text.find('\n')))) +
                       ", expected \"%%MatrixMarket matrix coordinate real|integer|pattern general|symmetric\"");
  }
  return {words[3] == "pattern", words[4] == "symmetric"};
}

}  // namespace

GraphText parse_edge_list(std::string_view text, bool header) {
  GraphText out;
  out.counted = false;
  Lines lines(text);
  for (bool first = true; lines.next(); first = false) {
    const auto& words = lines.words();
    if (first && header && !to_integer(words[0])) continue;
    if (words.size() < 2 || words.size() > 3) {
      refuse_line(lines.number(),
                  "found " + std::to_string(words.size()) + " columns, expected two agents and perhaps a weight");
    }
    const std::int32_t k = to_agent(words[0], lines.number(), 0, max_agents - 1);
    const std::int32_t l = to_agent(words[1], lines.number(), 0, max_agents - 1);
    const double value = words.size() == 3 ? to_number(words[2], lines.number(), "a weight") : GraphText::no_value;
    out.entries.push_back(entry(k, l, lines.number(), value));
    out.agents = std::max<Index>(out.agents, std::max(k, l) + Index{1});
  }
  return out;
}

GraphText parse_graphml(std::string_view text) {
  pugi::set_memory_management_functions(take_for_xml, return_from_xml);
  pugi::xml_document document;
  LineCounter lines(text);
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  if (parsed.status == pugi::status_out_of_memory) refuse_line(0, "is too large; " + memory_limit_text());
  if (!parsed) refuse_line(lines.at(parsed.offset), std::string("not XML: ") + parsed.description());
  const pugi::xml_node graph = document.child("graphml").child("graph");
  if (!graph) refuse_line(0, "no <graphml> with a <graph> inside, expected a GraphML file");
  GraphText out;
  constexpr std::size_t bytes_a_node = 96;
  HeldMemory held;  // by the numbers
  std::unordered_map<std::string, std::int32_t> number;
  LineCounter node_lines(text);
  for (const pugi::xml_node& node : graph.children("node")) {
    const std::string id = node.attribute("id").value();
    held.add(static_cast<double>(bytes_a_node + id.size()));
    if (!number.emplace(id, static_cast<std::int32_t>(out.agents)).second) {
      refuse_line(node_lines.at(node.offset_debug()), "node id " + shown(id) + " appears twice");
    }
    ++out.agents;
  }
  const WeightKey key = weight_key(document.child("graphml"));
  for (const pugi::xml_node& edge : graph.children("edge")) {
    const Index line = lines.at(edge.offset_debug());
    const auto agent = [&](const char* end) {
      const auto found = number.find(edge.attribute(end).value());
      if (found == number.end()) {
        refuse_line(line, std::string(end) + " " + shown(edge.attribute(end).value()) +
                              " of an edge is not the id of any node");
      }
      return found->second;
    };
    const std::int32_t k = agent("source");
    const std::int32_t l = agent("target");
    out.entries.push_back(entry(k, l, line, edge_weight(edge, key, line)));
  }
  return out;
}

GraphText parse_matrix_market(std::string_view text) {
  const MarketHeader header = market_header(text);
  GraphText out;
  out.matrix = true;
  Lines lines(text);
  if (!lines.next() || lines.words().size() != 3) {
    refuse_line(lines.number(), "expected a line with the numbers of rows, columns and entries");
  }
  const Index size_line = lines.number();
  std::vector<Index> size;
  for (const std::string_view word : lines.words()) {
    const auto n = to_integer(word);
    if (!n || *n < 0) refuse_line(size_line, "found " + shown(word) + ", expected a count");
    size.push_back(*n);
  }
  if (size[0] != size[1] || size[0] > max_agents) {
    refuse_line(size_line, "found " + std::to_string(size[0]) + " rows and " + std::to_string(size[1]) +
                               " columns, expected a square matrix of at most " + std::to_string(max_agents));
  }
  out.agents = size[0];
  Index found = 0;
  for (; lines.next(); ++found) {
    const auto& words = lines.words();
    if (words.size() != (header.pattern ? 2 : 3)) {
      refuse_line(lines.number(), "found " + std::to_string(words.size()) + " columns, expected row, column" +
                                      (header.pattern ? "" : " and value"));
    }
    const std::int32_t k = to_agent(words[0], lines.number(), 1, size[0]);
    const std::int32_t l = to_agent(words[1], lines.number(), 1, size[0]);
    const double value = header.pattern ? GraphText::no_value : to_number(words[2], lines.number(), "a value");
    out.entries.push_back(entry(k, l, lines.number(), value));
    if (header.symmetric && k != l) out.entries.push_back(entry(l, k, lines.number(), value));
  }
  if (found != size[2]) {
    refuse_line(size_line, "announces " + std::to_string(size[2]) + " entries, found " + std::to_string(found));
  }
  return out;
}

GraphText parse_dense(std::string_view text) {
  GraphText out;
  out.matrix = true;
  Lines lines(text);
  Index row = 0;
  for (; lines.next(); ++row) {
    const auto& words = lines.words();
    const auto columns = static_cast<Index>(words.size());
    if (row == 0) out.agents = columns;
    if (columns != out.agents) {
      refuse_line(lines.number(), "row " + std::to_string(row) + " has " + std::to_string(columns) +
                                      " numbers, the rows above have " + std::to_string(out.agents));
    }
    if (row == out.agents)
      refuse_line(lines.number(),
                  "more rows than the " + std::to_string(columns) + " columns, expected a square matrix");
    for (Index l = 0; l < columns; ++l) {
      const double value = to_number(words[l], lines.number(), "a value");
      if (value != 0 || l == row) out.entries.push_back(entry(row, l, lines.number(), value));
    }
  }
  if (row < out.agents) {
    refuse_line(lines.number(), "found " + std::to_string(row) + " rows and " + std::to_string(out.agents) +
                                    " columns, expected a square matrix");
  }
  return out;
}

}  // namespace polyhop
