// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/dealt_data.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "polyhop/core/fingerprint.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/problem/bundled_data.hpp"
#include "polyhop/problem/data_file.hpp"

namespace polyhop {
namespace {

bool takes_two_classes(const LossSpec& loss) { return loss.task == Task::two_classes; }
bool takes_classes(const LossSpec& loss) { return takes_two_classes(loss) || loss.task == Task::classes; }

// The names of classes without any: their values.
std::vector<std::string> named(const std::vector<Real>& values) {
  std::vector<std::string> names;
  for (const Real value : values) {
    names.push_back(value == std::round(value) && std::abs(value) < 1e15 ? std::to_string(std::llround(value))
                                                                         : shortest(value));
  }
  return names;
}

// The classes of the targets, which are words (`labels`) or numbers (`values`); none where the loss takes numbers.
std::vector<std::string> class_names(const std::vector<std::string>& labels, const std::vector<Real>& values,
                                     const LossSpec& loss, const std::string& where) {
  if (!takes_classes(loss)) {
    if (!labels.empty()) {
      throw InputError("problem.loss",
                       "the targets are words (" + in_quotes(labels.front()) + ", ...); " + in_quotes(loss.name) +
                           " needs numbers; use \"softmax\"" + (labels.size() == 2 ? " or \"logistic\"" : "") +
                           " for classes",
                       0, where);
    }
    return {};
  }
  std::vector<std::string> classes = labels.empty() ? named(values) : labels;
  std::string found = std::to_string(classes.size()) + (classes.size() == 1 ? " class (" : " classes (");
  constexpr std::size_t shown = 5;
  for (std::size_t c = 0; c < std::min(shown, classes.size()); ++c)
    found += (c > 0 ? ", " : "") + in_quotes(classes[c]);
  found += classes.size() > shown ? ", ...)" : ")";
  if (takes_two_classes(loss) && classes.size() != 2) {
    throw InputError(
        "problem.loss",
        "found " + found + " among the targets, " + in_quotes(loss.name) + " takes two; use \"softmax\" for more", 0,
        where);
  }
  if (classes.size() < 2) throw InputError("problem.loss", "found " + found + " among the targets", 0, where);
  return classes;
}

// How many blocks of coefficients a model has.
Index blocks(const LossSpec& loss, const std::vector<std::string>& classes) {
  return loss.task == Task::classes ? static_cast<Index>(classes.size()) : 1;
}

void refuse_negative_counts(const LossSpec& loss, bool negative, const std::string& file) {
  if (loss.task != Task::counts || !negative) return;
  throw InputError("problem.loss", in_quotes(loss.name) + " takes counts, and a target is below 0", 0, file);
}

// All processes are told which classes there are. Targets that somebody measured are not classes, and stay where they
// are.
void refuse_measurements(const LossSpec& loss, const DataTable& table, const std::string& file) {
  if (!table.labels.empty()) {
    // Words are no numbers: the loss says so before anybody is told of them.
    if (!takes_classes(loss)) (void)class_names(table.labels, {}, loss, file);
    return;
  }
  if (!takes_classes(loss) || std::ranges::all_of(table.targets, [](Real y) { return y == std::round(y); })) return;
  throw InputError("problem.loss",
                   in_quotes(loss.name) +
                       " takes classes, and a target is not a whole number; in files of the agents' "
                       "own, write classes as words or whole numbers: all agents learn them",
                   0, file);
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

// Texts and numbers one after the other, each with its length before it.
class SummaryWriter {
 public:
  void add(std::string_view text) { text_ += std::to_string(text.size()) + ":" + std::string(text); }
  void add(Index number) { add(std::to_string(number)); }
  void add(const std::vector<std::string>& list) {
    add(static_cast<Index>(list.size()));
    for (const std::string& text : list) add(text);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class SummaryReader {
 public:
  explicit SummaryReader(std::string_view text) : rest_(text) {}
  std::string text() {
    const std::size_t colon = rest_.find(':');
    std::size_t length = 0;
    std::from_chars(rest_.data(), rest_.data() + colon, length);
    const std::string out(rest_.substr(colon + 1, length));
    rest_.remove_prefix(colon + 1 + length);
    return out;
  }
  Index number() { return std::stoll(text()); }
  std::vector<std::string> list() {
    std::vector<std::string> out(static_cast<std::size_t>(number()));
    for (std::string& one : out) one = text();
    return out;
  }

 private:
  std::string_view rest_;
};

std::vector<Real> distinct(const std::vector<Real>& targets) {
  const std::set<Real> values(targets.begin(), targets.end());
  return {values.begin(), values.end()};
}

std::vector<std::string> sorted_union(std::vector<std::string> texts) {
  const std::set<std::string> all(texts.begin(), texts.end());
  return {all.begin(), all.end()};
}

}  // namespace

// What all processes have to know of one agent's own file.
struct DealtReader::OwnFile {
  Index agent = 0;
  Index rows = 0;
  Index columns = 0;
  bool sparse = false;
  std::vector<std::string> names = {};
  bool has_labels = false;
  std::string target = {};

  /// In what its columns are not those of the first file; empty: in nothing.
  [[nodiscard]] std::string unlike(const OwnFile& first) const {
    if (sparse != first.sparse) return sparse ? "it is sparse" : "it is not sparse";
    if (!sparse && columns != first.columns) {
      return "it has " + std::to_string(columns) + (columns == 1 ? " feature" : " features") + " instead of " +
             std::to_string(first.columns);
    }
    if (names.size() != first.names.size()) return "only one of them names its columns";
    for (std::size_t j = 0; j < names.size(); ++j) {
      if (names[j] != first.names[j]) return "it has '" + names[j] + "' in the place of '" + first.names[j] + "'";
    }
    if (has_labels != first.has_labels) return has_labels ? "its targets are words" : "its targets are numbers";
    return "";
  }
};

DealtReader::DealtReader(DataSource source, LossSpec loss, const PartitionOptions& partition, Index agents,
                         std::uint64_t seed)
    : source_(std::move(source)),
      loss_(std::move(loss)),
      options_(partition),
      agents_(agents),
      seed_(seed),
      own_files_(source_.bundled.empty() && source_.file.find("{agent}") != std::string::npos) {}

// `features`: all of them, or those of the samples in `keep`, which rise.
DataTable DealtReader::read_one(bool features, std::vector<Index> keep) const {
  DataFormat format;
  format.target = source_.target;
  if (!features) format.keep = std::move(keep);
  return source_.bundled.empty() ? read_data(source_.file, format) : read_bundled(source_.bundled, "/", format.keep);
}

void DealtReader::take_classes(const std::vector<std::string>& labels, const std::vector<Real>& values) {
  out_.classes = class_names(labels, values, loss_, source_.file);
  if (!out_.classes.empty() && labels.empty()) values_ = values;
}

// Classes that are known by their values get numbers from 0 on.
void DealtReader::number_classes(std::vector<Real>& targets) const {
  if (values_.empty()) return;
  for (Real& target : targets) {
    target = static_cast<Real>(std::ranges::lower_bound(values_, target) - values_.begin());
  }
}

// Of numbered classes, what the loss takes.
void DealtReader::to_loss(std::vector<Real>& targets) const {
  if (!takes_two_classes(loss_)) return;
  for (Real& target : targets) target = 2 * target - 1;
}

void DealtReader::open(bool features) {
  if (own_files_) return;
  table_ = read_one(features, {});
  has_features_ = features;
  take_classes(table_.labels, takes_classes(loss_) ? distinct(table_.targets) : std::vector<Real>{});
  refuse_too_wide(table_.features.columns() * blocks(loss_, out_.classes), agents_, source_.file);
  number_classes(table_.targets);
  partition_ = deal(options_, table_.targets, static_cast<Index>(out_.classes.size()), agents_, seed_);
  refuse_negative_counts(loss_, std::ranges::any_of(table_.targets, [](Real y) { return y < 0; }), source_.file);
}

std::vector<Index> DealtReader::samples() const {
  std::vector<Index> out;
  for (std::size_t k = 1; k < partition_.offset.size(); ++k) {
    out.push_back(partition_.offset[k] - partition_.offset[k - 1]);
  }
  return out;
}

void DealtReader::read(const Block& block) { own_files_ ? read_own(block) : read_dealt(block); }

void DealtReader::read_own(const Block& block) {
  DataFormat format;
  format.target = source_.target;
  for (Index k = 0; k < block.size(); ++k) {
    owners_.push_back(block.agent(k));
    const std::string file = file_of(source_.file, owners_.back());
    std::error_code unknown;
    if (!std::filesystem::exists(file, unknown)) {
      throw InputError("problem.data",
                       "no such file; each of the " + std::to_string(agents_) + " agents needs one of its own, 0 to " +
                           std::to_string(agents_ - 1) + ": set how many agents there are",
                       0, file);
    }
    tables_.push_back(read_data(file, format));
    if (tables_.back().features.rows() == 0) throw InputError("problem.data", "holds no samples", 0, file);
    refuse_measurements(loss_, tables_.back(), file);
  }
}

void DealtReader::read_dealt(const Block& block) {
  std::vector<Index> own;  // as they stand in the file
  Dataset& data = out_.data;
  data.offset = {0};
  for (Index k = 0; k < block.size(); ++k) {
    const auto agent = static_cast<std::size_t>(block.agent(k));
    own.insert(own.end(), partition_.order.begin() + partition_.offset[agent],
               partition_.order.begin() + partition_.offset[agent + 1]);
    data.offset.push_back(static_cast<Index>(own.size()));
  }
  for (const Index n : own) data.targets.push_back(table_.targets[static_cast<std::size_t>(n)]);
  to_loss(data.targets);
  if (!has_features_) {
    std::vector<Index> kept = own;
    std::ranges::sort(kept);
    DataTable again = read_one(false, kept);
    number_classes(again.targets);
    if (again.targets != table_.targets) throw InputError("problem.data", "changed while it was read", 0, source_.file);
    table_.features = std::move(again.features);
    for (Index& n : own) n = std::ranges::lower_bound(kept, n) - kept.begin();
  }
  // Where the samples stand in order already, nothing is held twice.
  const bool in_order = std::ranges::is_sorted(own) && table_.features.rows() == static_cast<Index>(own.size());
  data.features = in_order ? std::move(table_.features) : table_.features.select(own);
  table_.features = {};
}

std::string DealtReader::summary() const {
  SummaryWriter out;
  if (!own_files_) {
    // What was dealt must be the same everywhere.
    Fingerprint targets;
    for (const Real y : table_.targets) targets.add(y);
    out.add(static_cast<Index>(table_.targets.size()));
    out.add(hexadecimal(targets.value()));
    out.add(out_.data.features.columns());
    return out.text();
  }
  std::vector<std::string> labels;
  std::vector<Real> values;
  bool negative = false;
  out.add(static_cast<Index>(tables_.size()));
  for (std::size_t n = 0; n < tables_.size(); ++n) {
    const DataTable& table = tables_[n];
    out.add(owners_[n]);
    out.add(table.features.rows());
    out.add(table.features.columns());
    out.add(Index{table.features.is_sparse()});
    out.add(Index{!table.labels.empty()});
    out.add(table.target_name);
    // Most files have the names of the one before.
    const bool same = n > 0 && table.names == tables_[n - 1].names;
    out.add(Index{same});
    if (!same) out.add(table.names);
    labels.insert(labels.end(), table.labels.begin(), table.labels.end());
    if (takes_classes(loss_) && table.labels.empty()) {
      values.insert(values.end(), table.targets.begin(), table.targets.end());
      values = distinct(values);
    }
    negative = negative || std::ranges::any_of(table.targets, [](Real y) { return y < 0; });
  }
  out.add(sorted_union(std::move(labels)));
  out.add(static_cast<Index>(values.size()));
  for (const Real y : values) out.add(static_cast<Index>(std::bit_cast<std::int64_t>(y)));
  out.add(Index{negative});
  return out.text();
}

DealtData DealtReader::finish(const std::vector<std::string>& summaries) {
  own_files_ ? finish_own(summaries) : finish_dealt(summaries);
  if (!own_files_) {
    out_.samples = static_cast<Index>(table_.targets.size());
    out_.features = std::move(table_.names);
    out_.target = std::move(table_.target_name);
  }
  return std::move(out_);
}

void DealtReader::finish_dealt(const std::vector<std::string>& summaries) const {
  const auto other = std::ranges::find_if(summaries, [&](const auto& text) { return text != summaries.front(); });
  if (other == summaries.end()) return;
  throw InputError("problem.data",
                   "process " + std::to_string(other - summaries.begin()) + " found other samples there than process 0",
                   0, source_.file);
}

void DealtReader::finish_own(const std::vector<std::string>& summaries) {
  std::vector<OwnFile> files(static_cast<std::size_t>(agents_));
  std::vector<std::string> labels;
  std::vector<Real> values;
  bool negative = false;
  for (const std::string& summary : summaries) {
    SummaryReader in(summary);
    std::vector<std::string> names;
    for (Index count = in.number(); count > 0; --count) {
      const Index agent = in.number();
      OwnFile& file = files[static_cast<std::size_t>(agent)];
      file.agent = agent;
      file.rows = in.number();
      file.columns = in.number();
      file.sparse = in.number() != 0;
      file.has_labels = in.number() != 0;
      file.target = in.text();
      if (in.number() == 0) names = in.list();
      file.names = names;
    }
    for (const std::string& label : in.list()) labels.push_back(label);
    for (Index count = in.number(); count > 0; --count) {
      values.push_back(std::bit_cast<Real>(static_cast<std::int64_t>(in.number())));
    }
    negative = negative || in.number() != 0;
  }
  Index columns = 0;
  for (const OwnFile& file : files) {
    if (const std::string how = file.unlike(files.front()); !how.empty()) {
      throw InputError("problem.data", "its columns are not those of '" + file_of(source_.file, 0) + "': " + how, 0,
                       file_of(source_.file, file.agent));
    }
    columns = std::max(columns, file.columns);
    out_.samples += file.rows;
  }
  labels = sorted_union(std::move(labels));
  take_classes(labels, distinct(values));
  refuse_too_wide(columns * blocks(loss_, out_.classes), agents_, source_.file);
  refuse_negative_counts(loss_, negative, source_.file);
  out_.features = files.front().names;
  out_.target = files.front().target;
  join(columns, labels);
}

// The rows of the block's agents, one table after the other.
void DealtReader::join(Index columns, const std::vector<std::string>& labels) {
  Dataset& data = out_.data;
  data.offset = {0};
  const bool sparse = tables_.front().features.is_sparse();
  Index rows = 0;
  for (const DataTable& table : tables_) rows += table.features.rows();
  Rows dense(sparse ? 0 : rows, sparse ? 0 : columns);
  std::vector<Index> offset = {0};
  std::vector<std::int32_t> column;
  std::vector<Real> value;
  for (DataTable& table : tables_) {
    const Index first = data.offset.back();
    for (Index r = 0; r < table.features.rows(); ++r) {
      if (sparse) {
        column.insert(column.end(), table.features.columns_of(r).begin(), table.features.columns_of(r).end());
        value.insert(value.end(), table.features.values_of(r).begin(), table.features.values_of(r).end());
        offset.push_back(static_cast<Index>(column.size()));
      } else {
        std::ranges::copy(table.features.dense().row(r), dense.row(first + r).begin());
      }
    }
    for (Real target : table.targets) {
      if (!labels.empty()) {
        const std::string& word = table.labels[static_cast<std::size_t>(target)];
        target = static_cast<Real>(std::ranges::lower_bound(labels, word) - labels.begin());
      }
      data.targets.push_back(target);
    }
    data.offset.push_back(first + table.features.rows());
    table = {};
  }
  number_classes(data.targets);
  to_loss(data.targets);
  data.features = sparse ? Features::sparse(columns, std::move(offset), std::move(column), std::move(value))
                         : Features(std::move(dense));
}

DealtData read_dealt(const DataSource& source, const LossSpec& loss, const PartitionOptions& partition, Index agents,
                     std::uint64_t seed) {
  DealtReader reader(source, loss, partition, agents, seed);
  reader.open(true);
  reader.read({0, agents});
  return reader.finish({reader.summary()});
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
