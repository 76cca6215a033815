// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop graph: a network described, and drawn, before it is used.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "key_arguments.hpp"
#include "memory_flag.hpp"
#include "option_flags.hpp"
#include "output_path.hpp"
#include "polyhop/core/atomic_file.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/words.hpp"
#include "polyhop/experiment/config.hpp"
#include "polyhop/experiment/toml_reader.hpp"
#include "polyhop/graph/network_summary.hpp"
#include "polyhop/report/network_svg.hpp"
#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

struct GraphArguments {
  std::optional<std::string> file;
  std::map<std::string, std::string> keys;  // of [graph], as flags
  std::vector<std::string> settings;
  std::optional<Index> dimension;
  std::optional<std::string> drawing;
  bool json = false;
};

// What is to be described.
struct Question {
  GraphOptions options;
  Sources sources;  // of the options
  std::uint64_t seed = 0;
  Index dimension = 100;            // M
  bool is_known_dimension = false;  // the file or a flag says it
};

// "graph.key=value" for every flag; a text stays one, whatever it looks like.
std::vector<KeySetting> settings_of(const GraphArguments& arguments) {
  std::vector<KeySetting> out;
  for (const FieldInfo& field : GraphOptions::fields().info()) {
    const auto found = arguments.keys.find(field.name);
    if (found == arguments.keys.end()) continue;
    std::string text = found->second;
    // A file on the command line starts from the current folder, one in an experiment from the experiment's.
    if (field.name == "file" && arguments.file) text = std::filesystem::absolute(text).string();
    out.emplace_back("graph." + field.name + "=" + (field.type == "text" ? in_quotes(text) : text),
                     "--" + field.name + " " + found->second);
  }
  out.insert(out.end(), arguments.settings.begin(), arguments.settings.end());
  return out;
}

// The network that flags alone describe; `sources` tells which said what.
GraphOptions graph_of_flags(const std::vector<KeySetting>& settings, Sources& sources) {
  Value root = Value::Table{};
  sources.apply(settings, root);
  sources.keep(root);
  try {
    for (const auto& [key, value] : *root.as<Value::Table>()) {
      if (key != "graph") throw InputError(key, "without a FILE only keys of graph can be set");
    }
    if (root.find("graph") == nullptr) {
      throw InputError("graph", "no network: give an experiment FILE, or --topology and what it needs");
    }
    return GraphOptions::fields().read(root["graph"], "graph");
  } catch (const InputError& e) {
    throw sources.located(e);
  }
}

// FILE is an experiment; the name of a topology goes with a flag.
void refuse_topology(const std::string& file) {
  std::error_code error;
  const std::vector<std::string> topologies = Codec<Topology>::all();
  if (std::ranges::count(topologies, file) == 0 || std::filesystem::exists(file, error)) return;
  std::string flags = "--topology " + file;
  for (const auto& [key, value] : needed_keys(Codec<Topology>::read(Value(file)))) flags += " --" + key + " " + value;
  throw InputError("", "there is no file '" + file + "'; to describe a network of that topology, write " + flags);
}

Question question(const GraphArguments& arguments, const Registry& registry) {
  Question q;
  const std::vector<KeySetting> settings = settings_of(arguments);
  if (arguments.file) {
    refuse_topology(*arguments.file);
    const Config config = read_config_file(*arguments.file, settings, registry);
    q.sources = config.sources;
    q.options = config.options.graph;
    q.seed = config.options.seeds.list.front();
    if (config.options.problem.dimension > 0) {
      q.dimension = config.options.problem.dimension;
      q.is_known_dimension = true;
    }
  } else {
    q.options = graph_of_flags(settings, q.sources);
  }
  if (arguments.dimension) {
    q.dimension = *arguments.dimension;
    q.is_known_dimension = true;
  }
  return q;
}

// What the two-hop lists take: on a machine of its own the busiest agent keeps everybody's gradient; one process keeps
// every row once, and for each pair a weight, a product and where to find them.
struct ListMemory {
  double busiest_agent = 0;
  double one_process = 0;
};
ListMemory list_memory(const TwoHopSizes& sizes, Index dimension) {
  constexpr double row_number = sizeof(double);
  constexpr double a_pair = 2 * sizeof(double) + sizeof(Index) + sizeof(std::int32_t);
  return {static_cast<double>(sizes.most) * static_cast<double>(Rows::padded(dimension)) * row_number,
          static_cast<double>(sizes.total) * a_pair};
}

std::string diameter_text(const Diameter& d) {
  return d.exact() ? std::to_string(d.low) : fmt::format("between {} and {}", d.low, d.high);
}

// Whether the number says more than how small it is.
bool is_known(const Estimate& gap) { return gap.computed && gap.tolerance <= 0.02 * gap.value; }

std::string gap_text(const Estimate& gap) {
  if (!gap.computed) return "not computed";
  return is_known(gap) ? significant(gap.value, 4) : "at most " + significant(gap.value + gap.tolerance, 2);
}

std::string remark(const WeightsTrial& trial) {
  if (!trial.objection.empty()) return trial.objection;
  std::string text = trial.chosen ? "chosen" : "";
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (!trial.gap.computed) add(trial.gap.reason);
  if (trial.negative) add("has negative weights, which gap rejects");
  if (trial.idle > 0) add(count_of(trial.idle, "link carries", "links carry") + " nothing");
  return text;
}

// Combinations after which disagreement is halved for sure: ln 2 / -ln(1 - gap).
std::string halving(const Estimate& gap) {
  if (!is_known(gap)) return "-";
  if (gap.value >= 1 - 1e-12) return "at once";
  return significant(std::log(2.0) / -std::log1p(-gap.value), 3);
}

// The best rule that gap takes, when it is clearly better than the chosen one.
std::optional<std::string> better_weights(const NetworkSummary& summary) {
  constexpr double clearly = 1.2;
  const WeightsTrial* best = &summary.weights.front();
  if (!is_known(best->gap)) return {};
  const double chosen = best->gap.value;
  for (const WeightsTrial& trial : summary.weights) {
    if (trial.objection.empty() && is_known(trial.gap) && !trial.negative && trial.gap.value > best->gap.value) {
      best = &trial;
    }
  }
  if (best->chosen || best->gap.value < clearly * chosen) return {};
  return fmt::format("weights = {} halves disagreement {} times as fast as the chosen rule",
                     in_quotes(name_of(best->rule)), significant(best->gap.value / chosen, 2));
}

std::vector<std::string> hints(const NetworkSummary& summary) {
  constexpr double many = 10;
  std::vector<std::string> out;
  if (!summary.two_hop || summary.two_hop->mean > many) {
    out.emplace_back(
        "more than about ten agents within two hops: gap as published may diverge; use bound = \"tight\", "
        "damping = \"rows\", project = true");
  }
  if (!summary.two_hop) out.emplace_back("two-hop lists are very long: damping = \"norms\" needs none");
  if (const auto better = better_weights(summary)) out.push_back(*better);
  return out;
}

std::string title_of(const GraphOptions& options, const NetworkSummary& summary) {
  return fmt::format("{}: {}, {}", name_of(options.topology), count_of(summary.agents, "agent"),
                     count_of(summary.links, "link"));
}

void print_degrees(const NetworkSummary& summary) {
  constexpr Index other_columns = 20;
  const auto widest = static_cast<double>(std::clamp<Index>(output_width() - other_columns, 1, 40));
  double most = 1;
  for (const DegreeBin& bin : summary.degrees) most = std::max(most, static_cast<double>(bin.agents));
  TextTable table({{"neighbours", TextTable::Align::right}, {"agents", TextTable::Align::right}, {"histogram"}});
  for (const DegreeBin& bin : summary.degrees) {
    const auto length = static_cast<std::size_t>(std::ceil(widest * static_cast<double>(bin.agents) / most));
    table.add({bin.low == bin.high ? std::to_string(bin.low) : fmt::format("{}-{}", bin.low, bin.high),
               std::to_string(bin.agents), std::string(length, '#')});
  }
  fmt::print("\n{}", table.text(output_width(), wants_color()));
}

void print_weights(const NetworkSummary& summary) {
  TextTable table({{"weights"},
                   {"spectral gap", TextTable::Align::right},
                   {"rounds to halve", TextTable::Align::right},
                   {.header = "remark", .below = true}});
  for (const WeightsTrial& trial : summary.weights) {
    const bool serves = trial.objection.empty();
    table.add(
        {name_of(trial.rule), serves ? gap_text(trial.gap) : "-", serves ? halving(trial.gap) : "-", remark(trial)});
  }
  fmt::print("\n{}", table.text(output_width(), wants_color()));
  say("Rounds to halve: how many combinations halve the agents' disagreement.");
}

// Data in a file are not read for this.
std::string dimension_text(const Question& q) {
  return q.is_known_dimension ? fmt::format("M = {}", q.dimension)
                              : fmt::format("if M = {}; --dimension says otherwise", q.dimension);
}

void print_summary(const Question& q, const NetworkSummary& summary) {
  const auto line = [](const char* name, const std::string& text) { say(fmt::format("{:<16} {}", name, text), 17); };
  fmt::print("{}\n", inked(title_of(q.options, summary), Ink::bold));
  line("neighbours", summary.least_degree == summary.max_degree
                         ? fmt::format("{} each", summary.max_degree)
                         : fmt::format("{} to {}, {} on average", summary.least_degree, summary.max_degree,
                                       significant(summary.mean_degree, 3)));
  line("diameter", diameter_text(summary.diameter));
  line("spectral gap",
       gap_text(summary.weights.front().gap) + " with " + name_of(summary.weights.front().rule) + " weights");
  if (summary.two_hop) {
    const ListMemory memory = list_memory(*summary.two_hop, q.dimension);
    line("within two hops",
         fmt::format("{} {} on average, at most {}, including the agent itself", significant(summary.two_hop->mean, 3),
                     summary.two_hop->mean == 1 ? "agent" : "agents", summary.two_hop->most));
    line("two-hop lists",
         fmt::format("{} of gradients at the busiest agent ({}), {} of pairs in one process",
                     memory_text(memory.busiest_agent), dimension_text(q), memory_text(memory.one_process)));
  } else {
    line("within two hops", "not counted: some agents have too many links");
  }
  print_degrees(summary);
  print_weights(summary);
  for (const std::string& hint : hints(summary)) {
    fmt::print("\n");
    say_inked("Hint: " + hint, Ink::warning);
  }
}

Value summary_json(const Question& q, const NetworkSummary& summary) {
  Value out = Value::Table{
      {"options", GraphOptions::fields().write(q.options)},
      {"agents", summary.agents},
      {"links", summary.links},
      {"degree",
       Value::Table{{"min", summary.least_degree}, {"mean", summary.mean_degree}, {"max", summary.max_degree}}},
      {"diameter", Value::Table{{"low", summary.diameter.low}, {"high", summary.diameter.high}}}};
  Value::Array histogram;
  for (const DegreeBin& bin : summary.degrees) {
    histogram.push_back(Value::Table{{"low", bin.low}, {"high", bin.high}, {"agents", bin.agents}});
  }
  out["degree"]["histogram"] = histogram;
  out["two_hop"] = {};
  if (summary.two_hop) {
    const ListMemory memory = list_memory(*summary.two_hop, q.dimension);
    out["two_hop"] = Value::Table{{"mean", summary.two_hop->mean},
                                  {"max", summary.two_hop->most},
                                  {"dimension", q.dimension},
                                  {"busiest_agent_bytes", memory.busiest_agent},
                                  {"one_process_bytes", memory.one_process}};
  }
  Value::Array weights;
  for (const WeightsTrial& trial : summary.weights) {
    const bool known = trial.objection.empty() && trial.gap.computed;
    weights.push_back(Value::Table{{"rule", name_of(trial.rule)},
                                   {"chosen", trial.chosen},
                                   {"applies", trial.objection.empty()},
                                   {"spectral_gap", known ? Value(trial.gap.value) : Value()},
                                   {"tolerance", known ? Value(trial.gap.tolerance) : Value()},
                                   {"negative", trial.negative},
                                   {"remark", remark(trial)}});
  }
  out["weights"] = weights;
  const auto all_hints = hints(summary);
  out["hints"] = Value::Array(all_hints.begin(), all_hints.end());
  return out;
}

NetworkPicture picture_of(const Question& q) {
  const Graph graph = make_network(q.options, q.seed).graph;
  if (graph.agents() > max_agents_drawn) {
    throw InputError("--draw", fmt::format("networks of at most {} agents are drawn, this one has {}", max_agents_drawn,
                                           graph.agents()));
  }
  NetworkPicture picture{q.seed, graph.agents(), {}};
  for (Index k = 0; k < graph.agents(); ++k) {
    for (const std::int32_t l : graph.neighbours(k)) {
      if (k < l) picture.edges.emplace_back(static_cast<std::int32_t>(k), l);
    }
  }
  return picture;
}

AtomicFile opened_drawing(const std::string& file) {
  if (std::filesystem::path(file).extension() != ".svg") {
    throw InputError("--draw",
                     "found '" + file + "', expected a name that ends in .svg; networks are drawn as SVG only");
  }
  require_folder("--draw", file);
  try {
    return AtomicFile(file);
  } catch (const Error& e) {
    throw InputError("--draw", e.what());
  }
}

void describe(const Question& q, const GraphArguments& arguments) {
  std::optional<AtomicFile> drawing;
  std::optional<NetworkPicture> picture;
  if (arguments.drawing) {
    picture = picture_of(q);
    drawing.emplace(opened_drawing(*arguments.drawing));
  }
  const NetworkSummary summary = summarise(q.options, q.seed);
  if (drawing) {
    drawing->write(network_svg(*picture, title_of(q.options, summary)));
    drawing->commit();
  }
  if (arguments.json) return print_json(summary_json(q, summary));
  print_summary(q, summary);
  if (drawing) fmt::print("\nWritten: {}\n", printable(drawing->path()));
  flush_output();
}

void graph_command(const GraphArguments& arguments, const Registry& registry) {
  const Question q = question(arguments, registry);
  try {
    describe(q, arguments);
  } catch (const InputError& e) {
    throw e.path() == "--draw" ? e : q.sources.located(e);
  }
}

// Every key of [graph] as a flag; those of named values say which.
void add_key_flags(Command& command, GraphArguments& arguments) {
  for (const FieldInfo& field : GraphOptions::fields().info()) {
    const std::string bound = field.constraint.empty() ? "" : " (" + field.constraint + ")";
    const std::vector<std::string> names = names_in(field.type);
    const auto keep = [&arguments, name = field.name](const std::string& text) { arguments.keys[name] = text; };
    Argument flag = command.option("--" + field.name, keep, field.help + bound);
    (names.empty() ? flag.takes(value_name(field)) : flag.suggests(names)).grouped("The network");
  }
}

}  // namespace

void add_graph(CommandLine& line) {
  const auto arguments = std::make_shared<GraphArguments>();
  Command graph = line.command("graph", "describe a network: links, mixing, two-hop sizes, and which weights suit it");
  graph.option(
      "FILE", arguments->file,
      "an experiment whose network to describe (default: the network that --topology and other flags describe)");
  graph.option("--set", arguments->settings, "change a key: --set graph.agents=20")
      .takes("KEY=VALUE")
      .begins_with(graph_setting_beginnings());
  graph.option("--dimension", arguments->dimension, "M, for the memory of two-hop lists (default: the file's, or 100)")
      .within(1, 1000000000);
  graph.option("--draw", arguments->drawing, "draw the network into this SVG file, with agents numbered from 0")
      .writes("FILE");
  graph.flag("--json", arguments->json, "print JSON");
  add_memory_limit(graph);
  add_color(graph);
  add_key_flags(graph, *arguments);
  graph.callback([arguments, &registry = line.registry()] {
    graph_command(*arguments, registry);
    return done;
  });
}

}  // namespace polyhop::app
