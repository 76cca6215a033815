// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/error.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace polyhop {
namespace {

std::string compose(const std::string& path, const std::string& message, int line, const std::string& file) {
  std::string text;
  if (!file.empty()) text += file + ":";
  if (line > 0) text += (file.empty() ? "line " : "") + std::to_string(line) + ":";
  if (!text.empty()) text += " ";
  if (!path.empty()) text += path + ": ";
  return text + message;
}

std::string lines_of(const std::vector<InputError>& errors) {
  std::string text;
  for (const InputError& error : errors) text += (text.empty() ? "" : "\n") + std::string(error.what());
  return text;
}

// Edit distance with insertions, deletions, replacements and swaps of neighbouring letters, three rows at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// The only name that begins so, or "". Two letters begin too much.
std::string only_name_from(const std::string& beginning, std::span<const std::string> names) {
  const auto begins = [&](const std::string& name) { return lower_case(name).starts_with(beginning); };
  const bool is_one = beginning.size() > 2 && std::ranges::count_if(names, begins) == 1;
  return is_one ? *std::ranges::find_if(names, begins) : "";
}

}  // namespace

InputError::InputError(std::string path, std::string message, int line, std::string file)
    : Error(compose(path, message, line, file)),
      path_(std::move(path)),
      message_(std::move(message)),
      file_(std::move(file)),
      line_(line) {}

InputError::InputError(const std::vector<InputError>& errors)
    : Error(lines_of(errors)),
      path_(errors.front().path_),
      message_(errors.front().message_),
      file_(errors.front().file_),
      line_(errors.front().line_) {
  for (const InputError& error : errors) {
    const std::vector<InputError> each = error.all();
    others_.insert(others_.end(), each.begin(), each.end());
  }
  others_.erase(others_.begin());
}

std::vector<InputError> InputError::all() const {
  std::vector<InputError> out = {InputError(path_, message_, line_, file_)};
  out.insert(out.end(), others_.begin(), others_.end());
  return out;
}

InputError InputError::in_file(const std::string& file) const {
  std::vector<InputError> out;
  for (const InputError& e : all()) out.emplace_back(e.path_, e.message_, e.line_, e.file_.empty() ? file : e.file_);
  return InputError(out);
}

InputError InputError::at(const std::string& path, int line) const {
  std::vector<InputError> out;
  for (const InputError& e : all()) {
    out.emplace_back(e.path_.empty() ? path : e.path_, e.message_, e.line_ != 0 ? e.line_ : line, e.file_);
  }
  return InputError(out);
}

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
  std::string best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  const std::string typed = lower_case(name);
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(typed, lower_case(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  // A name that shares no letter is not a typo.
  const std::size_t allowed = std::max<std::size_t>(1, name.size() / 3);
  return best_distance <= allowed && best_distance < name.size() ? best : only_name_from(typed, candidates);
}

std::string suggestion(std::string_view name, std::span<const std::string> candidates, std::string_view they_are) {
  const std::string nearest = nearest_name(name, candidates);
  if (!nearest.empty()) return "; did you mean '" + nearest + "'?";
  std::string text = "; " + std::string(they_are) + ": ";
  const auto has_blanks = [](const std::string& x) { return x.find_first_of(", ") != std::string::npos; };
  const std::string quote = std::ranges::any_of(candidates, has_blanks) ? "'" : "";
  for (const std::string& x : candidates) text += (&x == &candidates.front() ? "" : ", ") + quote + x + quote;
  return text;
}

bool is_lack_of_room(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

}  // namespace polyhop
