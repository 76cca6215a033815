// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/serial_collective.hpp"
#include "polyhop/network/runtime.hpp"

namespace polyhop {
namespace {

class SerialNetwork final : public Network {
 public:
  SerialNetwork(const CombinationMatrix& matrix, Index columns) : Network(matrix, {0, matrix.agents()}, columns) {}

 private:
  Mail& outbox(const Message& message) override {
    make_room(mail_, message);
    return mail_;
  }
  void begin(const Message&) override {}
  const Mail& finish(const Message&) override { return mail_; }

  Mail mail_;
};

}  // namespace

std::unique_ptr<Network> serial_network(const CombinationMatrix& matrix, Index columns) {
  return std::make_unique<SerialNetwork>(matrix, columns);
}

void launch_serial(const CombinationMatrix& matrix, Index columns, const Body& body) {
  const auto network = serial_network(matrix, columns);
  SerialCollective collective;
  Worker worker{*network, collective, 0, 1};
  body(worker);
}

}  // namespace polyhop
