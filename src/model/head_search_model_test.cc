// The search against full scans at all positions of a text through a real model.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "gtest/gtest.h"

#include "kernels/dispatch.h"
#include "model/forward.h"
#include "model/head_search.h"
#include "model/loader.h"

namespace vivace {
namespace {

constexpr std::int64_t kWindow = 512;
constexpr std::int64_t kWindows = 3;
constexpr std::int64_t kRows = 8;

class HeadSearchModelTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("VIVACE_TEST_MODELS");
    if (folder == nullptr) GTEST_SKIP() << "VIVACE_TEST_MODELS is not set";
    const std::string path = std::string(folder) + "/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
    auto loaded = LoadModel(path, **SelectKernels(""), team_, {});
    ASSERT_TRUE(loaded) << loaded.error().message;
    model_.emplace(std::move(loaded->model));
    ASSERT_TRUE(model_->weights().coarse_head);
  }

  // The first tokens of a few files here: prose, code and Chinese.
  std::vector<TokenId> Tokens() const {
    const std::string root = std::getenv("VIVACE_SOURCE_DIR");
    std::vector<TokenId> tokens;
    for (const char* page : {"LICENSE", "tools/check_layout.py", "README.zh-CN.md"}) {
      std::ifstream file(root + "/" + page);
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      std::vector<TokenId> part;
      model_->tokenizer().Encode(text, Tokenizer::Special::kAsText, part);
      part.resize(std::min<std::size_t>(part.size(), kWindow));
      tokens.insert(tokens.end(), part.begin(), part.end());
    }
    tokens.resize(std::min<std::size_t>(tokens.size(), kWindow * kWindows));
    return tokens;
  }

  ThreadTeam team_{{.threads = 2}};
  std::optional<Model> model_;
};

// Counts where the search and the full scan differ; adds up the shares that were read.
struct Comparison {
  std::int64_t rows = 0;
  std::int64_t wrong = 0;
  double read_share = 0;
  double candidates = 0;

  void Add(const HeadResult& result, const float* found, const float* all, std::int64_t vocab) {
    const float* best = std::max_element(all, all + vocab);
    bool right = result.token == best - all && result.logit == *best;
    for (std::int64_t i = 0; i < vocab; ++i) {
      if (all[i] >= result.floor) right = right && found[i] == all[i];
    }
    ++rows;
    wrong += right ? 0 : 1;
    read_share += static_cast<double>(result.read_share);
    candidates += static_cast<double>(result.candidates);
  }
};

TEST_F(HeadSearchModelTest, EveryPositionOfATextAgreesWithAFullScan) {
  const Config& config = model_->config();
  const std::vector<TokenId> tokens = Tokens();
  auto pool = PagePool::Create(
      {.layers = config.layers, .kv_heads = config.kv_heads, .dim = config.head_dim},
      kWindow / kPagePositions);
  auto space = Workspace::Allocate(config, kWindow, team_.size());
  const std::int64_t stride = LogitsStride(config);
  std::vector<float> all(static_cast<std::size_t>(kRows * stride));
  std::vector<float> found(all.size());
  HeadSearch search(model_->weights(), kRows, team_.size());
  Comparison best;
  Comparison near;
  const auto length = static_cast<std::int64_t>(tokens.size());
  for (std::int64_t begin = 0; begin < length; begin += kWindow) {
    const std::int64_t count = std::min(kWindow, length - begin);
    SequenceKv kv(*pool);
    ASSERT_TRUE(kv.Extend(count));
    const SequenceSlice slice = {.kv = &kv, .first_row = 0, .rows = count, .position = 0};
    std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
    const auto part =
        std::span(tokens).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
    Forward(*model_, {.tokens = part, .slices = {&slice, 1}, .output_rows = rows}, *space, team_);
    for (std::int64_t row = 0; row < count; row += kRows) {
      const std::int64_t some = std::min(kRows, count - row);
      ComputeLogits(*model_, row, some, *space, team_, all.data());
      HeadResult results[kRows];
      const std::span<HeadResult> out(results, static_cast<std::size_t>(some));
      for (const float depth : {0.0F, 3.0F}) {
        search.Find(row, depth, *space, team_, found.data(), out);
        for (std::int64_t i = 0; i < some; ++i) {
          (depth == 0 ? best : near)
              .Add(results[i], found.data() + i * stride, all.data() + i * stride,
                   config.vocab_size);
        }
      }
    }
  }
  const auto count = static_cast<double>(best.rows);
  RecordProperty("rows", static_cast<int>(best.rows));
  RecordProperty("mean_candidates", std::to_string(best.candidates / count));
  RecordProperty("read_share", std::to_string(best.read_share / count));
  RecordProperty("read_share_depth_3", std::to_string(near.read_share / count));
  EXPECT_GT(best.rows, 1000);
  EXPECT_EQ(best.wrong, 0);
  EXPECT_EQ(near.wrong, 0);
  EXPECT_LE(best.read_share / count, 0.56);
}

}  // namespace
}  // namespace vivace
