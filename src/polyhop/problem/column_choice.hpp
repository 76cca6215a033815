// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// Which columns of a table are features, as the user names them: by name, by number from 1, or "3-7" for several.
struct ColumnChoice {
  std::vector<std::string> columns = {};  // features; empty: all but the target and those below
  std::vector<std::string> drop = {};     // neither features nor target
  std::string id = {};                    // neither; names the samples
  bool by_flags = false;                  // what messages name: flags of the command, or keys of an experiment

  [[nodiscard]] bool empty() const { return columns.empty() && drop.empty() && id.empty(); }
};

/// The entries of "age, 3-7,height".
std::vector<std::string> listed(std::string_view text);

/// A text as one word of a shell's command line: 'two words', one.
std::string shell_word(const std::string& text);

/// How to say it in a message: `--drop age`, or `drop = "age"` in an experiment.
std::string setting(const ColumnChoice& choice, const std::string& key, const std::string& value);

/// The effect of a choice on a given table.
struct ChosenColumns {
  std::vector<bool> chosen;   // as features; all if none were chosen
  std::vector<bool> dropped;  // including the id
  bool some = false;          // whether features were chosen
  bool by_flags = false;      // as in the choice
  std::size_t id = none;
  std::vector<std::string> unknown = {};  // names to drop that the table does not have

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  [[nodiscard]] bool may_be_feature(std::size_t column) const { return chosen[column] && !dropped[column]; }
  /// The last column that is not dropped, or none.
  [[nodiscard]] std::size_t last() const;
  /// Which columns are features, given the target, or none. Throws InputError if a column is asked to be both. `named`:
  /// the target was named; otherwise it is the last column.
  [[nodiscard]] std::vector<bool> features(std::size_t target, bool named) const;
};

/// `names`: of all `count` columns, or empty if they have no names. Throws InputError on a column that does not exist;
/// with `may_lack`, names to drop may be missing.
ChosenColumns choose_columns(const ColumnChoice& choice, const std::vector<std::string>& names, std::size_t count,
                             bool may_lack);

/// The same by numbers alone, ignoring names, for a table that may or may not have names.
ChosenColumns choose_by_number(const ColumnChoice& choice, std::size_t count);

/// The columns that a model was trained on, if they have no names and some were left out.
struct LearnedColumns {
  std::vector<Index> features = {};  // numbers from 1, ascending
  Index width = 0;                   // of the table
  Index target = 0;                  // number from 1; 0: not in the table

  [[nodiscard]] bool empty() const { return features.empty(); }
};

/// The positions of a model's columns in another table.
struct PlacedColumns {
  std::vector<bool> is_feature;
  std::size_t target = ChosenColumns::none;
};

/// In a table as wide as the training table, they keep their positions. A table without that target may be one column
/// narrower. A table may also hold only the features, and a named target. `target`: as the user named it, or none.
/// Throws InputError on any other width.
PlacedColumns place_columns(const LearnedColumns& learned, std::size_t count, std::size_t target, bool needs_target);

}  // namespace polyhop
