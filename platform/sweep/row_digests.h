// Digests of the contents of a database's rows, to verify later that they are unchanged.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>

#include "platform/sweep/sqlite_database.h"

namespace lacuna {

/// SHA-256 over types and values of all rows of a sweep, or of a point. An object serves one database only.
class RowDigests {
 public:
  /// Digest of the sweep's row and its members.
  std::string of_sweep(const SqliteDatabase& database, std::int64_t id);
  /// Digest of the point's row, configuration, statistics and kernels.
  std::string of_point(const SqliteDatabase& database, std::int64_t id);
  /// Drops cached digests, which may be of rows that a rolled-back transaction added.
  void forget() { shared_.clear(); }

 private:
  /// Digest of a text or a name that many points share.
  const std::string& shared(const SqliteDatabase& database, const char* sql, std::int64_t id);
  /// A statement that is prepared once, for the row or rows of `id`.
  SqliteStatement& rows_of(const SqliteDatabase& database, const char* sql, std::int64_t id);

  std::map<std::string, std::unordered_map<std::int64_t, std::string>, std::less<>> shared_;
  std::map<std::string, SqliteStatement, std::less<>> statements_;
};

}  // namespace lacuna
