#include "history/history_store.h"

#include <gtest/gtest.h>

#include "base/testing.h"

namespace vivace {
namespace {

using Texts = std::vector<std::string>;

class HistoryStoreTest : public ::testing::Test {
 protected:
  void SetUp() override { store_ = *HistoryStore::Open(Path()); }
  std::string Path() const { return folder_.root() + "history.db"; }

  std::int64_t Put(const std::string& id, const std::string& title, const std::string& text = "",
                   const std::string& owner = "", std::int64_t revision = 0) {
    const auto put = store_->Put(
        owner,
        {.id = id, .title = title, .data = R"({"a":1})", .text = text, .revision = revision});
    EXPECT_TRUE(put) << put.error().message;
    return put && !put->conflict ? put->revision : -1;
  }
  std::vector<std::string> Ids(std::string_view query = "", const std::string& owner = "") {
    std::vector<std::string> ids;
    const auto heads = store_->List(owner, query);
    EXPECT_TRUE(heads) << heads.error().message;
    for (const ConversationHead& head : *heads) ids.push_back(head.id);
    return ids;
  }

  FileTree folder_{"history_store"};
  std::unique_ptr<HistoryStore> store_;
};

TEST_F(HistoryStoreTest, WhatWasPutIsThere) {
  const std::int64_t revision = Put("one", "First");
  EXPECT_GT(revision, 0);
  const auto found = store_->Get("", "one");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->head.title, "First");
  EXPECT_EQ(found->head.revision, revision);
  EXPECT_GT(found->head.updated_ms, 1'600'000'000'000);
  EXPECT_EQ(found->data, R"({"a":1})");
  EXPECT_EQ(store_->Get("", "two").error().kind, ErrorKind::kNotFound);
}

TEST_F(HistoryStoreTest, TheLatestComesFirst) {
  Put("a", "");
  const std::int64_t b = Put("b", "");
  Put("c", "");
  Put("b", "again", "", "", b);
  EXPECT_EQ(Ids(), (Texts{"b", "c", "a"}));
}

TEST_F(HistoryStoreTest, WhoHasNotSeenTheLastRevisionIsTold) {
  const std::int64_t first = Put("a", "one");
  const std::int64_t second = Put("a", "two", "", "", first);
  EXPECT_GT(second, first);
  for (const std::int64_t stale : {first, std::int64_t{0}, second + 1}) {
    const auto put =
        store_->Put("", {.id = "a", .title = "x", .data = "{}", .text = "", .revision = stale});
    ASSERT_TRUE(put);
    EXPECT_TRUE(put->conflict);
    ASSERT_TRUE(put->current);
    EXPECT_EQ(put->current->head.title, "two");
    EXPECT_EQ(put->current->head.revision, second);
  }
}

TEST_F(HistoryStoreTest, WhatWasDeletedDoesNotComeBackByItself) {
  const std::int64_t revision = Put("a", "one");
  ASSERT_TRUE(store_->Delete("", "a"));
  EXPECT_EQ(store_->Delete("", "a").error().kind, ErrorKind::kNotFound);
  const auto put =
      store_->Put("", {.id = "a", .title = "x", .data = "{}", .text = "", .revision = revision});
  ASSERT_TRUE(put);
  EXPECT_TRUE(put->conflict);
  EXPECT_FALSE(put->current);
  EXPECT_GT(Put("a", "undone"), revision) << "a revision is never used twice";
}

TEST_F(HistoryStoreTest, EachWordMustBeInTitleOrText) {
  Put("en", "A walk in PARIS", "the Louvre is closed on Tuesdays");
  Put("zh", "旅行", "明天北京的天气怎么样？");
  EXPECT_EQ(Ids("paris louvre"), (Texts{"en"}));
  EXPECT_EQ(Ids("paris berlin"), Texts());
  EXPECT_EQ(Ids("天气"), (Texts{"zh"}));
  EXPECT_EQ(Ids("旅行　北京"), (Texts{"zh"}));
  EXPECT_EQ(Ids("%"), Texts());
  EXPECT_EQ(Ids("' OR 1=1 --"), Texts());
  std::string many;
  for (std::size_t i = 0; i <= HistoryStore::kMostWords; ++i) many += "a ";
  EXPECT_EQ(store_->List("", many).error().kind, ErrorKind::kBadInput);
}

TEST_F(HistoryStoreTest, EachKeySeesItsOwn) {
  const std::string anna = store_->OwnerOf("key of Anna");
  const std::string bert = store_->OwnerOf("key of Bert");
  EXPECT_NE(anna, bert);
  EXPECT_EQ(anna, store_->OwnerOf("key of Anna"));
  EXPECT_EQ(store_->OwnerOf(""), "");
  EXPECT_EQ(anna.find("Anna"), std::string::npos);
  Put("a", "Anna's", "secret", anna);
  Put("a", "Bert's", "", bert);
  EXPECT_EQ(store_->Get(anna, "a")->head.title, "Anna's");
  EXPECT_EQ(store_->Get(bert, "a")->head.title, "Bert's");
  EXPECT_EQ(Ids("secret", bert), Texts());
  ASSERT_TRUE(store_->Delete(bert, "a"));
  EXPECT_TRUE(store_->Get(anna, "a"));
  EXPECT_EQ(Ids(), Texts()) << "without a key: neither's";
}

TEST_F(HistoryStoreTest, AnyTextIsKeptAsItIs) {
  const std::string text("\0 \" ' ; \\ \xF0\x9F\x98\x80", 13);
  Put("a", text);
  EXPECT_EQ(store_->Get("", "a")->head.title, text);
}

}  // namespace
}  // namespace vivace
