#include "platform/sweep/results_database.h"

#include <sqlite3.h>
#include <array>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>

namespace lacuna {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

/// "LACN": tells these databases from others.
constexpr std::int64_t kApplication = 0x4C41434E;

constexpr const char* kSchema = R"(
CREATE TABLE sweeps(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, file TEXT NOT NULL, text TEXT NOT NULL, takes TEXT NOT NULL,
  date TEXT NOT NULL);
CREATE TABLE configurations(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE kernel_columns(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE points(
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, state TEXT NOT NULL, exit_code INTEGER NOT NULL,
  seconds REAL NOT NULL, command TEXT NOT NULL, inputs TEXT NOT NULL, version TEXT, commit_id TEXT, compiler TEXT,
  host TEXT, date TEXT NOT NULL, run_hash TEXT, log TEXT,
  configuration INTEGER REFERENCES configurations(id), kernel_columns INTEGER REFERENCES kernel_columns(id));
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
  const OrderedJson json = OrderedJson::parse(text);
  for (const auto& [name, value] : json.items()) values.emplace_back(name, value.get<std::string>());
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

ResultsDatabase::ResultsDatabase(fs::path file, bool read_only) : file_(std::move(file)) {
  std::error_code status;
  const bool exists = fs::exists(file_, status) && fs::file_size(file_, status) != 0;
  if (read_only && !exists) throw SweepError(file_.string() + ": no such database of results");
  try {
    if (exists) {
      // Nothing is written before it is known what this is.
      database_.emplace(file_, SqliteDatabase::Mode::read);
      check(!read_only);
    }
    if (!read_only) {
      database_.emplace(file_, exists ? SqliteDatabase::Mode::write : SqliteDatabase::Mode::create);
      create();
    }
  } catch (const SqliteError& e) {
    const bool damaged = e.code == SQLITE_CORRUPT || e.code == SQLITE_NOTADB;
    throw SweepError(file_.string() + (damaged ? ": is damaged, or not a database of results: " : ": cannot be opened: ") +
                     e.what() + (damaged ? "; nothing was written to it" : ""));
  }
}

void ResultsDatabase::check(bool whole) {
  const std::int64_t application = database_->integer("PRAGMA application_id");
  const std::int64_t version = database_->integer("PRAGMA user_version");
  // One that is being made by another process at this moment is empty so far.
  if (application == 0 && version == 0 && database_->integer("SELECT count(*) FROM sqlite_master") == 0) return;
  if (application != kApplication)
    throw SweepError(file_.string() + ": is a database, but not one of results of Lacuna; nothing was written to it");
  if (version > kVersion)
    throw SweepError(file_.string() + ": is of version " + std::to_string(version) + ", this program knows versions up to " +
                     std::to_string(kVersion) + "; nothing was written to it");
  if (!whole) return;
  SqliteStatement quick = database_->prepare("PRAGMA quick_check(1)");
  if (quick.step() && quick.text(0) != "ok")
    throw SweepError(file_.string() + ": is damaged: " + quick.text(0) + "; nothing was written to it");
}

void ResultsDatabase::create() {
  database_->integer("PRAGMA journal_mode = WAL");
  // A commit is safe when the process is killed; only when the machine loses its power may the last ones be gone.
  database_->run("PRAGMA synchronous = NORMAL");
  SqliteTransaction transaction(*database_);
  if (database_->integer("PRAGMA user_version") == 0) {
    database_->run(kSchema);
    database_->run("PRAGMA application_id = " + std::to_string(kApplication));
    database_->run("PRAGMA user_version = " + std::to_string(kVersion));
  }
  transaction.commit();
}

std::int64_t ResultsDatabase::begin_sweep(const std::string& name, const fs::path& file, const std::string& text,
                                          const std::vector<Take>& takes, const std::vector<SweepMember>& members) {
  NamedValues taken;
  for (const Take& take : takes) taken.emplace_back(take.name, take.text);
  SqliteTransaction transaction(*database_);
  database_
      ->prepare(
          "INSERT INTO sweeps(name, file, text, takes, date) VALUES(?, ?, ?, ?, ?) ON CONFLICT(name) DO UPDATE SET "
          "file = excluded.file, text = excluded.text, takes = excluded.takes, date = excluded.date")
      .bind(name)
      .bind(file.string())
      .bind(text)
      .bind(to_json(taken))
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
  try {
    SqliteTransaction transaction(*database_);
    if (state(point.key) == PointState::done) return;
    for (const char* table : {"statistics", "kernels"})
      database_->prepare(std::string("DELETE FROM ") + table + " WHERE point IN (SELECT id FROM points WHERE key = ?)")
          .bind(point.key)
          .run();
    database_->prepare("DELETE FROM points WHERE key = ?").bind(point.key).run();
    SqliteStatement insert = database_->prepare(
        "INSERT INTO points(key, state, exit_code, seconds, command, inputs, version, commit_id, compiler, host, date, "
        "run_hash, log, configuration, kernel_columns) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
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
        .bind(point.log);
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
    std::set<std::int64_t> added;  // a path of the guest's own making could be there twice
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
    transaction.commit();
  } catch (const SqliteError&) {
    // Names that were added in a transaction that is rolled back have no number.
    statistic_ids_.clear();
    throw;
  }
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
    for (const auto& [name, text] : values_of_json(rows.text(4))) sweep.takes.push_back({name, text});
  }
  return sweeps;
}

}  // namespace lacuna
