// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/team_data.hpp"

#include <algorithm>
#include <utility>

namespace polyhop {

std::vector<double> agent_costs(const CombinationMatrix& matrix, const Batch& batch, std::span<const Index> samples) {
  std::vector<double> out;
  for (Index k = 0; k < matrix.agents(); ++k) {
    // The diagonal entry always exists.
    double cost = static_cast<double>(matrix.rows().columns_of(k).size());
    if (!samples.empty()) {
      const Index own = samples[k];
      cost += 2 * static_cast<double>(batch.all ? own : std::min(own, batch.size));
    }
    out.push_back(cost);
  }
  return out;
}

double iteration_work(const CombinationMatrix& matrix, const Problem& problem) {
  const auto rows = static_cast<double>(matrix.rows().column.size());
  return rows * static_cast<double>(problem.dimension()) + problem.gradient_work();
}

TeamData read_data_of(const DataSource& source, const ModelOptions& model, const CombinationMatrix& matrix,
                      std::uint64_t seed, Team& team, Placement placement) {
  DealtReader reader(source, model.loss, model.partition, matrix.agents(), seed);
  team.together([&] { reader.open(team.size() == 1); });
  TeamData out;
  out.ownership = choose_ownership(matrix, agent_costs(matrix, model.batch, reader.samples()), team.size(), placement);
  const Block block = out.ownership.block(team.rank());
  team.together([&] { reader.read(block); });
  out.dealt = reader.finish(team.tell(reader.summary()));
  out.share = {block.first, matrix.agents(), out.dealt.samples, reader.has_own_files()};
  return out;
}

}  // namespace polyhop
