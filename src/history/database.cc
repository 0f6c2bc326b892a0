#include "history/database.h"

#include <cerrno>
#include <utility>

namespace vivace {
namespace {

// Writes take milliseconds; who holds the file for longer than this is stuck.
constexpr int kBusyMs = 3000;

}  // namespace

Result<Database> Database::Open(const std::string& path) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, nullptr);
  Database database(handle, path);
  if (code != SQLITE_OK) return Failure(database.ErrorOf(code));
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyMs);
  // A file that cannot be written is opened for reading only.
  if (sqlite3_db_readonly(handle, "main") == 1) {
    return Fail(ErrorKind::kIo, path + ": cannot be written");
  }
  return database;
}

Database::Database(Database&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

Database::~Database() { sqlite3_close_v2(handle_); }

Error Database::ErrorOf(int code) const {
  const bool full = handle_ != nullptr && sqlite3_system_errno(handle_) == ENOSPC;
  switch (code & 0xff) {
    case SQLITE_FULL:
      return {ErrorKind::kExhausted,
              path_ + ": there is no space left; what was stored before is kept"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorKind::kCancelled, path_ + ": another program holds the file, try again"};
    case SQLITE_NOTADB:
      return {ErrorKind::kIo, path_ + ": not an SQLite file"};
    case SQLITE_CORRUPT:
      return {ErrorKind::kIo, path_ + ": the file is damaged"};
    default:
      break;
  }
  if (full && (code & 0xff) == SQLITE_IOERR) return ErrorOf(SQLITE_FULL);
  return {ErrorKind::kIo, path_ + ": " + sqlite3_errstr(code)};
}

Result<void> Database::Run(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return Failure(ErrorOf(code));
  return {};
}

Result<std::int64_t> Database::Integer(const char* sql) {
  Statement statement(*this, sql);
  const auto row = statement.Step();
  if (!row) return Failure(row.error());
  return *row ? statement.Integer(0) : 0;
}

Result<std::string> Database::Text(const char* sql) {
  Statement statement(*this, sql);
  const auto row = statement.Step();
  if (!row) return Failure(row.error());
  return *row ? statement.Text(0) : std::string();
}

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  code_ = sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()),
                             &statement_, nullptr);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::Bind(std::string_view text) {
  if (code_ != SQLITE_OK) return *this;
  // A null pointer would be NULL, which is another thing than no characters.
  const char* data = text.empty() ? "" : text.data();
  code_ = sqlite3_bind_text64(statement_, ++bound_, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Statement& Statement::Bind(std::int64_t value) {
  if (code_ == SQLITE_OK) code_ = sqlite3_bind_int64(statement_, ++bound_, value);
  return *this;
}

Result<bool> Statement::Step() {
  if (code_ == SQLITE_OK) {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    code_ = code;
  }
  return Failure(database_.ErrorOf(code_));
}

std::int64_t Statement::Integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string Statement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Result<Transaction> Transaction::Begin(Database& database) {
  VIVACE_RETURN_IF_ERROR(database.Run("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  // SQLite may have rolled back by itself, for want of space for instance.
  if (database_ == nullptr || sqlite3_get_autocommit(database_->handle()) != 0) return;
  (void)database_->Run("ROLLBACK");
}

Result<void> Transaction::Commit() {
  VIVACE_RETURN_IF_ERROR(database_->Run("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace vivace
