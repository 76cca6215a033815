// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop doctor: is this machine fit to run polyhop, and what is missing?
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cluster.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "polyhop/core/machine.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/experiment/self_test.hpp"
#include "polyhop/network/placement.hpp"
#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

// One line of the findings. Only `bad` makes a machine unfit.
struct Finding {
  enum class Verdict { good, warning, bad };
  Verdict verdict = Verdict::good;
  std::string subject;
  std::string text;
  std::string advice;  // what to do; empty when all is well
};

// Programs that polyhop calls, and what does without them.
struct Helper {
  const char* program;
  const char* package;
  const char* use;
};
constexpr std::array<Helper, 3> helpers = {{{"gnuplot", "gnuplot-nox", "figures as SVG, PDF and PNG"},
                                            {"chromium", "chromium", "looking at reports, and the tests of them"},
                                            {"mpirun", "openmpi-bin", "runs over several machines"}}};

std::vector<Finding> find_programs() {
  std::vector<Finding> out;
  for (const Helper& helper : helpers) {
    const auto path = find_program(helper.program);
    if (path) {
      out.push_back({Finding::Verdict::good, helper.program, *path, ""});
    } else {
      out.push_back({Finding::Verdict::warning, helper.program,
                     fmt::format("not found; only needed for {}", helper.use),
                     fmt::format("apt-get install {}", helper.package)});
    }
  }
  return out;
}

// What was chosen when polyhop was built.
std::vector<Finding> built_in_findings() {
  using enum Finding::Verdict;
  const std::string mpi = mpi_library();
  std::vector<Finding> out;
  out.push_back(mpi.empty() ? Finding{warning, "MPI", "not built in; only needed for runs over several processes",
                                      "apt-get install libopenmpi-dev, and build polyhop again"}
                            : Finding{good, "MPI", mpi + " is built in", ""});
  out.push_back(has_metis() ? Finding{good, "METIS", "is built in", ""}
                            : Finding{warning, "METIS", "not built in; only needed for --placement metis",
                                      "apt-get install libmetis-dev, and build polyhop again"});
  return out;
}

Finding memory_finding(const Machine& machine) {
  constexpr double little = 1e9;
  const std::string text =
      machine.memory_bytes > 0
          ? fmt::format("{}, {} of it free", memory_text(machine.memory_bytes), memory_text(machine.free_bytes))
          : "not known";
  if (machine.memory_bytes > 0 && machine.free_bytes < little) {
    return {Finding::Verdict::warning, "memory", text, "end other programs before large runs"};
  }
  return {Finding::Verdict::good, "memory", text, ""};
}

Finding folder_finding() {
  std::error_code failed;
  const std::string folder = std::filesystem::current_path(failed).string();
  if (!failed && access(".", W_OK | X_OK) == 0)
    return {Finding::Verdict::good, "current folder", folder + " can be written", ""};
  return {Finding::Verdict::bad, "current folder", folder + " cannot be written",
          "change to a folder of your own, or write elsewhere with -o"};
}

std::vector<Finding> self_test_findings() {
  std::vector<Finding> out;
  for (const SelfTest& test : self_test()) {
    if (test.kept) {
      out.push_back({Finding::Verdict::good, "self-test", test.promise, ""});
    } else {
      out.push_back({Finding::Verdict::bad, "self-test", "broken: " + test.promise + ": " + test.found,
                     "results would not be the same as elsewhere: build polyhop again with its own flags and g++ 12"});
    }
  }
  return out;
}

std::vector<Finding> examine(const Machine& machine) {
  using enum Finding::Verdict;
  std::vector<Finding> out = {
      {good, "version", "polyhop " + machine.version, ""},
      {good, "compiler", machine.compiler, ""},
      {good, "system", machine.system, ""},
      {good, "processor",
       fmt::format("{}, kernels for {}", machine.cpu.empty() ? "not known" : machine.cpu, machine.instruction_set), ""},
      {good, "cores", std::to_string(machine.cores), ""}};
  if (machine.build == "debug") {
    out.push_back({warning, "build", "debug: many times slower", "cmake -DCMAKE_BUILD_TYPE=Release"});
  }
  out.push_back(memory_finding(machine));
  out.push_back(folder_finding());
  for (const auto& more : {built_in_findings(), find_programs(), self_test_findings()})
    out.insert(out.end(), more.begin(), more.end());
  return out;
}

// The names of verdicts, and how they stand out.
constexpr std::array<const char*, 3> verdicts = {"ok", "note", "failed"};
std::optional<Ink> ink_of(Finding::Verdict verdict) {
  if (verdict == Finding::Verdict::good) return {};
  return verdict == Finding::Verdict::warning ? Ink::warning : Ink::bad;
}

void print_findings(const std::vector<Finding>& findings, bool fit) {
  TextTable table({{"verdict"}, {"checked"}, {"found"}});
  for (const Finding& finding : findings) {
    const auto ink = ink_of(finding.verdict);
    table.add({verdicts[static_cast<std::size_t>(finding.verdict)], finding.subject, finding.text}, ink);
    if (!finding.advice.empty()) table.add({"", "", "-> " + finding.advice}, ink);
  }
  fmt::print("{}\n{}\n", table.text(output_width(), wants_color()),
             inked(fit ? "This machine is fit to run polyhop." : "This machine is not fit to run polyhop.", Ink::bold));
}

Value findings_json(const Machine& machine, const std::vector<Finding>& findings, bool fit) {
  Value::Array list;
  for (const Finding& finding : findings) {
    list.push_back(Value::Table{{"verdict", verdicts[static_cast<std::size_t>(finding.verdict)]},
                                {"subject", finding.subject},
                                {"found", finding.text},
                                {"advice", finding.advice}});
  }
  return Value::Table{{"fit", fit},
                      {"version", machine.version},
                      {"compiler", machine.compiler},
                      {"build", machine.build},
                      {"system", machine.system},
                      {"cpu", machine.cpu},
                      {"instruction_set", machine.instruction_set},
                      {"cores", machine.cores},
                      {"memory_bytes", machine.memory_bytes},
                      {"free_bytes", machine.free_bytes},
                      {"findings", list}};
}

int doctor_command(bool json) {
  const Machine machine = this_machine();
  const std::vector<Finding> findings = examine(machine);
  const bool fit = std::ranges::none_of(findings, [](const Finding& f) { return f.verdict == Finding::Verdict::bad; });
  if (json) {
    print_json(findings_json(machine, findings, fit));
  } else {
    print_findings(findings, fit);
    flush_output();
  }
  return fit ? done : internal_error;
}

}  // namespace

void add_doctor(CommandLine& line) {
  const auto json = std::make_shared<bool>(false);
  Command doctor = line.command(
      "doctor",
      "check this machine: programs, memory, and whether results are bit-identical to those of other machines");
  doctor.flag("--json", *json, "print JSON");
  add_color(doctor);
  doctor.callback([json] { return doctor_command(*json); });
}

}  // namespace polyhop::app
