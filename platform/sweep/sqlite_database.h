// RAII for SQLite: connections, prepared statements, transactions. Errors are thrown as SqliteError.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "platform/sweep/sweep_error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace lacuna {

/// An error that the user has to resolve: full disk, missing permissions, damaged file.
class SqliteError : public SweepError {
 public:
  SqliteError(int result_code, const std::string& file, const std::string& message)
      : SweepError(file + ": " + message), code(result_code), reason(message) {}
  int code;            ///< SQLITE_BUSY, SQLITE_CORRUPT, …
  std::string reason;  ///< without the file name
};

class SqliteStatement {
 public:
  SqliteStatement(SqliteStatement&&) = default;
  SqliteStatement& operator=(SqliteStatement&&) = default;

  /// Binds the next parameter; texts are copied.
  SqliteStatement& bind(std::string_view text);
  SqliteStatement& bind(const char* text) { return bind(std::string_view(text)); }
  SqliteStatement& bind(const std::string& text) { return bind(std::string_view(text)); }
  SqliteStatement& bind(std::int64_t number);
  SqliteStatement& bind(int number) { return bind(std::int64_t{number}); }
  SqliteStatement& bind(double number);
  SqliteStatement& bind_null();
  /// Advances to the next row. Returns false after the last row; the statement is then reset and can be bound again.
  bool step();
  /// Executes a statement that returns no rows.
  void run();
  /// Stops reading rows before the last row.
  void reset();

  std::string text(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  bool is_null(int column) const;
  int columns() const;
  /// Appends type and value of a column to the input of a digest.
  void add_to(std::string& bytes, int column) const;

 private:
  friend class SqliteDatabase;
  SqliteStatement(sqlite3* database, sqlite3_stmt* statement);
  void check(int code) const;

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;
};

class SqliteDatabase {
 public:
  /// Maximum wait for another process's transaction.
  static constexpr int kBusyMilliseconds = 60'000;

  enum class Mode { read, write, create };
  SqliteDatabase(const std::filesystem::path& file, Mode mode);

  SqliteStatement prepare(std::string_view sql) const;
  /// Executes any number of SQL statements that return no rows.
  void run(const std::string& sql) const;
  std::int64_t integer(std::string_view sql) const;
  std::int64_t last_row() const;
  /// Number of rows that the last statement changed.
  int changes() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

/// A transaction, rolled back unless committed. It acquires the write lock when it begins, so that another writer cannot make
/// it fail half-way.
class SqliteTransaction {
 public:
  explicit SqliteTransaction(const SqliteDatabase& database) : database_(database) { database_.run("BEGIN IMMEDIATE"); }
  ~SqliteTransaction();
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;
  void commit();

 private:
  const SqliteDatabase& database_;
  bool open_ = true;
};

}  // namespace lacuna
