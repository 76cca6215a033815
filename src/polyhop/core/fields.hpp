// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/index.hpp"
#include "polyhop/core/value.hpp"

namespace polyhop {

/// How the fields of an options struct look from outside: for help pages, messages, docs.
struct FieldInfo {
  std::string name;
  std::string type;          // "number", "integer", "paper | linear | tight", ...
  std::string default_text;  // as in TOML; "required", or "-" for none
  std::string constraint;    // "> 0", or ""
  std::string help;
  std::vector<FieldInfo> fields = {};  // of a table: its own fields
};

/// How a type is read from and written to a Value. Specialise it for your own type: `type()` says what is allowed,
/// `read` throws InputError with the path left empty.
template <class T>
struct Codec;

/// The names of an enumeration, in order. Specialise it with a member `static constexpr std::array<std::pair<E,
/// std::string_view>, n> names`.
template <class E>
struct EnumNames;

[[noreturn]] inline void throw_mismatch(const Value& value, const std::string& wanted) {
  throw InputError("", "found " + value.text() + ", expected " + wanted, value.line);
}

/// A type as a message says it: "number" is "a number", and "integer | \"all\"" is "an integer or \"all\"".
inline std::string in_words(const std::string& type) {
  constexpr std::string_view bar = " | ";
  std::string out;
  for (std::size_t begin = 0; begin != std::string::npos;) {
    const std::size_t end = type.find(bar, begin);
    const std::string_view part = std::string_view(type).substr(begin, end - begin);
    const bool is_last = end == std::string::npos;
    if (begin > 0) out += is_last ? " or " : ", ";
    for (const std::string_view noun : {"number", "list", "table"}) out += part.starts_with(noun) ? "a " : "";
    out += part.starts_with("integer") ? "an " : "";
    out += part;
    begin = is_last ? end : end + bar.size();
  }
  return out;
}

template <>
struct Codec<bool> {
  static std::string type() { return "true | false"; }
  static bool read(const Value& v) {
    if (const auto* b = v.as<bool>()) return *b;
    throw_mismatch(v, "true or false");
  }
  static Value write(bool b) { return b; }
};

template <>
struct Codec<Index> {
  static std::string type() { return "integer"; }
  static Index read(const Value& v) {
    if (const auto* n = v.as<std::int64_t>()) return *n;
    throw_mismatch(v, "an integer");
  }
  static Value write(Index n) { return n; }
};

template <>
struct Codec<double> {
  static std::string type() { return "number"; }
  static double read(const Value& v) {
    if (const auto* x = v.as<double>()) return *x;
    if (const auto* n = v.as<std::int64_t>()) return static_cast<double>(*n);
    throw_mismatch(v, "a number");
  }
  static Value write(double x) { return x; }
};

template <>
struct Codec<std::string> {
  static std::string type() { return "text"; }
  static std::string read(const Value& v) {
    if (const auto* s = v.as<std::string>()) return *s;
    throw_mismatch(v, "text in quotes");
  }
  static Value write(const std::string& s) { return s; }
};

/// Any value, to be read later by code that knows more (a step table, whose keys depend on its rule).
template <>
struct Codec<Value> {
  static std::string type() { return "table"; }
  static Value read(const Value& v) { return v; }
  static Value write(const Value& v) { return v; }
};

template <class T>
struct Codec<std::optional<T>> {
  static std::string type() { return Codec<T>::type(); }
  static std::optional<T> read(const Value& v) { return Codec<T>::read(v); }
  static Value write(const std::optional<T>& x) { return x ? Codec<T>::write(*x) : Value{}; }
};

template <class T>
struct Codec<std::vector<T>> {
  static std::string type() { return "list of " + Codec<T>::type(); }
  static std::vector<T> read(const Value& v) {
    const auto* list = v.as<Value::Array>();
    if (list == nullptr) throw_mismatch(v, "a list");
    std::vector<T> out;
    for (const auto& entry : *list) out.push_back(Codec<T>::read(entry));
    return out;
  }
  static Value write(const std::vector<T>& list) {
    Value::Array out;
    for (const auto& x : list) out.push_back(Codec<T>::write(x));
    return out;
  }
};

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires {
  EnumNames<E>::names;
};

template <NamedEnum E>
std::string name_of(E e) {
  for (const auto& [value, name] : EnumNames<E>::names) {
    if (value == e) return std::string(name);
  }
  return "?";
}

template <NamedEnum E>
struct Codec<E> {
  static std::vector<std::string> all() {
    std::vector<std::string> out;
    for (const auto& [value, name] : EnumNames<E>::names) out.emplace_back(name);
    return out;
  }
  static std::string type() {
    std::string out;
    for (const auto& name : all()) out += (out.empty() ? "" : " | ") + name;
    return out;
  }
  static E read(const Value& v) {
    const auto* text = v.as<std::string>();
    if (text == nullptr) throw_mismatch(v, "one of " + type());
    for (const auto& [value, name] : EnumNames<E>::names) {
      if (name == *text) return value;
    }
    throw InputError("", "unknown name " + v.text() + suggestion(*text, all()), v.line);
  }
  static Value write(E e) { return name_of(e); }
};

/// An options struct that lists its fields in `static const FieldTable<T>& fields()`.
template <class T>
concept HasFields = requires {
  T::fields();
};

/// A condition on one field's value, with its text for messages and docs.
template <class T>
struct Constraint {
  std::string text;
  std::function<bool(const T&)> holds;
};

inline Constraint<double> above(double low) {
  return {"> " + shortest(low), [low](const double& x) { return x > low && std::isfinite(x); }};
}
inline Constraint<double> at_least(double low) {
  return {">= " + shortest(low), [low](const double& x) { return x >= low && std::isfinite(x); }};
}
inline Constraint<double> within(double low, double high) {
  return {"in [" + shortest(low) + ", " + shortest(high) + "]", [=](const double& x) { return x >= low && x <= high; }};
}
inline Constraint<double> strictly_within(double low, double high) {
  return {"in (" + shortest(low) + ", " + shortest(high) + ")", [=](const double& x) { return x > low && x < high; }};
}
inline Constraint<Index> count_from(Index low) {
  return {">= " + std::to_string(low), [low](const Index& n) { return n >= low; }};
}

inline Constraint<Index> count_within(Index low, Index high) {
  return {"in [" + std::to_string(low) + ", " + std::to_string(high) + "]",
          [=](const Index& n) { return n >= low && n <= high; }};
}

/// The fields of one options struct, listed once: name, member, help, constraint. Reading, writing, help and every
/// message use this list.
template <class Options>
class FieldTable {
 public:
  template <class T>
  FieldTable& add(std::string name, T Options::*member, std::string help,
                  std::optional<Constraint<T>> constraint = {}) {
    return insert(std::move(name), member, std::move(help), std::move(constraint), false);
  }
  /// A field without a default.
  template <class T>
  FieldTable& require(std::string name, T Options::*member, std::string help,
                      std::optional<Constraint<T>> constraint = {}) {
    return insert(std::move(name), member, std::move(help), std::move(constraint), true);
  }
  /// An optional field; the constraint applies to the value if there is one.
  template <class T>
  FieldTable& add(std::string name, std::optional<T> Options::*member, std::string help, Constraint<T> constraint) {
    const Constraint<std::optional<T>> lifted = {
        constraint.text, [holds = constraint.holds](const std::optional<T>& x) { return !x || holds(*x); }};
    return insert(std::move(name), member, std::move(help), std::optional(lifted), false);
  }

  /// Adds all fields of a struct that is part of this one, as if they were its own: two commands with the same options
  /// list them once.
  template <class T>
  FieldTable& embed(T Options::*part) {
    for (const auto& inner : T::fields().fields_) {
      Field field{
          inner.info, inner.required, inner.is_rest,
          [part, read = inner.read](Options& o, const Value& v, const std::string& path) { read(o.*part, v, path); },
          [part, write = inner.write](const Options& o) { return write(o.*part); }};
      set_default(field);
      fields_.push_back(std::move(field));
    }
    return *this;
  }
  /// Keys that belong to no field are collected in a table, to be read later; `write` gives what is written in their
  /// place.
  FieldTable& rest(Value Options::*member, std::function<Value(const Options&)> write) {
    fields_.push_back({{},
                       false,
                       true,
                       [member](Options& o, const Value& v, const std::string& key) { (o.*member)[key] = v; },
                       std::move(write)});
    return *this;
  }

  /// Reads a table, skipping the keys in `also_allowed`. Throws InputError with everything that is wrong in it.
  [[nodiscard]] Options read(const Value& table, const std::string& path,
                             const std::vector<std::string>& also_allowed = {}) const {
    Options options;
    const auto* entries = table.as<Value::Table>();
    if (entries == nullptr) throw InputError(path, "found " + table.text() + ", expected a table", table.line);
    std::vector<std::string> known = names();
    known.insert(known.end(), also_allowed.begin(), also_allowed.end());
    std::vector<InputError> errors;
    for (const auto& [key, value] : *entries) {
      if (std::ranges::find(also_allowed, key) != also_allowed.end()) continue;
      const std::string where = join(path, key);
      const Field* field = find(key);
      if (field == nullptr) {
        errors.emplace_back(where, "unknown key" + place_of(key, known), value.line);
        continue;
      }
      try {
        field->read(options, value, field->is_rest ? key : where);
      } catch (const InputError& e) {
        errors.push_back(e.at(where, value.line));
      }
    }
    for (const auto& field : fields_) {
      if (field.required && table.find(field.info.name) == nullptr) {
        errors.emplace_back(join(path, field.info.name),
                            "missing; expected " + in_words(field.info.type) +
                                (field.info.constraint.empty() ? "" : " " + field.info.constraint),
                            table.line);
      }
    }
    if (!errors.empty()) throw InputError(errors);
    return options;
  }

  [[nodiscard]] Value write(const Options& options) const {
    Value::Table table;
    for (const auto& field : fields_) {
      Value v = field.write(options);
      if (v.empty()) continue;
      if (field.is_rest) {
        for (auto& entry : *v.template as<Value::Table>()) table.push_back(std::move(entry));
      } else {
        table.emplace_back(field.info.name, std::move(v));
      }
    }
    return table;
  }

  [[nodiscard]] std::vector<FieldInfo> info() const {
    std::vector<FieldInfo> out;
    for (const auto& field : fields_) {
      if (!field.is_rest) out.push_back(field.info);
    }
    return out;
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const FieldInfo& field : info()) out.push_back(field.name);
    return out;
  }

 private:
  template <class>
  friend class FieldTable;

  // "; did you mean ...?" for an unknown key: a similar one, or one of the same name in a table among the fields.
  [[nodiscard]] std::string place_of(const std::string& key, const std::vector<std::string>& known) const {
    std::string tables;
    for (const FieldInfo& table : info()) {
      if (std::ranges::count(table.fields, key, &FieldInfo::name) == 0) continue;
      tables += (tables.empty() ? "'" : " or '") + table.name + "." + key + "'";
    }
    const bool is_elsewhere = !tables.empty() && nearest_name(key, known).empty();
    return is_elsewhere ? "; did you mean " + tables + "?" : suggestion(key, known);
  }

  struct Field {
    FieldInfo info;
    bool required = false;
    bool is_rest = false;  // takes the keys that belong to no other field
    /// The last argument says where the value is: its path or, for the rest, its key.
    std::function<void(Options&, const Value&, const std::string&)> read;
    std::function<Value(const Options&)> write;
  };

  /// The field of this name, or the one that takes the rest.
  [[nodiscard]] const Field* find(const std::string& key) const {
    const Field* rest = nullptr;
    for (const auto& field : fields_) {
      if (field.is_rest) rest = &field;
      if (!field.is_rest && field.info.name == key) return &field;
    }
    return rest;
  }

  // The default is what the struct has initially.
  static void set_default(Field& field) {
    if (field.required || field.is_rest || !field.info.fields.empty()) return;
    const Value v = field.write(Options{});
    field.info.default_text = v.empty() ? "-" : v.text();
  }

  static std::string join(const std::string& path, const std::string& key) {
    return path.empty() ? key : path + "." + key;
  }

  template <class T>
  FieldTable& insert(std::string name, T Options::*member, std::string help, std::optional<Constraint<T>> constraint,
                     bool required) {
    Field field;
    field.required = required;
    field.info.name = std::move(name);
    field.info.help = std::move(help);
    if (constraint) field.info.constraint = constraint->text;
    if constexpr (HasFields<T>) {
      field.info.type = "table";
      field.info.fields = T::fields().info();
      field.read = [member](Options& o, const Value& v, const std::string& path) {
        o.*member = T::fields().read(v, path);
      };
      field.write = [member](const Options& o) { return T::fields().write(o.*member); };
    } else {
      field.info.type = Codec<T>::type();
      field.read = [member, constraint](Options& o, const Value& v, const std::string&) {
        T x = Codec<T>::read(v);
        if (constraint && !constraint->holds(x)) {
          throw InputError(
              "", "found " + v.text() + ", expected " + in_words(Codec<T>::type()) + " " + constraint->text, v.line);
        }
        o.*member = std::move(x);
      };
      field.write = [member](const Options& o) { return Codec<T>::write(o.*member); };
    }
    field.info.default_text = required ? "required" : "-";
    set_default(field);
    fields_.push_back(std::move(field));
    return *this;
  }

  std::vector<Field> fields_;
};

/// For things without options.
struct NoOptions {
  static const FieldTable<NoOptions>& fields() {
    static const FieldTable<NoOptions> table;
    return table;
  }
};

}  // namespace polyhop
