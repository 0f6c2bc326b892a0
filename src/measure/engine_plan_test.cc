#include "measure/engine_plan.h"

#include "gtest/gtest.h"

#include "measure/model_work.h"
#include "measure/work_point.h"

namespace vivace {
namespace {

using Sizes = std::vector<std::int64_t>;

// 2 kB of keys and values a position, 32 kB a page.
Config SmallConfig(std::int64_t context) {
  Config config;
  config.layers = 4;
  config.kv_heads = 2;
  config.head_dim = 64;
  config.context = context;
  return config;
}

std::string Refusal(const EngineBenchOptions& options, std::int64_t context) {
  const auto plan = PlanEngineBench(options, SmallConfig(context));
  return plan ? "" : plan.error().message;
}

TEST(EnginePlanTest, AllSizesOfALongContext) {
  const auto plan = PlanEngineBench({}, SmallConfig(32768));
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->prompts, (Sizes{16, 64, 256, 512}));
  EXPECT_EQ(plan->long_prompts, (Sizes{1024, 2048, 4096}));
  EXPECT_EQ(plan->contexts, (Sizes{128, 512, 2048, 8192}));
  EXPECT_EQ(plan->context, 128);
  EXPECT_EQ(plan->pages, 8 + (8192 + 64) / 16) << "the short prompt and the longest context";
}

TEST(EnginePlanTest, WhatAShortContextHasRoomFor) {
  const auto plan = PlanEngineBench({.prompt = 100, .gen = 20, .batch = {2}}, SmallConfig(128));
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->prompts, (Sizes{16, 64, 100}));
  EXPECT_EQ(plan->long_prompts, Sizes{});
  EXPECT_EQ(plan->contexts, Sizes{108});
  EXPECT_EQ(plan->pages, 7 + 2 * 8);
  EXPECT_TRUE(PlanEngineBench({.prompt = 1, .gen = 1, .batch = {1}}, SmallConfig(2)).has_value());
}

TEST(EnginePlanTest, RefusalsNameTheRange) {
  EXPECT_EQ(Refusal({.prompt = 1025}, 1024),
            "--prompt is 1025, allowed is 1 to 1024 (the model's context)");
  EXPECT_EQ(Refusal({.gen = 1024}, 1024),
            "--gen is 1024, allowed is 1 to 1023 (the model's context)");
  // 1 MB: half of it is 16 pages; the short prompt has 8, an answer of 16 tokens 9.
  const std::string by_memory = " (the memory that is available)";
  EXPECT_EQ(Refusal({.prompt = 257, .memory = 1 << 20}, 1024),
            "--prompt is 257, allowed is 1 to 256" + by_memory);
  EXPECT_EQ(Refusal({.prompt = 16, .gen = 16, .memory = 1 << 20}, 1024),
            "--gen is 16, allowed is 1 to 1" + by_memory);
  EXPECT_EQ(Refusal({.prompt = 16, .gen = 16, .batch = {1, 3}, .memory = 2 << 20}, 1024),
            "--batch is 3, allowed is 1 to 2" + by_memory);
}

TEST(EnginePlanTest, MemoryCutsTheCurves) {
  const auto plan = PlanEngineBench({.batch = {1}, .memory = 8 << 20}, SmallConfig(32768));
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->contexts, (Sizes{128, 512}));
  EXPECT_EQ(plan->long_prompts, Sizes{1024});
  EXPECT_LE(plan->pages, 128);
}

TEST(ModelWorkTest, BytesAndProducts) {
  const ModelWork work = {.layer_bytes = 100,
                          .layer_products = 1000,
                          .tail_bytes = 20,
                          .tail_products = 300,
                          .output_bytes = 10,
                          .output_products = 50,
                          .position_bytes = 2};
  const Work prompt = work.Prompt(5, 2);
  EXPECT_EQ(prompt.tokens, 5);
  EXPECT_EQ(prompt.bytes, 3 * 80 + 20) << "three chunks, the last layer's end for one";
  EXPECT_EQ(prompt.products, 5 * 700 + 300 + 50) << "logits of the last row";
  const Work steps = work.Steps(3, 10, 4);
  EXPECT_EQ(steps.tokens, 12);
  EXPECT_EQ(steps.bytes, 4 * 100 + 3 * 2 * (10 + 11 + 12 + 13));
  EXPECT_EQ(steps.products, 12 * 1050);
}

TEST(ModelWorkTest, TheSlowerLimitCounts) {
  EXPECT_EQ(LeastSeconds({.tokens = 1, .bytes = 10, .products = 10}, {.bytes = 5, .products = 20}),
            2);
  EXPECT_EQ(LeastSeconds({.tokens = 1, .bytes = 10, .products = 10}, {.bytes = 20, .products = 2}),
            5);
  EXPECT_EQ(LeastSeconds({.tokens = 1, .bytes = 10, .products = 10}, {}), 0);
}

TEST(WorkPointTest, SharesAreOfEachRoundsLimit) {
  WorkSamples samples = {.size = 7, .work = {.tokens = 10, .bytes = 60, .products = 30}};
  // 40 more bytes: 0.5 s of reading, 1 s of products; 2 s and 0.1 s; 1 s and 0.1 s.
  samples.samples = {{.seconds = 1, .output_bytes = 40, .limit = {.bytes = 200, .products = 30}},
                     {.seconds = 4, .output_bytes = 40, .limit = {.bytes = 50, .products = 300}},
                     {.seconds = 2, .output_bytes = 40, .limit = {.bytes = 100, .products = 300}}};
  const WorkPoint point = samples.Point();
  EXPECT_EQ(point.size, 7);
  EXPECT_EQ(point.samples, 3);
  EXPECT_EQ(point.tokens.median, 5);
  EXPECT_EQ(point.tokens.max, 10);
  EXPECT_EQ(point.bytes.min, 25);
  EXPECT_EQ(point.output_bytes, 40);
  EXPECT_EQ(point.work.bytes, 100);
  EXPECT_EQ(point.read_share.median, 0.5);
  EXPECT_EQ(point.limit_share.max, 1);
  EXPECT_EQ(point.limit_share.min, 0.5);
  EXPECT_EQ(point.peak_share.max, 1);
  EXPECT_EQ(PointsOf({samples, {.size = 1, .work = {}}}).size(), 1U) << "one was left out";
}

}  // namespace
}  // namespace vivace
