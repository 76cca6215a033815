// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Whole experiments: from a file, from values, from a store; and what is made from their records.
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "guest.hpp"
#include "parts.hpp"
#include "points.hpp"
#include "polyhop/core/atomic_file.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/experiment/load.hpp"
#include "polyhop/experiment/run.hpp"
#include "polyhop/experiment/store.hpp"
#include "polyhop/graph/topology.hpp"
#include "polyhop/report/export.hpp"
#include "polyhop/report/figure.hpp"
#include "polyhop/report/html_report.hpp"
#include "polyhop/report/ranking.hpp"
#include "polyhop/report/text_plot.hpp"

namespace polyhop::python {
namespace {

// Tells whoever watches a run about its cells, points and memory, one at a time.
void watch(RunOptions& options, const Kept& on_cell, const Kept& on_point, const Kept& on_kept) {
  if (!on_kept.get().is_none()) {
    options.on_kept = [on_kept](const std::string& method, double bytes) {
      const Callback lock;
      on_kept.get()(method, bytes);
    };
  }
  if (!on_cell.get().is_none()) {
    options.on_cell = [on_cell](const Cell& cell, Index finished, Index total) {
      const Callback lock;
      on_cell.get()(cell.method, cell.seed, name_of(cell.status), finished, total);
    };
  }
  if (!on_point.get().is_none()) {
    options.on_point = [on_point](const Cell& cell) {
      const Callback lock;
      on_point.get()(cell.method, cell.seed, cell.points.back().iteration);
    };
  }
}

Record run_with(const Config& config, const py::object& folder, bool fresh, Index threads, const py::object& on_cell,
                const py::object& on_point, const py::object& on_kept) {
  std::optional<Store> store;
  RunOptions options;
  options.threads = threads;
  watch(options, Kept(on_cell), Kept(on_point), Kept(on_kept));
  std::atomic<bool> stop = false;
  options.stop = [&] { return stop.load(); };
  std::optional<std::string> place;
  if (!folder.is_none()) place = folder.cast<std::string>();
  Record record;
  away(stop, [&] {
    if (place) {
      std::error_code failed;
      std::filesystem::create_directories(*place, failed);
      if (failed) throw InputError("out", "cannot create the folder '" + *place + "': " + failed.message());
      store.emplace(*place, Store::Mode::write);
      const std::string held = store->name();
      if (!held.empty() && held != config.options.name && !fresh) {
        throw InputError("out", "'" + *place + "' holds the experiment '" + held + "', not '" + config.options.name +
                                    "'; choose another folder, or fresh=True");
      }
      if (fresh) store->clear();
      options.store = &*store;
    }
    try {
      record = run(config, options);
    } catch (const InputError& e) {
      throw config.sources.located(e);
    }
  });
  return record;
}

Config read(const py::object& given, const std::string& folder, const py::dict& settings) {
  if (py::isinstance<py::dict>(given)) {
    return read_config(to_value(given, ""), folder, registry());
  }
  std::vector<KeySetting> changes;
  for (const auto& [key, value] : settings) {
    const auto name = key.cast<std::string>();
    changes.emplace_back(name + "=" + to_value(value, name).text(), "settings[\"" + name + "\"]");
  }
  return read_config_file(given.cast<std::string>(), changes, registry());
}

// Replaces the problem and the network that a file would describe by ones that Python already has.
Config with_given(py::dict root, const std::shared_ptr<HeldProblem>& problem,
                  const std::shared_ptr<NetworkGraph>& network) {
  if (problem->problem->agents() != network->matrix.agents()) {
    throw InputError("network", "has " + std::to_string(network->matrix.agents()) + " agents, the problem " +
                                    std::to_string(problem->problem->agents()));
  }
  Registry with_problem = registry();
  with_problem.add(ProblemEntry{
      "given", "the problem that the program has", {}, [problem](const Value&, const std::string&) {
        return ProblemSpec{"given", Value::Table{}, [problem](const ProblemSetting&) { return problem->problem; }};
      }});
  root["problem"] = py::dict(py::arg("source") = "given");
  root["graph"] = py::dict(py::arg("topology") = "ring", py::arg("agents") = network->matrix.agents());
  Config config = read_config(to_value(root, ""), "", with_problem);
  GraphOptions graph;
  graph.topology = Topology::file;
  graph.file = "the program's own";  // for the page's list of settings
  graph.given = network;
  config.options.graph = std::move(graph);
  return config;
}

py::dict of_spread(const Spread& spread) {
  return py::dict(py::arg("low") = spread.low, py::arg("median") = spread.median, py::arg("high") = spread.high);
}

py::list ranking(const Record& record) {
  py::list out;
  for (const Standing& s : rank(record)) {
    py::dict row(py::arg("method") = s.method, py::arg("runs") = s.runs, py::arg("reached") = s.reached,
                 py::arg("diverged") = s.diverged, py::arg("unfinished") = s.unfinished, py::arg("failed") = s.failed);
    row["iterations"] = of_spread(s.iterations);
    row["vectors"] = of_spread(s.vectors);
    row["evaluations"] = of_spread(s.evaluations);
    row["seconds"] = of_spread(s.seconds);
    row["final_risk"] = of_spread(s.final_risk);
    row["final_risk_averaged"] = of_spread(s.final_risk_averaged);
    row["averaged_better"] = s.averaged_better;
    row["recommended"] = name_of(s.recommended);
    const Tuning* tuning = tuning_of(record, s.method);
    row["tuning_vectors"] = tuning == nullptr ? 0 : tuning->vectors;
    row["tuning_trials"] = tuning == nullptr ? 0 : tuning->trials;
    row["tuning_goal"] = tuning == nullptr ? "" : name_of(tuning->goal);
    out.append(row);
  }
  return out;
}

py::list cells(const Record& record) {
  py::list out;
  for (const Cell& cell : record.cells) {
    py::dict row(py::arg("method") = cell.method, py::arg("seed") = cell.seed, py::arg("status") = name_of(cell.status),
                 py::arg("message") = cell.message);
    row["columns"] = columns_of(cell.points);
    row["steps"] = steps_of(cell.steps);
    row["reference"] = cell.reference_value;
    out.append(row);
  }
  return out;
}

py::dict models(const Record& record) {
  py::dict out;
  for (const Cell& cell : record.cells) {
    if (cell.models.rows() == 0) continue;
    out[py::make_tuple(cell.method, cell.seed)] =
        py::make_tuple(copied(cell.models), cell.averaged.rows() > 0 ? py::object(copied(cell.averaged)) : py::none());
  }
  return out;
}

// Every agent's numbers at each point, from what steps_of made.
std::vector<MeteredVector<double>> by_point(const py::handle& found, const char* name) {
  std::vector<MeteredVector<double>> out;
  if (found.is_none()) return out;
  const Rows rows = to_rows(found, name);
  for (Index p = 0; p < rows.rows(); ++p) out.emplace_back(rows.row(p).begin(), rows.row(p).end());
  return out;
}

// All of a record as Python values, and back: for pickling.
py::dict state_of(const Record& record) {
  py::list cells_, networks, tunings;
  for (const Cell& c : record.cells) {
    py::list points;
    for (const Point& point : c.points) points.append(numbers_of(point));
    cells_.append(py::make_tuple(c.method, c.seed, name_of(c.status), c.message, c.bad_input, points, steps_of(c.steps),
                                 copied(c.models), copied(c.averaged), c.reference_value, c.reference_accuracy,
                                 c.reference_error_rate, c.reference_how, c.recorded_agents, steps_of(c.distances)));
  }
  for (const NetworkPicture& n : record.networks) networks.append(py::make_tuple(n.seed, n.agents, n.edges));
  for (const Tuning& t : record.tunings) {
    tunings.append(py::make_tuple(t.method, t.value, t.factor, t.trials, t.iterations, t.vectors, t.scalars, t.values,
                                  t.gradients, t.seconds, name_of(t.goal)));
  }
  return py::dict(py::arg("name") = record.name, py::arg("target") = record.target,
                  py::arg("config") = to_python(record.config), py::arg("cells") = cells_,
                  py::arg("networks") = networks, py::arg("tunings") = tunings,
                  py::arg("provenance") = record.provenance);
}

Record from_state(const py::dict& state) {
  Record out;
  out.name = state["name"].cast<std::string>();
  out.target = state["target"].cast<double>();
  out.config = to_value(state["config"], "config");
  for (const auto& item : state["cells"]) {
    const auto c = item.cast<py::tuple>();
    Cell cell;
    cell.method = c[0].cast<std::string>();
    cell.seed = c[1].cast<std::uint64_t>();
    cell.status = Codec<Status>::read(Value(c[2].cast<std::string>()));
    cell.message = c[3].cast<std::string>();
    cell.bad_input = c[4].cast<bool>();
    for (const auto& numbers : c[5]) {
      Point point;
      for (const PointColumn& column : point_columns) {
        std::visit(
            [&]<class T>(T Point::*const member) {
              point.*member = numbers[py::str(std::string(column.name))].template cast<T>();
            },
            column.number);
      }
      cell.points.push_back(point);
    }
    cell.steps = by_point(c[6], "steps");
    if (c.size() > 14) cell.distances = by_point(c[14], "distances");  // missing from pickles of earlier versions
    cell.models = to_rows(c[7], "models");
    cell.averaged = to_rows(c[8], "averaged");
    cell.reference_value = c[9].cast<double>();
    cell.reference_accuracy = c[10].cast<double>();
    cell.reference_error_rate = c[11].cast<double>();
    cell.reference_how = c[12].cast<std::string>();
    cell.recorded_agents = c[13].cast<Index>();
    out.cells.push_back(std::move(cell));
  }
  for (const auto& item : state["networks"]) {
    const auto n = item.cast<py::tuple>();
    out.networks.push_back({n[0].cast<std::uint64_t>(), n[1].cast<Index>(),
                            n[2].cast<std::vector<std::pair<std::int32_t, std::int32_t>>>()});
  }
  for (const auto& item : state["tunings"]) {
    const auto t = item.cast<py::tuple>();
    Tuning& tuning = out.tunings.emplace_back(Tuning{
        t[0].cast<std::string>(), t[1].cast<double>(), t[2].cast<double>(), t[3].cast<Index>(), t[4].cast<Index>(),
        t[5].cast<Index>(), t[6].cast<Index>(), t[7].cast<Index>(), t[8].cast<Index>(), t[9].cast<double>()});
    // Missing from pickles of earlier versions.
    if (t.size() > 10) tuning.goal = Codec<TuningGoal>::read(Value(t[10].cast<std::string>()));
  }
  out.provenance = state["provenance"].cast<std::vector<std::pair<std::string, std::string>>>();
  return out;
}

void write_page(const Record& record, const std::string& path) {
  AtomicFile file{std::filesystem::path(path)};
  file.write(html_report({record}));
  file.commit();
}

void write_figure_of(const Record& record, const std::string& path, const py::dict& options) {
  const FigureOptions read = FigureOptions::fields().read(to_value(options, ""), "");
  const py::gil_scoped_release unlocked;
  write_figure({record}, read, path);
}

}  // namespace

void add_experiments(py::module_& module) {
  py::class_<Record, std::shared_ptr<Record>>(module, "Record")
      .def(py::pickle(&state_of, &from_state))
      .def_readonly("name", &Record::name)
      .def_readonly("target", &Record::target)
      .def_property_readonly("config", [](const Record& r) { return to_python(r.config); })
      .def_property_readonly("provenance", [](const Record& r) { return py::dict(py::cast(r.provenance)); })
      .def("ranking", &ranking)
      .def("ranking_text", [](const Record& r, Index width) { return ranking_text(r, width); })
      .def("cells", &cells)
      .def("models", &models)
      .def("html", [](const Record& r) { return html_report({r}); })
      .def("write_page", &write_page)
      .def("write_figure", &write_figure_of)
      .def("export", [](const Record& r, const std::string& folder) { export_record(r, folder); });
  module.def("run_file", [](const py::object& file, const std::string& folder_of_file, const py::object& folder,
                            const py::dict& settings, bool fresh, Index threads, const py::object& on_cell,
                            const py::object& on_point, const py::object& on_kept) {
    return run_with(read(file, folder_of_file, settings), folder, fresh, threads, on_cell, on_point, on_kept);
  });
  module.def("name_of_file", [](const py::object& file, const std::string& folder, const py::dict& settings) {
    return read(file, folder, settings).options.name;
  });
  module.def("compare", [](const py::dict& root, const std::shared_ptr<HeldProblem>& problem,
                           const std::shared_ptr<NetworkGraph>& network, Index threads, const py::object& on_cell,
                           const py::object& on_point, const py::object& on_kept) {
    const Index used = problem->is_foreign && threads == 0 ? 1 : threads;
    return run_with(with_given(root, problem, network), py::none(), false, used, on_cell, on_point, on_kept);
  });
  module.def("load", [](const std::string& folder, bool with_models) {
    const py::gil_scoped_release unlocked;
    return load_record(folder, with_models);
  });
}

}  // namespace polyhop::python
