// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/store.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <mutex>
#include <set>
#include <type_traits>
#include <variant>

#include "polyhop/core/error.hpp"
#include "polyhop/core/fingerprint.hpp"
#include "polyhop/experiment/toml_reader.hpp"

namespace polyhop {
namespace {

// New columns are found by name and keep this number; any other change raises it.
constexpr int format = 4;
constexpr int oldest_format = 3;

using Columns = std::span<const PointColumn>;

// The name of a column as SQL reads it, even if it is a word of SQL's own.
std::string quoted(const PointColumn& column) { return "\"" + std::string(column.name) + "\""; }

// Joins `text` of each column into a list.
template <class F>
std::string listed(Columns columns, F text) {
  std::string out;
  for (const PointColumn& column : columns) out += (out.empty() ? "" : ", ") + text(column);
  return out;
}

constexpr Columns counts = columns_of<ColumnKind::count>;

std::string definition(const PointColumn& column) {
  return quoted(column) + (std::holds_alternative<Index Point::*>(column.number) ? " INTEGER" : " REAL");
}

// The trials of unfinished searches. Stores of earlier versions get it when they are opened for writing.
constexpr const char* trials_table =
    "CREATE TABLE IF NOT EXISTS trials (search TEXT NOT NULL, number INTEGER NOT NULL, data BLOB NOT NULL, "
    "checksum INTEGER NOT NULL, PRIMARY KEY (search, number)) WITHOUT ROWID;";

std::string schema() {
  return R"(
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE provenance (position INTEGER PRIMARY KEY, name TEXT, value TEXT);
CREATE TABLE layout (position INTEGER PRIMARY KEY, method TEXT NOT NULL, seed INTEGER NOT NULL, cell TEXT NOT NULL);
CREATE TABLE cells (id TEXT PRIMARY KEY, settings TEXT NOT NULL, status TEXT NOT NULL, message TEXT,
                    iteration INTEGER, seconds REAL, first_risk REAL, reference_value REAL, reference_accuracy REAL,
                    reference_error_rate REAL, reference_how TEXT, recorded_agents INTEGER, checksum INTEGER, column_spread REAL, )" +
         listed(counts, definition) + R"() WITHOUT ROWID;
CREATE TABLE points (cell TEXT NOT NULL, )" +
         listed(point_columns, definition) + R"(, PRIMARY KEY (cell, iteration)) WITHOUT ROWID;
CREATE TABLE steps (cell TEXT NOT NULL, iteration INTEGER NOT NULL, data BLOB NOT NULL, distances BLOB,
                    PRIMARY KEY (cell, iteration));
CREATE TABLE arrays (cell TEXT NOT NULL, name TEXT NOT NULL, position INTEGER NOT NULL, part INTEGER NOT NULL,
                     "rows" INTEGER NOT NULL, "columns" INTEGER NOT NULL, data BLOB NOT NULL, checksum INTEGER,
                     PRIMARY KEY (cell, name, part));
CREATE TABLE networks (seed INTEGER PRIMARY KEY, agents INTEGER NOT NULL, edges BLOB NOT NULL);
CREATE TABLE searches (id TEXT PRIMARY KEY, method TEXT, value REAL, factor REAL, trials INTEGER, iterations INTEGER,
                       vectors INTEGER, scalars INTEGER, "values" INTEGER, gradients INTEGER, seconds REAL,
                       goal TEXT) WITHOUT ROWID;
)" + std::string(trials_table) +
         R"(
CREATE TABLE tunings (position INTEGER PRIMARY KEY, method TEXT, value REAL, factor REAL, trials INTEGER,
                      iterations INTEGER, vectors INTEGER, scalars INTEGER, "values" INTEGER, gradients INTEGER,
                      seconds REAL, goal TEXT);
)";
}

// SQLite stores a NaN as NULL.
double real(const SQLite::Column& column) {
  return column.isNull() ? std::numeric_limits<double>::quiet_NaN() : column.getDouble();
}

// Binds the numbers of a point in these columns, from `place` on; returns the next place.
int bind_point(SQLite::Statement& statement, int place, Columns columns, const Point& point) {
  for (const PointColumn& column : columns) {
    std::visit([&](const auto number) { statement.bind(place++, point.*number); }, column.number);
  }
  return place;
}

void read_point(SQLite::Statement& select, int place, Columns columns, Point& point) {
  for (const PointColumn& column : columns) {
    const SQLite::Column found = select.getColumn(place++);
    if (const auto* count = std::get_if<Index Point::*>(&column.number)) {
      point.** count = found.getInt64();
    } else {
      point.*std::get<double Point::*>(column.number) = real(found);
    }
  }
}

using Edge = std::pair<std::int32_t, std::int32_t>;

constexpr std::array<Index Tuning::*, 6> tuning_counts = {&Tuning::trials,  &Tuning::iterations, &Tuning::vectors,
                                                          &Tuning::scalars, &Tuning::values,     &Tuning::gradients};

// The columns of a search that follow its key; older stores lack the last one.
constexpr std::string_view tuning_columns =
    R"(method, value, factor, trials, iterations, vectors, scalars, "values", gradients, seconds, goal)";

void bind(SQLite::Statement& statement, int place, const Tuning& tuning) {
  statement.bind(place++, tuning.method);
  statement.bind(place++, tuning.value);
  statement.bind(place++, tuning.factor);
  for (const auto count : tuning_counts) statement.bind(place++, static_cast<std::int64_t>(tuning.*count));
  statement.bind(place++, tuning.seconds);
  statement.bind(place, name_of(tuning.goal));
}

// What a method of a resolved experiment was tuned for: its own goal, or the experiment's; empty if neither is there.
Value goal_in(const Value& config, const std::string& method) {
  const auto goal_of = [](const Value* table) {
    const Value* goal = table != nullptr ? table->find("goal") : nullptr;
    return goal != nullptr ? *goal : Value();
  };
  const Value* list = config.find("method");
  if (const auto* methods = list != nullptr ? list->as<Value::Array>() : nullptr) {
    for (const Value& entry : *methods) {
      const Value* name = entry.find("name");
      if (name == nullptr || name->text() != Value(method).text()) continue;
      if (Value own = goal_of(entry.find("step")); !own.empty()) return own;
    }
  }
  return goal_of(config.find("tuning"));
}

// Prefix of the names of a checkpoint's arrays; models have none.
constexpr const char* of_state = "state/";

// For data that must come back exactly: word by word, since there may be gigabytes.
std::int64_t checksum_of(std::span<const double> numbers, std::int64_t start) {
  auto hash = static_cast<std::uint64_t>(start) ^ 0xcbf29ce484222325U;
  for (const double x : numbers) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(x)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32U;
  }
  return static_cast<std::int64_t>(hash);
}

// For a part of an array, including its shape.
std::int64_t checksum_of(const StatePart& part, std::int64_t number) {
  Fingerprint shape;
  shape.add(part.name);
  for (const std::int64_t n : {number, static_cast<std::int64_t>(part.rows), static_cast<std::int64_t>(part.columns)}) {
    shape.add(n);
  }
  return checksum_of(part.data, static_cast<std::int64_t>(shape.value()));
}

// For the state of a run.
std::int64_t checksum_of(const Checkpoint& at) {
  std::vector<double> numbers = {static_cast<double>(at.iteration), at.seconds, at.first_risk};
  for (const PointColumn& column : counts) {
    std::visit([&](const auto number) { numbers.push_back(static_cast<double>(at.totals.*number)); }, column.number);
  }
  return checksum_of(numbers, 1);
}

}  // namespace

std::string CellKey::id() const {
  std::string text;
  for (Fingerprint half : {Fingerprint(), Fingerprint(0x9ae16a3b2f90404fU)}) {
    half.add(settings + "#" + std::to_string(seed));
    text += hexadecimal(half.value());
  }
  return text;
}

std::string Store::file_in(const std::string& folder) {
  return (std::filesystem::path(folder) / "experiment.sqlite").string();
}

class Store::Implementation {
 public:
  Implementation(const std::string& folder, Mode mode) : file(file_in(folder)), reads_only(mode == Mode::read) {
    if (mode == Mode::read && !std::filesystem::is_regular_file(file)) {
      throw Error("there is no experiment in '" + folder + "': " + file + " is missing");
    }
    guarded([&] { open(mode); });
  }

  // Runs `action`, turning SQLite's errors into ours.
  template <class F>
  std::invoke_result_t<F> guarded(F action) const {
    const std::lock_guard lock(mutex);
    try {
      return action();
    } catch (const SQLite::Exception& e) {
      const int code = e.getErrorCode();
      if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
        throw Error(file + " is in use by another run; wait until that run ends" +
                    (reads_only ? "" : ", or choose another folder with -o"));
      }
      if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT ||
          code == SQLITE_ERROR) {  // the last: no such table or column
        throw InputError(
            "",
            std::string("is not a polyhop store, or is damaged (") + e.what() + "); use another folder, or delete it",
            0, file);
      }
      if (code == SQLITE_FULL || e.getExtendedErrorCode() == SQLITE_IOERR_WRITE) {
        throw OutputError(file + ": the disk is full; what was committed before is safe");
      }
      throw Error(file + ": " + e.what());
    }
  }

  template <class F>
  void transaction(F action) {
    guarded([&] {
      SQLite::Transaction t(*database);
      action();
      t.commit();
    });
  }

  // Throws, saying what is damaged and what to do.
  [[noreturn]] void damaged(const std::string& what) const {
    throw InputError("", "is damaged: " + what + "; run the experiment with --fresh, or into another folder", 0, file);
  }

  // One of an enumeration's names.
  template <class Named>
  [[nodiscard]] Named named_in(const Value& name, const std::string& what) const {
    try {
      return Codec<Named>::read(name);
    } catch (const InputError& e) {
      damaged(what + ": " + e.message());
    }
  }
  [[nodiscard]] Status status_in(const SQLite::Column& column) const {
    return named_in<Status>(Value(column.getString()), "how a run ended");
  }

  [[nodiscard]] Value config_in(const std::string& text) const {
    try {
      return *read_toml("config = " + text).find("config");
    } catch (const InputError& e) {
      damaged("the settings: " + e.message());
    }
  }

  // A blob that must hold this many numbers, or any number if `count` is below 0.
  [[nodiscard]] std::vector<double> numbers_in(const SQLite::Column& blob, Index count, const std::string& what) const {
    const auto bytes = static_cast<std::size_t>(blob.getBytes());
    if (bytes % sizeof(double) != 0 || (count >= 0 && bytes / sizeof(double) != static_cast<std::size_t>(count))) {
      damaged(what + " has " + std::to_string(bytes) + " bytes" +
              (count >= 0 ? ", expected " + std::to_string(count) + " numbers" : ""));
    }
    std::vector<double> out(bytes / sizeof(double));
    if (bytes > 0) std::memcpy(out.data(), blob.getBlob(), bytes);
    return out;
  }

  // Reads the next part of an array, from the columns name, rows, columns, data, checksum, part. `data` receives its
  // numbers.
  void read_part(SQLite::Statement& select, StatePart& part, std::vector<double>& data) const {
    part.name = select.getColumn(0).getString();
    part.rows = select.getColumn(1).getInt64();
    part.columns = select.getColumn(2).getInt64();
    const std::string what = "the array '" + part.name + "' of a run";
    constexpr Index most = Index{1} << 30;  // a blob can hold no more bytes
    if (part.rows < 0 || part.columns < 0 || part.rows > most || part.columns > most ||
        (part.rows == 0) != (part.columns == 0)) {
      damaged("the shape of " + what);
    }
    data = numbers_in(select.getColumn(3), part.rows * part.columns, what);
    part.data = data;
    // Older stores have no checksums.
    const SQLite::Column checksum = select.getColumn(4);
    if (!checksum.isNull() && checksum.getInt64() != checksum_of(part, select.getColumn(5).getInt64())) {
      damaged("the numbers of " + what + " have changed since they were written");
    }
  }
  [[nodiscard]] std::string selected_parts() const {
    return std::string("SELECT name, \"rows\", \"columns\", data, ") +
           (names_in("arrays").contains("checksum") ? "checksum" : "NULL") + ", part FROM arrays WHERE cell = ? AND ";
  }

  [[nodiscard]] SQLite::Statement statement(const std::string& sql) const { return {*database, sql}; }

  void write_points(const std::string& id, const Cell& cell, std::size_t first) {
    const auto mark = [](const PointColumn&) { return std::string("?"); };
    auto insert = statement("INSERT OR REPLACE INTO points (cell, " + listed(point_columns, quoted) + ") VALUES (?, " +
                            listed(point_columns, mark) + ")");
    SQLite::Statement insert_steps(*database,
                                   "INSERT OR REPLACE INTO steps (cell, iteration, data, distances) VALUES (?,?,?,?)");
    for (std::size_t p = first; p < cell.points.size(); ++p) {
      insert.reset();
      insert.bind(1, id);
      bind_point(insert, 2, point_columns, cell.points[p]);
      insert.exec();
      if (p >= cell.steps.size()) continue;
      insert_steps.reset();
      insert_steps.bind(1, id);
      insert_steps.bind(2, static_cast<std::int64_t>(cell.points[p].iteration));
      insert_steps.bind(3, cell.steps[p].data(), static_cast<int>(cell.steps[p].size() * sizeof(double)));
      insert_steps.bind(4);  // NULL
      if (p < cell.distances.size()) {
        insert_steps.bind(4, cell.distances[p].data(), static_cast<int>(cell.distances[p].size() * sizeof(double)));
      }
      insert_steps.exec();
    }
  }

  void write_cell(const std::string& id, const Cell& cell, Status status, const Checkpoint* at) {
    auto update = statement(
        "UPDATE cells SET status = ?, message = ?, reference_value = ?, reference_accuracy = ?, "
        "reference_error_rate = ?, reference_how = ?, recorded_agents = ?, column_spread = ? WHERE id = ?");
    update.bind(1, name_of(status));
    update.bind(2, cell.message);
    update.bind(3, cell.reference_value);
    update.bind(4, cell.reference_accuracy);
    update.bind(5, cell.reference_error_rate);
    update.bind(6, cell.reference_how);
    update.bind(7, static_cast<std::int64_t>(cell.recorded_agents));
    update.bind(8, cell.column_spread);
    update.bind(9, id);
    update.exec();
    if (at == nullptr) return;
    auto progress =
        statement("UPDATE cells SET iteration = ?, seconds = ?, first_risk = ?, checksum = ?, " +
                  listed(counts, [](const PointColumn& c) { return quoted(c) + " = ?"; }) + " WHERE id = ?");
    progress.bind(1, static_cast<std::int64_t>(at->iteration));
    progress.bind(2, at->seconds);
    progress.bind(3, at->first_risk);
    progress.bind(4, checksum_of(*at));
    progress.bind(bind_point(progress, 5, counts, at->totals), id);
    progress.exec();
  }

  // Writes each part as a blob of its own, with names in order of appearance. SQLite cannot hold a blob beyond 1 GB.
  void write_parts(const std::string& id, const std::string& prefix, const StateStream& stream) {
    auto insert = statement(
        "INSERT INTO arrays (cell, name, position, part, \"rows\", \"columns\", data, checksum) VALUES "
        "(?,?,?,?,?,?,?,?)");
    std::string name;
    int position = -1;
    std::int64_t number = 0;
    stream([&](const StatePart& part) {
      number = part.name == name ? number + 1 : 0;
      if (number == 0) ++position;
      name = part.name;
      insert.reset();
      insert.bind(1, id);
      insert.bind(2, prefix + name);
      insert.bind(3, position);
      insert.bind(4, number);
      insert.bind(5, static_cast<std::int64_t>(part.rows));
      insert.bind(6, static_cast<std::int64_t>(part.columns));
      insert.bindNoCopy(7, part.data.data(), static_cast<int>(part.data.size_bytes()));
      StatePart named = part;
      named.name = prefix + name;
      insert.bind(8, checksum_of(named, number));
      insert.exec();
    });
  }

  [[nodiscard]] Rows read_models(const std::string& id, const std::string& name) const {
    auto select = statement(selected_parts() + "name = ? ORDER BY part");
    select.bind(1, id);
    select.bind(2, name);
    std::vector<std::vector<double>> rows;
    StatePart part;
    std::vector<double> data;
    while (select.executeStep()) {
      read_part(select, part, data);
      for (Index r = 0; r < part.rows; ++r) {
        rows.emplace_back(data.begin() + r * part.columns, data.begin() + (r + 1) * part.columns);
      }
      if (rows.empty()) continue;
      if (rows.front().size() != rows.back().size()) damaged("the parts of the array '" + name + "' of a run");
    }
    Rows out(static_cast<Index>(rows.size()), rows.empty() ? 0 : static_cast<Index>(rows.front().size()));
    for (std::size_t r = 0; r < rows.size(); ++r) std::ranges::copy(rows[r], out.row(static_cast<Index>(r)).begin());
    return out;
  }

  // Goals are NULL in an older store.
  [[nodiscard]] SQLite::Statement select_tunings(const std::string& table, const std::string& which) const {
    std::string columns(tuning_columns);
    if (!names_in(table).contains("goal")) columns.replace(columns.rfind("goal"), std::string::npos, "NULL");
    return statement("SELECT " + columns + " FROM " + table + " " + which);
  }
  // `config`: the experiment's, which has the goal that an older store lacks.
  [[nodiscard]] Tuning tuning_in(SQLite::Statement& select, const Value& config) const {
    Tuning tuning;
    int place = 0;
    tuning.method = select.getColumn(place++).getString();
    tuning.value = real(select.getColumn(place++));
    tuning.factor = real(select.getColumn(place++));
    for (const auto count : tuning_counts) tuning.*count = select.getColumn(place++).getInt64();
    tuning.seconds = real(select.getColumn(place++));
    const SQLite::Column stored = select.getColumn(place);
    const Value goal = stored.isNull() ? goal_in(config, tuning.method) : Value(stored.getString());
    if (!goal.empty()) tuning.goal = named_in<TuningGoal>(goal, "what a constant was tuned for");
    return tuning;
  }

  // Checkpoint and models.
  void remove_arrays(const std::string& id) {
    auto remove = statement("DELETE FROM arrays WHERE cell = ?");
    remove.bind(1, id);
    remove.exec();
  }

  [[nodiscard]] std::set<std::string, std::less<>> names_in(const std::string& table) const {
    auto select = statement("SELECT name FROM pragma_table_info(?)");
    select.bind(1, table);
    std::set<std::string, std::less<>> names;
    while (select.executeStep()) names.insert(select.getColumn(0).getString());
    return names;
  }

  // The select list for these columns of a table: NULL for a column that an older store lacks, which reads as NaN or 0.
  [[nodiscard]] std::string selected(const std::string& table, Columns columns) const {
    const auto present = names_in(table);
    return listed(columns, [&](const PointColumn& c) { return present.contains(c.name) ? quoted(c) : "NULL"; });
  }

  std::string file;
  bool reads_only;
  std::unique_ptr<SQLite::Database> database;
  mutable std::mutex mutex;

 private:
  void open(Mode mode) {
    const int flags = mode == Mode::write ? SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE : SQLite::OPEN_READONLY;
    database = std::make_unique<SQLite::Database>(file, flags);
    if (mode == Mode::write) {
      // One run at a time holds the file; write-ahead logging then needs no shared memory, which some network file
      // systems lack.
      database->exec("PRAGMA locking_mode = EXCLUSIVE");
      database->exec("PRAGMA journal_mode = WAL");
      database->exec("PRAGMA synchronous = NORMAL");
      database->exec("BEGIN IMMEDIATE; COMMIT");
    }
    database->exec("PRAGMA trusted_schema = OFF");
    // Rejects views and other things that look like tables but compute something else.
    auto foreign =
        statement("SELECT name FROM sqlite_master WHERE type IN ('view', 'trigger') OR sql LIKE '%VIRTUAL%'");
    if (foreign.executeStep()) damaged("'" + foreign.getColumn(0).getString() + "' is not a table");
    const int found = database->execAndGet("PRAGMA user_version").getInt();
    const bool known = found >= oldest_format && found <= format;
    if (known && reads_only) return;
    const int tables = database->execAndGet("SELECT count(*) FROM sqlite_master").getInt();
    if (!known && (found != 0 || tables != 0 || reads_only)) {
      throw Error(file + " was written by another version of polyhop (its format is " + std::to_string(found) +
                  ", this version's is " + std::to_string(format) + "); " +
                  (reads_only ? "run the experiment again, into another folder" : "choose another folder with -o"));
    }
    SQLite::Transaction t(*database);
    if (known) {
      add_missing("points", point_columns);
      add_missing("cells", counts);
      for (const char* table : {"cells", "arrays"}) {
        if (!names_in(table).contains("checksum")) {
          database->exec(std::string("ALTER TABLE ") + table + " ADD COLUMN checksum INTEGER");
        }
      }
      database->exec(trials_table);
      if (!names_in("cells").contains("column_spread")) {
        database->exec("ALTER TABLE cells ADD COLUMN column_spread REAL");
      }
      if (!names_in("steps").contains("distances")) database->exec("ALTER TABLE steps ADD COLUMN distances BLOB");
      for (const char* table : {"searches", "tunings"}) {
        if (!names_in(table).contains("goal")) {
          database->exec(std::string("ALTER TABLE ") + table + " ADD COLUMN goal TEXT");
        }
      }
    } else {
      database->exec(schema());
    }
    database->exec("PRAGMA user_version = " + std::to_string(format));
    t.commit();
  }

  void add_missing(const std::string& table, Columns columns) {
    const auto present = names_in(table);
    for (const PointColumn& column : columns) {
      if (!present.contains(column.name)) database->exec("ALTER TABLE " + table + " ADD COLUMN " + definition(column));
    }
  }
};

Store::Store(const std::string& folder, Mode mode) : implementation_(std::make_unique<Implementation>(folder, mode)) {}
Store::~Store() {
  // At rest there is only one file: readers need no log beside it.
  if (!implementation_->database || implementation_->reads_only) return;
  try {
    implementation_->database->exec("PRAGMA journal_mode = DELETE");
  } catch (const SQLite::Exception&) {
    // In that case the log stays, and is read next time.
  }
}

namespace {

std::string precision_in(const Value& config) {
  const Value* problem = config.find("problem");
  const Value* precision = problem == nullptr ? nullptr : problem->find("precision");
  return precision == nullptr ? "double" : *precision->as<std::string>();  // the only one at that time
}

}  // namespace

void Store::set_experiment(const Record& head, const std::vector<CellKey>& cells) {
  auto& s = *implementation_;
  // Runs of different experiments in one folder would be taken for runs of the same one.
  s.guarded([&] {
    auto before = s.statement("SELECT value FROM about WHERE key = 'config'");
    if (!before.executeStep()) return;
    const std::string kept = precision_in(s.config_in(before.getColumn(0).getString()));
    if (kept == precision_in(head.config)) return;
    throw InputError("problem.precision", "found " + in_quotes(precision_in(head.config)) + ", but " + s.file +
                                              " holds runs of " + in_quotes(kept) +
                                              "; choose another folder with -o, or start over with --fresh");
  });
  s.transaction([&] {
    s.database->exec(
        "DELETE FROM about; DELETE FROM provenance; DELETE FROM layout; DELETE FROM networks; DELETE FROM tunings");
    auto about = s.statement("INSERT INTO about VALUES (?,?)");
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"name", head.name},
                                     {"target", shortest(head.target)},
                                     {"config", head.config.text()}}) {
      about.reset();
      about.bind(1, key);
      about.bind(2, value);
      about.exec();
    }
    auto provenance = s.statement("INSERT INTO provenance (name, value) VALUES (?,?)");
    for (const auto& [name, value] : head.provenance) {
      provenance.reset();
      provenance.bind(1, name);
      provenance.bind(2, value);
      provenance.exec();
    }
    auto network = s.statement("INSERT INTO networks VALUES (?,?,?)");
    for (const auto& picture : head.networks) {
      network.reset();
      network.bind(1, static_cast<std::int64_t>(picture.seed));
      network.bind(2, static_cast<std::int64_t>(picture.agents));
      // An empty blob is not the same as NULL.
      const void* edges = picture.edges.empty() ? static_cast<const void*>("") : picture.edges.data();
      network.bind(3, edges, static_cast<int>(picture.edges.size() * sizeof(Edge)));
      network.exec();
    }
    auto tuned =
        s.statement("INSERT INTO tunings (" + std::string(tuning_columns) + ") VALUES (?,?,?,?,?,?,?,?,?,?,?)");
    for (const auto& tuning : head.tunings) {
      tuned.reset();
      bind(tuned, 1, tuning);
      tuned.exec();
    }
    auto layout = s.statement("INSERT INTO layout (method, seed, cell) VALUES (?,?,?)");
    auto begin = s.statement("INSERT OR IGNORE INTO cells (id, settings, status) VALUES (?,?,'unfinished')");
    for (const auto& key : cells) {
      const std::string id = key.id();
      layout.reset();
      layout.bind(1, key.method);
      layout.bind(2, static_cast<std::int64_t>(key.seed));
      layout.bind(3, id);
      layout.exec();
      begin.reset();
      begin.bind(1, id);
      begin.bind(2, key.settings);
      begin.exec();
    }
  });
}

void Store::clear() {
  auto& s = *implementation_;
  s.transaction([&] {
    s.database->exec(
        "DELETE FROM about; DELETE FROM cells; DELETE FROM points; DELETE FROM steps; DELETE FROM arrays; "
        "DELETE FROM searches; DELETE FROM trials");
  });
}

std::string Store::name() const {
  const auto& s = *implementation_;
  return s.guarded([&] {
    auto select = s.statement("SELECT value FROM about WHERE key = 'name'");
    return select.executeStep() ? select.getColumn(0).getString() : std::string();
  });
}

std::optional<Status> Store::status(const std::string& id) const {
  const auto& s = *implementation_;
  return s.guarded([&]() -> std::optional<Status> {
    auto select = s.statement("SELECT status FROM cells WHERE id = ?");
    select.bind(1, id);
    if (!select.executeStep()) return {};
    return s.status_in(select.getColumn(0));
  });
}

std::optional<Checkpoint> Store::checkpoint(const std::string& id) const {
  const auto& s = *implementation_;
  return s.guarded([&]() -> std::optional<Checkpoint> {
    const bool has_checksum = s.names_in("cells").contains("checksum");
    auto select = s.statement(std::string("SELECT iteration, seconds, first_risk, ") +
                              (has_checksum ? "checksum" : "NULL") + ", " + s.selected("cells", counts) +
                              " FROM cells WHERE id = ? AND status IN ('unfinished', 'failed') "
                              "AND iteration IS NOT NULL");
    select.bind(1, id);
    if (!select.executeStep()) return {};
    Checkpoint at;
    at.iteration = select.getColumn(0).getInt64();
    at.seconds = real(select.getColumn(1));
    at.first_risk = real(select.getColumn(2));
    read_point(select, 4, counts, at.totals);
    const SQLite::Column checksum = select.getColumn(3);
    if (at.iteration < 0 || at.iteration > Index{1} << 53 ||
        (!checksum.isNull() && checksum.getInt64() != checksum_of(at))) {
      s.damaged("the checkpoint of a run at iteration " + std::to_string(at.iteration));
    }
    return at;
  });
}

void Store::read_state(const std::string& id, const StateSink& sink) const {
  const auto& s = *implementation_;
  s.guarded([&] {
    auto select = s.statement(s.selected_parts() + "name LIKE 'state/%' ORDER BY position, part");
    select.bind(1, id);
    StatePart part;
    std::vector<double> data;
    std::string before;
    Index first = 0;
    while (select.executeStep()) {
      s.read_part(select, part, data);
      part.name = part.name.substr(std::strlen(of_state));
      part.first = part.name == before ? first : 0;
      before = part.name;
      first = part.first + part.rows;
      sink(part);
    }
  });
}

Cell Store::load_cell(const std::string& id, const std::string& method, std::uint64_t seed, bool with_models) const {
  const auto& s = *implementation_;
  return s.guarded([&] {
    Cell cell;
    cell.method = method;
    cell.seed = seed;
    cell.status = Status::unfinished;
    // Older stores have no spread of columns.
    auto select = s.statement(
        std::string("SELECT status, message, reference_value, reference_accuracy, reference_error_rate, reference_how, "
                    "recorded_agents, ") +
        (s.names_in("cells").contains("column_spread") ? "column_spread" : "NULL") + " FROM cells WHERE id = ?");
    select.bind(1, id);
    if (!select.executeStep()) return cell;
    cell.status = s.status_in(select.getColumn(0));
    cell.message = select.getColumn(1).getString();
    cell.reference_value = real(select.getColumn(2));
    cell.reference_accuracy = real(select.getColumn(3));
    cell.reference_error_rate = real(select.getColumn(4));
    cell.reference_how = select.getColumn(5).getString();
    cell.recorded_agents = select.getColumn(6).getInt64();
    if (!select.getColumn(7).isNull()) cell.column_spread = real(select.getColumn(7));
    auto points =
        s.statement("SELECT " + s.selected("points", point_columns) + " FROM points WHERE cell = ? ORDER BY iteration");
    points.bind(1, id);
    while (points.executeStep()) {
      read_point(points, 0, point_columns, cell.points.emplace_back());
    }
    // Older stores have no distances.
    const bool has_distances = s.names_in("steps").contains("distances");
    auto steps = s.statement(std::string("SELECT data, ") + (has_distances ? "distances" : "NULL") +
                             " FROM steps WHERE cell = ? ORDER BY iteration");
    steps.bind(1, id);
    while (steps.executeStep()) {
      const std::vector<double> found = s.numbers_in(steps.getColumn(0), -1, "the steps of a run");
      cell.steps.emplace_back(found.begin(), found.end());
      if (found.empty() || found.size() != cell.steps.front().size()) s.damaged("the steps of a run");
      if (steps.getColumn(1).isNull()) continue;
      const std::vector<double> away = s.numbers_in(steps.getColumn(1), -1, "the distances of a run's agents");
      cell.distances.emplace_back(away.begin(), away.end());
    }
    for (const auto& away : cell.distances) {
      if (away.size() != cell.steps.front().size()) s.damaged("the distances of a run's agents");
    }
    if (with_models) {
      cell.models = s.read_models(id, "models");
      cell.averaged = s.read_models(id, "averaged");
    }
    return cell;
  });
}

void Store::save(const std::string& id, const Cell& cell, std::size_t first_new, const Checkpoint& checkpoint,
                 const StateStream& state) {
  auto& s = *implementation_;
  s.transaction([&] {
    s.write_points(id, cell, first_new);
    s.write_cell(id, cell, Status::unfinished, &checkpoint);
    s.remove_arrays(id);
    s.write_parts(id, of_state, state);
  });
}

void Store::finish(const std::string& id, const Cell& cell, std::size_t first_new, const StateStream& models) {
  auto& s = *implementation_;
  s.transaction([&] {
    s.write_points(id, cell, first_new);
    s.write_cell(id, cell, cell.status, nullptr);
    s.remove_arrays(id);
    s.write_parts(id, "", models);
  });
}

void Store::restart(const std::string& id) {
  auto& s = *implementation_;
  s.transaction([&] {
    for (const char* table : {"points", "steps", "arrays"}) {
      auto remove = s.statement(std::string("DELETE FROM ") + table + " WHERE cell = ?");
      remove.bind(1, id);
      remove.exec();
    }
    auto update = s.statement("UPDATE cells SET status = 'unfinished', message = NULL, iteration = NULL WHERE id = ?");
    update.bind(1, id);
    update.exec();
  });
}

void Store::fail(const std::string& id, const std::string& message) {
  auto& s = *implementation_;
  s.transaction([&] {
    auto update = s.statement("UPDATE cells SET status = 'failed', message = ? WHERE id = ?");
    update.bind(1, message);
    update.bind(2, id);
    update.exec();
  });
}

std::optional<Tuning> Store::tuning(const std::string& id) const {
  const auto& s = *implementation_;
  return s.guarded([&]() -> std::optional<Tuning> {
    auto select = s.select_tunings("searches", "WHERE id = ?");
    select.bind(1, id);
    if (!select.executeStep()) return {};
    return s.tuning_in(select, {});
  });
}

void Store::save_tuning(const std::string& id, const Tuning& tuning) {
  auto& s = *implementation_;
  s.transaction([&] {
    auto insert = s.statement("INSERT OR REPLACE INTO searches (id, " + std::string(tuning_columns) +
                              ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
    insert.bind(1, id);
    bind(insert, 2, tuning);
    insert.exec();
    auto remove = s.statement("DELETE FROM trials WHERE search = ?");
    remove.bind(1, id);
    remove.exec();
  });
}

std::vector<std::vector<double>> Store::trials(const std::string& search) const {
  const auto& s = *implementation_;
  return s.guarded([&] {
    std::vector<std::vector<double>> out;
    auto select = s.statement("SELECT data, checksum, number FROM trials WHERE search = ? ORDER BY number");
    select.bind(1, search);
    while (select.executeStep()) {
      out.push_back(s.numbers_in(select.getColumn(0), -1, "a trial of a search"));
      const std::int64_t number = select.getColumn(2).getInt64();
      if (number + 1 != std::ssize(out) || select.getColumn(1).getInt64() != checksum_of(out.back(), number)) {
        s.damaged("the trials of a search");
      }
    }
    return out;
  });
}

void Store::save_trial(const std::string& search, Index number, std::span<const double> numbers) {
  auto& s = *implementation_;
  s.transaction([&] {
    auto insert = s.statement("INSERT OR REPLACE INTO trials (search, number, data, checksum) VALUES (?,?,?,?)");
    insert.bind(1, search);
    insert.bind(2, static_cast<std::int64_t>(number));
    insert.bind(3, numbers.data(), static_cast<int>(numbers.size_bytes()));
    insert.bind(4, checksum_of(numbers, number));
    insert.exec();
  });
}

Index Store::model_bytes() const {
  const auto& s = *implementation_;
  return s.guarded([&] {
    auto select = s.statement("SELECT total(length(data)) FROM arrays WHERE name IN ('models', 'averaged')");
    select.executeStep();
    return static_cast<Index>(select.getColumn(0).getDouble());
  });
}

Record Store::load(bool with_models) const {
  const auto& s = *implementation_;
  Record record;
  struct Place {
    std::string method;
    std::uint64_t seed;
    std::string id;
  };
  std::vector<Place> places;
  s.guarded([&] {
    auto about = s.statement("SELECT key, value FROM about");
    while (about.executeStep()) {
      const std::string key = about.getColumn(0).getString();
      const std::string value = about.getColumn(1).getString();
      if (key == "name") record.name = value;
      if (key == "target") std::from_chars(value.data(), value.data() + value.size(), record.target);
      if (key == "config") record.config = s.config_in(value);
    }
    auto provenance = s.statement("SELECT name, value FROM provenance ORDER BY position");
    while (provenance.executeStep()) {
      record.provenance.emplace_back(provenance.getColumn(0).getString(), provenance.getColumn(1).getString());
    }
    auto network = s.statement("SELECT seed, agents, edges FROM networks");
    while (network.executeStep()) {
      NetworkPicture picture;
      picture.seed = static_cast<std::uint64_t>(network.getColumn(0).getInt64());
      picture.agents = network.getColumn(1).getInt64();
      const SQLite::Column edges = network.getColumn(2);
      const auto bytes = static_cast<std::size_t>(edges.getBytes());
      const std::string what = "the network of seed " + std::to_string(picture.seed);
      if (picture.agents < 0 || picture.agents > std::numeric_limits<std::int32_t>::max())
        s.damaged("the size of " + what);
      if (bytes % sizeof(Edge) != 0) s.damaged(what + " has " + std::to_string(bytes) + " bytes");
      picture.edges.resize(bytes / sizeof(Edge));
      if (bytes > 0) std::memcpy(static_cast<void*>(picture.edges.data()), edges.getBlob(), bytes);
      const auto is_agent = [&](std::int32_t k) { return k >= 0 && k < picture.agents; };
      if (!std::ranges::all_of(picture.edges, [&](const Edge& e) { return is_agent(e.first) && is_agent(e.second); })) {
        s.damaged(what + " links agents that it does not have");
      }
      record.networks.push_back(std::move(picture));
    }
    auto tuned = s.select_tunings("tunings", "ORDER BY position");
    while (tuned.executeStep()) record.tunings.push_back(s.tuning_in(tuned, record.config));
    auto layout = s.statement("SELECT method, seed, cell FROM layout ORDER BY position");
    while (layout.executeStep()) {
      places.push_back({layout.getColumn(0).getString(), static_cast<std::uint64_t>(layout.getColumn(1).getInt64()),
                        layout.getColumn(2).getString()});
    }
  });
  for (const Place& place : places) {
    record.cells.push_back(load_cell(place.id, place.method, place.seed, with_models));
  }
  return record;
}

}  // namespace polyhop
