// Database: one connection to an SQLite file, and its statements, with errors as values.
//
// Only what a store of a few tables needs. Not thread-safe: the owner has a lock.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace vivace {

class Database {
 public:
  // The file must exist and be writable; nothing is written to it yet.
  static Result<Database> Open(const std::string& path);
  Database(Database&& other) noexcept;
  Database& operator=(Database&&) = delete;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // A statement without values or rows that matter.
  Result<void> Run(const char* sql);
  // The first column of its first row.
  Result<std::int64_t> Integer(const char* sql);
  Result<std::string> Text(const char* sql);

  // What went wrong with a call that returned `code`. kExhausted: the disk is full;
  // kCancelled: another process held the file for too long; kIo: all else.
  Error ErrorOf(int code) const;
  sqlite3* handle() const { return handle_; }

 private:
  Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

  sqlite3* handle_;
  std::string path_;
};

// One statement, run once: bind what it needs, then step until there is no row.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  // In the order of the statement's question marks. Texts must last as long as this does.
  Statement& Bind(std::string_view text);
  Statement& Bind(std::int64_t value);

  // Whether there is a row, whose columns can then be read.
  Result<bool> Step();
  std::int64_t Integer(int column) const;
  std::string Text(int column) const;

 private:
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int code_ = SQLITE_OK;  // the first that went wrong
  int bound_ = 0;
};

// Takes the right to write at once, and rolls back unless it was committed.
class Transaction {
 public:
  static Result<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  Result<void> Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}

  Database* database_;  // null: committed or moved from
};

}  // namespace vivace
