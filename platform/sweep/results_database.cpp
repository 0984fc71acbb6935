#include "platform/sweep/results_database.h"

#include <sqlite3.h>
#include <array>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "platform/run/output_file.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

/// SQLite application_id of these databases: "LACN" in ASCII.
constexpr std::int64_t kApplication = 0x4C41434E;

/// Tables of a database. The column `takes` of `sweeps` contains the metrics of a sweep file; its name dates from version 1.
constexpr const char* kSchema = R"(
CREATE TABLE sweeps(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, file TEXT NOT NULL, text TEXT NOT NULL, takes TEXT NOT NULL,
  date TEXT NOT NULL, digest TEXT);
CREATE TABLE configurations(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE kernel_columns(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE points(
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, state TEXT NOT NULL, exit_code INTEGER NOT NULL,
  seconds REAL NOT NULL, command TEXT NOT NULL, inputs TEXT NOT NULL, version TEXT, commit_id TEXT, compiler TEXT,
  host TEXT, date TEXT NOT NULL, run_hash TEXT, log TEXT,
  configuration INTEGER REFERENCES configurations(id), kernel_columns INTEGER REFERENCES kernel_columns(id),
  cause TEXT, digest TEXT);
CREATE TABLE members(
  id INTEGER PRIMARY KEY, sweep INTEGER NOT NULL REFERENCES sweeps(id), axes TEXT NOT NULL, repeats TEXT NOT NULL,
  key TEXT NOT NULL, current INTEGER NOT NULL, position INTEGER NOT NULL, UNIQUE(sweep, axes, repeats, key));
CREATE INDEX members_by_key ON members(key);
CREATE TABLE statistic_names(id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, unit TEXT NOT NULL);
CREATE TABLE statistics(
  point INTEGER NOT NULL REFERENCES points(id), name INTEGER NOT NULL REFERENCES statistic_names(id), value NUMERIC,
  PRIMARY KEY(point, name)) WITHOUT ROWID;
CREATE TABLE kernels(
  point INTEGER NOT NULL REFERENCES points(id), number INTEGER NOT NULL, row TEXT NOT NULL, PRIMARY KEY(point, number))
  WITHOUT ROWID;
)";

/// Upgrade from version 1 to 2, without the digests of existing rows.
constexpr const char* kSecondVersion = R"(
ALTER TABLE sweeps ADD COLUMN digest TEXT;
ALTER TABLE points ADD COLUMN cause TEXT;
ALTER TABLE points ADD COLUMN digest TEXT;
)";

/// Columns that every version must have.
constexpr std::array kRead{
    "SELECT id, name, file, text, takes, date FROM sweeps",
    "SELECT id, text FROM configurations",
    "SELECT id, text FROM kernel_columns",
    "SELECT id, key, state, exit_code, seconds, command, inputs, version, commit_id, compiler, host, date, run_hash, log, "
    "configuration, kernel_columns FROM points",
    "SELECT id, sweep, axes, repeats, key, current, position FROM members",
    "SELECT id, path, unit FROM statistic_names",
    "SELECT point, name, value FROM statistics",
    "SELECT point, number, row FROM kernels"};
constexpr std::array kReadOfSecondVersion{"SELECT digest FROM sweeps", "SELECT cause, digest FROM points"};

/// Columns that contain JSON objects of strings.
constexpr std::array<std::pair<const char*, const char*>, 4> kObjects{
    {{"sweeps", "takes"}, {"points", "inputs"}, {"members", "axes"}, {"members", "repeats"}}};

constexpr std::array<const char*, 4> kStateNames{"done", "failed", "timeout", "killed"};

}  // namespace

const char* state_name(PointState state) { return kStateNames.at(static_cast<std::size_t>(state)); }

PointState state_of_name(const std::string& name) {
  for (std::size_t i = 0; i < kStateNames.size(); ++i)
    if (name == kStateNames.at(i)) return static_cast<PointState>(i);
  throw SweepError("the database has a point in the unknown state " + name);
}

std::string to_json(const NamedValues& values) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, value] : values) json[name] = value;
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

NamedValues values_of_json(const std::string& text) {
  NamedValues values;
  try {
    const OrderedJson json = OrderedJson::parse(text);
    if (!json.is_object()) throw SweepError("the database has no JSON object, but " + text);
    for (const auto& [name, value] : json.items()) values.emplace_back(name, value.get<std::string>());
  } catch (const OrderedJson::exception& e) {
    throw SweepError("the database has no JSON object of texts, but " + text + ": " + e.what());
  }
  return values;
}

PointInputs inputs_of_json(const std::string& text) {
  PointInputs inputs;
  for (const auto& [name, value] : values_of_json(text)) inputs.emplace(name, value);
  return inputs;
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

ResultsDatabase::ResultsDatabase(fs::path file, bool read_only) : file_(std::move(file)), read_only_(read_only) {
  std::error_code status;
  const bool exists = fs::exists(file_, status) && fs::file_size(file_, status) != 0;
  if (read_only && !exists) throw SweepError(file_.string() + ": no such database of results");
  try {
    if (exists) {
      // Identify the file before anything is written to it.
      database_.emplace(file_, SqliteDatabase::Mode::read);
      // Begin a transaction, so that all statements read the same snapshot while other processes write.
      database_->run("BEGIN");
      check();
    }
    if (!read_only) {
      database_.emplace(file_, exists ? SqliteDatabase::Mode::write : SqliteDatabase::Mode::create);
      create();
    }
  } catch (const SqliteError& e) {
    const int code = e.code & 0xff;
    if (code == SQLITE_FULL || code == SQLITE_IOERR) throw WriteError(file_.string() + ": cannot be written: " + e.reason);
    const bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
    throw SweepError(file_.string() + (damaged ? ": is damaged, or not a database of results: " : ": cannot be opened: ") +
                     e.reason + (damaged ? "; nothing was written to it" : ""));
  }
}

void ResultsDatabase::refuse(const std::string& finding) const {
  throw SweepError(file_.string() + ": is damaged: " + finding + "; nothing was written to it");
}

void ResultsDatabase::check() {
  const std::int64_t application = database_->integer("PRAGMA application_id");
  version_ = database_->integer("PRAGMA user_version");
  // A database that another process is creating is still empty.
  if (application == 0 && version_ == 0 && database_->integer("SELECT count(*) FROM sqlite_master") == 0) {
    if (read_only_) throw SweepError(file_.string() + ": holds no results yet");
    return;
  }
  if (application != kApplication)
    throw SweepError(file_.string() + ": is a database, but not one of results of Lacuna; nothing was written to it");
  if (version_ < 1 || version_ > kVersion)
    throw SweepError(file_.string() + ": is of version " + std::to_string(version_) +
                     ", this program supports versions up to " + std::to_string(kVersion) + "; nothing was written to it");
  SqliteStatement structure = database_->prepare("PRAGMA integrity_check(1)");
  if (structure.step() && structure.text(0) != "ok") refuse(structure.text(0));
  structure.reset();
  try {
    for (const char* columns : kRead) database_->prepare(columns);
    if (version_ >= 2)
      for (const char* columns : kReadOfSecondVersion) database_->prepare(columns);
  } catch (const SqliteError& e) {
    refuse(e.reason);
  }
  check_contents();
}

void ResultsDatabase::check_contents() {
  for (const auto& [table, column] : kObjects) {
    const std::string name = column;
    SqliteStatement wrong = database_->prepare(
        "SELECT id FROM " + std::string(table) + " WHERE NOT CASE WHEN json_valid(" + name + ") THEN json_type(" + name +
        ") = 'object' AND NOT EXISTS (SELECT 1 FROM json_each(" + name + ") WHERE type <> 'text') ELSE 0 END LIMIT 1");
    if (wrong.step())
      refuse("row " + std::to_string(wrong.integer(0)) + " of " + table + ": " + column + " is not a JSON object of strings");
  }
  std::string states;
  for (const char* name : kStateNames) add_to_list(states, '\'' + std::string(name) + '\'');
  SqliteStatement wrong = database_->prepare("SELECT id, state FROM points WHERE state NOT IN (" + states + ") LIMIT 1");
  if (wrong.step()) refuse("row " + std::to_string(wrong.integer(0)) + " of points: unknown state " + wrong.text(1));
}

void ResultsDatabase::create() {
  database_->integer("PRAGMA journal_mode = WAL");
  // Commits survive a kill of the process; only a power failure may lose the last commits.
  database_->run("PRAGMA synchronous = NORMAL");
  SqliteTransaction transaction(*database_);
  const std::int64_t version = database_->integer("PRAGMA user_version");
  if (version == 0) {
    database_->run(kSchema);
    database_->run("PRAGMA application_id = " + std::to_string(kApplication));
  } else if (version == 1) {
    database_->run(kSecondVersion);
    for (const auto& [table, digest] :
         {std::pair{"sweeps", &RowDigests::of_sweep}, std::pair{"points", &RowDigests::of_point}}) {
      std::vector<std::int64_t> ids;
      SqliteStatement rows = database_->prepare(std::string("SELECT id FROM ") + table);
      while (rows.step()) ids.push_back(rows.integer(0));
      for (const std::int64_t id : ids) set_digest(table, id, (digests_.*digest)(*database_, id));
    }
  }
  if (version != kVersion) database_->run("PRAGMA user_version = " + std::to_string(kVersion));
  version_ = kVersion;
  transaction.commit();
}

void ResultsDatabase::set_digest(const char* table, std::int64_t id, const std::string& digest) {
  database_->prepare(std::string("UPDATE ") + table + " SET digest = ? WHERE id = ?").bind(digest).bind(id).run();
}

void ResultsDatabase::require_intact(std::int64_t sweep) {
  if (!read_only_ || version_ < 2 || !intact_.insert(sweep).second) return;
  SqliteStatement stored = database_->prepare("SELECT digest, name FROM sweeps WHERE id = ?");
  if (stored.bind(sweep).step() && stored.text(0) != digests_.of_sweep(*database_, sweep))
    refuse("sweep " + stored.text(1) + " or one of its members has been changed since it was stored");
  SqliteStatement points = database_->prepare(
      "SELECT id, digest, key FROM points WHERE key IN (SELECT key FROM members WHERE sweep = ?) ORDER BY id");
  points.bind(sweep);
  while (points.step())
    if (points.text(1) != digests_.of_point(*database_, points.integer(0)))
      refuse("row " + points.text(0) + " of points, its statistics or its kernels have been changed since they were stored");
}

void ResultsDatabase::write(const std::function<void()>& statements) {
  try {
    statements();
  } catch (const SqliteError& e) {
    // Drop cached ids, which may be of rows that the rolled-back transaction added.
    statistic_ids_.clear();
    digests_.forget();
    throw WriteError(file_.string() + ": cannot be written: " + e.reason);
  }
}

std::int64_t ResultsDatabase::begin_sweep(const std::string& name, const fs::path& file, const std::string& text,
                                          const std::vector<Metric>& metrics, const std::vector<SweepMember>& members) {
  std::int64_t id = 0;
  write([&] { id = register_sweep(name, file, text, metrics, members); });
  return id;
}

std::int64_t ResultsDatabase::register_sweep(const std::string& name, const fs::path& file, const std::string& text,
                                             const std::vector<Metric>& metrics, const std::vector<SweepMember>& members) {
  NamedValues texts;
  for (const Metric& metric : metrics) texts.emplace_back(metric.name, metric.text);
  SqliteTransaction transaction(*database_);
  database_
      ->prepare(
          "INSERT INTO sweeps(name, file, text, takes, date) VALUES(?, ?, ?, ?, ?) ON CONFLICT(name) DO UPDATE SET "
          "file = excluded.file, text = excluded.text, takes = excluded.takes, date = excluded.date")
      .bind(name)
      .bind(file.string())
      .bind(text)
      .bind(to_json(texts))
      .bind(date_now())
      .run();
  SqliteStatement find = database_->prepare("SELECT id FROM sweeps WHERE name = ?");
  find.bind(name).step();
  const std::int64_t id = find.integer(0);
  find.reset();
  database_->prepare("UPDATE members SET current = 0 WHERE sweep = ?").bind(id).run();
  SqliteStatement add = database_->prepare(
      "INSERT INTO members(sweep, axes, repeats, key, current, position) VALUES(?, ?, ?, ?, 1, ?) "
      "ON CONFLICT(sweep, axes, repeats, key) DO UPDATE SET current = 1, position = excluded.position");
  std::int64_t position = 0;
  for (const SweepMember& member : members)
    add.bind(id).bind(to_json(member.axes)).bind(to_json(member.repeats)).bind(member.key).bind(++position).run();
  set_digest("sweeps", id, digests_.of_sweep(*database_, id));
  transaction.commit();
  return id;
}

std::optional<PointState> ResultsDatabase::state(const std::string& key) {
  if (!find_state_) find_state_ = database_->prepare("SELECT state FROM points WHERE key = ?");
  if (!find_state_->bind(key).step()) return std::nullopt;
  const PointState state = state_of_name(find_state_->text(0));
  find_state_->reset();
  return state;
}

std::int64_t ResultsDatabase::row_of(const std::string& key) {
  if (!find_row_) find_row_ = database_->prepare("SELECT id FROM points WHERE key = ?");
  if (!find_row_->bind(key).step()) return 0;
  const std::int64_t row = find_row_->integer(0);
  find_row_->reset();
  return row;
}

std::optional<PointInputs> ResultsDatabase::earlier_inputs(const std::string& sweep, const SweepMember& member) {
  SqliteStatement find = database_->prepare(
      "SELECT points.inputs FROM members JOIN sweeps ON sweeps.id = members.sweep JOIN points ON points.key = members.key "
      "WHERE sweeps.name = ? AND members.axes = ? AND members.repeats = ? AND members.key <> ? ORDER BY points.id DESC LIMIT "
      "1");
  if (!find.bind(sweep).bind(to_json(member.axes)).bind(to_json(member.repeats)).bind(member.key).step()) return std::nullopt;
  return inputs_of_json(find.text(0));
}

std::int64_t ResultsDatabase::id_of(const std::string& table, const std::string& column, const std::string& text) {
  database_->prepare("INSERT OR IGNORE INTO " + table + '(' + column + ") VALUES(?)").bind(text).run();
  SqliteStatement find = database_->prepare("SELECT id FROM " + table + " WHERE " + column + " = ?");
  find.bind(text).step();
  return find.integer(0);
}

std::int64_t ResultsDatabase::statistic_id(const StatisticValue& value) {
  const auto known = statistic_ids_.find(value.path);
  if (known != statistic_ids_.end()) return known->second;
  if (!find_statistic_) {
    find_statistic_ = database_->prepare("SELECT id FROM statistic_names WHERE path = ?");
    add_statistic_ = database_->prepare("INSERT OR IGNORE INTO statistic_names(path, unit) VALUES(?, ?)");
  }
  add_statistic_->bind(value.path).bind(value.unit).run();
  find_statistic_->bind(value.path).step();
  const std::int64_t id = find_statistic_->integer(0);
  find_statistic_->reset();
  return statistic_ids_.emplace(value.path, id).first->second;
}

void ResultsDatabase::add(const PointRecord& point) {
  write([&] { store(point); });
}

void ResultsDatabase::store(const PointRecord& point) {
  SqliteTransaction transaction(*database_);
  if (state(point.key) == PointState::done) return;
  for (const char* table : {"statistics", "kernels"})
    database_->prepare(std::string("DELETE FROM ") + table + " WHERE point IN (SELECT id FROM points WHERE key = ?)")
        .bind(point.key)
        .run();
  database_->prepare("DELETE FROM points WHERE key = ?").bind(point.key).run();
  SqliteStatement insert = database_->prepare(
      "INSERT INTO points(key, state, exit_code, seconds, command, inputs, version, commit_id, compiler, host, date, "
      "run_hash, log, cause, configuration, kernel_columns) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(point.key)
      .bind(state_name(point.state))
      .bind(point.exit_code)
      .bind(point.seconds)
      .bind(point.command)
      .bind(to_json(NamedValues(point.inputs.begin(), point.inputs.end())))
      .bind(point.results.version)
      .bind(point.commit)
      .bind(point.compiler)
      .bind(point.host)
      .bind(point.date)
      .bind(point.results.run_hash)
      .bind(point.log)
      .bind(point.cause);
  if (point.results.configuration.empty()) {
    insert.bind_null();
  } else {
    insert.bind(id_of("configurations", "text", point.results.configuration));
  }
  if (point.results.kernel_columns.empty()) {
    insert.bind_null();
  } else {
    insert.bind(id_of("kernel_columns", "text", point.results.kernel_columns));
  }
  insert.run();
  const std::int64_t id = database_->last_row();

  std::vector<StatisticValue> process{{"point.seconds", "s", point.seconds},
                                      {"point.user_seconds", "s", point.user_seconds},
                                      {"point.system_seconds", "s", point.system_seconds},
                                      {"point.peak_memory_bytes", "B", static_cast<std::int64_t>(point.peak_memory_bytes)}};
  std::set<std::int64_t> added;  // names chosen by the guest may produce the same path twice
  if (!add_value_) add_value_ = database_->prepare("INSERT INTO statistics(point, name, value) VALUES(?, ?, ?)");
  const auto add_all = [&](const std::vector<StatisticValue>& values) {
    for (const StatisticValue& value : values) {
      const std::int64_t name = statistic_id(value);
      if (!added.insert(name).second) continue;
      add_value_->bind(id).bind(name);
      std::visit([&](auto number) { add_value_->bind(number); }, value.value);
      add_value_->run();
    }
  };
  add_all(process);
  add_all(point.results.statistics);
  SqliteStatement add_kernel = database_->prepare("INSERT INTO kernels(point, number, row) VALUES(?, ?, ?)");
  std::int64_t number = 0;
  for (const std::string& row : point.results.kernels) add_kernel.bind(id).bind(number++).bind(row).run();
  set_digest("points", id, digests_.of_point(*database_, id));
  transaction.commit();
}

std::vector<StoredSweep> ResultsDatabase::sweeps() {
  std::vector<StoredSweep> sweeps;
  SqliteStatement rows = database_->prepare("SELECT id, name, file, date, takes FROM sweeps ORDER BY id");
  while (rows.step()) {
    StoredSweep& sweep = sweeps.emplace_back();
    sweep.id = rows.integer(0);
    sweep.name = rows.text(1);
    sweep.file = rows.text(2);
    sweep.date = rows.text(3);
    for (const auto& [name, text] : values_of_json(rows.text(4))) sweep.metrics.push_back({name, text});
  }
  return sweeps;
}

}  // namespace lacuna
