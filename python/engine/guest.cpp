// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "guest.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "polyhop/core/error.hpp"

namespace polyhop::python {
namespace {

// The running work, so that the end of the interpreter can wait for it.
class Guests {
 public:
  void enter(std::atomic<bool>& stop) {
    const std::lock_guard lock(mutex_);
    working_.insert(&stop);
    if (ended_) stop = true;
  }
  void leave(std::atomic<bool>& stop) {
    const std::lock_guard lock(mutex_);
    working_.erase(&stop);
    changed_.notify_all();
  }
  void end() {
    std::unique_lock lock(mutex_);
    ended_ = true;
    for (std::atomic<bool>* stop : working_) *stop = true;
    changed_.wait(lock, [&] { return working_.empty(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::atomic<bool>*> working_;
  bool ended_ = false;
};

// Never destroyed: a daemon thread may still use it.
Guests& guests() {
  static auto* all = new Guests;
  return *all;
}

std::string shape_text(const py::array& array) {
  std::string out = "(";
  for (py::ssize_t d = 0; d < array.ndim(); ++d) {
    out += (d > 0 ? ", " : "") + std::to_string(array.shape(d));
  }
  return out + (array.ndim() == 1 ? ",)" : ")");
}

std::string type_name(const py::handle& object) { return py::str(py::type::handle_of(object).attr("__name__")); }

// What can be read as numbers without loss: not complex numbers, texts or objects.
py::array numeric(const py::handle& object, const std::string& path) {
  const py::array array = py::array::ensure(object);
  if (!array) {
    PyErr_Clear();
    throw InputError(path, "found " + type_name(object) + ", expected an array of numbers");
  }
  const char kind = array.dtype().kind();
  if (kind != 'f' && kind != 'i' && kind != 'u' && kind != 'b') {
    throw InputError(path, "has the dtype " + std::string(py::str(array.dtype())) + ", expected numbers");
  }
  return array;
}

}  // namespace

// A thread's first callback creates its state; a thread that Python itself made already has one.
struct Callback::Kept {
  Kept() : state(PyGILState_Ensure()), saved(PyEval_SaveThread()) {}
  ~Kept() {
    PyEval_RestoreThread(saved);
    PyGILState_Release(state);
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  PyGILState_STATE state;
  PyThreadState* saved;
};

bool Callback::keep_state() {
  if (PyGILState_GetThisThreadState() == nullptr) thread_local const Kept kept;
  return true;
}

Callback::Callback() = default;

void away(std::atomic<bool>& stop, const std::function<void()>& work) {
  using namespace std::chrono_literals;
  std::exception_ptr failure;
  std::optional<py::error_already_set> interrupt;
  // As long as this thread may still need the lock, the interpreter must not end.
  struct Guest {
    std::atomic<bool>& stop;
    explicit Guest(std::atomic<bool>& s) : stop(s) { guests().enter(stop); }
    ~Guest() { guests().leave(stop); }
  };
  const Guest guest(stop);
  {
    const py::gil_scoped_release unlocked;
    std::mutex mutex;
    std::condition_variable ended;
    bool done = false;
    std::thread thread([&] {
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      done = true;
      ended.notify_one();
    });
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, 50ms, [&] { return done; })) {
      lock.unlock();
      {
        const py::gil_scoped_acquire locked;
        if (!interrupt && PyErr_CheckSignals() != 0) {
          interrupt.emplace();
          stop = true;
        }
      }
      lock.lock();
    }
    lock.unlock();
    thread.join();
  }
  if (interrupt) {
    failure = nullptr;
    throw py::error_already_set(std::move(*interrupt));
  }
  if (failure) std::rethrow_exception(failure);
}

void stop_at_exit() {
  py::module_::import("atexit").attr("register")(py::cpp_function([] {
    const py::gil_scoped_release unlocked;
    guests().end();
  }));
}

Shown::Shown(const Rows& rows, Index count, bool writable, std::string what)
    : rows_(const_cast<Rows*>(&rows)), left_(std::make_shared<Rows>()), what_(std::move(what)) {
  // The array holds whatever will own the memory if somebody keeps it.
  const py::capsule base(new std::shared_ptr<Rows>(left_),
                         [](void* p) { delete static_cast<std::shared_ptr<Rows>*>(p); });
  array_ = py::array(py::dtype::of<double>(), {count, rows.columns()},
                     {rows.stride() * static_cast<Index>(sizeof(double)), static_cast<Index>(sizeof(double))},
                     rows.data(), base);
  if (!writable) py::detail::array_proxy(array_.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
}

bool Shown::leave() {
  if (rows_ == nullptr) return false;
  Rows* const rows = std::exchange(rows_, nullptr);
  if (array_.ref_count() <= 1) return false;
  Rows fresh(*rows);
  swap(fresh, *rows);
  *left_ = std::move(fresh);
  return true;
}

void Shown::end() {
  if (!leave()) return;
  throw py::value_error(what_ + " was kept beyond the call, but the engine goes on using its memory; keep a copy, " +
                        what_ + ".copy()");
}

Shown::~Shown() { leave(); }

py::array shared_view(const std::shared_ptr<Rows>& rows, Index columns) {
  const py::capsule base(new std::shared_ptr<Rows>(rows),
                         [](void* p) { delete static_cast<std::shared_ptr<Rows>*>(p); });
  const auto number = static_cast<Index>(sizeof(double));
  const Index row = rows->stride() * number;
  if (columns == 0) return {py::dtype::of<double>(), {rows->rows()}, {row}, rows->data(), base};
  return {py::dtype::of<double>(), {rows->rows(), columns}, {row, number}, rows->data(), base};
}

Value to_value(const py::handle& object, const std::string& path, int depth) {
  constexpr int most = 32;  // as in a file; an object that contains itself has no end
  if (depth > most) throw InputError(path, "nests deeper than " + std::to_string(most) + " levels");
  if (object.is_none()) return {};
  if (py::isinstance<py::bool_>(object)) return object.cast<bool>();
  if (py::isinstance<py::str>(object)) return object.cast<std::string>();
  if (py::isinstance<py::dict>(object)) {
    Value::Table table;
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(object)) {
      if (!py::isinstance<py::str>(key)) throw InputError(path, "has a key that is not a string");
      const auto name = key.cast<std::string>();
      Value entry = to_value(value, path.empty() ? name : path + "." + name, depth + 1);
      if (!entry.empty()) table.emplace_back(name, std::move(entry));
    }
    return table;
  }
  if (py::hasattr(object, "tolist")) return to_value(object.attr("tolist")(), path, depth + 1);  // of NumPy
  if (py::isinstance<py::int_>(object)) {
    const long long n = PyLong_AsLongLong(object.ptr());
    if (n == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw InputError(path, "found " + std::string(py::str(object)) + ", which is too large");
    }
    return std::int64_t{n};
  }
  if (py::isinstance<py::float_>(object)) return object.cast<double>();
  if (py::isinstance<py::sequence>(object) || py::isinstance(object, py::module_::import("builtins").attr("range"))) {
    Value::Array list;
    for (const auto& entry : object) list.push_back(to_value(entry, path, depth + 1));
    return list;
  }
  if (py::hasattr(object, "__fspath__")) return py::str(object.attr("__fspath__")()).cast<std::string>();
  throw InputError(path, "found " + type_name(object) + ", expected a number, a string, a list or a dict");
}

py::object to_python(const Value& value) {
  struct Visitor {
    py::object operator()(std::monostate) const { return py::none(); }
    py::object operator()(bool b) const { return py::bool_(b); }
    py::object operator()(std::int64_t n) const { return py::int_(n); }
    py::object operator()(double x) const { return py::float_(x); }
    py::object operator()(const std::string& s) const { return py::str(s); }
    py::object operator()(const Value::Array& list) const {
      py::list out;
      for (const Value& v : list) out.append(to_python(v));
      return out;
    }
    py::object operator()(const Value::Table& table) const {
      py::dict out;
      for (const auto& [key, v] : table) out[py::str(key)] = to_python(v);
      return out;
    }
  };
  return std::visit(Visitor{}, value.data);
}

py::array copied(const Rows& rows) {
  Array out({rows.rows(), rows.columns()});
  for (Index r = 0; r < rows.rows(); ++r) std::ranges::copy(rows.row(r), out.mutable_data(r, 0));
  return out;
}

py::array copied(std::span<const double> numbers) {
  Array out(static_cast<py::ssize_t>(numbers.size()));
  std::ranges::copy(numbers, out.mutable_data());
  return out;
}

Array numbers(const py::handle& object, const std::string& path) { return Array::ensure(numeric(object, path)); }

Rows to_rows(const py::handle& object, const std::string& path) {
  const Array array = numbers(object, path);
  if (array.ndim() != 1 && array.ndim() != 2) {
    throw InputError(path, "has the shape " + shape_text(array) + ", expected one or two dimensions");
  }
  const Index rows = array.ndim() == 2 ? array.shape(0) : 1;
  const Index columns = array.shape(array.ndim() - 1);
  Rows out(rows, columns);
  for (Index r = 0; r < rows; ++r) std::copy_n(array.data() + r * columns, columns, out.row(r).data());
  return out;
}

Array checked(const py::handle& object, const std::vector<Index>& shape, const std::string& path) {
  const py::array array = numeric(object, path);
  if (!std::ranges::equal(std::span(array.shape(), static_cast<std::size_t>(array.ndim())), shape)) {
    std::string wanted = "(";
    for (std::size_t d = 0; d < shape.size(); ++d) wanted += (d > 0 ? ", " : "") + std::to_string(shape[d]);
    throw InputError(path,
                     "has the shape " + shape_text(array) + ", expected " + wanted + (shape.size() == 1 ? ",)" : ")"));
  }
  return Array::ensure(array);
}

}  // namespace polyhop::python
