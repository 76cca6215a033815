// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <type_traits>

#include "polyhop/core/error.hpp"

namespace polyhop {

/// The error that `action` throws; a failed test when it throws none.
template <class E = InputError, class Action>
E refusal(Action action) {
  try {
    static_cast<void>(action());
  } catch (const E& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was refused";
  if constexpr (std::is_same_v<E, InputError>) {
    return InputError("", "");
  } else {
    return E("");
  }
}

}  // namespace polyhop
