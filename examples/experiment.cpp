// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// A whole experiment from your own program: what `polyhop run FILE` does, without its files.
#include <cstdio>

#include "polyhop/core/error.hpp"
#include "polyhop/experiment/run.hpp"
#include "polyhop/experiment/toml_reader.hpp"

using namespace polyhop;

// The content of a file for read_config_file.
constexpr const char* text = R"(
name = "two rules"
seeds = [0, 1]
iterations = 400

[graph]
topology = "ring"
agents = 10

[problem]
dimension = 20
samples = 5

[[method]]
name = "GAP tight"
step = { rule = "gap", bound = "tight", damping = "rows", project = true }

[[method]]
name = "nothing to choose"
step = "auto"
)";

int main() {
  try {
    const Record record = run(read_config(read_toml(text)));
    for (const Cell& cell : record.cells) {
      const Point& end = cell.points.back();
      std::printf("%-18s seed %d: excess risk %.1e after %ld iterations and %ld vectors\n", cell.method.c_str(),
                  static_cast<int>(cell.seed), end.excess_risk, static_cast<long>(end.iteration),
                  static_cast<long>(end.vectors));
    }
  } catch (const InputError& error) {  // says where, what, and what to do
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
