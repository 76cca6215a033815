// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/core/index.hpp"

namespace polyhop {

/// How samples are dealt to agents. iid: shuffled, in equal shares. blocks: in the file's order, in equal shares.
/// label: sorted by target, in equal shares. dirichlet: of each class (of each tenth of the targets, if there are no
/// classes) every agent gets a share drawn from Dirichlet(alpha); the smaller alpha, the less even the shares. sizes:
/// shuffled, in shares drawn from Dirichlet(alpha). Equal shares differ by at most one sample.
enum class PartitionKind { iid, blocks, label, dirichlet, sizes };
template <>
struct EnumNames<PartitionKind> {
  static constexpr std::array<std::pair<PartitionKind, std::string_view>, 5> names = {
      {{PartitionKind::iid, "iid"},
       {PartitionKind::blocks, "blocks"},
       {PartitionKind::label, "label"},
       {PartitionKind::dirichlet, "dirichlet"},
       {PartitionKind::sizes, "sizes"}}};
};

struct PartitionOptions {
  PartitionKind kind = PartitionKind::iid;
  double alpha = 1;
  static const FieldTable<PartitionOptions>& fields();
};

/// Which samples are whose: agent k has the samples order[offset[k]] .. order[offset[k+1]].
struct Partition {
  std::vector<Index> order;
  std::vector<Index> offset;
};

/// Every agent gets at least one sample: throws InputError if there are fewer samples than agents. `classes`: how many
/// classes the targets number, starting at 0; 0 if the targets are not classes.
Partition deal(const PartitionOptions& options, std::span<const double> targets, Index classes, Index agents,
               std::uint64_t seed);

}  // namespace polyhop
