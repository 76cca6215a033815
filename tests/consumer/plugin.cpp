// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// A user's module, which another program loads at run time.
#include <polyhop/core/random.hpp>

extern "C" double standard_normal(unsigned seed) { return polyhop::Stream(seed, polyhop::Purpose::start).normal(); }
