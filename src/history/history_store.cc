#include "history/history_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "base/check.h"
#include "history/search_text.h"

namespace vivace {
namespace {

constexpr std::int64_t kApplication = 0x76697661;  // "viva" in the file's header
constexpr std::int64_t kVersion = 1;               // of the tables below
constexpr const char* kTables =
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "INSERT INTO facts VALUES ('revision', 0);"
    // What a list shows comes first: SQLite then need not read the long columns.
    "CREATE TABLE conversations (owner TEXT NOT NULL, id TEXT NOT NULL, title TEXT NOT NULL,"
    " updated_ms INTEGER NOT NULL, revision INTEGER NOT NULL, search TEXT NOT NULL,"
    " data TEXT NOT NULL, PRIMARY KEY (owner, id));"
    "PRAGMA application_id = 1986623073;"
    "PRAGMA user_version = 1;";
static_assert(kApplication == 1986623073 && kVersion == 1, "as the tables say");

using Digest = std::array<unsigned char, 32>;

std::string Hex(std::span<const unsigned char> bytes) {
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::int64_t NowMsSince1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// Conversations are private: nobody else on the machine may read the file. SQLite gives the
// files beside it the same rights.
Result<void> MakeFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return Fail(ErrorKind::kIo, path + ": " + std::generic_category().message(errno));
  close(fd);
  return {};
}

// Looks without writing.
Result<void> CheckFile(Database& database, const std::string& path) {
  const auto tables = database.Integer("SELECT count(*) FROM sqlite_master");
  if (!tables) return Failure(tables.error());
  const auto application = database.Integer("PRAGMA application_id");
  if (!application) return Failure(application.error());
  const auto version = database.Integer("PRAGMA user_version");
  if (!version) return Failure(version.error());
  if (*tables == 0 && *application == 0 && *version == 0) return {};  // new
  if (*application != kApplication) {
    return Fail(ErrorKind::kBadInput, path + ": the database of another program");
  }
  if (*version > kVersion) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("{}: written by a newer vivace (version {}, this one knows {})", path,
                            *version, kVersion));
  }
  const auto sound = database.Text("PRAGMA quick_check(1)");
  if (!sound) return Failure(sound.error());
  if (*sound != "ok") return Fail(ErrorKind::kIo, path + ": the file is damaged");
  return {};
}

// Servers that start together are in each other's way here, and SQLite does not wait by
// itself for this one.
Result<void> UseWal(Database& database) {
  for (int tries = 0;; ++tries) {
    auto done = database.Run("PRAGMA journal_mode = WAL");
    if (done || done.error().kind != ErrorKind::kCancelled || tries == 50) return done;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

ConversationHead HeadOf(const Statement& row) {
  return {.id = row.Text(0),
          .title = row.Text(1),
          .updated_ms = row.Integer(2),
          .revision = row.Integer(3)};
}

}  // namespace

Result<std::unique_ptr<HistoryStore>> HistoryStore::Open(const std::string& path,
                                                         std::int64_t max_bytes) {
  // Names such as ":memory:" and "file:" have a meaning of their own; with a folder none has.
  std::error_code error;
  const std::string full = std::filesystem::absolute(path, error).string();
  if (error) return Fail(ErrorKind::kIo, path + ": " + error.message());
  VIVACE_RETURN_IF_ERROR(MakeFile(full));
  auto database = Database::Open(full);
  if (!database) return Failure(std::move(database).error());
  VIVACE_RETURN_IF_ERROR(CheckFile(*database, full));
  std::unique_ptr<HistoryStore> store(new HistoryStore(std::move(*database)));
  VIVACE_RETURN_IF_ERROR(store->Prepare(max_bytes));
  return store;
}

Result<void> HistoryStore::Prepare(std::int64_t max_bytes) {
  // Readers and one writer do not wait for each other, and what was confirmed outlives a
  // loss of power.
  VIVACE_RETURN_IF_ERROR(UseWal(database_));
  for (const char* pragma : {"PRAGMA synchronous = FULL", "PRAGMA trusted_schema = OFF",
                             "PRAGMA cell_size_check = ON"}) {
    VIVACE_RETURN_IF_ERROR(database_.Run(pragma));
  }
  const auto page = database_.Integer("PRAGMA page_size");
  if (!page) return Failure(page.error());
  const auto limit = fmt::format("PRAGMA max_page_count = {}", max_bytes / *page);
  VIVACE_RETURN_IF_ERROR(database_.Run(limit.c_str()));
  auto transaction = Transaction::Begin(database_);
  if (!transaction) return Failure(std::move(transaction).error());
  // Another server may have made the tables meanwhile.
  const auto version = database_.Integer("PRAGMA user_version");
  if (!version) return Failure(version.error());
  if (*version == 0) {
    VIVACE_RETURN_IF_ERROR(database_.Run(kTables));
    std::array<unsigned char, 16> salt{};
    VIVACE_CHECK(RAND_bytes(salt.data(), salt.size()) == 1, "OpenSSL has random bytes");
    const std::string text = Hex(salt);
    Statement insert(database_, "INSERT INTO facts VALUES ('salt', ?)");
    const auto inserted = insert.Bind(text).Step();
    if (!inserted) return Failure(inserted.error());
  }
  auto salt = database_.Text("SELECT value FROM facts WHERE name = 'salt'");
  if (!salt) return Failure(std::move(salt).error());
  salt_ = *std::move(salt);
  return transaction->Commit();
}

std::string HistoryStore::OwnerOf(std::string_view api_key) {
  if (api_key.empty()) return {};
  Digest digest{};
  EVP_Digest(api_key.data(), api_key.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  const std::string known_as = Hex(digest);
  const std::lock_guard lock(mutex_);
  if (const auto found = owners_.find(known_as); found != owners_.end()) return found->second;
  constexpr int kRounds = 100'000;
  const int done = PKCS5_PBKDF2_HMAC(api_key.data(), static_cast<int>(api_key.size()),
                                     reinterpret_cast<const unsigned char*>(salt_.data()),
                                     static_cast<int>(salt_.size()), kRounds, EVP_sha256(),
                                     static_cast<int>(digest.size()), digest.data());
  VIVACE_CHECK(done == 1, "OpenSSL has PBKDF2");
  return owners_.emplace(known_as, Hex(digest)).first->second;
}

Result<std::vector<ConversationHead>> HistoryStore::List(const std::string& owner,
                                                         std::string_view query) {
  const std::vector<std::string> words = WordsOf(query);
  if (words.size() > kMostWords) {
    return Fail(ErrorKind::kBadInput,
                fmt::format("q: {} words, at most {} are looked for", words.size(), kMostWords));
  }
  std::string sql = "SELECT id, title, updated_ms, revision FROM conversations WHERE owner = ?";
  for (std::size_t i = 0; i < words.size(); ++i) sql += " AND instr(search, ?) > 0";
  sql += " ORDER BY updated_ms DESC, revision DESC";
  const std::lock_guard lock(mutex_);
  Statement select(database_, sql);
  select.Bind(owner);
  for (const std::string& word : words) select.Bind(word);
  std::vector<ConversationHead> heads;
  while (true) {
    const auto row = select.Step();
    if (!row) return Failure(row.error());
    if (!*row) return heads;
    heads.push_back(HeadOf(select));
  }
}

// With the lock held, as NextRevision.
Result<std::optional<Conversation>> HistoryStore::Find(const std::string& owner,
                                                       const std::string& id) {
  Statement select(database_,
                   "SELECT id, title, updated_ms, revision, data FROM conversations"
                   " WHERE owner = ? AND id = ?");
  const auto row = select.Bind(owner).Bind(id).Step();
  if (!row) return Failure(row.error());
  if (!*row) return std::optional<Conversation>();
  return Conversation{.head = HeadOf(select), .data = select.Text(4)};
}

Result<Conversation> HistoryStore::Get(const std::string& owner, const std::string& id) {
  const std::lock_guard lock(mutex_);
  auto found = Find(owner, id);
  if (!found) return Failure(std::move(found).error());
  if (!*found) return Fail(ErrorKind::kNotFound, "no conversation has the id " + id);
  return **std::move(found);
}

Result<void> HistoryStore::Delete(const std::string& owner, const std::string& id) {
  const std::lock_guard lock(mutex_);
  Statement remove(database_,
                   "DELETE FROM conversations WHERE owner = ? AND id = ? RETURNING revision");
  auto row = remove.Bind(owner).Bind(id).Step();
  const bool found = row && *row;
  while (row && *row) row = remove.Step();  // to the end: only then is it done
  if (!row) return Failure(row.error());
  if (!found) return Fail(ErrorKind::kNotFound, "no conversation has the id " + id);
  return {};
}

Result<std::int64_t> HistoryStore::NextRevision() {
  return database_.Integer(
      "UPDATE facts SET value = value + 1 WHERE name = 'revision' RETURNING value");
}

Result<HistoryStore::PutResult> HistoryStore::Put(const std::string& owner,
                                                  const ConversationDraft& draft) {
  const std::string search = FoldForSearch(draft.title + "\n" + draft.text);
  const std::lock_guard lock(mutex_);
  auto transaction = Transaction::Begin(database_);
  if (!transaction) return Failure(std::move(transaction).error());
  auto current = Find(owner, draft.id);
  if (!current) return Failure(std::move(current).error());
  const std::int64_t there = *current ? (*current)->head.revision : 0;
  if (there != draft.revision) return PutResult{.conflict = true, .current = *std::move(current)};
  const auto revision = NextRevision();
  if (!revision) return Failure(revision.error());
  {
    Statement put(database_,
                  "INSERT OR REPLACE INTO conversations"
                  " (owner, id, title, updated_ms, revision, search, data)"
                  " VALUES (?, ?, ?, ?, ?, ?, ?)");
    put.Bind(owner).Bind(draft.id).Bind(draft.title).Bind(NowMsSince1970()).Bind(*revision);
    const auto done = put.Bind(search).Bind(draft.data).Step();
    if (!done) return Failure(done.error());
  }
  if (const auto done = transaction->Commit(); !done) return Failure(done.error());
  return PutResult{.revision = *revision, .current = std::nullopt};
}

}  // namespace vivace
