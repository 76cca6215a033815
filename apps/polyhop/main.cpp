// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/command.hpp"

int main(int argc, char** argv) { return polyhop::main(argc, argv); }
