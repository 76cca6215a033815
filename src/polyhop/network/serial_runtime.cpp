// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/serial_collective.hpp"
#include "polyhop/network/runtime.hpp"

namespace polyhop {
namespace {

class SerialNetwork final : public Network {
 public:
  SerialNetwork(const CombinationMatrix& matrix, VectorType vectors) : Network(matrix, {0, matrix.agents()}, vectors) {}

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

std::unique_ptr<Network> serial_network(const CombinationMatrix& matrix, VectorType vectors) {
  return std::make_unique<SerialNetwork>(matrix, vectors);
}

void launch_serial(const CombinationMatrix& matrix, VectorType vectors, const Body& body) {
  const auto network = serial_network(matrix, vectors);
  SerialCollective collective;
  Worker worker{*network, collective, 0, 1};
  body(worker);
}

}  // namespace polyhop
