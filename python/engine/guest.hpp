// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// How the engine behaves inside a Python process: who holds the interpreter's lock (GIL), how Ctrl-C gets through, how
// the engine's memory is shown as an array, and how values are passed.
#pragma once

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/value.hpp"

namespace polyhop::python {

namespace py = pybind11;

using Array = py::array_t<double, py::array::c_style | py::array::forcecast>;
using IndexArray = py::array_t<Index, py::array::c_style | py::array::forcecast>;
using IntArray = py::array_t<std::int32_t, py::array::c_style | py::array::forcecast>;

/// A Python object that C++ may copy, keep and drop in any thread, without the lock.
class Kept {
 public:
  explicit Kept(py::object object)
      : object_(new py::object(std::move(object)), [](py::object* dropped) {
          const py::gil_scoped_acquire lock;
          delete dropped;
        }) {}
  /// Call with the lock held.
  [[nodiscard]] const py::object& get() const { return *object_; }

 private:
  std::shared_ptr<py::object> object_;
};

/// The lock, for a callback in any thread of the engine. A thread keeps its interpreter state as long as it lives, so
/// all callbacks after the first are cheap.
class Callback {
 public:
  Callback();

 private:
  struct Kept;
  static bool keep_state();
  bool kept_ = keep_state();
  py::gil_scoped_acquire lock_;
};

/// Does the work in a thread of its own, without the lock, while this thread lets Ctrl-C through: that sets `stop`,
/// which the work must check, and is raised when the work has ended. What the work throws is rethrown here. Work still
/// running when the interpreter ends is stopped too, and waited for.
void away(std::atomic<bool>& stop, const std::function<void()>& work);

/// Call it once, when the module is created.
void stop_at_exit();

/// An array that shows the engine's rows, without a copy, during a callback. A callback that keeps it keeps memory that
/// the engine is about to change or free: `end` then leaves the memory to it, gives the rows new memory, and throws;
/// the destructor, if an exception is already under way, does the same silently.
class Shown {
 public:
  Shown(const Rows& rows, Index count, bool writable, std::string what);
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;
  ~Shown();
  [[nodiscard]] const py::array& array() const { return array_; }
  void end();

 private:
  bool leave();
  Rows* rows_;
  std::shared_ptr<Rows> left_;  // owns memory that was kept
  std::string what_;
  py::array array_;
};

/// A writable array over rows that it shares ownership of, so that it may be kept; one-dimensional if `columns` is 0.
py::array shared_view(const std::shared_ptr<Rows>& rows, Index columns);

/// Python numbers as engine values. `path` is the argument's name in messages.
Value to_value(const py::handle& object, const std::string& path, int depth = 0);
py::object to_python(const Value& value);

/// A new array with the rows' numbers.
py::array copied(const Rows& rows);
py::array copied(std::span<const double> numbers);
/// An array of numbers, whatever it was made from. Throws InputError for anything else: texts, complex numbers,
/// objects.
Array numbers(const py::handle& object, const std::string& path);
/// Rows with an array's numbers: two-dimensional, or one-dimensional for a single row.
Rows to_rows(const py::handle& object, const std::string& path);

/// An array of this shape, or an InputError that names the actual one.
Array checked(const py::handle& object, const std::vector<Index>& shape, const std::string& path);

}  // namespace polyhop::python
