// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
//
// metrics_dump < CASES: reads cases of metrics_oracle.py and prints what polyhop makes of each, a line a case.
//   numbers n, then n truths, then n predictions           -> rmse mae r2
//   counts  n, then n truths, then n predictions           -> deviance
//   classes C n, then n classes, then C x n scores (1 x n where C is 2)
//     -> accuracy log_loss auc, then precision and recall of each class, then the matrix row by row
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "polyhop/fit/metrics.hpp"
#include "polyhop/fit/prediction.hpp"

namespace {

using polyhop::Index;
namespace metrics = polyhop::metrics;

template <class T>
std::vector<T> list(Index count) {
  std::vector<T> out(count);
  for (T& x : out) std::cin >> x;
  return out;
}

void print(const std::vector<double>& numbers) {
  for (const double x : numbers) std::printf("%.17g ", x);
  std::printf("\n");
}

void numbers() {
  Index n = 0;
  std::cin >> n;
  const auto truth = list<double>(n);
  const auto predicted = list<double>(n);
  print({metrics::root_mean_squared_error(truth, predicted), metrics::mean_absolute_error(truth, predicted),
         metrics::r2(truth, predicted)});
}

void counts() {
  Index n = 0;
  std::cin >> n;
  const auto truth = list<double>(n);
  print({metrics::mean_poisson_deviance(truth, list<double>(n))});
}

void classes() {
  Index c = 0;
  Index n = 0;
  std::cin >> c >> n;
  const auto truth = list<Index>(n);
  polyhop::Rows scores(c == 2 ? 1 : c, n);
  for (Index r = 0; r < scores.rows(); ++r) {
    for (double& x : scores.row(r)) std::cin >> x;
  }
  polyhop::Model model;
  model.options.loss = polyhop::builtin_loss(c == 2 ? "logistic" : "softmax");
  const auto predicted = polyhop::predicted_classes(model, scores);
  const auto count = metrics::confusion_matrix(truth, predicted, c);
  std::vector<double> out = {metrics::accuracy(truth, predicted), metrics::log_loss(truth, scores),
                             c == 2 ? metrics::area_under_curve(truth, scores.row(0)) : 0};
  for (Index k = 0; k < c; ++k) out.insert(out.end(), {metrics::precision(count, k), metrics::recall(count, k)});
  for (const auto& row : count) out.insert(out.end(), row.begin(), row.end());
  print(out);
}

}  // namespace

int main() {
  for (std::string kind; std::cin >> kind;) {
    if (kind == "numbers") numbers();
    if (kind == "counts") counts();
    if (kind == "classes") classes();
  }
  return 0;
}
