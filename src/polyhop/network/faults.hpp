// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/network/delivery.hpp"
#include "polyhop/network/network.hpp"

namespace polyhop {

template <>
struct EnumNames<Account> {
  static constexpr std::array<std::pair<Account, std::string_view>, 2> names = {
      {{Account::models, "models"}, {Account::steps, "steps"}}};
};

/// The [faults] table: what happens to messages between agents.
struct FaultOptions {
  double drop = 0;
  std::vector<Account> exchange = {Account::models, Account::steps};
  static const FieldTable<FaultOptions>& fields();

  /// Whether any fault can happen.
  [[nodiscard]] bool any() const { return drop > 0 && !exchange.empty(); }
};

/// Makes the network lose messages as the options say; every worker of a run calls it. An agent replaces a lost row by
/// its own: the weight a_kl goes to the agent itself, and so does b_kl of a row that reached it along no path of two
/// hops. In an exchange over two hops, a message to a neighbour and what that neighbour forwards are lost
/// independently; where these can be lost, rows are forwarded along every path.
void add_faults(const FaultOptions& options, std::uint64_t seed, Network& network);

}  // namespace polyhop
