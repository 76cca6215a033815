// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything that a program usually needs: graphs and weights, your own problems and costs, rules and algorithms,
// solve(), experiments, fitting. Include rarer things, such as readers, figures or the store, by their own headers.
#include "polyhop/core/random.hpp"
#include "polyhop/experiment/registry.hpp"
#include "polyhop/experiment/run.hpp"
#include "polyhop/experiment/solve.hpp"
#include "polyhop/experiment/toml_reader.hpp"
#include "polyhop/fit/fit.hpp"
#include "polyhop/fit/prediction.hpp"
#include "polyhop/graph/topology.hpp"
#include "polyhop/method/algorithm_table.hpp"
#include "polyhop/method/rule_table.hpp"
#include "polyhop/network/runtime.hpp"
#include "polyhop/problem/loss_table.hpp"
#include "polyhop/problem/objective.hpp"
#include "polyhop/problem/problem_table.hpp"
#include "polyhop/problem/synthetic.hpp"
