// What a database of results keeps of the contents of its rows, to tell later that they are those that were stored.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>

#include "platform/sweep/sqlite_database.h"

namespace lacuna {

/// SHA-256 over types and values of all rows of a sweep, or of a point. For one database at a time.
class RowDigests {
 public:
  /// Its row and its members.
  std::string of_sweep(const SqliteDatabase& database, std::int64_t id);
  /// Its row, configuration, statistics and kernels.
  std::string of_point(const SqliteDatabase& database, std::int64_t id);
  /// The rows of a transaction that was rolled back are gone.
  void forget() { shared_.clear(); }

 private:
  /// That of a text or a name that many points have in common.
  const std::string& shared(const SqliteDatabase& database, const char* sql, std::int64_t id);
  /// A statement that is prepared once, for the row or the rows of `id`.
  SqliteStatement& rows_of(const SqliteDatabase& database, const char* sql, std::int64_t id);

  std::map<std::string, std::unordered_map<std::int64_t, std::string>, std::less<>> shared_;
  std::map<std::string, SqliteStatement, std::less<>> statements_;
};

}  // namespace lacuna
