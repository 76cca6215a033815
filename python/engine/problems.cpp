// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Costs: the built-in losses on arrays, and Python functions.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "guest.hpp"
#include "parts.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/named_entry.hpp"
#include "polyhop/problem/data_problem.hpp"
#include "polyhop/problem/model_options.hpp"
#include "polyhop/problem/objective.hpp"
#include "polyhop/problem/problem_options.hpp"

namespace polyhop::python {
namespace {

// Costs that one Python function evaluates at many points: f(W, agents, batches) -> (values, gradients).
class FunctionCosts final : public Costs {
 public:
  FunctionCosts(py::object function, py::object values_only, std::vector<Index> samples, Index dimension)
      : function_(std::move(function)),
        values_only_(std::move(values_only)),
        samples_(std::move(samples)),
        dimension_(dimension),
        has_samples_(std::ranges::any_of(samples_, [](Index n) { return n > 1; })) {}

  [[nodiscard]] Index agents() const override { return static_cast<Index>(samples_.size()); }
  [[nodiscard]] Index dimension() const override { return dimension_; }
  [[nodiscard]] Index samples(Index agent) const override { return samples_[agent]; }

  void evaluate(const Rows& points, std::span<const Index> owners, std::span<const std::span<const Index>> batches,
                std::span<double> values, Rows* gradients) const override {
    const Callback lock;
    const auto n = static_cast<Index>(owners.size());
    const bool values_alone = gradients == nullptr && !values_only_.get().is_none();
    Shown w(points, n, false, "W");
    const py::object given = (values_alone ? values_only_ : function_)
                                 .get()(w.array(), py::array_t<Index>(n, owners.data()), listed(batches));
    py::object found = given;
    py::object slopes = py::none();
    if (!values_alone) {
      if (!py::isinstance<py::tuple>(given) || py::len(given) != 2) {
        throw InputError("objective", "must return two arrays, (values, gradients); it returned " +
                                          std::string(py::str(py::type::handle_of(given).attr("__name__"))));
      }
      found = given.cast<py::tuple>()[0];
      slopes = given.cast<py::tuple>()[1];
    }
    const Array numbers = checked(found, {n}, "objective: values");
    std::copy_n(numbers.data(), n, values.data());
    if (gradients != nullptr) {
      const Array rows = checked(slopes, {n, dimension_}, "objective: gradients");
      for (Index r = 0; r < n; ++r) std::copy_n(rows.data(r, 0), dimension_, gradients->row(r).data());
    }
    w.end();
  }

 private:
  // The samples of each point: None if costs have no samples, one array if all batches are equally large.
  [[nodiscard]] py::object listed(std::span<const std::span<const Index>> batches) const {
    if (!has_samples_) return py::none();
    const std::size_t size = batches.empty() ? 0 : batches.front().size();
    if (std::ranges::all_of(batches, [&](const auto& batch) { return batch.size() == size; })) {
      py::array_t<Index> out({batches.size(), size});
      for (std::size_t n = 0; n < batches.size(); ++n) {
        std::ranges::copy(batches[n], out.mutable_data(static_cast<py::ssize_t>(n), 0));
      }
      return out;
    }
    py::list out;
    for (const auto& batch : batches)
      out.append(py::array_t<Index>(static_cast<py::ssize_t>(batch.size()), batch.data()));
    return out;
  }

  Kept function_;
  Kept values_only_;
  std::vector<Index> samples_;
  Index dimension_;
  bool has_samples_;
};

Batch batch_of(const py::object& batch) {
  try {
    return Codec<Batch>::read(to_value(batch, "batch"));
  } catch (const InputError& e) {
    throw e.at("batch", 0);
  }
}

Sampling sampling_of(const std::string& sampling) {
  try {
    return Codec<Sampling>::read(Value(sampling));
  } catch (const InputError& e) {
    throw e.at("sampling", 0);
  }
}

// Callers in Python have checked all this; a pickle that somebody changed is unchecked.
void require(bool holds, const char* what) {
  if (!holds) throw InputError("X", std::string("does not fit together: ") + what);
}

void check_csr(const IntArray& column, const IndexArray& start, const Array& data, Index columns) {
  require(start.ndim() == 1 && start.size() >= 1 && start.at(0) == 0, "where its rows begin");
  for (py::ssize_t r = 1; r < start.size(); ++r) require(start.at(r) >= start.at(r - 1), "where its rows begin");
  require(start.at(start.size() - 1) == column.size() && column.size() == data.size(), "the count of its numbers");
  for (py::ssize_t r = 0; r + 1 < start.size(); ++r) {
    for (Index e = start.at(r); e < start.at(r + 1); ++e) {
      const std::int32_t c = column.at(e);
      require(c >= 0 && c < columns && (e == start.at(r) || c > column.at(e - 1)), "the numbers of its columns");
    }
  }
}

// The samples' rows in the order of their agents.
Features in_order(const py::object& x, std::span<const Index> order) {
  if (py::isinstance<py::tuple>(x)) {  // (data, indices, indptr, columns) of a CSR matrix
    const auto parts = x.cast<py::tuple>();
    const auto data = parts[0].cast<Array>();
    const auto indices = parts[1].cast<IntArray>();
    const auto start = parts[2].cast<IndexArray>();
    check_csr(indices, start, data, parts[3].cast<Index>());
    for (const Index r : order) require(r >= 0 && r + 1 < start.size(), "the order of its samples");
    MeteredVector<Index> offset = {0};
    MeteredVector<std::int32_t> column;
    MeteredVector<double> value;
    for (const Index r : order) {
      column.insert(column.end(), indices.data() + start.at(r), indices.data() + start.at(r + 1));
      value.insert(value.end(), data.data() + start.at(r), data.data() + start.at(r + 1));
      offset.push_back(static_cast<Index>(column.size()));
    }
    return Features::sparse(parts[3].cast<Index>(), std::move(offset), std::move(column), std::move(value));
  }
  const auto dense = py::array_t<double>::ensure(x);  // with any strides
  require(dense && dense.ndim() == 2, "its dimensions");
  for (const Index r : order) require(r >= 0 && r < dense.shape(0), "the order of its samples");
  const auto at = dense.unchecked<2>();
  Rows rows(static_cast<Index>(order.size()), at.shape(1));
  for (std::size_t n = 0; n < order.size(); ++n) {
    const auto row = rows.row(static_cast<Index>(n));
    for (Index j = 0; j < at.shape(1); ++j) row[j] = at(order[n], j);
  }
  return rows;
}

/// `y` as the loss takes it, `order` the samples agent by agent, `counts` how many each agent has.
HeldProblem linear(const std::string& loss, const py::dict& loss_options, const py::object& x, const Array& y,
                   const IndexArray& order, const IndexArray& counts, Index classes, const py::dict& model,
                   const py::object& weights) {
  ModelOptions options = ModelOptions::fields().read(to_value(model, ""), "");
  const LossSpec spec = entry_named(registry().losses(), loss, "loss").read(to_value(loss_options, ""), "");
  Index dealt = 0;
  for (py::ssize_t k = 0; k < counts.size(); ++k) {
    require(counts.at(k) >= 1 && counts.at(k) <= order.size(), "the counts of its samples");
    dealt += counts.at(k);
  }
  require(dealt == order.size() && y.ndim() == 1, "the counts of its samples");
  for (py::ssize_t n = 0; n < order.size(); ++n) {
    require(order.at(n) >= 0 && order.at(n) < y.size(), "the order of its samples");
  }
  Dataset data;
  data.features = in_order(x, std::span(order.data(), static_cast<std::size_t>(order.size())));
  for (py::ssize_t n = 0; n < order.size(); ++n) data.targets.push_back(y.at(order.at(n)));
  data.offset = {0};
  for (py::ssize_t k = 0; k < counts.size(); ++k) data.offset.push_back(data.offset.back() + counts.at(k));
  if (options.intercept) data.features = data.features.with_ones();
  LinearOptions linear{
      .l2 = options.l2, .batch = options.batch, .sampling = options.sampling, .intercept = options.intercept};
  if (!weights.is_none()) {
    const auto given = weights.cast<Array>();
    linear.weights.assign(given.data(), given.data() + given.size());
  }
  return {std::shared_ptr<const Problem>(spec.build(std::move(data), classes, std::move(linear)))};
}

HeldProblem objective(const py::object& function, const py::object& values_only, const std::vector<Index>& samples,
                      Index dimension, const py::object& batch, const std::string& sampling) {
  auto costs = std::make_shared<FunctionCosts>(function, values_only, samples, dimension);
  return {std::make_shared<ObjectiveProblem>(std::move(costs), batch_of(batch), sampling_of(sampling)), true};
}

// The first numbers of a point.
std::string text_of(const Array& w) {
  std::string out = "(";
  for (py::ssize_t j = 0; j < std::min<py::ssize_t>(w.size(), 3); ++j) out += (j > 0 ? ", " : "") + shortest(w.at(j));
  return out + (w.size() > 3 ? ", ...)" : ")");
}

// Compares the gradients of some agents with differences of values.
void check_gradients(const py::object& function, const std::vector<Index>& samples, Index dimension,
                     const std::vector<Index>& agents, const Array& w) {
  const FunctionCosts costs(function, py::none(), samples, dimension);
  for (const Index agent : agents) {
    const GradientCheck found = check_gradient(costs, agent, std::span(w.data(), static_cast<std::size_t>(w.size())));
    if (found.passed(1e-5)) continue;
    if (!std::isfinite(found.expected) || !std::isfinite(found.given)) {
      throw InputError("objective", "agent " + std::to_string(agent) + " has a " +
                                        (std::isfinite(found.expected) ? "gradient" : "value") +
                                        " that is NaN or infinite at a point drawn at random, w = " + text_of(w) +
                                        "; expected finite numbers; check=False leaves this out");
    }
    throw InputError("objective", "the gradient of agent " + std::to_string(agent) +
                                      " is not that of its value: number " + std::to_string(found.coordinate) + " is " +
                                      shortest(found.given) + ", differences of values give " +
                                      shortest(found.expected) + "; check=False leaves this out");
  }
}

py::array costs_at(const HeldProblem& held, const py::object& points) {
  const Problem& problem = *held.problem;
  const Rows w = to_rows(points, "points");
  if (w.columns() != problem.dimension()) {
    throw InputError(
        "points", "have " + std::to_string(w.columns()) + " numbers, expected " + std::to_string(problem.dimension()));
  }
  Rows out(problem.agents(), w.rows());
  {
    const py::gil_scoped_release unlocked;
    problem.costs({0, problem.agents()}, w, out);
  }
  return copied(out);
}

// The data of a linear problem, agent by agent; dense features without a copy.
py::object data_of(const std::shared_ptr<HeldProblem>& held) {
  const auto* linear = dynamic_cast<const DataProblem*>(held->problem.get());
  if (linear == nullptr) return py::none();
  const Dataset& data = linear->data();
  py::object features;
  if (data.features.is_sparse()) {
    std::vector<Index> offset = {0};
    std::vector<std::int32_t> column;
    std::vector<double> value;
    for (Index r = 0; r < data.features.rows(); ++r) {
      const auto columns = data.features.columns_of(r);
      const auto values = data.features.values_of(r);
      column.insert(column.end(), columns.begin(), columns.end());
      value.insert(value.end(), values.begin(), values.end());
      offset.push_back(static_cast<Index>(column.size()));
    }
    features = py::make_tuple(
        copied(value), py::array_t<std::int32_t>(static_cast<py::ssize_t>(column.size()), column.data()),
        py::array_t<Index>(static_cast<py::ssize_t>(offset.size()), offset.data()), data.features.columns());
  } else {
    const Rows& rows = data.features.dense();
    py::array view(py::dtype::of<double>(), {rows.rows(), rows.columns()},
                   {rows.stride() * static_cast<Index>(sizeof(double)), static_cast<Index>(sizeof(double))},
                   rows.data(), py::cast(held));
    view.attr("setflags")(py::arg("write") = false);
    features = view;
  }
  return py::make_tuple(features, copied(data.targets),
                        py::array_t<Index>(static_cast<py::ssize_t>(data.offset.size()), data.offset.data()));
}

}  // namespace

void add_problems(py::module_& module) {
  py::class_<HeldProblem, std::shared_ptr<HeldProblem>>(module, "Problem")
      .def_property_readonly("agents", [](const HeldProblem& p) { return p.problem->agents(); })
      .def_property_readonly("dimension", [](const HeldProblem& p) { return p.problem->dimension(); })
      .def_property_readonly("samples", [](const HeldProblem& p) { return p.problem->samples(); })
      .def_readonly("is_foreign", &HeldProblem::is_foreign)
      .def("costs", &costs_at)
      .def_static("data", &data_of)
      .def("minimise", [](const HeldProblem& p, const py::object& choice) {
        Reference found;
        const ReferenceChoice read = Codec<ReferenceChoice>::read(to_value(choice, "reference"));
        std::atomic<bool> stop = false;
        away(stop, [&] { found = make_reference(read, *p.problem); });
        py::object minimiser = py::none();
        if (found.minimiser) minimiser = copied(*found.minimiser);
        return py::make_tuple(found.known ? py::object(py::float_(found.value)) : py::none(), minimiser, found.how);
      });
  module.def("linear", &linear);
  module.def("objective", &objective);
  module.def("check_gradients", &check_gradients);
}

}  // namespace polyhop::python
