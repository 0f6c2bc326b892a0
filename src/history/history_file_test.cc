// The store's file: restarts, other processes, damage, want of space.
#include <sys/stat.h>

#include <thread>

#include <gtest/gtest.h>

#include "base/testing.h"
#include "history/history_store.h"

namespace vivace {
namespace {

class HistoryFileTest : public ::testing::Test {
 protected:
  std::string Path() const { return files_.root() + "history.db"; }
  std::unique_ptr<HistoryStore> Open() const {
    auto store = HistoryStore::Open(Path());
    EXPECT_TRUE(store) << store.error().message;
    return store ? std::move(*store) : nullptr;
  }
  std::string Bytes() const {
    std::ifstream file(Path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Write(std::string_view bytes) const { std::ofstream(Path(), std::ios::binary) << bytes; }
  // That the file is refused with such a message and left as it is.
  void ExpectRefused(std::string_view message) const {
    const std::string before = Bytes();
    const auto store = HistoryStore::Open(Path());
    ASSERT_FALSE(store);
    EXPECT_NE(store.error().message.find(message), std::string::npos) << store.error().message;
    EXPECT_NE(store.error().message.find(Path()), std::string::npos) << store.error().message;
    EXPECT_EQ(Bytes(), before);
  }

  FileTree files_{"history_file"};
};

ConversationDraft Draft(std::string id, std::string data = "{}", std::int64_t revision = 0) {
  return {
      .id = std::move(id), .title = "", .data = std::move(data), .text = "", .revision = revision};
}

TEST_F(HistoryFileTest, OutlivesARestart) {
  const std::string owner = Open()->OwnerOf("key");
  ASSERT_TRUE(Open()->Put(owner, Draft("a", "[1]")));
  const auto store = Open();
  EXPECT_EQ(store->OwnerOf("key"), owner);
  EXPECT_EQ(store->Get(owner, "a")->data, "[1]");
  EXPECT_GT(store->Put(owner, Draft("b"))->revision, 1);
}

TEST_F(HistoryFileTest, OnlyItsOwnerMayReadIt) {
  Open();
  struct stat facts = {};
  ASSERT_EQ(stat(Path().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
}

TEST_F(HistoryFileTest, KeysAreNotInIt) {
  const auto store = Open();
  ASSERT_TRUE(store->Put(store->OwnerOf("a-very-secret-key"), Draft("a")));
  store->List("", "");
  EXPECT_EQ(Bytes().find("a-very-secret-key"), std::string::npos);
}

TEST_F(HistoryFileTest, TwoServersShareIt) {
  const auto one = Open();
  const auto two = Open();
  const auto revision = one->Put("", Draft("a"))->revision;
  EXPECT_EQ(two->Get("", "a")->head.revision, revision);
  EXPECT_TRUE(two->Put("", Draft("a", "{}", revision))->revision > revision);
  EXPECT_TRUE(one->Put("", Draft("a", "{}", revision))->conflict);
}

TEST_F(HistoryFileTest, ManyWritersLoseNothing) {
  constexpr int kEach = 25;
  std::vector<std::thread> threads;
  for (int server = 0; server < 4; ++server) {
    threads.emplace_back([this, server] {
      const auto store = Open();
      for (int i = 0; i < kEach; ++i) {
        const auto put = store->Put("", Draft(std::to_string(server * kEach + i)));
        EXPECT_TRUE(put) << put.error().message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto heads = Open()->List("", "");
  ASSERT_EQ(heads->size(), std::size_t{4} * kEach);
  EXPECT_EQ(heads->front().revision, 4 * kEach) << "each has a revision of its own";
}

TEST_F(HistoryFileTest, OtherFilesAreRefusedAndLeftAlone) {
  for (const std::string& bytes : {std::string("not a database"), std::string(10'000, 'x')}) {
    Write(bytes);
    ExpectRefused("not an SQLite file");
  }
}

TEST_F(HistoryFileTest, AnotherProgramsDatabaseIsLeftAlone) {
  Write("");
  {
    auto other = Database::Open(Path());
    ASSERT_TRUE(other->Run("CREATE TABLE bookmarks (url TEXT)"));
  }
  ExpectRefused("another program");
}

TEST_F(HistoryFileTest, ANewerVersionsFileIsLeftAlone) {
  Open();
  ASSERT_TRUE(Database::Open(Path())->Run("PRAGMA user_version = 7"));
  ExpectRefused("newer vivace (version 7");
}

TEST_F(HistoryFileTest, DamageIsFoundAtTheStart) {
  ASSERT_TRUE(Open()->Put("", Draft("a", std::string(50'000, 'x'))));
  std::string bytes = Bytes();
  // All pages but the first, which says what the file is.
  std::fill(bytes.begin() + 4096, bytes.end(), '\x55');
  Write(bytes);
  ExpectRefused("damaged");
}

TEST_F(HistoryFileTest, FoldersAndMissingFoldersAreErrors) {
  EXPECT_EQ(HistoryStore::Open(files_.root()).error().kind, ErrorKind::kIo);
  EXPECT_EQ(HistoryStore::Open(files_.root() + "none/h.db").error().kind, ErrorKind::kIo);
}

TEST_F(HistoryFileTest, WithoutSpaceWhatIsStoredStays) {
  auto opened = HistoryStore::Open(Path(), 200'000);
  ASSERT_TRUE(opened) << opened.error().message;
  const std::unique_ptr<HistoryStore> store = std::move(*opened);
  const auto revision = store->Put("", Draft("a", std::string(50'000, 'a')))->revision;
  const auto full = store->Put("", Draft("a", std::string(500'000, 'b'), revision));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().kind, ErrorKind::kExhausted);
  EXPECT_EQ(store->Get("", "a")->data, std::string(50'000, 'a'));
  EXPECT_TRUE(store->Put("", Draft("b"))) << "there is room for a small one";
}

TEST_F(HistoryFileTest, WhoeverHoldsTheFileForLongIsNamed) {
  const auto store = Open();
  auto other = Database::Open(Path());
  const auto held = Transaction::Begin(*other);
  ASSERT_TRUE(held);
  EXPECT_EQ(store->Put("", Draft("a")).error().kind, ErrorKind::kCancelled);
  EXPECT_TRUE(store->List("", "")) << "reading goes on";
}

}  // namespace
}  // namespace vivace
