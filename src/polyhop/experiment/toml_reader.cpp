// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/toml_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/input_file.hpp"
#include "polyhop/core/words.hpp"

// toml++ guards what malformed text can break (`[)`) with assertions, which abort, or, with NDEBUG and clang, with
// promises to the optimiser. Both are turned off: the parser then reports such texts as errors.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#define TOML_EXCEPTIONS 1
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace polyhop {
namespace {

constexpr const char* no_dates = "dates and times are not used here; put the value in quotes if it is text";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }
bool ends_value(char c) { return is_space(c) || c == ']' || c == '}' || c == ',' || c == '#'; }

/// The length of the well-formed UTF-8 sequence at `text[i]` (no overlong forms, no surrogates), 0 if there is none.
std::size_t utf8_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U; };
  const unsigned first = byte(i);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  unsigned low = 0x80;
  unsigned high = 0xbf;
  if (first == 0xe0) low = 0xa0;
  if (first == 0xed) high = 0x9f;
  if (first == 0xf0) low = 0x90;
  if (first == 0xf4) high = 0x8f;
  for (std::size_t k = 1; k < length; ++k) {
    if (byte(i + k) < low || byte(i + k) > high) return 0;
    low = 0x80;
    high = 0xbf;
  }
  return length;
}

std::uint32_t code_point(std::string_view text, std::size_t i) {
  const std::size_t length = utf8_length(text, i);
  const auto first = static_cast<unsigned char>(text[i]);
  std::uint32_t c = length == 1 ? first : first & (0x7fU >> length);
  for (std::size_t k = 1; k < length; ++k) c = (c << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3fU);
  return c;
}

std::string hexadecimal(std::uint32_t n, int digits) {
  std::array<char, 16> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%0*X", digits, static_cast<unsigned>(n));
  return buffer.data();
}

/// Line and column (in characters, from 1) of a position in a text.
struct Place {
  int line = 1;
  int column = 1;
};

Place place_of(std::string_view text, std::size_t offset) {
  Place place;
  for (std::size_t i = 0; i < offset; ++i) {
    if (text[i] == '\n') {
      ++place.line;
      place.column = 1;
    } else if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80) {
      ++place.column;
    }
  }
  return place;
}

[[noreturn]] void refuse(std::string_view text, std::size_t offset, const std::string& reason) {
  const Place place = place_of(text, offset);
  throw InputError("", reason + " (column " + std::to_string(place.column) + ")", place.line);
}

/// The number of leading bytes that form whole UTF-8 characters other than NUL.
std::size_t valid_length(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size() && text[i] != '\0' && utf8_length(text, i) != 0) i += utf8_length(text, i);
  return i;
}

void check_bytes(std::string_view text) {
  const std::size_t valid = valid_length(text);
  if (valid == text.size()) return;
  const auto byte = static_cast<unsigned char>(text[valid]);
  if (byte == 0) refuse(text, valid, "found a NUL byte; expected text");
  refuse(text, valid, "the byte 0x" + hexadecimal(byte, 2) + " is not valid UTF-8; expected UTF-8 text");
}

/// Makes a text safe for toml++ 3.3, whose white-space tests run into undefined behaviour on most characters outside
/// ASCII, and whose tables recurse as deeply as keys are dotted. It walks through the text as the parser does and
/// - rejects characters outside ASCII except in strings and comments, and nesting beyond the limits;
/// - rejects dates with a space, after which the parser looks ahead into whatever follows;
/// - replaces characters outside ASCII in comments, and writes them as an escape where the parser would take them for
///   white space to skip: after a backslash at the end of a line.
/// Where the parser is bound to stop with an error, the walk stops too, leaving the error to the parser. Lines are
/// kept.
class Guard {
 public:
  explicit Guard(std::string_view text) : text_(text) { safe_.reserve(text.size()); }

  std::string run() {
    while (!stopped_ && at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        comment();
      } else if (c == '"' || c == '\'') {
        string(c);
      } else if (value_next_ && (is_digit(c) || c == '+' || c == '-')) {
        number();
      } else {
        structure(c);
      }
    }
    while (at_ < text_.size()) copy_masked();
    return std::move(safe_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  [[nodiscard]] bool inside(char bracket) const { return !open_.empty() && open_.back() == bracket; }

  void copy(std::size_t count = 1) {
    safe_.append(text_.substr(at_, count));
    at_ = std::min(at_ + count, text_.size());
  }

  void copy_masked() {
    safe_ += is_ascii(text_[at_]) ? text_[at_] : '?';
    ++at_;
  }

  void check_ascii() const {
    if (is_ascii(text_[at_])) return;
    const std::string_view character = text_.substr(at_, utf8_length(text_, at_));
    refuse(text_, at_,
           "unexpected character '" + std::string(character) + "' (U+" + hexadecimal(code_point(text_, at_), 4) +
               "); outside quotes only ASCII is allowed");
  }

  void comment() {
    while (at_ < text_.size() && text_[at_] != '\n') copy_masked();
  }

  void string(char quote) {
    value_next_ = false;
    if (peek(1) == quote && peek(2) == quote) {
      copy(3);
      long_string(quote);
    } else {
      copy();
      short_string(quote);
    }
  }

  void short_string(char quote) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') break;
      if (c == '\\' && quote == '"') {
        copy();
        if (at_ == text_.size() || text_[at_] == '\n') break;
        check_escape();
      }
      copy();
      if (c == quote) return;
    }
    stopped_ = true;
  }

  void long_string(char quote) {
    bool folding = false;  // after a backslash at the end of a line: white space is skipped
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == quote) {
        std::size_t run = 1;
        while (run < 5 && peek(run) == quote) ++run;
        copy(run);
        if (run >= 3) return;
        folding = false;
      } else if (c == '\\' && quote == '"') {
        copy();
        if (at_ == text_.size()) break;
        check_escape();
        folding = is_space(text_[at_]);
        copy();
      } else if (folding && !is_ascii(c)) {
        safe_ += "\\U" + hexadecimal(code_point(text_, at_), 8);
        at_ += utf8_length(text_, at_);
        folding = false;
      } else {
        folding = folding && is_space(c);
        copy();
      }
    }
    stopped_ = true;
  }

  void check_escape() const {
    if (!is_ascii(text_[at_])) refuse(text_, at_, "unknown escape: a backslash before a character outside ASCII");
  }

  // The parser looks ahead to the end of a number and, if it may be a date, one blank and one character further.
  void number() {
    value_next_ = false;
    const std::size_t start = at_;
    std::string digits;
    while (at_ < text_.size() && !ends_value(text_[at_])) {
      check_ascii();
      if (text_[at_] != '_') digits += text_[at_];
      copy();
    }
    const bool date = digits.size() == 10 && digits[4] == '-' && digits[7] == '-';
    if (date && peek(0) == ' ' && is_digit(peek(1))) refuse(text_, start, no_dates);
  }

  void structure(char c) {
    check_ascii();
    if (c == '.' && ++dots_ >= TomlLimits::segments) {
      refuse(text_, at_, "the key has more than " + std::to_string(TomlLimits::segments) + " parts");
    }
    if (c == '=' || c == ',' || c == '[' || c == '{' || c == '\n') dots_ = 0;
    if (c == '=') {
      value_next_ = true;
    } else if (c == ',') {
      value_next_ = inside('[');
    } else if (c == '\n') {
      stopped_ = inside('{');
      value_next_ = value_next_ && inside('[');
    } else if (value_next_ && (c == '[' || c == '{')) {
      open(c);
    } else if (c == ']' || c == '}') {
      close(c == ']' ? '[' : '{');
    } else if (!is_space(c)) {
      // A table header, a bare key or a bare word.
      value_next_ = false;
      stopped_ = !open_.empty() && (c == '[' || c == '{');
    }
    copy();
  }

  void open(char bracket) {
    open_ += bracket;
    value_next_ = bracket == '[';
    if (open_.size() > TomlLimits::brackets) {
      refuse(text_, at_, "lists and tables are nested more than " + std::to_string(TomlLimits::brackets) + " deep");
    }
  }

  // With nothing open, a ] ends a table header.
  void close(char bracket) {
    value_next_ = false;
    if (inside(bracket)) {
      open_.pop_back();
    } else {
      stopped_ = !open_.empty() || bracket == '{';
    }
  }

  std::string_view text_;
  std::string safe_;
  std::size_t at_ = 0;
  std::string open_;         // the brackets around the current position
  std::size_t dots_ = 0;     // of the key at the current position
  bool value_next_ = false;  // the parser expects a value here, not a key
  bool stopped_ = false;
};

// An escape can produce what the text itself may not contain, and names end up in paths and in C.
std::string without_nul(std::string text, const std::string& path, const toml::source_region& source) {
  if (text.find('\0') == std::string::npos) return text;
  throw InputError(path, "found " + in_quotes(text) + ", text with a NUL character",
                   static_cast<int>(source.begin.line));
}

Value converted(const toml::node& node, const std::string& path);

Value converted_array(const toml::array& array, const std::string& path) {
  Value::Array out;
  for (const toml::node& entry : array) {
    out.push_back(converted(entry, path + "." + std::to_string(out.size())));
  }
  return out;
}

// toml++ sorts tables by key; this restores the order in which keys first appeared.
Value converted_table(const toml::table& table, const std::string& path) {
  std::vector<std::pair<const toml::key*, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.first->source().begin < b.first->source().begin; });
  Value::Table out;
  for (const auto& [key, node] : entries) {
    const std::string name = without_nul(std::string(key->str()), path, key->source());
    out.emplace_back(name, converted(*node, path.empty() ? name : path + "." + name));
  }
  return out;
}

Value converted(const toml::node& node, const std::string& path) {
  Value value;
  const int line = static_cast<int>(node.source().begin.line);
  switch (node.type()) {
    case toml::node_type::table:
      value = converted_table(*node.as_table(), path);
      break;
    case toml::node_type::array:
      value = converted_array(*node.as_array(), path);
      break;
    case toml::node_type::string:
      value = without_nul(node.as_string()->get(), path, node.source());
      break;
    case toml::node_type::integer:
      value = std::int64_t{node.as_integer()->get()};
      break;
    case toml::node_type::floating_point:
      value = node.as_floating_point()->get();
      break;
    case toml::node_type::boolean:
      value = node.as_boolean()->get();
      break;
    default:
      throw InputError(path, no_dates, line);
  }
  value.line = line;
  return value;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The parser's "Error while parsing <what>: <why>" in plain words.
std::string plain_words(std::string_view description) {
  static constexpr std::string_view prefix = "Error while parsing ";
  // The parser truncates long messages, maybe inside a character.
  description = description.substr(0, valid_length(description));
  if (description.substr(0, prefix.size()) == prefix) description.remove_prefix(prefix.size());
  const std::size_t colon = description.find(": ");
  if (colon == std::string_view::npos) return std::string(description);
  const std::string_view what = description.substr(0, colon);
  const std::string_view why = description.substr(colon + 2);
  const bool bare_word = contains(why, "could not determine value type") ||
                         ((what == "boolean" || what == "floating-point") && contains(why, "', saw '") &&
                          (contains(why, "expected 'true'") || contains(why, "expected 'false'") ||
                           contains(why, "expected 'inf'") || contains(why, "expected 'nan'")));
  if (bare_word) {
    return "found neither a number, true or false, a list, a table nor text in quotes; text needs quotes";
  }
  if (contains(why, "encountered end-of-file")) return "the text ends before the " + std::string(what) + " does";
  std::string hint;
  if (contains(what, "string") && contains(why, "control characters")) hint = "; is a closing quote missing?";
  if (contains(why, "cannot redefine existing table 'method'")) hint = "; write [[method]] for each method";
  const bool is_range =
      (what == "floating-point" && contains(why, "saw '.'")) || (what == "date" && contains(why, "saw '-'"));
  if (is_range) hint = "; ranges need quotes: \"0..4\"";
  if (what == "key-value pair" && contains(why, "saw ','")) hint = "; numbers have no commas in TOML";
  return "cannot read the " + std::string(what) + ": " + std::string(why) + hint;
}

/// An open file descriptor, closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

std::string reason_of(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse_file(const std::string& path, const std::string& reason) {
  throw InputError("", reason, 0, path);
}

void check_size(const std::string& path, std::size_t bytes) {
  if (bytes <= TomlLimits::bytes) return;
  refuse_file(path, "the file is larger than " + std::to_string(TomlLimits::bytes >> 20) +
                        " MB, the limit; is it a configuration?");
}

// Some of the TOML files in a folder.
std::vector<std::string> toml_files_in(const std::string& folder) {
  constexpr std::size_t most = 5;
  std::vector<std::string> out;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".toml") out.push_back(at->path().string());
  }
  std::ranges::sort(out);
  if (out.size() > most) out.resize(most);
  return out;
}

void check_regular(const std::string& path, const struct stat& status) {
  if (S_ISREG(status.st_mode)) return;
  if (S_ISDIR(status.st_mode)) {
    const std::vector<std::string> files = toml_files_in(path);
    refuse_file(path, "is a folder; expected a file" + (files.empty() ? "" : ", such as " + series(files, "or")));
  }
  const char* kind = S_ISFIFO(status.st_mode) ? "a pipe" : S_ISSOCK(status.st_mode) ? "a socket" : "a device";
  refuse_file(path, std::string("this is ") + kind + "; expected a regular file");
}

// What to do about a missing file.
std::string where_instead(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code unknown;
  if (!folder.empty() && !std::filesystem::exists(folder, unknown))
    return "; there is no folder '" + folder.string() + "'";
  const std::string near = near_file(path);
  return near.empty() ? "; `polyhop init` writes an experiment to start from" : "; did you mean '" + near + "'?";
}

std::string file_text(const std::string& path) {
  struct stat status {};
  // Checked before the file is opened, since just opening a device can have effects; and again on the opened file.
  if (::stat(path.c_str(), &status) != 0) {
    const int error = errno;
    refuse_file(path, "cannot open the file: " + reason_of(error) + (error == ENOENT ? where_instead(path) : ""));
  }
  check_regular(path, status);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    refuse_file(path, "cannot open the file: " + reason_of(errno));
  }
  check_regular(path, status);
  check_size(path, static_cast<std::size_t>(status.st_size));
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16);
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count == 0) return text;
    if (count < 0 && errno != EINTR) refuse_file(path, "cannot read the file: " + reason_of(errno));
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    check_size(path, text.size());
  }
}

/// One part of a setting's key; a quoted part is never an index.
struct Part {
  std::string name;
  bool quoted = false;
};

struct ParsedSetting {
  std::vector<Part> key;
  std::string key_text;
  std::string value;
};

std::string trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return std::string(text);
}

[[noreturn]] void refuse_setting(std::string_view setting, const std::string& reason) {
  throw InputError("",
                   "the setting " + in_quotes(setting) + " " + reason + "; expected key=value, as in graph.agents=20");
}

Part part_at(std::string_view setting, std::size_t& at) {
  while (at < setting.size() && is_space(setting[at])) ++at;
  const char quote = at < setting.size() ? setting[at] : '\0';
  if (quote != '"' && quote != '\'') {
    const std::size_t end = std::min(setting.find_first_of(".=", at), setting.size());
    Part part{trimmed(setting.substr(at, end - at)), false};
    at = end;
    return part;
  }
  const std::size_t end = setting.find(quote, at + 1);
  if (end == std::string_view::npos) refuse_setting(setting, "has a quote that is not closed");
  Part part{std::string(setting.substr(at + 1, end - at - 1)), true};
  at = end + 1;
  while (at < setting.size() && is_space(setting[at])) ++at;
  return part;
}

ParsedSetting split_setting(std::string_view setting) {
  ParsedSetting out;
  std::size_t at = 0;
  for (;;) {
    out.key.push_back(part_at(setting, at));
    if (at == setting.size()) refuse_setting(setting, "has no '='");
    if (out.key.back().name.empty() && !out.key.back().quoted) refuse_setting(setting, "has an empty part in its key");
    if (setting[at] != '.' && setting[at] != '=') refuse_setting(setting, "has text after a closing quote");
    if (setting[at] == '=') break;
    if (out.key.size() == TomlLimits::segments) {
      refuse_setting(setting, "has a key of more than " + std::to_string(TomlLimits::segments) + " parts");
    }
    ++at;
  }
  out.key_text = trimmed(setting.substr(0, at));
  out.value = std::string(setting.substr(at + 1));
  return out;
}

// A setting has no lines of its own.
void set_lines(Value& value, int line) {
  value.line = line;
  if (auto* list = value.as<Value::Array>()) {
    for (Value& entry : *list) set_lines(entry, line);
  } else if (auto* table = value.as<Value::Table>()) {
    for (auto& [key, entry] : *table) set_lines(entry, line);
  }
}

Value setting_value(const std::string& text) {
  try {
    Value document = read_toml("value = " + text);
    // A line break in the text can start a second entry: then it was not one value.
    if (document.as<Value::Table>()->size() == 1) return document["value"];
  } catch (const InputError&) {
    // Not TOML: text without quotes.
  }
  return trimmed(text);
}

/// The list entry that a part of a key selects: by index, or by the `name` of a table.
Value& list_entry(Value::Array& list, const Part& part, const std::string& key, const std::string& before) {
  std::size_t index = 0;
  const char* end = part.name.data() + part.name.size();
  const auto [rest, error] = std::from_chars(part.name.data(), end, index);
  const bool is_index = !part.quoted && error == std::errc{} && rest == end;
  if (is_index && index < list.size()) return list[index];
  std::vector<Value*> matches;
  std::vector<std::string> names;
  for (Value& entry : list) {
    const Value* name = entry.find("name");
    if (name == nullptr || name->as<std::string>() == nullptr) continue;
    names.push_back(*name->as<std::string>());
    if (names.back() == part.name) matches.push_back(&entry);
  }
  if (matches.size() == 1) return *matches.front();
  const std::string count = std::to_string(list.size()) + (list.size() == 1 ? " entry" : " entries");
  std::string reason = before + " has " + count;
  if (matches.size() > 1) {
    reason +=
        ", " + std::to_string(matches.size()) + " of them with the name " + in_quotes(part.name) + "; use an index";
  } else if (is_index) {
    reason += ", numbered from 0; found the index " + part.name;
  } else {
    reason += ", none with the name " + in_quotes(part.name);
    if (!names.empty()) reason += suggestion(part.name, names);
  }
  throw InputError(key, reason);
}

}  // namespace

Value read_toml(std::string_view text) {
  if (text.size() > TomlLimits::bytes) {
    throw InputError("", "the text is larger than " + std::to_string(TomlLimits::bytes >> 20) + " MB");
  }
  static constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.substr(0, byte_order_mark.size()) == byte_order_mark) text.remove_prefix(byte_order_mark.size());
  check_bytes(text);
  const std::string safe = Guard(text).run();
  try {
    return converted(toml::parse(std::string_view(safe)), "");
  } catch (const toml::parse_error& error) {
    const auto& begin = error.source().begin;
    throw InputError("", plain_words(error.description()) + " (column " + std::to_string(begin.column) + ")",
                     static_cast<int>(begin.line));
  }
}

Value read_toml_file(const std::string& path) {
  const std::string text = file_text(path);
  try {
    return read_toml(text);
  } catch (const InputError& error) {
    throw error.in_file(path);
  }
}

void apply_setting(Value& root, std::string_view setting, int line) {
  if (valid_length(setting) != setting.size()) throw InputError("", "a setting is not UTF-8 text");
  const ParsedSetting parsed = split_setting(setting);
  Value* place = &root;
  std::string before;
  for (const Part& part : parsed.key) {
    if (auto* list = place->as<Value::Array>()) {
      place = &list_entry(*list, part, parsed.key_text, before);
    } else if (place->empty() || place->as<Value::Table>() != nullptr) {
      const bool is_new = place->find(part.name) == nullptr;
      place = &(*place)[part.name];
      if (is_new) place->line = line;
    } else {
      const std::string what = before.empty() ? "the configuration" : before;
      throw InputError(parsed.key_text, what + " is " + place->kind() + ", " + place->text() + ", which has no key " +
                                            in_quotes(part.name));
    }
    before += (before.empty() ? "" : ".") + part.name;
  }
  *place = setting_value(parsed.value);
  set_lines(*place, line);
}

}  // namespace polyhop
