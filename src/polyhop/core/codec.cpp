// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/codec.hpp"

#include "polyhop/core/error.hpp"

namespace polyhop {

void MessageReader::refuse(const char* why) {
  throw Error(std::string("a message from another process cannot be read: ") + why +
              "; run the same polyhop in all processes");
}

std::string_view MessageReader::view(std::size_t count) const {
  if (count > left()) refuse("it ends too early");
  return std::string_view(bytes_).substr(begin_, count);
}

const char* MessageReader::next(std::size_t count) {
  const char* at = view(count).data();
  begin_ += count;
  return at;
}

void MessageReader::expect(char kind) {
  if (*next(1) != kind) refuse("it holds something else");
}

void MessageReader::end() const {
  if (left() > 0) refuse("it continues past its end");
}

}  // namespace polyhop
