// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Models of data: fitted by all agents together, and read from files.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "guest.hpp"
#include "parts.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/fit/fit.hpp"
#include "polyhop/fit/model_file.hpp"

namespace polyhop::python {
namespace {

Features features_of(const py::object& x) {
  if (!py::isinstance<py::tuple>(x)) return to_rows(x, "X");
  const auto parts = x.cast<py::tuple>();  // (data, indices, indptr, columns) of a CSR matrix
  const auto data = parts[0].cast<Array>();
  const auto column = parts[1].cast<IntArray>();
  const auto offset = parts[2].cast<IndexArray>();
  return Features::sparse(parts[3].cast<Index>(), {offset.data(), offset.data() + offset.size()},
                          {column.data(), column.data() + column.size()}, {data.data(), data.data() + data.size()});
}

py::dict parts_of(const Model& model) {
  py::dict out;
  out["weights"] = copied(model.weights);
  out["intercept"] = copied(model.intercept);
  out["loss"] = model.options.loss.name;
  out["unit_rows"] = model.options.unit_rows;
  out["classes"] = py::cast(model.classes);
  out["features"] = py::cast(model.features);
  out["target"] = model.target;
  return out;
}

const char* ending(FitEnd end) {
  switch (end) {
    case FitEnd::converged:
      return "converged";
    case FitEnd::plateau:
      return "plateau";
    case FitEnd::separated:
      return "separated";
    case FitEnd::iterations:
      return "iterations";
    case FitEnd::diverged:
      return "diverged";
    case FitEnd::stopped:
      break;
  }
  return "stopped";
}

py::dict fit_it(const py::object& x, const Array& y, const py::dict& given,
                const std::shared_ptr<NetworkGraph>& network) {
  Value settings = to_value(given, "");
  FitOptions options = FitOptions::fields().read(settings, "");
  settle(options.model, registry().losses(), "", FitOptions::fields().names());
  options.graph.given = network;
  auto table = std::make_shared<DataTable>();
  table->features = features_of(x);
  table->targets.assign(y.data(), y.data() + y.size());
  options.data.table = std::move(table);
  std::optional<FitResult> result;
  std::atomic<bool> stop = false;
  FitControl control;
  control.stop = [&] { return stop.load(); };
  away(stop, [&] { result = fit(options, control); });
  py::dict out = parts_of(result->model);
  out["end"] = ending(result->end);
  out["iterations"] = result->state.iteration;
  out["cost"] = result->cost;
  out["vectors"] = result->traffic.vectors;
  out["scalars"] = result->traffic.scalars;
  out["seconds"] = result->seconds;
  return out;
}

}  // namespace

void add_fits(py::module_& module) {
  module.def("fit", &fit_it);
  module.def("load_model", [](const std::string& path) { return parts_of(load_model(path)); });
}

}  // namespace polyhop::python
