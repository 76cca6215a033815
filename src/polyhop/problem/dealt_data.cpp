// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/dealt_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "polyhop/core/codec.hpp"
#include "polyhop/core/fingerprint.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/problem/bundled_data.hpp"
#include "polyhop/problem/data_file.hpp"
#include "polyhop/problem/loss_of_target.hpp"

namespace polyhop {
namespace {

bool takes_two_classes(const LossSpec& loss) { return loss.task == Task::two_classes; }
bool takes_classes(const LossSpec& loss) { return takes_two_classes(loss) || loss.task == Task::classes; }

// The classes of the targets, which are words (`labels`) or numbers (`values`); empty if the loss takes numbers.
std::vector<std::string> class_names(const std::vector<std::string>& labels, const std::vector<double>& values,
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
  std::vector<std::string> classes = labels.empty() ? value_names(values) : labels;
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

// The names of classes are shared with all processes. Measured targets are not classes, and stay where they are.
void refuse_measurements(const LossSpec& loss, const DataTable& table, const std::string& file) {
  if (loss.name.empty()) return;  // the loss will follow from the targets
  if (!table.labels.empty()) {
    // If the loss takes no classes, words are rejected here, before any process shares them.
    if (!takes_classes(loss)) (void)class_names(table.labels, {}, loss, file);
    return;
  }
  if (!takes_classes(loss) || std::ranges::all_of(table.targets, [](double y) { return y == std::round(y); })) return;
  throw InputError("problem.loss",
                   in_quotes(loss.name) +
                       " takes classes, and a target is not a whole number; in files with {agent}, write classes as "
                       "words or whole numbers: all agents see them",
                   0, file);
}

// Other numbers are not shared with anybody to find out whether they stand for classes; only that they exist.
bool may_be_class_code(double y) { return y == std::round(y) && y >= -1 && y <= static_cast<double>(max_class_codes); }
constexpr double measured = 0.5;

// A sparse file may name a feature so high that the agents' models would fill all memory.
void refuse_too_wide(Index columns, Index agents, const std::string& file) {
  const double bytes = static_cast<double>(columns) * static_cast<double>(agents) * static_cast<double>(sizeof(double));
  if (bytes <= memory_left()) return;
  throw InputError("problem.data",
                   "has " + std::to_string(columns) + " features: a model of each of the " + std::to_string(agents) +
                       " agents takes " + memory_text(bytes) + " together; " + memory_limit_text() +
                       ", or use fewer features or agents",
                   0, file);
}

// The different values, ascending; if there are more than `most`, only one more than that.
std::vector<double> distinct(std::span<const double> targets, std::size_t most) {
  std::set<double> values;
  for (const double y : targets) {
    values.insert(y);
    if (values.size() > most) break;
  }
  return {values.begin(), values.end()};
}

// "'a', 'b'"
std::string quoted_list(const std::vector<std::string>& names) {
  constexpr std::size_t most = 5;
  std::string out;
  for (std::size_t n = 0; n < std::min(names.size(), most); ++n) out += (n > 0 ? ", '" : "'") + names[n] + "'";
  return out + (names.size() > most ? ", ..." : "");
}

std::string comma_list(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ",") + name;
  return out;
}

std::string unlike_columns(const std::string& first_file) {
  return "its columns are not those of '" + first_file + "': ";
}

// What to do about files whose targets have different names.
std::string unlike_target(const std::string& target, const std::string& first, const ColumnChoice& choice) {
  return "its target is '" + target + "' instead of '" + first +
         "'; name the target: " + setting(choice, "target", first);
}

// Those of `names` that the other list lacks.
std::vector<std::string> without(const std::vector<std::string>& names, const std::vector<std::string>& others) {
  const std::set<std::string> known(others.begin(), others.end());
  std::vector<std::string> out;
  std::ranges::copy_if(names, std::back_inserter(out), [&](const auto& name) { return !known.contains(name); });
  return out;
}

// The position of each of `names` among a table's names; empty: the same positions.
std::vector<std::size_t> places_among(const std::vector<std::string>& names, const std::vector<std::string>& of_table) {
  std::vector<std::size_t> out;
  if (names == of_table) return out;
  std::map<std::string_view, std::size_t> place;
  for (std::size_t j = 0; j < of_table.size(); ++j) place.emplace(of_table[j], j);
  for (const std::string& name : names) out.push_back(place.at(name));
  return out;
}

std::vector<std::string> sorted_union(std::vector<std::string> texts) {
  const std::set<std::string> all(texts.begin(), texts.end());
  return {all.begin(), all.end()};
}

}  // namespace

// What all processes must know about one agent's own file.
struct DealtReader::OwnFile {
  Index agent = 0;
  Index rows = 0;
  Index skipped = 0;  // rows that lack a value
  Index columns = 0;
  bool sparse = false;
  std::vector<std::string> names = {};
  bool has_labels = false;
  std::string target = {};
  Index width = 0;  // of the table, if features are given by number and some were left out
  std::string id = {};
  std::vector<std::string> not_dropped = {};  // names to drop that it does not have

  /// How its columns differ from the first file's; empty: not at all. Names may stand in any order. What a file without
  /// samples does not say never differs.
  [[nodiscard]] std::string unlike(const OwnFile& first, const ColumnChoice& choice) const {
    if (sparse != first.sparse) return sparse ? "it is sparse" : "it is not sparse";
    if (names.size() > 0 && first.names.size() > 0) {
      const std::string how = names_unlike(first, choice);
      return how.empty() ? targets_unlike(first) : how;
    }
    if (!sparse && columns != first.columns) {
      return "it has " + std::to_string(columns) + (columns == 1 ? " feature" : " features") + " instead of " +
             std::to_string(first.columns);
    }
    if (names.size() != first.names.size()) return "only one of them names its columns";
    if (width != first.width) {
      return "it has " + std::to_string(width) + " columns instead of " + std::to_string(first.width) +
             ", and columns without names are chosen by number";
    }
    return targets_unlike(first);
  }

  [[nodiscard]] std::string names_unlike(const OwnFile& first, const ColumnChoice& choice) const {
    if (target != first.target) return unlike_target(target, first.target, choice);
    const std::vector<std::string> missing = without(first.names, names);
    const std::vector<std::string> extra = without(names, first.names);
    if (missing.empty() && extra.empty()) return "";
    std::string how = missing.empty() ? "" : "it lacks " + quoted_list(missing);
    if (!extra.empty()) how += (how.empty() ? "it has " : " and has ") + quoted_list(extra) + " besides";
    std::vector<std::string> all = missing;
    all.insert(all.end(), extra.begin(), extra.end());
    return how + "; choose columns that all files have with " + (choice.by_flags ? "--columns" : "columns = ...") +
           ", or leave these out: " + setting(choice, "drop", comma_list(all));
  }

  [[nodiscard]] std::string targets_unlike(const OwnFile& first) const {
    if (rows == 0 || first.rows == 0 || has_labels == first.has_labels) return "";
    return has_labels ? "its targets are words" : "its targets are numbers";
  }
};

DealtReader::DealtReader(DataSource source, LossSpec loss, const PartitionOptions& partition, Index agents,
                         std::uint64_t seed)
    : source_(std::move(source)),
      loss_(std::move(loss)),
      options_(partition),
      agents_(agents),
      seed_(seed),
      own_files_(source_.bundled.empty() ? AgentFiles::from(source_.file) : std::nullopt) {}

// `features`: all of them, or those of the samples in `keep`, ascending.
DataTable DealtReader::read_one(bool features, std::vector<Index> keep) const {
  if (source_.table) {
    DataTable out = *source_.table;
    if (!features) out.features = out.features.select(keep);
    return out;
  }
  DataFormat format;
  format.target = source_.target;
  format.choice = source_.choice;
  format.skip_missing = source_.skip_missing;
  if (!features) format.keep = std::move(keep);
  if (!source_.bundled.empty()) refuse_choice(format, source_.bundled);
  return source_.bundled.empty() ? read_data(source_.file, format) : read_bundled(source_.bundled, "/", format.keep);
}

void DealtReader::decide_loss(const std::vector<std::string>& labels, const std::vector<double>& values,
                              Index samples) {
  if (!loss_.name.empty()) return;
  LossOfTarget chosen = loss_of_target(labels, values, samples);
  loss_ = std::move(chosen.loss);
  out_.why_loss = std::move(chosen.why);
}

// How many different targets matter: all for classes, a few while the loss is undecided, none for numbers.
std::size_t DealtReader::max_values() const {
  if (loss_.name.empty()) return max_class_codes;
  return takes_classes(loss_) ? std::numeric_limits<std::size_t>::max() : 0;
}

void DealtReader::take_classes(const std::vector<std::string>& labels, const std::vector<double>& values) {
  out_.classes = class_names(labels, values, loss_, source_.file);
  if (!out_.classes.empty() && labels.empty()) values_ = values;
  out_.loss = loss_;
}

// Classes known by their values are numbered from 0.
void DealtReader::number_classes(std::span<double> targets) const {
  if (values_.empty()) return;
  for (double& target : targets) {
    target = static_cast<double>(std::ranges::lower_bound(values_, target) - values_.begin());
  }
}

// Turns class numbers into what the loss takes.
void DealtReader::to_loss(std::span<double> targets) const {
  if (!takes_two_classes(loss_)) return;
  for (double& target : targets) target = 2 * target - 1;
}

void DealtReader::open(bool features) {
  if (own_files_) return;
  table_ = read_one(features, {});
  has_features_ = features;
  const bool words = !table_.labels.empty();
  const std::vector<double> values = words ? std::vector<double>{} : distinct(table_.targets, max_values());
  decide_loss(table_.labels, values, static_cast<Index>(table_.targets.size()));
  take_classes(table_.labels, values);
  refuse_too_wide(table_.features.columns() * blocks(loss_, out_.classes), agents_, source_.file);
  number_classes(table_.targets);
  partition_ = deal(options_, table_.targets, static_cast<Index>(out_.classes.size()), agents_, seed_);
  refuse_negative_counts(loss_, std::ranges::any_of(table_.targets, [](double y) { return y < 0; }), source_.file);
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
  format.choice = source_.choice;
  format.skip_missing = source_.skip_missing;
  format.may_lack_dropped = true;
  format.may_be_empty = true;
  constexpr std::size_t most_told = 5;  // files
  std::vector<InputError> wrong;
  for (Index k = 0; k < block.size(); ++k) {
    owners_.push_back(block.agent(k));
    const std::string file = own_files_->of(owners_.back());
    std::error_code unknown;
    if (!std::filesystem::exists(file, unknown)) refuse_missing(owners_.back());
    try {
      tables_.push_back(read_data(file, format));
      refuse_measurements(loss_, tables_.back(), file);
    } catch (const InputError& e) {
      wrong.push_back(e);
      // Where the last column is another than in the first file, a message about the wrong columns would mislead.
      if (source_.target.empty()) {
        const std::string first_file = own_files_->of(owners_.front());
        const std::string target = target_in(file, format);
        const std::string first = target_in(first_file, format);
        if (target != first && !target.empty() && !first.empty()) {
          wrong.back() = InputError("problem.data",
                                    unlike_columns(first_file) + unlike_target(target, first, format.choice), 0, file);
        }
      }
      if (wrong.size() == most_told) break;
    }
  }
  if (!wrong.empty()) throw InputError(wrong);
}

void DealtReader::refuse_missing(Index agent) const {
  const AgentFiles& files = *own_files_;
  std::error_code unknown;
  const Index there = files.existing();
  std::string what_to_do = there == 0 ? "agents are numbered from 0, so the first file is this one"
                                      : "there are " + std::to_string(there) + "; " +
                                            (source_.choice.by_flags ? "--agents " : "agents = ") +
                                            std::to_string(there) + " takes those";
  if (agent == 0 && std::filesystem::exists(files.of(agents_), unknown)) {
    what_to_do =
        "if they start from " + std::to_string(files.first() + 1) + ", write '" + files.from_next().pattern() + "'";
  }
  throw InputError("problem.data",
                   "no such file; each of the " + std::to_string(agents_) + " agents needs its own, " + files.of(0) +
                       " to " + files.of(agents_ - 1) + "; " + what_to_do,
                   0, files.of(agent));
}

void DealtReader::read_dealt(const Block& block) {
  std::vector<Index> own;  // in the file's order
  Dataset& data = out_.data;
  data.offset = {0};
  for (Index k = 0; k < block.size(); ++k) {
    const auto agent = static_cast<std::size_t>(block.agent(k));
    own.insert(own.end(), partition_.order.begin() + partition_.offset[agent],
               partition_.order.begin() + partition_.offset[agent + 1]);
    data.offset.push_back(static_cast<Index>(own.size()));
  }
  for (const Index n : own) data.targets.push_back(table_.targets[n]);
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
  // If the samples are already in order, nothing is stored twice.
  const bool in_order = std::ranges::is_sorted(own) && table_.features.rows() == static_cast<Index>(own.size());
  data.features = in_order ? std::move(table_.features) : table_.features.select(own);
  table_.features = {};
}

std::string DealtReader::summary() const {
  if (!own_files_) {
    // All processes must have dealt the same.
    Fingerprint targets;
    for (const double y : table_.targets) targets.add(y);
    return message(table_.targets.size(), targets.value(), out_.data.features.columns());
  }
  MessageWriter out;
  std::vector<std::string> labels;
  std::vector<double> values;
  bool negative = false;
  out.add(static_cast<Index>(tables_.size()));
  for (std::size_t n = 0; n < tables_.size(); ++n) {
    const DataTable& table = tables_[n];
    out.add(owners_[n]);
    out.add(table.features.rows());
    out.add(table.skipped);
    out.add(table.features.columns());
    out.add(table.features.is_sparse());
    out.add(!table.labels.empty());
    out.add(table.target_name);
    out.add(table.columns.width);
    out.add(table.id_name);
    out.add(table.not_dropped);
    // Most files have the same names as the one before.
    const bool same = n > 0 && table.names == tables_[n - 1].names;
    out.add(same);
    if (!same) out.add(table.names);
    labels.insert(labels.end(), table.labels.begin(), table.labels.end());
    if (max_values() > 0 && table.labels.empty()) {
      const bool told = !loss_.name.empty() || std::ranges::all_of(table.targets, may_be_class_code);
      const std::vector<double> more = told ? distinct(table.targets, max_values()) : std::vector{measured};
      values.insert(values.end(), more.begin(), more.end());
      values = distinct(values, max_values());
    }
    negative = negative || std::ranges::any_of(table.targets, [](double y) { return y < 0; });
  }
  out.add(sorted_union(std::move(labels)));
  out.add(values);
  out.add(negative);
  return out.bytes();
}

DealtData DealtReader::finish(const std::vector<std::string>& summaries) {
  own_files_ ? finish_own(summaries) : finish_dealt(summaries);
  if (!own_files_) {
    out_.samples = static_cast<Index>(table_.targets.size());
    out_.skipped = table_.skipped;
    out_.features = std::move(table_.names);
    out_.target = std::move(table_.target_name);
    out_.columns = std::move(table_.columns);
    out_.id = std::move(table_.id_name);
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
  std::vector<OwnFile> files(agents_);
  std::vector<std::string> labels;
  std::vector<double> values;
  bool negative = false;
  for (const std::string& summary : summaries) {
    MessageReader in(summary);
    std::vector<std::string> names;
    for (auto count = in.take<Index>(); count > 0; --count) {
      const auto agent = in.take<Index>();
      OwnFile& file = files[agent];
      file.agent = agent;
      file.rows = in.take<Index>();
      file.skipped = in.take<Index>();
      file.columns = in.take<Index>();
      file.sparse = in.take<bool>();
      file.has_labels = in.take<bool>();
      file.target = in.take<std::string>();
      file.width = in.take<Index>();
      file.id = in.take<std::string>();
      file.not_dropped = in.take<std::vector<std::string>>();
      if (!in.take<bool>()) names = in.take<std::vector<std::string>>();
      file.names = names;
    }
    std::ranges::move(in.take<std::vector<std::string>>(), std::back_inserter(labels));
    std::ranges::copy(in.take<std::vector<double>>(), std::back_inserter(values));
    negative = in.take<bool>() || negative;
    in.end();
  }
  refuse_unlike(files);
  Index columns = 0;
  for (const OwnFile& file : files) {
    columns = std::max(columns, file.columns);
    out_.samples += file.rows;
    out_.skipped += file.skipped;
    if (file.rows == 0) out_.without_samples.push_back(file.agent);
  }
  if (out_.samples == 0) throw InputError("problem.data", "none of these files holds a sample", 0, source_.file);
  labels = sorted_union(std::move(labels));
  values = distinct(values, max_values());
  decide_loss(labels, values, out_.samples);
  take_classes(labels, values);
  refuse_too_wide(columns * blocks(loss_, out_.classes), agents_, source_.file);
  refuse_negative_counts(loss_, negative, source_.file);
  out_.features = files.front().names;
  out_.target = files.front().target;
  out_.id = files.front().id;
  out_.columns = tables_.front().columns;
  join(columns, labels);
}

// Rejects differences between the agents' files, and names to drop that none of them has.
void DealtReader::refuse_unlike(const std::vector<OwnFile>& files) const {
  const OwnFile& first = files.front();
  for (const std::string& name : first.not_dropped) {
    const auto lacks = [&](const OwnFile& file) {
      return std::ranges::find(file.not_dropped, name) != file.not_dropped.end();
    };
    if (!std::ranges::all_of(files, lacks)) continue;
    throw InputError(name == source_.choice.id ? "problem.id" : "problem.drop",
                     "there is no column '" + name + "' in any of these files" +
                         (first.names.empty() ? "; without a header, columns go by number"
                                              : suggestion(name, first.names, "their columns")),
                     0, source_.file);
  }
  for (const OwnFile& file : files) {
    const std::string how = file.unlike(first, source_.choice);
    if (how.empty()) continue;
    throw InputError("problem.data", unlike_columns(own_files_->of(0)) + how, 0, own_files_->of(file.agent));
  }
}

// The rows of the block's agents, one table after the other.
void DealtReader::join(Index columns, const std::vector<std::string>& labels) {
  Dataset& data = out_.data;
  data.offset = {0};
  const bool sparse = tables_.front().features.is_sparse();
  Index rows = 0;
  for (const DataTable& table : tables_) rows += table.features.rows();
  Rows dense(sparse ? 0 : rows, sparse ? 0 : columns);
  MeteredVector<Index> offset = {0};
  MeteredVector<std::int32_t> column;
  MeteredVector<double> value;
  for (DataTable& table : tables_) {
    const Index first = data.offset.back();
    const std::vector<std::size_t> places = places_among(out_.features, table.names);
    for (Index r = 0; r < table.features.rows(); ++r) {
      if (sparse) {
        column.insert(column.end(), table.features.columns_of(r).begin(), table.features.columns_of(r).end());
        value.insert(value.end(), table.features.values_of(r).begin(), table.features.values_of(r).end());
        offset.push_back(static_cast<Index>(column.size()));
      } else {
        const auto from = table.features.dense().row(r);
        const auto to = dense.row(first + r);
        for (std::size_t j = 0; j < to.size(); ++j) to[j] = from[places.empty() ? j : places[j]];
      }
    }
    for (double target : table.targets) {
      if (!labels.empty()) {
        const std::string& word = table.labels[static_cast<std::size_t>(target)];
        target = static_cast<double>(std::ranges::lower_bound(labels, word) - labels.begin());
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

void scale_to_unit_rows(Dataset& data) { data.features.normalise_rows(); }

void add_intercept(Dataset& data) { data.features = data.features.with_ones(); }

}  // namespace polyhop
