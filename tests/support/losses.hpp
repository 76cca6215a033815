// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "polyhop/problem/loss_table.hpp"

namespace polyhop {

/// A built-in loss of one prediction; `delta` is Huber's.
inline std::shared_ptr<const Loss> make_loss(const std::string& name, double delta = 1) {
  return builtin_loss(name, name == "huber" ? Value(Value::Table{{"delta", delta}}) : Value(Value::Table{})).loss;
}

}  // namespace polyhop
