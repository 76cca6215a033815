// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <span>

#include "polyhop/core/serial_collective.hpp"
#include "polyhop/network/runtime.hpp"

namespace polyhop {
namespace {

class SerialNetwork final : public Network {
 public:
  SerialNetwork(const CombinationMatrix& matrix, VectorType vectors, const Numbering* numbering)
      : Network(matrix, {0, matrix.agents(), numbering}, vectors) {}

 private:
  Mail& outbox(const Message& message) override {
    make_room(mail_, message);
    return mail_;
  }
  void begin(const Message&) override {}
  const Mail& finish(const Message&) override { return mail_; }

  Mail mail_;
};

// The collective of a single worker. Where its agents are not in order of their numbers, there is a numbering.
class PlacedCollective final : public SerialCollective {
 public:
  explicit PlacedCollective(const Numbering* numbering) : numbering_(numbering) {}
  void by_agent(std::span<double> numbers, Index agents,
                const std::function<void(std::span<double>, Index k)>& turn) override {
    if (numbering_ == nullptr) return SerialCollective::by_agent(numbers, agents, turn);
    in_order(numbers, [&](std::span<double> shared) {
      for (const Index place : numbering_->place) turn(shared, place);
    });
  }

 private:
  const Numbering* numbering_;
};

}  // namespace

std::unique_ptr<Network> serial_network(const CombinationMatrix& matrix, VectorType vectors) {
  return std::make_unique<SerialNetwork>(matrix, vectors, nullptr);
}

void launch_serial(const CombinationMatrix& matrix, VectorType vectors, const Body& body, const Numbering* numbering) {
  SerialNetwork network(matrix, vectors, numbering);
  PlacedCollective collective(numbering);
  Worker worker{network, collective, 0, 1};
  body(worker);
}

}  // namespace polyhop
