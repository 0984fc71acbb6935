// Results of sweeps in one SQLite file: points by the key of their inputs, and the membership of points in sweeps.
//
// A point is stored in one transaction with its statistics and kernels. Several processes may write concurrently (WAL; writers
// wait for each other). A file that is not such a database, has a newer version, or is damaged is refused before its data is
// read or written.
//
// SQLite's integrity check covers the structure of a file and indexed columns, but not the bytes of other values. Therefore
// each point and each sweep has a digest of its rows, which require_intact() verifies before the rows are read. Only bytes that
// SQLite never reads are not covered.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "platform/sweep/point_results.h"
#include "platform/sweep/prepared_point.h"
#include "platform/sweep/row_digests.h"
#include "platform/sweep/sqlite_database.h"

namespace lacuna {

/// Outcome of a point.
enum class PointState : std::uint8_t {
  done,     ///< exit code 0 and complete results
  failed,   ///< another exit code, a signal raised by the process such as SIGABRT, or incomplete results
  timeout,  ///< exceeded the time limit of the sweep or of the batch system
  killed    ///< terminated by an external signal: SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT
};

const char* state_name(PointState state);
PointState state_of_name(const std::string& name);

/// The stored data of a point.
struct PointRecord {
  std::string key;
  PointState state = PointState::failed;
  int exit_code = 0;  ///< exit status, or 128 + signal
  double seconds = 0;
  double user_seconds = 0;
  double system_seconds = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::string command;  ///< shell command line
  PointInputs inputs;
  std::string commit;
  std::string compiler;
  std::string host;
  std::string date;   ///< end of the run, in UTC and ISO 8601 format
  std::string cause;  ///< cause of a failure, in one line
  std::string log;    ///< log, shortened by kept_log()
  PointResults results;
};

/// A point's place in a sweep.
struct SweepMember {
  NamedValues axes;
  NamedValues repeats;
  std::string key;
};

/// A sweep in the database.
struct StoredSweep {
  std::int64_t id = 0;
  std::string name;
  std::string file;
  std::string date;
  std::vector<Metric> metrics;
};

class ResultsDatabase {
 public:
  /// Version 1 has no `cause` and no digests. It is readable, and upgraded when opened for writing.
  static constexpr std::int64_t kVersion = 2;

  /// Opens the file, and creates it if it is missing; with `read_only`, reads a snapshot of an existing file. Throws
  /// SweepError.
  ResultsDatabase(std::filesystem::path file, bool read_only);

  /// Registers the sweep and returns its id. `members` become the current members; earlier members are kept as not current.
  std::int64_t begin_sweep(const std::string& name, const std::filesystem::path& file, const std::string& text,
                           const std::vector<Metric>& metrics, const std::vector<SweepMember>& members);

  std::optional<PointState> state(const std::string& key);
  /// Id of a point's row; 0 = none.
  std::int64_t row_of(const std::string& key);
  /// Stores a point, unless it is already stored as done.
  void add(const PointRecord& point);
  /// Inputs of the latest point with the axes and repetitions of `member` but another key; empty if none.
  std::optional<PointInputs> earlier_inputs(const std::string& sweep, const SweepMember& member);

  std::vector<StoredSweep> sweeps();
  /// Throws SweepError when rows of a sweep or of its points differ from what was stored. Checks only databases that are opened
  /// read-only: other databases may change during the check.
  void require_intact(std::int64_t sweep);
  /// SQL for `points.cause`, or its substitute in a database of version 1.
  std::string cause_column() const { return version_ < 2 ? "''" : "points.cause"; }
  const std::filesystem::path& file() const { return file_; }
  /// Connection for queries (platform/sweep/stored_points.h).
  SqliteDatabase& connection() { return *database_; }

 private:
  /// Throws SweepError when the file is not a results database or is damaged.
  void check();
  void check_contents();
  void create();
  std::int64_t register_sweep(const std::string& name, const std::filesystem::path& file, const std::string& text,
                              const std::vector<Metric>& metrics, const std::vector<SweepMember>& members);
  void store(const PointRecord& point);
  void set_digest(const char* table, std::int64_t id, const std::string& digest);
  [[noreturn]] void refuse(const std::string& finding) const;
  /// Runs statements; rethrows their errors as WriteError with the name of the file.
  void write(const std::function<void()>& statements);
  std::int64_t id_of(const std::string& table, const std::string& column, const std::string& text);
  std::int64_t statistic_id(const StatisticValue& value);

  std::filesystem::path file_;
  bool read_only_;
  std::optional<SqliteDatabase> database_;
  std::map<std::string, std::int64_t> statistic_ids_;
  std::optional<SqliteStatement> find_statistic_;
  std::optional<SqliteStatement> add_statistic_;
  std::optional<SqliteStatement> add_value_;
  std::optional<SqliteStatement> find_state_;
  std::optional<SqliteStatement> find_row_;
  std::int64_t version_ = kVersion;
  RowDigests digests_;
  std::set<std::int64_t> intact_;  ///< sweeps that passed require_intact()
};

/// JSON text of axes or inputs in the database. The parsing functions throw SweepError unless the text is an object of strings.
std::string to_json(const NamedValues& values);
NamedValues values_of_json(const std::string& json);
PointInputs inputs_of_json(const std::string& json);

/// The current date and time in UTC, such as "2026-01-31T12:34:56Z".
std::string date_now();

}  // namespace lacuna
