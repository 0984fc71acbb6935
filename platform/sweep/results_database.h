// The results of sweeps in one SQLite file: points by the key of their inputs, and which sweep has which of them.
//
// A point is stored whole in one transaction, with its statistics and kernels: it is there or not. Several processes may write
// at a time (WAL, and a writer waits for another). A file that is not such a database, is of a newer version, or is damaged is
// refused before anything is written to it, and before anything of it is read.
//
// SQLite's own check sees the structure of a file and the columns that have an index, not the bytes of other values. So each
// point and each sweep has a digest of its rows, which is compared before they are read (require_intact). What it does not
// cover is what SQLite does not read.
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

/// How a point ended.
enum class PointState : std::uint8_t {
  done,     ///< exit code 0 and complete results
  failed,   ///< another exit code, a signal of its own making such as SIGABRT, or results that are not complete
  timeout,  ///< of the sweep, or of the batch system
  killed    ///< by a signal from outside: SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT
};

const char* state_name(PointState state);
PointState state_of_name(const std::string& name);

/// All that is kept of a point besides its results.
struct PointRecord {
  std::string key;
  PointState state = PointState::failed;
  int exit_code = 0;  ///< 128 + signal when a signal ended it
  double seconds = 0;
  double user_seconds = 0;
  double system_seconds = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::string command;  ///< as a shell takes it
  PointInputs inputs;
  std::string commit;
  std::string compiler;
  std::string host;
  std::string date;   ///< ISO 8601, UTC, when it ended
  std::string cause;  ///< why it is not done, in one line
  std::string log;    ///< of what it said what kept_log() keeps
  PointResults results;
};

/// A point's place in a sweep.
struct SweepMember {
  NamedValues axes;
  NamedValues repeats;
  std::string key;
};

/// What `lacuna results` knows of a sweep.
struct StoredSweep {
  std::int64_t id = 0;
  std::string name;
  std::string file;
  std::string date;
  std::vector<Take> takes;
};

class ResultsDatabase {
 public:
  /// 1: without `cause` and the digests. It is read as it is, and brought to the newest when it is opened for writing.
  static constexpr std::int64_t kVersion = 2;

  /// Made when there is none, unless `read_only`: then all that is read is of one moment. Throws SweepError.
  ResultsDatabase(std::filesystem::path file, bool read_only);

  /// Registers the sweep as it is now: its members are current, those of an earlier state are kept and are not.
  std::int64_t begin_sweep(const std::string& name, const std::filesystem::path& file, const std::string& text,
                           const std::vector<Take>& takes, const std::vector<SweepMember>& members);

  std::optional<PointState> state(const std::string& key);
  /// The row of a point; 0 = it has none.
  std::int64_t row_of(const std::string& key);
  /// Stores a point; one that is done already stays as it is.
  void add(const PointRecord& point);
  /// Of points that were run for the same place in a sweep, the inputs of the one that was added last, unless it is `key`.
  std::optional<PointInputs> earlier_inputs(const std::string& sweep, const SweepMember& member);

  std::vector<StoredSweep> sweeps();
  /// Throws SweepError when the rows of a sweep, or of a point that it has, are not those that were stored. For a database that
  /// is read only: others change meanwhile.
  void require_intact(std::int64_t sweep);
  /// The column of `points`, or what stands for it in a database of version 1.
  std::string cause_column() const { return version_ < 2 ? "''" : "points.cause"; }
  const std::filesystem::path& file() const { return file_; }
  /// For reading (platform/sweep/stored_points.h).
  SqliteDatabase& connection() { return *database_; }

 private:
  /// Throws when it is not ours, or is damaged.
  void check();
  void check_contents();
  void create();
  std::int64_t register_sweep(const std::string& name, const std::filesystem::path& file, const std::string& text,
                              const std::vector<Take>& takes, const std::vector<SweepMember>& members);
  void store(const PointRecord& point);
  void set_digest(const char* table, std::int64_t id, const std::string& digest);
  [[noreturn]] void refuse(const std::string& finding) const;
  /// Errors of a write are WriteError, with the file's name.
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
  std::set<std::int64_t> intact_;  ///< sweeps whose digests have been compared
};

/// Axes and inputs as the database has them. Reading throws SweepError when it is no JSON object of texts.
std::string to_json(const NamedValues& values);
NamedValues values_of_json(const std::string& json);
PointInputs inputs_of_json(const std::string& json);

/// "2026-01-31T12:34:56Z".
std::string date_now();

}  // namespace lacuna
