// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/rows.hpp"

/// How good predictions are, defined as in scikit-learn's functions of these names. Undefined values (nothing to
/// predict, targets that are all the same) are NaN. `truth` and `predicted` are equally long.
namespace polyhop::metrics {

/// sqrt of the mean of (truth - predicted)^2
double root_mean_squared_error(std::span<const double> truth, std::span<const double> predicted);
/// mean of |truth - predicted|
double mean_absolute_error(std::span<const double> truth, std::span<const double> predicted);
/// 1 - sum (truth - predicted)^2 / sum (truth - mean)^2
double r2(std::span<const double> truth, std::span<const double> predicted);
/// 2 mean of truth ln(truth / predicted) - truth + predicted, for truth >= 0 and predicted > 0
double mean_poisson_deviance(std::span<const double> truth, std::span<const double> predicted);

/// The share of samples classified correctly.
double accuracy(std::span<const Index> truth, std::span<const Index> predicted);
/// - mean ln p(true class), from scores, so that no probability is ever rounded to 0. Scores of many classes are C x n,
/// for softmax; a single row is the score of class 1 against class 0.
double log_loss(std::span<const Index> truth, const Rows& scores);
/// The probability that a sample of class 1 has a larger score than one of class 0, ties counted as a half.
double area_under_curve(std::span<const Index> truth, std::span<const double> score);
/// The same from bins of the score, in ascending order: the number of samples of class 0 and of class 1 in each;
/// samples in one bin tie.
double area_under_curve(std::span<const std::array<double, 2>> bins);

/// count[t][p]: samples of class t that were predicted as class p.
using Confusion = std::vector<std::vector<Index>>;
Confusion confusion_matrix(std::span<const Index> truth, std::span<const Index> predicted, Index classes);
/// Precision: the share of samples predicted as class c that belong to it. Recall: the share of samples of class c that
/// were predicted as such.
double precision(const Confusion& count, Index c);
double recall(const Confusion& count, Index c);
/// The number of samples of class c.
Index support(const Confusion& count, Index c);

}  // namespace polyhop::metrics
