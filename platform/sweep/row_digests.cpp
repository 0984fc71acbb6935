#include "platform/sweep/row_digests.h"

#include "platform/sweep/digest.h"

namespace lacuna {
namespace {

/// Number of digits of a digest that are used within another digest.
constexpr std::size_t kPartOfADigest = 32;

}  // namespace

SqliteStatement& RowDigests::rows_of(const SqliteDatabase& database, const char* sql, std::int64_t id) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) found = statements_.emplace(sql, database.prepare(sql)).first;
  found->second.reset();
  return found->second.bind(id);
}

const std::string& RowDigests::shared(const SqliteDatabase& database, const char* sql, std::int64_t id) {
  std::string& digest = shared_[sql][id];
  if (!digest.empty()) return digest;
  std::string bytes;
  SqliteStatement& row = rows_of(database, sql, id);
  if (row.step())
    for (int column = 0; column < row.columns(); ++column) row.add_to(bytes, column);
  row.reset();
  return digest = digest_of(bytes).substr(0, kPartOfADigest);
}

std::string RowDigests::of_sweep(const SqliteDatabase& database, std::int64_t id) {
  std::string bytes;
  for (const char* sql : {"SELECT name, file, text, takes, date FROM sweeps WHERE id = ?",
                          "SELECT id, axes, repeats, key, current, position FROM members WHERE sweep = ? ORDER BY id"}) {
    SqliteStatement& rows = rows_of(database, sql, id);
    while (rows.step())
      for (int column = 0; column < rows.columns(); ++column) rows.add_to(bytes, column);
  }
  return digest_of(bytes);
}

std::string RowDigests::of_point(const SqliteDatabase& database, std::int64_t id) {
  constexpr const char* kConfiguration = "SELECT text FROM configurations WHERE id = ?";
  constexpr const char* kKernelColumns = "SELECT text FROM kernel_columns WHERE id = ?";
  constexpr const char* kName = "SELECT path, unit FROM statistic_names WHERE id = ?";
  std::string bytes;
  SqliteStatement& point = rows_of(
      database,
      "SELECT configuration, kernel_columns, key, state, exit_code, seconds, command, inputs, version, commit_id, compiler, "
      "host, date, run_hash, log, cause FROM points WHERE id = ?",
      id);
  if (point.step()) {
    for (int column = 0; column < point.columns(); ++column) point.add_to(bytes, column);
    if (!point.is_null(0)) bytes += shared(database, kConfiguration, point.integer(0));
    if (!point.is_null(1)) bytes += shared(database, kKernelColumns, point.integer(1));
  }
  point.reset();
  std::unordered_map<std::int64_t, std::string>& names = shared_[kName];
  SqliteStatement& values = rows_of(database, "SELECT name, value FROM statistics WHERE point = ? ORDER BY name", id);
  while (values.step()) {
    const auto name = names.find(values.integer(0));
    bytes += name != names.end() ? name->second : shared(database, kName, values.integer(0));
    values.add_to(bytes, 1);
  }
  SqliteStatement& kernels = rows_of(database, "SELECT number, row FROM kernels WHERE point = ? ORDER BY number", id);
  while (kernels.step())
    for (int column = 0; column < kernels.columns(); ++column) kernels.add_to(bytes, column);
  return digest_of(bytes);
}

}  // namespace lacuna
