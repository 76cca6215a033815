// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// How the engine behaves inside a Python process: who holds the interpreter's lock (GIL), how Ctrl-C gets through, how
// memory of the engine's is shown as an array, and how values pass.
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
  /// With the lock held.
  [[nodiscard]] const py::object& get() const { return *object_; }

 private:
  std::shared_ptr<py::object> object_;
};

/// The lock, for a callback in whatever thread of the engine. A thread keeps its state in the interpreter as long as it
/// lives, which makes the second callback and all others cheap.
class Callback {
 public:
  Callback();

 private:
  struct Kept;
  static bool keep_state();
  bool kept_ = keep_state();
  py::gil_scoped_acquire lock_;
};

/// Does the work in a thread of its own, without the lock, while this one lets Ctrl-C through: it sets `stop`, which
/// the work has to look at, and is raised when the work has ended. What the work throws is thrown here. Work that is
/// still going on when the interpreter ends is stopped too, and waited for.
void away(std::atomic<bool>& stop, const std::function<void()>& work);

/// To be called once, when the module is made.
void stop_at_exit();

/// An array that shows rows of the engine's, without a copy, as long as a callback takes. A callback that keeps it
/// keeps memory that the engine is about to change or to free: `end` then leaves it the memory, gives the rows
/// another one, and throws; the destructor, where somebody threw already, does the same in silence.
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
  std::shared_ptr<Rows> left_;  // owns what was kept
  std::string what_;
  py::array array_;
};

/// A writable array over rows that it owns a share of, so that it may be kept; of one dimension where `columns` is 0.
py::array shared_view(const std::shared_ptr<Rows>& rows, Index columns);

/// Numbers of Python as those of the engine. `path` is the argument's name in messages.
Value to_value(const py::handle& object, const std::string& path, int depth = 0);
py::object to_python(const Value& value);

/// A new array with the rows' numbers.
py::array copied(const Rows& rows);
py::array copied(std::span<const double> numbers);
/// An array of numbers, whatever it was made from. Throws InputError for what is none: texts, complex numbers, objects.
Array numbers(const py::handle& object, const std::string& path);
/// Rows with an array's numbers: of two dimensions, or one for a single row.
Rows to_rows(const py::handle& object, const std::string& path);

/// An array of this shape, or an InputError that says what it was.
Array checked(const py::handle& object, const std::vector<Index>& shape, const std::string& path);

}  // namespace polyhop::python
