#include "model/last_layer.h"

#include <gtest/gtest.h>

#include "base/testing.h"
#include "kv/page_pool.h"

namespace vivace {
namespace {

TEST(OutputBatchTest, NeighboursOfASequenceShareASlice) {
  auto pool = PagePool::Create({.layers = 1, .kv_heads = 1, .dim = 16}, 4);
  ASSERT_TRUE(pool.has_value());
  SequenceKv first(*pool);
  SequenceKv second(*pool);
  const std::vector<TokenId> tokens(9, 0);
  const std::vector<SequenceSlice> slices = {
      {.kv = &first, .first_row = 0, .rows = 5, .position = 100},
      {.kv = &second, .first_row = 5, .rows = 4, .position = 7}};
  const std::vector<std::int64_t> wanted = {1, 3, 4, 5, 6, 8};
  Workspace space;
  const Batch output =
      OutputBatch({.tokens = tokens, .slices = slices, .output_rows = wanted}, space);
  EXPECT_EQ(output.tokens.size(), wanted.size());
  struct Expected {
    SequenceKv* kv;
    std::int64_t first_row, rows, position;
  };
  const std::vector<Expected> expected = {
      {&first, 0, 1, 101}, {&first, 1, 2, 103}, {&second, 3, 2, 7}, {&second, 5, 1, 10}};
  ASSERT_EQ(output.slices.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(output.slices[i].kv, expected[i].kv) << i;
    EXPECT_EQ(output.slices[i].first_row, expected[i].first_row) << i;
    EXPECT_EQ(output.slices[i].rows, expected[i].rows) << i;
    EXPECT_EQ(output.slices[i].position, expected[i].position) << i;
  }
}

TEST(OutputBatchTest, NoRowsNoSlices) {
  auto pool = PagePool::Create({.layers = 1, .kv_heads = 1, .dim = 16}, 1);
  ASSERT_TRUE(pool.has_value());
  SequenceKv kv(*pool);
  const std::vector<TokenId> tokens(3, 0);
  const SequenceSlice slice = {.kv = &kv, .first_row = 0, .rows = 3, .position = 0};
  Workspace space;
  const Batch output =
      OutputBatch({.tokens = tokens, .slices = {&slice, 1}, .output_rows = {}}, space);
  EXPECT_TRUE(output.tokens.empty());
  EXPECT_TRUE(output.slices.empty());
}

}  // namespace
}  // namespace vivace
