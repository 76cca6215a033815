// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/load.hpp"

#include "polyhop/core/error.hpp"
#include "polyhop/experiment/store.hpp"

namespace polyhop {

Record load_record(const std::string& folder, bool with_models) {
  try {
    return Store(folder, Store::Mode::read).load(with_models);
  } catch (const Error& e) {
    throw InputError("", e.what());
  }
}

}  // namespace polyhop
