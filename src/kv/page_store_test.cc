#include "kv/page_store.h"

#include <thread>

#include "gtest/gtest.h"

#include "kv/testing.h"

namespace vivace {
namespace {

std::int64_t BytesOnDisk(const StoreFolder& folder) {
  std::int64_t bytes = 0;
  for (const std::string& file : folder.Files()) {
    bytes += static_cast<std::int64_t>(std::filesystem::file_size(file));
  }
  return bytes;
}

TEST(PageStoreTest, AnotherStoreFindsWhatOneHasWritten) {
  StoreFolder folder("store");
  const TestPath path(10, 0);
  {
    PageStore store(folder.Options(), kTestKind);
    EXPECT_EQ(ReadAll(store, path), 0);
    EXPECT_EQ(WriteAll(store, path), 10);
    EXPECT_EQ(WriteAll(store, path), 0);  // they are there
    EXPECT_EQ(store.pages(), 10);
    EXPECT_EQ(store.bytes(), BytesOnDisk(folder));
  }
  PageStore store(folder.Options(), kTestKind);
  EXPECT_EQ(ReadAll(store, path), 10);
  EXPECT_EQ(ReadAll(store, path, 3), 7);  // from the middle of a file
  EXPECT_EQ(store.pages(), 10);
  EXPECT_EQ(folder.Files().size(), 1U);
  EXPECT_TRUE(folder.warnings().empty());
}

TEST(PageStoreTest, OthersMayNotLookInside) {
  StoreFolder folder("store_mode");
  PageStore store(folder.Options(), kTestKind);
  WriteAll(store, TestPath(4, 0));
  const auto others = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
  EXPECT_EQ(std::filesystem::status(folder.folder()).permissions() & others,
            std::filesystem::perms::none);
  EXPECT_EQ(std::filesystem::status(folder.Files()[0]).permissions() & others,
            std::filesystem::perms::none);
}

TEST(PageStoreTest, PathsShareTheirBeginning) {
  StoreFolder folder("store_share");
  PageStore store(folder.Options(), kTestKind);
  const TestPath path(8, 0);
  auto tokens = path.tokens;
  for (std::size_t i = 5 * kTestPage; i < tokens.size(); ++i) tokens[i] += 1000;
  const TestPath other(tokens);
  EXPECT_EQ(WriteAll(store, path), 8);
  EXPECT_EQ(ReadAll(store, other), 5);
  EXPECT_EQ(WriteAll(store, other), 3);
  EXPECT_EQ(ReadAll(store, other), 8);
  EXPECT_EQ(ReadAll(store, other, 6), 2);
  EXPECT_EQ(ReadAll(store, path), 8);
  // A page in the middle is asked for before its file's beginning is known.
  PageStore fresh(folder.Options(), kTestKind);
  EXPECT_EQ(ReadAll(fresh, other, 7), 1);
}

TEST(PageStoreTest, LongPathsFillSeveralFiles) {
  StoreFolder folder("store_long");
  PageStore store(folder.Options(), kTestKind);
  const TestPath path(200, 0);
  EXPECT_EQ(WriteAll(store, path), 200);
  EXPECT_EQ(folder.Files().size(), 4U);
  EXPECT_EQ(ReadAll(store, path), 200);
  // A hole is filled without writing the rest again.
  const auto names = path.names;
  std::vector<PageName> removed(names.begin() + 64, names.begin() + 128);
  std::ranges::sort(removed);
  store.Remove(removed);
  EXPECT_EQ(store.pages(), 136);
  EXPECT_EQ(ReadAll(store, path), 64);
  EXPECT_EQ(ReadAll(store, path, 128), 72);
  EXPECT_EQ(WriteAll(store, path), 64);
  EXPECT_EQ(ReadAll(store, path), 200);
}

TEST(PageStoreTest, RemovesOnlyFilesThatAreNamedWhole) {
  StoreFolder folder("store_remove");
  PageStore store(folder.Options(), kTestKind);
  const TestPath path(6, 0);
  WriteAll(store, path);
  std::vector<PageName> part(path.names.begin() + 1, path.names.end());
  std::ranges::sort(part);
  store.Remove(part);
  EXPECT_EQ(ReadAll(store, path), 6);
  std::vector<PageName> all = path.names;
  std::ranges::sort(all);
  store.Remove(all);
  EXPECT_EQ(ReadAll(store, path), 0);
  EXPECT_TRUE(folder.Files().empty());
}

TEST(PageStoreTest, NoticesWhatOthersDo) {
  StoreFolder folder("store_others");
  PageStore mine(folder.Options(), kTestKind);
  PageStore theirs(folder.Options(), kTestKind);
  const TestPath path(5, 0);
  EXPECT_EQ(ReadAll(mine, path), 0);
  EXPECT_EQ(WriteAll(theirs, path), 5);
  EXPECT_EQ(ReadAll(mine, path), 5);
  EXPECT_EQ(WriteAll(mine, path), 0);
  theirs.Clear();
  EXPECT_EQ(ReadAll(mine, path), 0);
  EXPECT_EQ(mine.pages(), 0);
  EXPECT_EQ(mine.bytes(), 0);
}

TEST(PageStoreTest, TheLeastRecentlyUsedGoesFirst) {
  StoreFolder folder("store_lru");
  const TestPath probe(4, 900);
  std::int64_t one = 0;
  {
    PageStore store(folder.Options(), kTestKind);
    WriteAll(store, probe);
    one = store.bytes();
    store.Clear();
  }
  PageStore store(folder.Options(4 * one + one / 2), kTestKind);
  std::vector<TestPath> paths;
  paths.reserve(4);
  for (TokenId i = 0; i < 4; ++i) paths.emplace_back(4, 1000 * i);
  for (const TestPath& path : paths) EXPECT_EQ(WriteAll(store, path), 4);
  EXPECT_EQ(ReadAll(store, paths[0]), 4);  // used again
  EXPECT_EQ(WriteAll(store, probe), 4);
  EXPECT_LE(BytesOnDisk(folder), 4 * one + one / 2);
  EXPECT_EQ(ReadAll(store, paths[1]), 0);
  for (const std::size_t kept : {0, 2, 3}) EXPECT_EQ(ReadAll(store, paths[kept]), 4) << kept;
  EXPECT_EQ(ReadAll(store, probe), 4);
}

TEST(PageStoreTest, UseByOthersCounts) {
  StoreFolder folder("store_lru_others");
  constexpr std::int64_t kBytes = 60'000;
  PageStore mine(folder.Options(kBytes), kTestKind);
  PageStore theirs(folder.Options(kBytes), kTestKind);
  const TestPath kept(4, 0);
  WriteAll(mine, kept);
  for (TokenId i = 1; i < 20; ++i) {
    WriteAll(mine, TestPath(4, 1000 * i));
    EXPECT_EQ(ReadAll(theirs, kept), 4) << i;
    EXPECT_LE(BytesOnDisk(folder), kBytes);
  }
  EXPECT_LT(folder.Files().size(), 10U);
}

TEST(PageStoreTest, TheEndOfAPathGoesBeforeItsBeginning) {
  StoreFolder folder("store_lru_path");
  PageStore store(folder.Options(400'000), kTestKind);
  const TestPath path(100, 0);
  EXPECT_EQ(WriteAll(store, path), 100);
  const std::size_t files = folder.Files().size();
  EXPECT_GT(files, 2U);
  std::int64_t left = 100;
  for (TokenId i = 1; left > 0 && i < 200; ++i) {
    WriteAll(store, TestPath(4, 10'000 * i));
    EXPECT_LE(BytesOnDisk(folder), 400'000);
    // Looks without using: the order of use stays.
    std::int64_t now = 0;
    const auto all = folder.Files();
    for (const std::string& file : all) {
      const auto opened = PageFile::Open(file, kTestKind);
      ASSERT_TRUE(opened.has_value());
      now += opened->CountShared(path.names, path.tokens);
      if (opened->CountShared(path.names, path.tokens) > 0) {
        EXPECT_LE(opened->header().first, left);
      }
    }
    EXPECT_LE(now, left);
    left = now;
  }
  EXPECT_EQ(left, 0);
}

TEST(PageStoreTest, OfATooLongPathTheBeginningIsKept) {
  StoreFolder folder("store_too_long");
  constexpr std::int64_t kBytes = 200'000;
  PageStore store(folder.Options(kBytes), kTestKind);
  const TestPath path(300, 0);
  for (int time = 0; time < 2; ++time) {
    const std::int64_t written = WriteAll(store, path);
    EXPECT_EQ(written > 0, time == 0);
    EXPECT_LE(BytesOnDisk(folder), kBytes);
    EXPECT_GT(ReadAll(store, path), 50);
    EXPECT_EQ(ReadAll(store, path), store.pages());
  }
}

TEST(PageStoreTest, ATooSmallStoreStaysEmpty) {
  StoreFolder folder("store_small");
  PageStore store(folder.Options(1000), kTestKind);
  EXPECT_EQ(WriteAll(store, TestPath(4, 0)), 0);
  EXPECT_TRUE(folder.Files().empty());
  EXPECT_TRUE(folder.warnings().empty());
}

TEST(PageStoreTest, WhatIsDroppedLeavesNothing) {
  StoreFolder folder("store_dropped");
  PageStore store(folder.Options(), kTestKind);
  const std::atomic<bool> dropped = true;
  EXPECT_EQ(store.Write(TestPath(4, 0).Pages(), dropped), 0);
  EXPECT_TRUE(folder.Files().empty());
  EXPECT_TRUE(folder.warnings().empty());
}

TEST(PageStoreTest, ManyThreadsAndStoresAtOnce) {
  StoreFolder folder("store_threads");
  std::vector<TestPath> paths;
  paths.reserve(6);
  for (TokenId i = 0; i < 6; ++i) paths.emplace_back(20, 100 * i);
  PageStoreOptions options = folder.Options(200'000);  // too few for all
  options.warn = {};
  PageStore first(options, kTestKind);
  PageStore second(options, kTestKind);
  std::vector<std::thread> threads;
  std::atomic<std::int64_t> read = 0;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      PageStore& store = t % 2 == 0 ? first : second;
      for (std::size_t i = 0; i < 60; ++i) {
        const TestPath& path = paths[(7 * i + 3 * t) % paths.size()];
        if (t < 2) {
          WriteAll(store, path);
        } else {
          read += ReadAll(store, path);
        }
        if (i % 30 == 29 && t == 0) store.Clear();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const TestPath& path : paths) WriteAll(first, path);
  EXPECT_EQ(ReadAll(second, paths.back()), 20);
}

}  // namespace
}  // namespace vivace
