// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// A user's program: the smallest that needs a public header and the library.
#include <polyhop/core/random.hpp>

#include <cstdio>

int main() {
  polyhop::Stream stream(7, polyhop::Purpose::start);
  const double x = stream.normal();
  std::printf("a standard normal: %.17g\n", x);
}
