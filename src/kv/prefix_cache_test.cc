#include "kv/prefix_cache.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace vivace {
namespace {

constexpr PageShape kShape = {.layers = 1, .kv_heads = 1, .dim = 16};

using Tokens = std::vector<TokenId>;

Tokens Count(std::int64_t length, TokenId first = 0) {
  Tokens tokens(static_cast<std::size_t>(length));
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

// A sequence that stands for a running request. Its pages say which tokens they are of.
struct Reader {
  Reader(PrefixCache& to, PagePool& pool, Tokens of) : cache(to), tokens(std::move(of)), kv(pool) {}

  // What the cache has; returns the positions.
  std::int64_t Find() {
    cache.Match(tokens, path, kv);
    cache.MatchPart(tokens, path, kv);
    return kv.size();
  }
  // Evaluates the rest.
  void Compute() {
    const std::int64_t before = kv.size();
    const auto length = static_cast<std::int64_t>(tokens.size());
    const auto pages = static_cast<std::int64_t>(kv.pages().size());
    ASSERT_TRUE(cache.MakeRoom((length + kPagePositions - 1) / kPagePositions - pages));
    ASSERT_TRUE(kv.Extend(length - before));
    for (std::int64_t i = before; i < length; ++i) *At(i) = Said(i);
    cache.Insert(tokens, path, kv);
  }
  void ExpectRightBytes() {
    for (std::int64_t i = 0; i < kv.size(); ++i) EXPECT_EQ(*At(i), Said(i)) << i;
  }
  void Leave(std::string_view label = "") { cache.Leave(tokens, path, kv, label); }

  std::uint16_t* At(std::int64_t position) {
    return kv.pages()[static_cast<std::size_t>(position / kPagePositions)] +
           position % kPagePositions;
  }
  std::uint16_t Said(std::int64_t i) {
    return static_cast<std::uint16_t>(tokens[static_cast<std::size_t>(i)] + 1);
  }

  PrefixCache& cache;
  Tokens tokens;
  SequenceKv kv;
  CachePath path;
};

class PrefixCacheTest : public testing::Test {
 protected:
  static constexpr std::int64_t kPages = 10;

  // The positions found for `tokens`; leaves all of them in the cache.
  std::int64_t Visit(const Tokens& tokens, std::string_view label = "") {
    Reader run(cache_, pool_, tokens);
    const std::int64_t found = run.Find();
    run.Compute();
    run.ExpectRightBytes();
    run.Leave(label);
    return found;
  }
  // The positions found, without keeping anything.
  std::int64_t Peek(const Tokens& tokens) const { return cache_.Look(tokens).pages * 16; }

  PagePool pool_ = std::move(*PagePool::Create(kShape, kPages));
  PrefixCache cache_{pool_, PageName{.low = 1, .high = 2}};
};

TEST_F(PrefixCacheTest, NamesDependOnEveryTokenBefore) {
  const PageName root = NameOfRoot({});
  const Tokens tokens = Count(16);
  const PageTokens page(tokens);
  EXPECT_EQ(NameOfPage(root, page), NameOfPage(root, page));
  EXPECT_NE(NameOfPage(root, page), NameOfPage(NameOfPage(root, page), page));
  Tokens other = tokens;
  other[15] = 99;
  EXPECT_NE(NameOfPage(root, page), NameOfPage(root, PageTokens(other)));
}

TEST_F(PrefixCacheTest, FindsTheLongestPrefixAndLeavesATokenToEvaluate) {
  EXPECT_EQ(Visit(Count(40)), 0);
  EXPECT_EQ(Visit(Count(40)), 39);
  EXPECT_EQ(Visit(Count(60)), 40);
  EXPECT_EQ(Visit(Count(32)), 31);
  EXPECT_EQ(Visit(Count(33)), 32);
  EXPECT_EQ(Visit(Count(1)), 0);
  Tokens branch = Count(60);
  branch[20] = 500;
  EXPECT_EQ(Visit(branch), 20);
}

TEST_F(PrefixCacheTest, SequencesShareFullPagesAndOwnTheirOpenOne) {
  Reader first(cache_, pool_, Count(40));
  first.Compute();
  Reader second(cache_, pool_, Count(40));
  EXPECT_EQ(second.Find(), 32);  // the open page is not in the cache before its end
  EXPECT_EQ(second.kv.pages()[0], first.kv.pages()[0]);
  EXPECT_EQ(pool_.references(first.kv.pages()[0]), 3);  // two sequences and the cache
  second.Compute();
  EXPECT_NE(second.kv.pages()[2], first.kv.pages()[2]);
  first.Leave();
  second.ExpectRightBytes();
  second.Leave();
  EXPECT_EQ(cache_.pages(), 3);
  EXPECT_EQ(pool_.available(), kPages - 3);
}

TEST_F(PrefixCacheTest, PagesComputedTwiceAreKeptOnce) {
  Reader first(cache_, pool_, Count(32));
  Reader second(cache_, pool_, Count(32));
  first.Compute();
  second.Compute();
  EXPECT_EQ(second.kv.pages()[1], first.kv.pages()[1]);
  EXPECT_EQ(pool_.available(), kPages - 2);
  first.Leave();
  second.Leave();
}

TEST_F(PrefixCacheTest, ABeginningGoesWhenMoreOfItIsThere) {
  Visit(Count(5));
  EXPECT_EQ(cache_.pages(), 1);
  Visit(Count(9));
  EXPECT_EQ(cache_.pages(), 1);
  Visit(Count(16));
  EXPECT_EQ(cache_.pages(), 1);
  Visit(Count(7));
  EXPECT_EQ(cache_.pages(), 1);
  Visit(Count(7, 100));
  EXPECT_EQ(cache_.pages(), 2);
}

TEST_F(PrefixCacheTest, EvictsWhatWasNotUsedForTheLongestTime) {
  Visit(Count(32, 0));
  Visit(Count(32, 100));
  Visit(Count(32, 200));
  Visit(Count(32, 0));
  // Of the oldest sequence, the last page first.
  EXPECT_TRUE(cache_.EvictOne());
  EXPECT_EQ(Peek(Count(33, 100)), 16);
  EXPECT_TRUE(cache_.EvictOne());
  EXPECT_EQ(Peek(Count(33, 100)), 0);
  EXPECT_EQ(Peek(Count(33, 200)), 32);
  EXPECT_TRUE(cache_.MakeRoom(kPages - 2));
  EXPECT_EQ(Peek(Count(33, 0)), 32);
  EXPECT_EQ(Peek(Count(33, 200)), 0);
  EXPECT_TRUE(cache_.MakeRoom(kPages));
  EXPECT_FALSE(cache_.EvictOne());
}

TEST_F(PrefixCacheTest, PagesInUseStay) {
  Visit(Count(64));
  Reader run(cache_, pool_, Count(33));
  EXPECT_EQ(run.Find(), 32);
  EXPECT_EQ(cache_.idle_pages(), 2);
  const PrefixCache::Found found = cache_.Look(Count(65));
  EXPECT_EQ(found.pages, 4);
  EXPECT_EQ(found.idle_pages, 2);
  EXPECT_FALSE(cache_.MakeRoom(kPages - 1));
  EXPECT_EQ(cache_.idle_pages(), 0);
  EXPECT_EQ(Peek(Count(65)), 32);
  run.ExpectRightBytes();
  run.Leave();
  EXPECT_TRUE(cache_.MakeRoom(kPages));
}

TEST_F(PrefixCacheTest, AFullPoolServesASequenceThatCopiesFromIt) {
  Visit(Count(kPages * 16 - 1));
  Reader run(cache_, pool_, Count(kPages * 16 - 1));
  // No page is free for a copy of the last one, and that one is needed for copying.
  EXPECT_EQ(run.Find(), (kPages - 1) * 16);
  run.Compute();
  run.ExpectRightBytes();
  run.Leave();
}

TEST_F(PrefixCacheTest, LabelledConversationsGoLast) {
  Visit(Count(40, 0), "old");
  Visit(Count(32, 100));
  Visit(Count(32, 200));
  EXPECT_TRUE(cache_.MakeRoom(kPages - 3));
  EXPECT_EQ(Peek(Count(41, 0)), 32);
  ASSERT_EQ(cache_.List().size(), 1U);
  EXPECT_EQ(cache_.List()[0].tokens, 40);
  EXPECT_EQ(cache_.List()[0].pages, 3);
  // And lose their end first.
  EXPECT_TRUE(cache_.EvictOne());
  EXPECT_EQ(cache_.List()[0].tokens, 32);
  EXPECT_TRUE(cache_.MakeRoom(kPages));
  EXPECT_TRUE(cache_.List().empty());
}

TEST_F(PrefixCacheTest, AConversationThatMovesOnLetsItsOldPathGo) {
  Visit(Count(40, 0), "a");
  Visit(Count(64, 0), "a");
  EXPECT_EQ(cache_.List()[0].tokens, 64);
  Tokens other = Count(64, 0);
  other[20] = 300;
  Visit(other, "a");
  // The first page is on the new path too.
  EXPECT_TRUE(cache_.MakeRoom(kPages - 4));
  EXPECT_EQ(Peek(Count(64, 0)), 16);
  other.push_back(0);
  EXPECT_EQ(Peek(other), 64);
}

TEST_F(PrefixCacheTest, ClearsOneConversationOrAll) {
  Visit(Count(40, 0), "a");
  Tokens branch = Count(40, 0);
  branch[35] = 77;
  Visit(branch, "b");
  Visit(Count(20, 200));
  EXPECT_EQ(cache_.Clear("none"), 0);
  EXPECT_EQ(cache_.Clear("a"), 1);  // its last page; the others are b's too
  EXPECT_EQ(cache_.List().size(), 1U);
  Reader run(cache_, pool_, Count(21, 200));
  run.Find();
  EXPECT_EQ(cache_.Clear(), 4);
  EXPECT_EQ(cache_.pages(), 1);
  EXPECT_EQ(pool_.available(), kPages - 2);  // what runs has a copy of the other's end
  run.Leave("c");
  EXPECT_EQ(cache_.Clear("c"), 2);
  EXPECT_EQ(pool_.available(), kPages);
}

TEST_F(PrefixCacheTest, LabelsAreBounded) {
  for (int i = 0; i < 5000; ++i) Visit(Count(3), "name " + std::to_string(i));
  EXPECT_EQ(cache_.List().size(), 4096U);
  EXPECT_EQ(cache_.pages(), 1);
}

// Sequences that come and go at random, a few at a time: bytes stay right, no page is lost,
// and only leaves are ever evicted, which the cache itself checks.
TEST_F(PrefixCacheTest, NothingIsLostInAnyOrder) {
  std::mt19937 random(3);
  std::vector<std::unique_ptr<Reader>> running;
  for (int round = 0; round < 3000; ++round) {
    if (running.size() < 2) {
      Tokens tokens = Count(1 + static_cast<std::int64_t>(random() % 70));
      for (int change = 0; change < 2; ++change) tokens[random() % tokens.size()] %= 3;
      running.push_back(std::make_unique<Reader>(cache_, pool_, tokens));
      running.back()->Find();
      running.back()->Compute();
    }
    const std::size_t victim = random() % running.size();
    running[victim]->ExpectRightBytes();
    running[victim]->Leave(random() % 2 == 0 ? std::to_string(random() % 4) : "");
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(victim));
    if (random() % 4 == 0) cache_.EvictOne();
    if (random() % 50 == 0) cache_.Clear(std::to_string(random() % 4));
  }
  for (const auto& reader : running) reader->Leave();
  EXPECT_EQ(pool_.available() + cache_.idle_pages(), kPages);
  EXPECT_LE(cache_.List().size(), 4U);
  EXPECT_TRUE(cache_.MakeRoom(kPages));
  EXPECT_TRUE(cache_.List().empty());
}

TEST(PrefixCacheCollisionTest, ANameAloneIsNeverTrusted) {
  auto pool = PagePool::Create(kShape, 10);
  PrefixCache cache(*pool, PageName{}, [](const PageName&, PageTokens) { return PageName{}; });
  Reader first(cache, *pool, Count(40, 0));
  first.Compute();
  first.Leave();
  Reader second(cache, *pool, Count(40, 100));
  EXPECT_EQ(second.Find(), 0);
  second.Compute();
  second.ExpectRightBytes();
  EXPECT_TRUE(second.path.closed);
  second.Leave();
  // The first page of the first one is all that could be named.
  EXPECT_EQ(cache.pages(), 1);
  EXPECT_EQ(cache.Look(Count(40, 0)).pages, 1);
  EXPECT_EQ(cache.Look(Count(40, 100)).pages, 0);
  EXPECT_EQ(pool->available(), 9);
}

}  // namespace
}  // namespace vivace
