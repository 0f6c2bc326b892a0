#include "api/model_names.h"

#include "gtest/gtest.h"

namespace vivace {
namespace {

TEST(NamesModelTest, QuantAndSuffixMayBeLeftOut) {
  for (const char* name : {"qwen2.5-0.5b-instruct:q4_k_m", "qwen2.5-0.5b-instruct",
                           "Qwen2.5-0.5B-Instruct", "qwen2.5-0.5b-instruct:latest"}) {
    EXPECT_TRUE(NamesModel(name, "qwen2.5-0.5b-instruct:q4_k_m")) << name;
  }
  for (const char* name : {"Tiny.Q4_1.gguf", "tiny.q4_1", "tiny.q4_1:latest"}) {
    EXPECT_TRUE(NamesModel(name, "Tiny.Q4_1.gguf")) << name;
  }
}

TEST(NamesModelTest, OthersAreOthers) {
  for (const char* name : {"", ":latest", "qwen2.5", "qwen2.5-0.5b-instruct:q8_0", "/etc/passwd"}) {
    EXPECT_FALSE(NamesModel(name, "qwen2.5-0.5b-instruct:q4_k_m")) << name;
  }
}

}  // namespace
}  // namespace vivace
