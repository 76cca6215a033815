// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop._engine: the library's public headers for Python. The package around it is what users see.
#include "guest.hpp"
#include "parts.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/machine.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/experiment/record.hpp"

namespace py = pybind11;
using namespace polyhop;

PYBIND11_MODULE(_engine, module) {
  module.doc() = "The engine of polyhop. Use the package `polyhop`.";
  static const py::exception<Error> error(module, "Error", PyExc_RuntimeError);
  static const py::exception<InputError> input_error(module, "InputError",
                                                     py::make_tuple(py::handle(error), py::handle(PyExc_ValueError)));
  static const py::exception<OutputError> output_error(module, "OutputError",
                                                       py::make_tuple(py::handle(error), py::handle(PyExc_OSError)));
  py::setattr(input_error, "argument", py::str(""));  // for errors raised elsewhere
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const InputError& e) {
      const py::object raised = py::reinterpret_borrow<py::object>(input_error)(e.what());
      raised.attr("argument") = e.path();
      PyErr_SetObject(input_error.ptr(), raised.ptr());
    } catch (const OutputError& e) {
      PyErr_SetString(output_error.ptr(), e.what());
    } catch (const Error& e) {
      PyErr_SetString(error.ptr(), e.what());
    }
  });
  python::add_networks(module);
  python::add_problems(module);
  python::add_methods(module);
  python::add_runs(module);
  python::add_experiments(module);
  python::add_fits(module);
  module.def("set_memory_limit", [](const std::string& size) { set_memory_limit(parse_memory_size(size)); });
  module.def("suggestion", [](const std::string& name, const std::vector<std::string>& candidates) {
    return suggestion(name, candidates);
  });
  module.attr("version") = this_machine().version;
  module.attr("unlike_columns") = unlike_columns;
  python::stop_at_exit();
}
