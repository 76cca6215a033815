// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Rules and algorithms written in Python, and the tables of all there are.
#include <algorithm>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "guest.hpp"
#include "parts.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/graph/topology.hpp"
#include "polyhop/method/optimum.hpp"
#include "polyhop/problem/model_options.hpp"

namespace polyhop::python {
namespace {

// What a callback may use while it runs, in its own thread only: if it keeps it longer, or hands it to another thread,
// it gets an exception and not somebody else's memory.
class Lent {
 public:
  void use() const {
    if (!open_) throw py::value_error("this can be used only during the call; keep copies of what it gave");
    if (std::this_thread::get_id() != owner_) throw py::value_error("this belongs to the thread that was called");
  }
  void close() { open_ = false; }

 private:
  std::thread::id owner_ = std::this_thread::get_id();
  bool open_ = true;
};

class NetworkView;

// What the agents of a block hold of everybody within two hops.
struct ReachView {
  std::shared_ptr<NetworkView> network;
  Reach reach;
  Index exchange = 0;
  [[nodiscard]] const Reach& get() const;
};

// The network as a rule or an algorithm sees it. Every exchange waits for other agents, so it releases the lock.
class NetworkView : public Lent, public std::enable_shared_from_this<NetworkView> {
 public:
  explicit NetworkView(Network& network) : network_(&network) {}

  [[nodiscard]] Network& get() const {
    use();
    return *network_;
  }
  [[nodiscard]] Index exchanges() const { return exchanges_; }

  [[nodiscard]] py::array agents() const {
    const Block& block = get().block();
    py::array_t<Index> out(block.size());
    for (Index k = 0; k < block.size(); ++k) out.mutable_at(k) = block.agent(k);
    return out;
  }

  py::array combine(const py::object& x) {
    Rows rows = vectors(x);
    without_lock([&](Network& network) { network.combine(rows, rows); });
    return copied(rows);
  }

  std::shared_ptr<ReachView> reach(const py::object& x) {
    const Array given = numbers(x, "reach");
    Reach out;
    if (given.ndim() == 1) {
      const Array list = checked(given, {get().block().size()}, "reach");
      const std::span<const double> one(list.data(), static_cast<std::size_t>(list.size()));
      without_lock([&](Network& network) { out = network.reach(one); });
    } else {
      const Rows rows = vectors(given);
      without_lock([&](Network& network) { out = network.reach(rows); });
    }
    return std::make_shared<ReachView>(ReachView{shared_from_this(), out, exchanges_});
  }

  py::array pairwise(const ReachView& x) {
    std::vector<double> out(x.get().entries);
    get().pairwise(x.get(), out);
    return copied(out);
  }

  py::tuple hear(const py::object& x) {
    const Array list = checked(x, {get().block().size()}, "hear");
    const std::span<const double> one(list.data(), static_cast<std::size_t>(list.size()));
    std::vector<double> mean(one.size()), least(one.size()), most(one.size());
    without_lock([&](Network& network) {
      const Heard heard = network.hear({one});
      heard.combine(0, mean);
      heard.min(0, least);
      heard.max(0, most);
    });
    return py::make_tuple(copied(mean), copied(least), copied(most));
  }

  py::array spread_max(const py::object& x) {
    return spread(x, [](Network& network, std::span<double> list) { network.spread_max(list); });
  }
  py::array spread_sum(const py::object& x) {
    return spread(x, [](Network& network, std::span<double> list) { network.spread_sum({list}); });
  }

  [[nodiscard]] py::tuple two_hop() {
    without_lock([](Network& network) { network.prepare_two_hop(); });
    const SparseRows& b = get().two_hop();
    return py::make_tuple(copied(b.weight), py::array_t<std::int32_t>(b.entries(), b.column.data()),
                          py::array_t<Index>(static_cast<py::ssize_t>(b.offset.size()), b.offset.data()));
  }

 private:
  template <class F>
  void without_lock(F f) {
    Network& network = get();
    ++exchanges_;
    const py::gil_scoped_release unlocked;
    f(network);
  }
  Rows vectors(const py::handle& x) const {
    return to_rows(checked(x, {get().block().size(), get().columns()}, "network"), "network");
  }
  template <class F>
  py::array spread(const py::object& x, F f) {
    const Array list = checked(x, {get().block().size()}, "network");
    std::vector<double> out(list.data(), list.data() + list.size());
    without_lock([&](Network& network) { f(network, out); });
    return copied(out);
  }

  Network* network_;
  Index exchanges_ = 0;
};

const Reach& ReachView::get() const {
  network->use();
  if (network->exchanges() != exchange) {
    throw py::value_error(
        "what was reached is gone, because the network has carried something else since; use it before that");
  }
  return reach;
}

// Where a recursion stands when it asks for its step sizes.
class IterateView : public Lent {
 public:
  IterateView(const Iterate& at, const Reference* reference) : at_(at), reference_(reference) {}
  /// Made at the request of a Python algorithm, at points of its own; valid as long as the one it was made from.
  IterateView(const Iterate& at, std::shared_ptr<const Rows> points, std::shared_ptr<const Lent> lender)
      : at_(at), reference_(nullptr), points_(std::move(points)), lender_(std::move(lender)) {}

  [[nodiscard]] const Iterate& get() const {
    use();
    if (lender_) lender_->use();
    return at_;
  }
  static py::array dense(const Gradients& g) {
    Rows rows(g.size(), g.columns);
    for (Index k = 0; k < g.size(); ++k) g.write(k, rows, k);
    return copied(rows);
  }
  [[nodiscard]] py::array squared_norms() const {
    std::vector<double> out(get().agents());
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = at_.y().squared_norm(static_cast<Index>(k));
    return copied(out);
  }
  [[nodiscard]] py::array optimal_values() const {
    if (reference_ == nullptr || !reference_->minimiser) {
      throw py::value_error("optimal_values: no minimiser of this problem is known");
    }
    Rows w(1, static_cast<Index>(reference_->minimiser->size()));
    std::ranges::copy(*reference_->minimiser, w.row(0).begin());
    std::vector<double> out(get().agents());
    {
      const py::gil_scoped_release unlocked;
      at_.oracle().values_at_point(w, out);
    }
    return copied(out);
  }

 private:
  Iterate at_;
  const Reference* reference_;
  std::shared_ptr<const Rows> points_;
  std::shared_ptr<const Lent> lender_;
};

// Attributes of a Python object that survive from one iteration to the next. They are arrays over memory of the
// engine's, which its checkpoints read and write; a number is copied back and forth.
class Attributes {
 public:
  Attributes() = default;

  /// Call with the lock held; `agents` are those of the block.
  void find(const py::object& owner, Index agents) {
    for (const auto& name : owner.attr("state")) {
      Item item{name.cast<std::string>(), nullptr, nullptr, 0};
      const py::object given = owner.attr(name);
      const Array numbers = polyhop::python::numbers(given, item.name);
      if (numbers.ndim() == 0) {
        item.number = std::make_shared<double>(*numbers.data());
      } else if (numbers.ndim() <= 2 && numbers.shape(0) == agents) {
        item.columns = numbers.ndim() == 1 ? 0 : numbers.shape(1);
        const Index columns = std::max<Index>(item.columns, 1);
        item.rows = std::make_shared<Rows>(agents, columns);
        for (Index k = 0; k < agents; ++k) std::copy_n(numbers.data() + k * columns, columns, item.rows->row(k).data());
      } else {
        throw InputError(item.name, "is part of the state, so it must be a number or an array with a row for each of " +
                                        std::to_string(agents) + " agents");
      }
      items_.push_back(std::move(item));
    }
  }
  void enter(StateRegistry& state, const std::string& prefix) {
    for (Item& item : items_) {
      if (item.rows) {
        state.rows(prefix + "." + item.name, *item.rows);
      } else {
        state.number(prefix + "." + item.name, *item.number);
      }
    }
  }
  void give(const py::object& owner) const {
    for (const Item& item : items_) {
      owner.attr(item.name.c_str()) =
          item.rows ? py::object(shared_view(item.rows, item.columns)) : py::object(py::float_(*item.number));
    }
  }
  void take(const py::object& owner) const {
    for (const Item& item : items_) {
      const py::object now = owner.attr(item.name.c_str());
      if (!item.rows) {
        *item.number = now.cast<double>();
      } else if (const py::array shown = shared_view(item.rows, item.columns); !is_same(now, shown)) {
        shown[py::ellipsis()] = now;
      }
    }
  }

 private:
  struct Item {
    std::string name;
    std::shared_ptr<Rows> rows;
    std::shared_ptr<double> number;
    Index columns = 0;  // 0: one number per agent
  };
  static bool is_same(const py::object& now, const py::array& shown) {
    return py::isinstance<py::array>(now) && py::reinterpret_borrow<py::array>(now).data() == shown.data();
  }

  std::vector<Item> items_;
};

// Rows reach Python as arrays of float64, without a copy.
void require_double(const Setting& setting, const char* what) {
  if (setting.network.element() == Element::float64) return;
  throw InputError("problem.precision",
                   std::string(what) + " written in Python works in double precision; use precision = \"double\"");
}

// A rule written in Python: an object of a subclass of polyhop.StepSize, one for each block.
class PythonStep final : public StepSize {
 public:
  PythonStep(const Kept& make, const Setting& setting, const std::string& name)
      : name_(name), reference_(setting.reference) {
    const Callback lock;
    require_double(setting, "a rule");
    const auto network = std::make_shared<NetworkView>(setting.network);
    rule_.emplace(make.get()());
    rule_->get().attr("start")(network);
    network->close();
    needs_values_ = rule_->get().attr("needs_values").cast<bool>();
    is_common_ = rule_->get().attr("is_common").cast<bool>();
    state_.find(rule_->get(), setting.network.block().size());
  }
  [[nodiscard]] bool needs_values() const override { return needs_values_; }
  [[nodiscard]] bool is_common() const override { return is_common_; }
  void register_state(StateRegistry& state) override { state_.enter(state, name_); }

 private:
  void do_choose(const Iterate& at, Network& network, std::span<double> mu) override {
    const Callback lock;
    const auto iterate = std::make_shared<IterateView>(at, reference_);
    const auto view = std::make_shared<NetworkView>(network);
    struct Close {
      IterateView& at;
      NetworkView& network;
      ~Close() {
        at.close();
        network.close();
      }
    } const close{*iterate, *view};
    const py::object& rule = rule_->get();
    state_.give(rule);
    const py::object chosen = rule.attr("choose")(iterate, view);
    state_.take(rule);
    const std::string path = name_ + ".choose";
    if (chosen.is_none()) {
      throw InputError(path, "returned None, expected an array of " + std::to_string(mu.size()) +
                                 " step sizes, or one number for all; end it with return");
    }
    const Array numbers = polyhop::python::numbers(chosen, path);
    if (numbers.ndim() == 0) {
      std::ranges::fill(mu, *numbers.data());
    } else {
      std::ranges::copy_n(checked(numbers, {static_cast<Index>(mu.size())}, path).data(),
                          static_cast<std::ptrdiff_t>(mu.size()), mu.begin());
    }
  }

  std::string name_;
  const Reference* reference_;
  std::optional<Kept> rule_;
  Attributes state_;
  bool needs_values_ = false;
  bool is_common_ = false;
};

// A rule or an oracle in the hands of a Python algorithm.
struct RuleView : Lent {
  explicit RuleView(StepSize& r) : rule(&r) {}
  StepSize* rule;
};
struct OracleView : Lent {
  OracleView(Oracle& o, Index agents, Index dimension) : oracle(&o), shape{agents, dimension} {}
  Oracle* oracle;
  std::vector<Index> shape;  // of the models
};

class PythonAlgorithm final : public Algorithm {
 public:
  PythonAlgorithm(Rows start, const Kept& make, const Setting& setting, const std::string& name)
      : Algorithm(std::move(start)), name_(name) {
    const Callback lock;
    require_double(setting, "an algorithm");
    const auto network = std::make_shared<NetworkView>(setting.network);
    object_.emplace(make.get()());
    models_ = std::make_shared<Rows>(w_);
    object_->get().attr("models") = shared_view(models_, w_.columns());
    object_->get().attr("start")(network);
    network->close();
    state_.find(object_->get(), w_.rows());
  }

  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override {
    const Callback lock;
    const auto o = std::make_shared<OracleView>(oracle, w_.rows(), w_.columns());
    const auto r = std::make_shared<RuleView>(rule);
    const auto n = std::make_shared<NetworkView>(network);
    struct Close {
      Lent &a, &b, &c;
      ~Close() {
        a.close();
        b.close();
        c.close();
      }
    } const close{*o, *r, *n};
    const py::object& object = object_->get();
    *models_ = w_;  // a checkpoint may have been restored in between
    object.attr("models") = shared_view(models_, w_.columns());
    state_.give(object);
    object.attr("step")(i, o, r, n);
    state_.take(object);
    const Array now = checked(object.attr("models"), {w_.rows(), w_.columns()}, "models");
    for (Index k = 0; k < w_.rows(); ++k) std::copy_n(now.data(k, 0), w_.columns(), w_.row(k).data());
    const Array steps = checked(object.attr("steps"), {w_.rows()}, "steps");
    std::copy_n(steps.data(), w_.rows(), mu_.begin());
  }

 private:
  void register_more(StateRegistry& state) override { state_.enter(state, name_); }

  std::string name_;
  std::optional<Kept> object_;
  std::shared_ptr<Rows> models_;
  Attributes state_;
};

// The options that Python declared, read without Python: {name: default}.
struct Declared {
  std::vector<FieldInfo> info;
  Value::Table defaults;
};

Declared declared(const py::dict& options) {
  Declared out;
  for (const auto& [key, value] : options) {
    const auto name = key.cast<std::string>();
    Value v = to_value(value, name);
    out.info.push_back({name, v.empty() ? "any" : v.kind(), v.empty() ? "-" : v.text(), "", ""});
    out.defaults.emplace_back(name, std::move(v));
  }
  return out;
}

// Every declared option with its value, and no others.
Value read_options(const Declared& options, const Value& table, const std::string& path, const std::string& key) {
  Value out = options.defaults;
  std::vector<std::string> names;
  for (const auto& [name, value] : options.defaults) names.push_back(name);
  for (const auto& [name, value] : *table.as<Value::Table>()) {
    if (name == key) continue;
    if (std::ranges::find(names, name) == names.end()) {
      throw InputError(path + "." + name, "unknown key" + suggestion(name, names), value.line);
    }
    out[name] = value;
  }
  std::erase_if(*out.as<Value::Table>(), [](const auto& entry) { return entry.second.empty(); });
  return out;
}

// Calls the class with its options; its errors are reported where the options are.
Kept maker(const Kept& type, const Value& options) {
  const Callback lock;
  const py::object partial = py::module_::import("functools").attr("partial");
  return Kept(partial(type.get(), **to_python(options).cast<py::dict>()));
}

void try_once(const Kept& make, const std::string& path, int line) {
  const Callback lock;
  try {
    make.get()();
  } catch (py::error_already_set& e) {
    if (!e.matches(PyExc_ValueError) && !e.matches(PyExc_TypeError)) throw;
    throw InputError(path, std::string(py::str(e.value())), line);
  }
}

struct Added {
  std::map<std::string, RuleEntry> rules;
  std::map<std::string, AlgorithmEntry> algorithms;
  std::optional<Registry> all;
};

// Never destroyed: it holds Python objects.
Added& added() {
  static auto* all = new Added;
  return *all;
}

void add_rule(const std::string& name, const py::object& type, const std::string& summary, const py::dict& options,
              const std::string& gives, const std::string& constant) {
  const Kept kept(type);
  const Declared fields = declared(options);
  const Steps steps = Codec<Steps>::read(Value(gives));
  const auto read = [=](const Value& table, const std::string& path, std::span<const RuleEntry>) {
    const Value values = read_options(fields, table, path, "rule");
    const Kept make = maker(kept, values);
    try_once(make, path, table.line);
    return RuleSpec{name, values, steps,
                    [make, name](const Setting& setting) { return std::make_unique<PythonStep>(make, setting, name); }};
  };
  if (std::ranges::find(rules(), name, &RuleEntry::name) != rules().end()) {
    throw InputError("name", "polyhop has a rule '" + name + "' already; choose another name");
  }
  added().rules[name] = {name, summary, "what it does in Python", steps, constant, fields.info, read};
  added().all.reset();
}

void add_algorithm(const std::string& name, const py::object& type, const std::string& summary, const py::dict& options,
                   const std::string& takes, const py::dict& recursion) {
  const Kept kept(type);
  const Declared fields = declared(options);
  const Steps steps = Codec<Steps>::read(Value(takes));
  Recursion form;
  form.name = name;
  for (const auto& [key, value] : recursion) {
    const auto field = key.cast<std::string>();
    if (field == "mixing") {
      form.mixing = value.cast<double>();
    } else if (field == "rounds") {
      form.rounds = value.cast<Index>();
    } else if (field == "shifted") {
      form.shifted = value.cast<bool>();
    } else if (field == "tracked") {
      form.tracked = value.cast<bool>();
    } else if (field == "dual") {
      form.dual = value.cast<bool>();
    } else {
      throw InputError("recursion." + field, "unknown key; allowed: mixing, rounds, shifted, tracked, dual");
    }
  }
  const auto read = [=](const Value& table, const std::string& path) {
    const Value values = read_options(fields, table, path, "name");
    const Kept make = maker(kept, values);
    try_once(make, path, table.line);
    return AlgorithmSpec{name, values, steps, [form](const CombinationMatrix&) { return form; },
                         [make, name](Rows start, const Setting& setting) {
                           return std::make_unique<PythonAlgorithm>(std::move(start), make, setting, name);
                         }};
  };
  if (std::ranges::find(algorithms(), name, &AlgorithmEntry::name) != algorithms().end()) {
    throw InputError("name", "polyhop has an algorithm '" + name + "' already; choose another name");
  }
  added().algorithms[name] = {name, summary, "what it does in Python", steps, fields.info, read};
  added().all.reset();
}

py::list described(const std::vector<FieldInfo>& fields) {
  py::list out;
  for (const FieldInfo& f : fields) {
    out.append(py::dict(py::arg("name") = f.name, py::arg("type") = f.type, py::arg("default") = f.default_text,
                        py::arg("constraint") = f.constraint, py::arg("help") = f.help));
  }
  return out;
}

py::dict tables() {
  py::dict out;
  const Registry& all = registry();
  py::list rules, algorithms, losses, topologies, weights;
  for (const RuleEntry& e : all.rules()) {
    rules.append(py::dict(py::arg("name") = e.name, py::arg("summary") = e.summary, py::arg("cost") = e.cost,
                          py::arg("constant") = e.constant, py::arg("options") = described(e.options)));
  }
  for (const AlgorithmEntry& e : all.algorithms()) {
    algorithms.append(py::dict(py::arg("name") = e.name, py::arg("summary") = e.summary, py::arg("cost") = e.cost,
                               py::arg("options") = described(e.options)));
  }
  for (const LossEntry& e : all.losses()) {
    losses.append(py::dict(py::arg("name") = e.name, py::arg("summary") = e.summary, py::arg("task") = name_of(e.task),
                           py::arg("options") = described(e.options)));
  }
  for (const auto& name : Codec<Topology>::all()) topologies.append(name);
  for (const auto& name : Codec<Weights>::all()) weights.append(name);
  out["rules"] = rules;
  out["algorithms"] = algorithms;
  out["losses"] = losses;
  out["topologies"] = topologies;
  out["weights"] = weights;
  out["graph"] = described(GraphOptions::fields().info());
  out["model"] = described(ModelOptions::fields().info());
  return out;
}

}  // namespace

Registry& registry() {
  Added& own = added();
  if (!own.all) {
    own.all.emplace();
    for (const auto& [name, entry] : own.rules) own.all->add(entry);
    for (const auto& [name, entry] : own.algorithms) own.all->add(entry);
  }
  return *own.all;
}

void add_methods(py::module_& module) {
  py::class_<ReachView, std::shared_ptr<ReachView>>(module, "Reach")
      .def_property_readonly(
          "weights",
          [](const ReachView& r) {
            return copied(std::span(r.get().pattern.weight, static_cast<std::size_t>(r.get().entries)));
          })
      .def_property_readonly(
          "offset", [](const ReachView& r) { return py::array_t<Index>(r.get().agents + 1, r.get().pattern.offset); })
      .def_property_readonly("rows", [](const ReachView& r) {
        Rows out(r.get().entries, r.get().columns);
        for (Index e = 0; e < out.rows(); ++e) std::copy_n(r.get().row(e), out.columns(), out.row(e).data());
        return copied(out);
      });
  py::class_<NetworkView, std::shared_ptr<NetworkView>>(module, "NetworkView")
      .def_property_readonly("agents", &NetworkView::agents, "The numbers of the agents whose rows these are.")
      .def_property_readonly(
          "size", [](const NetworkView& n) { return n.get().agents(); }, "Agents in all.")
      .def_property_readonly("dimension", [](const NetworkView& n) { return n.get().columns(); })
      .def("combine", &NetworkView::combine, "Each agent's weighted mean over itself and its neighbours. 1 vector.")
      .def("reach", &NetworkView::reach, "What everybody within two hops has: 1 vector or scalar from each of them.")
      .def("pairwise", &NetworkView::pairwise, "The product of each agent's own row with each that it reached.")
      .def("hear", &NetworkView::hear, "(mean, least, most) of one number over each neighbourhood. 1 scalar.")
      .def("spread_max", &NetworkView::spread_max, "The largest number of all agents. 1 scalar per round.")
      .def("spread_sum", &NetworkView::spread_sum, "The sum over all agents, along a spanning tree.")
      .def("two_hop", &NetworkView::two_hop, "(data, indices, indptr) of B = A^T A, the block's rows.");
  py::class_<IterateView, std::shared_ptr<IterateView>>(module, "Iterate")
      .def_property_readonly(
          "i", [](const IterateView& a) { return a.get().i(); }, "The iteration, from 0.")
      .def_property_readonly(
          "iteration", [](const IterateView& a) { return a.get().i(); }, "The same as `i`.")
      .def_property_readonly(
          "models", [](const IterateView& a) { return copied(a.get().w()); },
          "Where the gradients are taken, a row for each agent.")
      .def_property_readonly(
          "start", [](const IterateView& a) { return copied(a.get().x()); }, "What the step is taken from.")
      .def_property_readonly("gradients", [](const IterateView& a) { return IterateView::dense(a.get().gradients()); })
      .def_property_readonly(
          "direction", [](const IterateView& a) { return IterateView::dense(a.get().y()); },
          "What the step is taken along: the gradients, or what an algorithm tracks.")
      .def_property_readonly(
          "values", [](const IterateView& a) { return copied(a.get().values()); },
          "Each agent's cost on its sample, where the rule needs values.")
      .def_property_readonly("squared_norms", &IterateView::squared_norms, "||direction||^2 of each agent.")
      .def("optimal_values", &IterateView::optimal_values, "Each agent's cost on its sample at the minimiser.");
  py::class_<RuleView, std::shared_ptr<RuleView>>(module, "Rule")
      .def("choose", [](const RuleView& r, const IterateView& at, const NetworkView& network) {
        r.use();
        std::vector<double> mu(at.get().agents());
        Network& own = network.get();
        {
          const py::gil_scoped_release unlocked;
          r.rule->choose(at.get(), own, mu);
        }
        return copied(mu);
      });
  py::class_<OracleView, std::shared_ptr<OracleView>>(module, "Oracle")
      .def("sample", [](const std::shared_ptr<OracleView>& o, Index i, const py::object& models, const RuleView& rule) {
        o->use();
        rule.use();
        if (i < 0 || i > Index{1} << 53) throw InputError("i", "expected the iteration that step was called with");
        const auto points = std::make_shared<const Rows>(to_rows(checked(models, o->shape, "models"), "models"));
        const Evaluation* found = nullptr;
        {
          const py::gil_scoped_release unlocked;
          o->oracle->draw(i);
          found = &o->oracle->evaluate(*points, rule.rule->needs_values());
        }
        return std::make_shared<IterateView>(Iterate(i, *points, *found, *o->oracle), points, o);
      });
  module.def("add_rule", &add_rule);
  module.def("add_algorithm", &add_algorithm);
  module.def("tables", &tables);
  module.def("read_rule", [](const py::object& step) {
    const RuleSpec rule = read_rule(to_value(step, "step"), "step", registry().rules());
    return py::make_tuple(rule.name, to_python(rule.options));
  });
  module.def("read_algorithm", [](const py::object& algorithm) {
    const AlgorithmSpec read = read_algorithm(to_value(algorithm, "algorithm"), "algorithm", registry().algorithms());
    return py::make_tuple(read.name, to_python(read.options));
  });
}

}  // namespace polyhop::python
