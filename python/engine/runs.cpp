// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// One method on one problem: in one go, or step by step.
#include <optional>
#include <utility>

#include "guest.hpp"
#include "parts.hpp"
#include "points.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/experiment/advice.hpp"
#include "polyhop/experiment/solve.hpp"

namespace polyhop::python {
namespace {

SolveOptions options_of(const py::dict& given, const HeldProblem& problem) {
  SolveOptions out;
  const auto take = [&](const char* name) -> py::object {
    return given.contains(name) ? py::object(given[name]) : py::none();
  };
  const auto read = [&]<class T>(const char* name, T& field) {
    const py::object value = take(name);
    if (value.is_none()) return;
    try {
      field = Codec<T>::read(to_value(value, name));
    } catch (const InputError& e) {
      throw e.at(name, 0);
    }
  };
  out.step = to_value(take("step"), "step");
  out.algorithm = to_value(take("algorithm"), "algorithm");
  read("gradient", out.gradient);
  read("iterations", out.iterations);
  read("record_every", out.record_every);
  read("target", out.target);
  read("stop_at_target", out.stop_at_target);
  read("time_limit", out.time_limit);
  read("average", out.average);
  read("reference", out.reference);
  read("threads", out.threads);
  read("every_step", out.every_step);
  Index seed = 0;
  read("seed", seed);
  if (seed < 0) throw InputError("seed", "found " + std::to_string(seed) + ", expected an integer >= 0");
  out.seed = static_cast<std::uint64_t>(seed);
  if (out.threads < 0) {
    throw InputError("threads", "found " + std::to_string(out.threads) + ", expected an integer >= 0");
  }
  if (const py::object start = take("start"); !start.is_none()) out.start = to_rows(start, "start");
  read("record_agents", out.record_agents);
  if (const py::object faults = take("faults"); !faults.is_none()) {
    out.faults = FaultOptions::fields().read(to_value(faults, "faults"), "faults");
  }
  if (problem.is_foreign) {
    if (out.threads == 0) out.threads = 1;
    // Evaluating every agent's model costs K evaluations per recorded point: take so many that recording takes about as
    // long as the iterations between two points.
    if (take("record_agents").is_none() && out.record_every >= 1 && out.record_every < problem.problem->agents()) {
      out.record_agents = {RecordedAgents::Kind::some, out.record_every};
    }
  }
  return out;
}

py::dict solve_it(const HeldProblem& problem, const NetworkGraph& network, const py::dict& given,
                  const py::object& callback, const py::object& on_kept) {
  SolveOptions options = options_of(given, problem);
  const Kept told(callback);
  const Kept remarked(on_kept);
  if (!on_kept.is_none()) {
    options.on_kept = [&](double bytes) {
      const Callback lock;
      remarked.get()(bytes);
    };
  }
  std::atomic<bool> stop = false;
  options.stop = [&] { return stop.load(); };
  if (!callback.is_none()) {
    options.callback = [&](const Point& point) {
      const Callback lock;
      return py::bool_(told.get()(numbers_of(point))).cast<bool>();
    };
  }
  const Registry methods = registry();
  std::optional<Summary> found;
  away(stop, [&] { found = solve(*problem.problem, network.matrix, options, methods); });
  py::dict out;
  out["models"] = copied(found->models);
  out["averaged"] = found->averaged.rows() > 0 ? py::object(copied(found->averaged)) : py::none();
  out["status"] = name_of(found->status);
  out["message"] = found->message;
  out["columns"] = columns_of(found->curves);
  out["steps"] = steps_of(found->steps);
  out["reference"] = found->reference_known ? py::object(py::float_(found->reference)) : py::none();
  out["reference_how"] = found->reference_how;
  out["method"] = found->method;
  out["brief"] = found->brief();
  out["risk"] = found->shown_risk();
  out["full"] = found->full();
  return out;
}

// A run that Python drives, with everything it needs.
class Driven {
 public:
  Driven(std::shared_ptr<HeldProblem> problem, std::shared_ptr<NetworkGraph> network, const py::dict& given)
      : problem_(std::move(problem)), network_(std::move(network)) {
    const SolveOptions options = options_of(given, *problem_);
    const Registry methods = registry();
    std::atomic<bool> stop = false;
    away(stop, [&] { run_ = std::make_unique<Run>(*problem_->problem, network_->matrix, options, methods); });
  }
  void step(Index count) {
    const py::gil_scoped_release unlocked;
    for (Index n = 0; n < count; ++n) run_->step();
  }
  [[nodiscard]] Index iteration() const { return run_->iteration(); }
  [[nodiscard]] Index kept_bytes() const { return run_->kept_bytes(); }
  [[nodiscard]] py::array models() const { return copied(run_->models()); }
  [[nodiscard]] py::object averaged() {
    return run_->average() != nullptr ? py::object(copied(run_->averaged())) : py::none();
  }
  [[nodiscard]] py::array steps() const { return copied(run_->steps()); }
  [[nodiscard]] py::dict traffic() const {
    const Traffic& own = run_->network().algorithm_traffic();
    const Traffic& steps = run_->network().step_traffic();
    return py::dict(py::arg("rounds") = own.rounds + steps.rounds, py::arg("vectors") = own.vectors + steps.vectors,
                    py::arg("scalars") = own.scalars + steps.scalars, py::arg("step_vectors") = steps.vectors,
                    py::arg("step_scalars") = steps.scalars);
  }

 private:
  std::shared_ptr<HeldProblem> problem_;
  std::shared_ptr<NetworkGraph> network_;
  std::unique_ptr<Run> run_;
};

}  // namespace

void add_runs(py::module_& module) {
  module.def("solve", &solve_it);
  module.def("kept_note", &kept_note);
  py::class_<Driven>(module, "Run")
      .def(py::init<std::shared_ptr<HeldProblem>, std::shared_ptr<NetworkGraph>, const py::dict&>())
      .def("step", &Driven::step)
      .def_property_readonly("iteration", &Driven::iteration)
      .def_property_readonly("kept_bytes", &Driven::kept_bytes)
      .def_property_readonly("models", &Driven::models)
      .def_property_readonly("averaged", &Driven::averaged)
      .def_property_readonly("steps", &Driven::steps)
      .def_property_readonly("traffic", &Driven::traffic);
}

}  // namespace polyhop::python
