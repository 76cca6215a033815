// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/dealt_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>

#include "polyhop/core/kernels.hpp"
#include "polyhop/problem/bundled_data.hpp"
#include "polyhop/problem/data_file.hpp"

namespace polyhop {
namespace {

bool takes_two_classes(LossName loss) { return loss == LossName::logistic || loss == LossName::smoothed_hinge; }
bool takes_classes(LossName loss) { return takes_two_classes(loss) || loss == LossName::softmax; }

// Numbers the classes from 0 on, in order of their values, and returns their names.
std::vector<std::string> number_classes(DataTable& table) {
  if (!table.labels.empty()) return table.labels;
  const std::set<Real> values(table.targets.begin(), table.targets.end());
  const std::vector<Real> sorted(values.begin(), values.end());
  std::vector<std::string> names;
  for (const Real value : sorted) {
    names.push_back(value == std::round(value) && std::abs(value) < 1e15 ? std::to_string(std::llround(value))
                                                                         : shortest(value));
  }
  for (Real& target : table.targets) {
    target = static_cast<Real>(std::ranges::lower_bound(sorted, target) - sorted.begin());
  }
  return names;
}

// The classes of the targets, numbered; none where the loss takes numbers.
std::vector<std::string> classes_of(DataTable& table, LossName loss, const std::string& where) {
  if (!takes_classes(loss)) {
    if (!table.labels.empty()) {
      throw InputError("problem.target",
                       "the targets are words (" + in_quotes(table.labels.front()) + ", ...); loss " +
                           in_quotes(name_of(loss)) + " needs numbers",
                       0, where);
    }
    return {};
  }
  std::vector<std::string> classes = number_classes(table);
  const auto found = std::to_string(classes.size()) + (classes.size() == 1 ? " class" : " classes");
  if (takes_two_classes(loss) && classes.size() != 2) {
    throw InputError(
        "problem.loss",
        "found " + found + " among the targets, " + in_quotes(name_of(loss)) + " takes two; use \"softmax\" for more",
        0, where);
  }
  if (classes.size() < 2) throw InputError("problem.loss", "found " + found + " among the targets", 0, where);
  return classes;
}

// A sparse file may name a feature so high that the agents' models would fill memory.
void refuse_too_wide(Index columns, Index agents, const std::string& file) {
  constexpr double most_bytes = 4e9;
  const double bytes = static_cast<double>(columns) * static_cast<double>(agents) * static_cast<double>(sizeof(Real));
  if (bytes <= most_bytes) return;
  throw InputError("problem.data",
                   "has " + std::to_string(columns) + " features: a model of each of the " + std::to_string(agents) +
                       " agents takes " + shortest(std::round(bytes / 1e9)) + " GB together; at most 4 are allowed",
                   0, file);
}

// "site-{agent}.csv" of agent 3 is "site-3.csv".
std::string file_of(const std::string& pattern, Index agent) {
  const std::string mark = "{agent}";
  std::string out = pattern;
  return out.replace(out.find(mark), mark.size(), std::to_string(agent));
}

// All rows of several tables, one table after the other.
DataTable joined(std::vector<DataTable> tables, const std::vector<std::string>& files) {
  Index columns = 0;
  std::set<std::string> labels;
  bool sparse = false;
  Index rows = 0;
  for (const DataTable& table : tables) {
    columns = std::max(columns, table.features.columns());
    labels.insert(table.labels.begin(), table.labels.end());
    sparse = sparse || table.features.is_sparse();
    rows += table.features.rows();
  }
  const Index width = tables.front().features.columns();
  const bool first_sparse = tables.front().features.is_sparse();
  const bool first_unlabelled = tables.front().labels.empty();
  DataTable out;
  out.names = tables.front().names;
  out.target_name = tables.front().target_name;
  out.labels.assign(labels.begin(), labels.end());
  Rows dense(sparse ? 0 : rows, sparse ? 0 : columns);
  std::vector<Index> offset = {0};
  std::vector<std::int32_t> column;
  std::vector<Real> value;
  Index place = 0;
  for (std::size_t n = 0; n < tables.size(); ++n) {
    DataTable& table = tables[n];
    const bool same_width = sparse || table.features.columns() == width;
    if (table.features.is_sparse() != first_sparse || !same_width || table.names != out.names ||
        table.labels.empty() != first_unlabelled) {
      throw InputError("problem.data", "its columns are not those of '" + files.front() + "'", 0, files[n]);
    }
    for (Index r = 0; r < table.features.rows(); ++r) {
      if (sparse) {
        column.insert(column.end(), table.features.columns_of(r).begin(), table.features.columns_of(r).end());
        value.insert(value.end(), table.features.values_of(r).begin(), table.features.values_of(r).end());
        offset.push_back(static_cast<Index>(column.size()));
      } else {
        std::ranges::copy(table.features.dense().row(r), dense.row(place++).begin());
      }
    }
    for (Real target : table.targets) {
      if (!labels.empty()) {
        const std::string& word = table.labels[static_cast<std::size_t>(target)];
        target = static_cast<Real>(std::ranges::lower_bound(out.labels, word) - out.labels.begin());
      }
      out.targets.push_back(target);
    }
    table = {};
  }
  out.features = sparse ? Features::sparse(columns, std::move(offset), std::move(column), std::move(value))
                        : Features(std::move(dense));
  return out;
}

}  // namespace

DealtData read_dealt(const DataSource& source, LossName loss, Index agents, std::uint64_t seed) {
  DataFormat format;
  format.target = source.target;
  DataTable table;
  Partition partition;
  const bool own_files = source.bundled.empty() && source.file.find("{agent}") != std::string::npos;
  if (own_files) {
    std::vector<DataTable> tables;
    std::vector<std::string> files;
    partition.offset = {0};
    for (Index k = 0; k < agents; ++k) {
      files.push_back(file_of(source.file, k));
      tables.push_back(read_data(files.back(), format));
      if (tables.back().features.rows() == 0) throw InputError("problem.data", "holds no samples", 0, files.back());
      partition.offset.push_back(partition.offset.back() + tables.back().features.rows());
    }
    table = joined(std::move(tables), files);
  } else {
    table = source.bundled.empty() ? read_data(source.file, format) : read_bundled(source.bundled);
  }
  DealtData out;
  out.classes = classes_of(table, loss, source.file);
  const auto blocks = loss == LossName::softmax ? static_cast<Index>(out.classes.size()) : 1;
  refuse_too_wide(table.features.columns() * blocks, agents, source.file);
  out.features = std::move(table.names);
  out.target = std::move(table.target_name);
  if (!own_files) {
    partition = deal(source.partition, table.targets, static_cast<Index>(out.classes.size()), agents, seed);
    table.features = table.features.select(partition.order);
    std::vector<Real> targets;
    for (const Index n : partition.order) targets.push_back(table.targets[static_cast<std::size_t>(n)]);
    table.targets = std::move(targets);
  }
  if (takes_two_classes(loss)) {
    for (Real& target : table.targets) target = 2 * target - 1;
  }
  if (loss == LossName::poisson && std::ranges::any_of(table.targets, [](Real y) { return y < 0; })) {
    throw InputError("problem.loss", "\"poisson\" takes counts, and a target is below 0", 0, source.file);
  }
  out.data = {std::move(table.features), std::move(table.targets), std::move(partition.offset)};
  return out;
}

void scale_to_unit_rows(Dataset& data) {
  const Features& h = data.features;
  std::vector<Real> norm;
  for (Index r = 0; r < h.rows(); ++r) norm.push_back(std::sqrt(h.squared_norm(r)));
  data.features.scale_rows(
      [&](Index r) { return norm[static_cast<std::size_t>(r)] > 0 ? 1 / norm[static_cast<std::size_t>(r)] : 1.0; });
}

void add_intercept(Dataset& data) { data.features = data.features.with_ones(); }

}  // namespace polyhop
