#include "hub/store.h"

#include "hub/disk.h"
#include "hub/file_lock.h"
#include "hub/home.h"
#include "hub/sha256.h"
#include "hub/sidecar.h"
#include "hub/testing.h"

namespace vivace {
namespace {

class StoreTest : public HubTest {
 protected:
  Result<std::string> PullTiny(const CatalogueEntry& entry) { return Pull(entry, Events()); }
  void WritePart(const std::string& content, const std::string& suffix = ".part") const {
    tree_.Write("home/models/tiny.gguf" + suffix, content);
  }
  bool Exists(const std::string& path) const {
    return std::filesystem::exists(tree_.root() + path);
  }
};

TEST_F(StoreTest, HomeFolderRules) {
  EXPECT_EQ(ModelsFolder(), tree_.root() + "home/models");
  unsetenv("VIVACE_HOME");
  setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(HomeFolder(), "/cache/vivace");
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/somebody", 1);
  EXPECT_EQ(HomeFolder(), "/somebody/.cache/vivace");
  setenv("VIVACE_HOME", "relative", 1);
  EXPECT_EQ(HomeFolder(), (std::filesystem::current_path() / "relative").string());
}

TEST_F(StoreTest, AFolderThatCannotBeMadeIsNamed) {
  tree_.Write("home", "a file");
  const auto pulled = PullTiny(Entry("abc", kAbcSha256));
  ASSERT_FALSE(pulled.has_value());
  EXPECT_EQ(pulled.error().kind, ErrorKind::kIo);
  EXPECT_NE(pulled.error().message.find("home/models cannot be made"), std::string::npos);
}

TEST_F(StoreTest, Sha256IsTheStandards) {
  tree_.Write("abc", "abc");
  EXPECT_EQ(*Sha256OfFile(tree_.root() + "abc"), kAbcSha256);
  const std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(Sha256OfFile(tree_.root() + "abc", stop.get_token()).error().kind,
            ErrorKind::kCancelled);
}

TEST_F(StoreTest, PullsListsAndRemoves) {
  const auto path = PullTiny(Entry("abc", kAbcSha256));
  ASSERT_TRUE(path.has_value()) << path.error().message;
  EXPECT_EQ(*path, tree_.root() + "home/models/tiny.gguf");
  EXPECT_EQ(said_, std::vector<std::string>{"fetching tiny.gguf from disk"});
  const auto models = ListModels();
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(models[0].name, "tiny:q8_0");
  EXPECT_EQ(models[0].size, 3U);
  EXPECT_EQ(models[0].source, "disk");
  EXPECT_EQ(models[0].sha256, kAbcSha256);
  EXPECT_EQ(models[0].checked_against, "catalogue");
  ASSERT_TRUE(RemoveModel("tiny.gguf").has_value());
  EXPECT_TRUE(ListModels().empty());
  EXPECT_TRUE(std::filesystem::is_empty(ModelsFolder()));
  EXPECT_EQ(RemoveModel("tiny.gguf").error().kind, ErrorKind::kNotFound);
}

TEST_F(StoreTest, WhatIsHereIsNotFetchedAgain) {
  CatalogueEntry entry = Entry("abc", kAbcSha256);
  ASSERT_TRUE(PullTiny(entry).has_value());
  entry.sources[0].url = Url("gone");
  EXPECT_TRUE(PullTiny(entry).has_value());
}

TEST_F(StoreTest, AWrongHashNeverBecomesAModel) {
  const auto path = PullTiny(Entry("abd", kAbcSha256));
  ASSERT_FALSE(path.has_value());
  EXPECT_NE(path.error().message.find(std::string("expected ") + kAbcSha256), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(ModelsFolder()));
}

TEST_F(StoreTest, AWrongSizeNeverBecomesAModel) {
  CatalogueEntry entry = Entry("abc", kAbcSha256);
  entry.size = 4;
  EXPECT_FALSE(PullTiny(entry).has_value());
  EXPECT_TRUE(ListModels().empty());
}

TEST_F(StoreTest, APartialDownloadIsContinued) {
  const CatalogueEntry entry = Entry("xbc", kAbcSha256);  // the first byte is not fetched again
  WritePart("a");
  EXPECT_TRUE(PullTiny(entry).has_value());
}

TEST_F(StoreTest, ACompletePartialNeedsNoSource) {
  const CatalogueEntry entry = Entry("xyz", kAbcSha256);
  WritePart("abc");
  EXPECT_TRUE(PullTiny(entry).has_value());
}

TEST_F(StoreTest, ATooLongPartialIsThrownAway) {
  WritePart("abcdef");
  EXPECT_TRUE(PullTiny(Entry("abc", kAbcSha256)).has_value());
}

TEST_F(StoreTest, ACorruptPartialIsThrownAwayThenFetchedAnew) {
  const CatalogueEntry entry = Entry("abc", kAbcSha256);
  WritePart("xx");
  EXPECT_FALSE(PullTiny(entry).has_value());
  EXPECT_TRUE(PullTiny(entry).has_value());
}

TEST_F(StoreTest, TheNextSourceIsTriedWhenOneFails) {
  CatalogueEntry entry = Entry("abc", kAbcSha256);
  tree_.Write("corrupt.bin", "abd");
  entry.sources.insert(entry.sources.begin(),
                       {{.label = "gone", .url = Url("gone"), .parts = {}},
                        {.label = "corrupt", .url = Url("corrupt.bin"), .parts = {}}});
  EXPECT_TRUE(PullTiny(entry).has_value());
  EXPECT_EQ(said_.back(), "fetching tiny.gguf from disk");
}

TEST_F(StoreTest, AllReasonsAreTold) {
  CatalogueEntry entry = Entry("abc", kAbcSha256);
  entry.sources = {{.label = "one", .url = Url("gone"), .parts = {}},
                   {.label = "two", .url = "http://127.0.0.1:1/x", .parts = {}}};
  const auto pulled = PullTiny(entry);
  ASSERT_FALSE(pulled.has_value());
  EXPECT_EQ(pulled.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(pulled.error().message.find("tiny:q8_0 could not be fetched: one "), 0U);
  EXPECT_NE(pulled.error().message.find("; two cannot be reached: "), std::string::npos);
}

TEST_F(StoreTest, AnUnknownHashIsRecordedAndExpectedAgain) {
  const CatalogueEntry entry = Entry("abc", "");
  ASSERT_TRUE(PullTiny(entry).has_value());
  EXPECT_EQ(ListModels()[0].checked_against, "nothing");
  EXPECT_EQ(ListModels()[0].sha256, kAbcSha256);
  // The file is lost, its sidecar is not.
  std::filesystem::remove(ModelPath("tiny.gguf"));
  EXPECT_NE(PullTiny(Entry("abd", "")).error().message.find("(earlier download)"),
            std::string::npos);
  ASSERT_TRUE(PullTiny(Entry("abc", "")).has_value());
  EXPECT_EQ(ListModels()[0].checked_against, "earlier download");
}

TEST_F(StoreTest, MoreThanTheDiskHoldsIsRefused) {
  CatalogueEntry entry = Entry("abc", kAbcSha256);
  entry.size = std::uint64_t{1} << 60;
  // A local file's size would contradict; a host need not say it.
  entry.sources[0] = {.label = "PyPI", .url = {}, .parts = {{"no-such==1", "x"}}};
  EXPECT_EQ(PullTiny(entry).error().kind, ErrorKind::kExhausted);
}

TEST_F(StoreTest, AStopKeepsThePartialFile) {
  const std::stop_source stop;
  stop.request_stop();
  PullEvents events = Events();
  events.stop = stop.get_token();
  WritePart("a");
  EXPECT_EQ(Pull(Entry("abc", kAbcSha256), events).error().kind, ErrorKind::kCancelled);
  EXPECT_TRUE(Exists("home/models/tiny.gguf.part"));
}

TEST_F(StoreTest, RemovesPartsAndPacksButNothingElse) {
  const std::string digits = "0123456789abcdef0123456789abcdef";
  ASSERT_TRUE(PullTiny(Entry("abc", kAbcSha256)).has_value());
  WritePart("x", ".packages.part");
  tree_.Write("home/packed/tiny-" + digits + ".vpk", "");
  tree_.Write("home/packed/tiny-2-" + digits + ".vpk", "");  // of tiny-2.gguf
  tree_.Write("home/packed/tiny-" + std::string(32, 'x') + ".vpk", "");
  tree_.Write("home/models/tiny-2.gguf", "");
  ASSERT_TRUE(RemoveModel("tiny.gguf").has_value());
  EXPECT_FALSE(Exists("home/models/tiny.gguf.packages.part"));
  EXPECT_FALSE(Exists("home/packed/tiny-" + digits + ".vpk"));
  EXPECT_TRUE(Exists("home/packed/tiny-2-" + digits + ".vpk"));
  EXPECT_TRUE(Exists("home/packed/tiny-" + std::string(32, 'x') + ".vpk"));
  EXPECT_TRUE(Exists("home/models/tiny-2.gguf"));
}

TEST_F(StoreTest, AModelThatIsBeingFetchedIsNotRemoved) {
  WritePart("x");
  const auto lock = FileLock::TryAcquire(ModelPath("tiny.gguf") + ".lock");
  ASSERT_TRUE(lock.has_value());
  EXPECT_EQ(RemoveModel("tiny.gguf").error().kind, ErrorKind::kExhausted);
  EXPECT_TRUE(Exists("home/models/tiny.gguf.part"));
}

TEST_F(StoreTest, AModelWithoutAUsableSidecarIsListedByItsFile) {
  tree_.Write("home/models/b.gguf", "x");
  tree_.Write("home/models/a.gguf", "x");
  tree_.Write("home/models/a.gguf.json", R"({"name": 5})");
  tree_.Write("home/models/a.gguf.part", "x");
  const auto models = ListModels();
  ASSERT_EQ(models.size(), 2U);
  EXPECT_EQ(models[0].name, "a.gguf");
  EXPECT_EQ(models[1].sha256, "");
}

TEST_F(StoreTest, LocksAreTakenInTurnAndCanBeGivenUp) {
  const std::string path = tree_.root() + "x.lock";
  int waits = 0;
  std::stop_source stop;
  {
    const auto lock = FileLock::TryAcquire(path);
    ASSERT_TRUE(lock.has_value());
    const auto other = FileLock::Acquire(
        path,
        [&] {
          ++waits;
          stop.request_stop();
        },
        stop.get_token());
    EXPECT_EQ(other.error().kind, ErrorKind::kCancelled);
    EXPECT_EQ(waits, 1);
    RemoveFile(path);  // as its holder does at the end
    EXPECT_TRUE(FileLock::TryAcquire(path).has_value());
  }
  EXPECT_TRUE(FileLock::TryAcquire(path).has_value());
}

}  // namespace
}  // namespace vivace
