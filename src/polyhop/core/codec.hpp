// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace polyhop {

/// A number, a flag, a letter or an enumerator: in a message it has the same bits as in memory.
template <class T>
concept PlainValue = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// What processes of the same job tell each other, as bytes: plain values, texts and lists of these, one after the
/// other. A byte before each says what it is, so that a reader notices if it expects something else.
class MessageWriter {
 public:
  template <PlainValue T>
  void add(T value) {
    bytes_ += kind_of<T>();
    add_bytes(&value, sizeof value);
  }
  void add(std::string_view text) { add(std::span(text)); }
  template <class T>
  requires PlainValue<std::remove_const_t<T>>
  void add(std::span<T> list) {
    bytes_ += kind_of<std::remove_const_t<T>>();
    add(static_cast<std::uint64_t>(list.size()));
    add_bytes(list.data(), list.size_bytes());
  }
  template <PlainValue T, class Allocator>
  void add(const std::vector<T, Allocator>& list) {
    add(std::span(list));
  }
  void add(const std::vector<std::string>& texts) {
    add(static_cast<std::uint64_t>(texts.size()));
    for (const std::string& text : texts) add(std::string_view(text));
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  friend class MessageReader;
  // Encodes the kind of number and its size in bytes.
  template <PlainValue T>
  [[nodiscard]] static constexpr char kind_of() {
    const int kind = std::is_enum_v<T>             ? 1
                     : std::is_same_v<T, bool>     ? 2
                     : std::is_same_v<T, char>     ? 3
                     : std::is_floating_point_v<T> ? 4
                     : std::is_signed_v<T>         ? 5
                                                   : 6;
    return static_cast<char>(16 * kind + static_cast<int>(sizeof(T)));
  }
  void add_bytes(const void* from, std::size_t count) {
    if (count > 0) bytes_.append(static_cast<const char*>(from), count);
  }

  std::string bytes_;
};

/// Reads back what a MessageWriter wrote, in the same order and with the same types. Throws Error if the message ends
/// too early or holds something else.
class MessageReader {
 public:
  explicit MessageReader(std::string bytes) : bytes_(std::move(bytes)) {}

  /// A plain value, a std::string, or a std::vector of either.
  template <class T>
  [[nodiscard]] T take() {
    if constexpr (PlainValue<T>) {
      expect(MessageWriter::kind_of<T>());
      T value;
      // Any other byte would be an invalid bool.
      if (std::is_same_v<T, bool> && static_cast<unsigned char>(view(1)[0]) > 1) refuse("it holds something else");
      std::memcpy(&value, next(sizeof value), sizeof value);
      return value;
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      T texts;
      for (auto left = take<std::uint64_t>(); left > 0; --left) texts.push_back(take<std::string>());
      return texts;
    } else {
      using Member = typename T::value_type;
      expect(MessageWriter::kind_of<Member>());
      const auto count = take<std::uint64_t>();
      if (count > left() / sizeof(Member)) refuse("it ends too early");
      T list(count, Member{});
      if (count > 0) std::memcpy(list.data(), next(count * sizeof(Member)), count * sizeof(Member));
      return list;
    }
  }

  /// Throws Error if anything is left.
  void end() const;

 private:
  [[noreturn]] static void refuse(const char* why);
  [[nodiscard]] std::size_t left() const { return bytes_.size() - begin_; }
  [[nodiscard]] std::string_view view(std::size_t count) const;
  const char* next(std::size_t count);
  void expect(char kind);

  std::string bytes_;
  std::size_t begin_ = 0;
};

/// Packs these values into one message.
template <class... Values>
[[nodiscard]] std::string message(const Values&... values) {
  MessageWriter out;
  (out.add(values), ...);
  return out.bytes();
}

}  // namespace polyhop
