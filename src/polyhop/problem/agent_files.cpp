// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/agent_files.hpp"

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "polyhop/core/error.hpp"

namespace polyhop {

std::optional<AgentFiles> AgentFiles::from(const std::string& pattern) {
  constexpr std::string_view mark = "{agent";
  const std::size_t begin = pattern.find(mark);
  if (begin == std::string::npos) return {};
  const std::size_t rest = begin + mark.size();
  const std::size_t end = pattern.find('}', rest);
  // "{agents}" or "{agent" may be part of a file's name.
  if (end == std::string::npos || (end > rest && pattern[rest] != '+' && pattern[rest] != '-')) return {};
  AgentFiles out;
  out.before_ = pattern.substr(0, begin);
  out.after_ = pattern.substr(end + 1);
  if (end == rest) return out;
  constexpr Index most = 1'000'000'000;
  const char* stop = pattern.data() + end;
  const auto [at, error] = std::from_chars(pattern.data() + rest + 1, stop, out.first_);
  if (pattern[rest] != '+' || error != std::errc{} || at != stop || out.first_ < 0 || out.first_ > most) {
    throw InputError("problem.data", "found '" + pattern.substr(begin, end + 1 - begin) +
                                         "', expected {agent} for files numbered from 0, or {agent+1} for files "
                                         "numbered from 1");
  }
  return out;
}

std::string AgentFiles::pattern_instead_of(const std::string& name) {
  const std::size_t begin = name.find_first_of("*{");
  if (begin == std::string::npos) return "";
  const std::size_t end = name[begin] == '*' ? begin : name.find('}', begin);
  if (end == std::string::npos) return "";
  AgentFiles files;
  files.before_ = name.substr(0, begin);
  files.after_ = name.substr(end + 1);
  return files.existing() == 0 && files.from_next().existing() > 0 ? files.from_next().pattern() : files.pattern();
}

std::string AgentFiles::of(Index agent) const { return before_ + std::to_string(agent + first_) + after_; }

AgentFiles AgentFiles::from_next() const {
  AgentFiles out = *this;
  ++out.first_;
  return out;
}

std::string AgentFiles::pattern() const {
  return before_ + (first_ == 0 ? "{agent}" : "{agent+" + std::to_string(first_) + "}") + after_;
}

Index AgentFiles::existing() const {
  std::error_code unknown;
  Index count = 0;
  while (std::filesystem::exists(of(count), unknown)) ++count;
  return count;
}

}  // namespace polyhop
