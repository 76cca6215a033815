// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop doctor: is this machine fit to run polyhop, and what is missing?
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cluster.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "polyhop/core/machine.hpp"
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
          ? fmt::format("{}B, {}B of it free", number(machine.memory_bytes, 3), number(machine.free_bytes, 3))
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

std::string mark(Finding::Verdict verdict) {
  switch (verdict) {
    case Finding::Verdict::good:
      return inked("ok     ", Ink::good);
    case Finding::Verdict::warning:
      return inked("note   ", Ink::warning);
    case Finding::Verdict::bad:
      break;
  }
  return inked("failed ", Ink::bad);
}

void print_findings(const std::vector<Finding>& findings, bool fit) {
  fmt::print("{}\n", inked(fmt::format("{:<7} {:<15} {}", "verdict", "checked", "found"), Ink::bold));
  for (const Finding& finding : findings) {
    constexpr Index beside = 24;  // columns of the verdict and the subject
    const Index room = std::max<Index>(1, output_width() - beside);
    const auto lines = wrapped(printable(finding.text), room);
    fmt::print("{} {:<15} {}\n", mark(finding.verdict), finding.subject, lines.front());
    for (std::size_t n = 1; n < lines.size(); ++n) fmt::print("{:{}}{}\n", "", beside, lines[n]);
    if (finding.advice.empty()) continue;
    for (const std::string& line : wrapped("-> " + finding.advice, room, 3)) fmt::print("{:{}}{}\n", "", beside, line);
  }
  fmt::print("\n{}\n",
             inked(fit ? "This machine is fit to run polyhop." : "This machine is not fit to run polyhop.", Ink::bold));
}

Value findings_json(const Machine& machine, const std::vector<Finding>& findings, bool fit) {
  static constexpr std::array<const char*, 3> names = {"ok", "note", "failed"};
  Value::Array list;
  for (const Finding& finding : findings) {
    list.push_back(Value::Table{{"verdict", names[static_cast<std::size_t>(finding.verdict)]},
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
