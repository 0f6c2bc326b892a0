// HistoryStore: the conversations of the web page in one SQLite file, so that they follow
// people from browser to browser.
//
// Each belongs to an owner, made of the API key, and nobody sees another's. Every change has
// a revision of its own in the whole file, so a page that writes over something it has not
// seen is told. Any thread may call, and several processes may share the file; each call is
// one transaction and waits for the disk.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "history/database.h"

namespace vivace {

struct ConversationHead {
  std::string id;
  std::string title;
  std::int64_t updated_ms = 0;  // since 1970
  std::int64_t revision = 0;
};

struct Conversation {
  ConversationHead head;
  std::string data;  // the page's, not looked into
};

// What is to be stored.
struct ConversationDraft {
  std::string id;
  std::string title;
  std::string data;
  std::string text;           // what a search looks through, beside the title
  std::int64_t revision = 0;  // that it was made from; 0: it is new
};

class HistoryStore {
 public:
  static constexpr std::size_t kMostWords = 16;  // of a search

  // Makes the file if there is none. A file that is damaged, another program's or a newer
  // version's is an error and is left as it is. `max_bytes` is how large it may grow.
  static Result<std::unique_ptr<HistoryStore>> Open(const std::string& path,
                                                    std::int64_t max_bytes = std::int64_t{16}
                                                                             << 30);

  // "" for no key. Slow the first time: a key that is easy to guess must not be guessed
  // from a stolen file. So only call it with keys that the server knows.
  std::string OwnerOf(std::string_view api_key);

  // The latest first; with a query only those that hold each of its words. kBadInput for
  // more than kMostWords.
  Result<std::vector<ConversationHead>> List(const std::string& owner, std::string_view query);
  // kNotFound.
  Result<Conversation> Get(const std::string& owner, const std::string& id);
  Result<void> Delete(const std::string& owner, const std::string& id);

  struct PutResult {
    std::int64_t revision = 0;            // of what was stored
    bool conflict = false;                // nothing was: there is another revision, or none
    std::optional<Conversation> current;  // what is there instead
  };
  Result<PutResult> Put(const std::string& owner, const ConversationDraft& draft);

 private:
  explicit HistoryStore(Database database) : database_(std::move(database)) {}

  Result<void> Prepare(std::int64_t max_bytes);
  Result<std::optional<Conversation>> Find(const std::string& owner, const std::string& id);
  Result<std::int64_t> NextRevision();

  std::mutex mutex_;  // guards all below
  Database database_;
  std::string salt_;
  std::map<std::string, std::string, std::less<>> owners_;  // by a hash of the key
};

}  // namespace vivace
