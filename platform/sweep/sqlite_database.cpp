#include "platform/sweep/sqlite_database.h"

#include <sqlite3.h>

namespace lacuna {
namespace {

/// Exception for the last error of a connection.
SqliteError error_of(sqlite3* database, int code, const std::string& message) {
  const char* const file = sqlite3_db_filename(database, "main");
  return {code, file == nullptr ? "database" : file, message};
}
SqliteError error_of(sqlite3* database, int code) { return error_of(database, code, sqlite3_errmsg(database)); }

}  // namespace

SqliteStatement::SqliteStatement(sqlite3* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void SqliteStatement::check(int code) const {
  if (code != SQLITE_OK) throw error_of(database_, code);
}

SqliteStatement& SqliteStatement::bind(std::string_view text) {
  check(sqlite3_bind_text64(statement_.get(), ++bound_, text.data() == nullptr ? "" : text.data(), text.size(),
                            SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

SqliteStatement& SqliteStatement::bind(std::int64_t number) {
  check(sqlite3_bind_int64(statement_.get(), ++bound_, number));
  return *this;
}

SqliteStatement& SqliteStatement::bind(double number) {
  check(sqlite3_bind_double(statement_.get(), ++bound_, number));
  return *this;
}

SqliteStatement& SqliteStatement::bind_null() {
  check(sqlite3_bind_null(statement_.get(), ++bound_));
  return *this;
}

bool SqliteStatement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  const std::string message = code == SQLITE_DONE ? "" : sqlite3_errmsg(database_);
  reset();
  if (code != SQLITE_DONE) throw error_of(database_, code, message);
  return false;
}

void SqliteStatement::run() {
  while (step()) {
  }
}

void SqliteStatement::reset() {
  sqlite3_reset(statement_.get());
  bound_ = 0;
}

std::string SqliteStatement::text(int column) const {
  const auto* const bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return bytes == nullptr ? std::string()
                          : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)));
}

std::int64_t SqliteStatement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double SqliteStatement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
bool SqliteStatement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

int SqliteStatement::columns() const { return sqlite3_column_count(statement_.get()); }

void SqliteStatement::add_to(std::string& bytes, int column) const {
  const int type = sqlite3_column_type(statement_.get(), column);
  const auto add = [&](const auto& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  bytes += static_cast<char>(type);
  if (type == SQLITE_INTEGER) {
    add(integer(column));
  } else if (type == SQLITE_FLOAT) {
    add(real(column));
  } else if (type != SQLITE_NULL) {
    const auto* const begin = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
    const std::size_t size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
    add(size);
    if (size != 0) bytes.append(begin, size);
  }
}

void SqliteDatabase::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

SqliteDatabase::SqliteDatabase(const std::filesystem::path& file, Mode mode) {
  const int flags = mode == Mode::read    ? SQLITE_OPEN_READONLY
                    : mode == Mode::write ? SQLITE_OPEN_READWRITE
                                          : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &opened, flags, nullptr);
  database_.reset(opened);
  if (code != SQLITE_OK) throw SqliteError(code, file.string(), opened == nullptr ? "out of memory" : sqlite3_errmsg(opened));
  sqlite3_busy_timeout(opened, kBusyMilliseconds);
}

SqliteStatement SqliteDatabase::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) throw error_of(database_.get(), code);
  return {database_.get(), statement};
}

void SqliteDatabase::run(const std::string& sql) const {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) throw error_of(database_.get(), code);
}

std::int64_t SqliteDatabase::integer(std::string_view sql) const {
  SqliteStatement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::int64_t SqliteDatabase::last_row() const { return sqlite3_last_insert_rowid(database_.get()); }
int SqliteDatabase::changes() const { return sqlite3_changes(database_.get()); }

SqliteTransaction::~SqliteTransaction() {
  if (!open_) return;
  try {
    database_.run("ROLLBACK");
  } catch (const SqliteError&) {
    // Ignored: SQLite has already rolled the transaction back.
  }
}

void SqliteTransaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace lacuna
