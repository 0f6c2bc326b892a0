#include "hub/model_facts.h"

#include <array>

#include "gtest/gtest.h"

#include "gguf/gguf_writer.h"

namespace vivace {
namespace {

ModelFacts Facts(const GgufWriter& writer) {
  const auto bytes = writer.ToBytes();
  EXPECT_TRUE(bytes.has_value());
  const auto file = GgufFile::Parse(*bytes);
  EXPECT_TRUE(file.has_value());
  return FactsOf(*file);
}

TEST(ModelFactsTest, TellsWhatTheFileSays) {
  GgufWriter writer;
  writer.Set("general.architecture", "llama");
  writer.Set("general.name", "Tiny");
  writer.Set("general.license", "mit");
  writer.Set("llama.context_length", std::uint32_t{2048});
  writer.Set("llama.attention.head_count", std::uint32_t{8});
  const std::uint32_t by_layer[] = {2, 4};
  writer.SetArray<std::uint32_t>("llama.attention.head_count_kv", by_layer);
  writer.Set("tokenizer.ggml.model", "gpt2");
  const std::string_view tokens[] = {"a", "<|fim_prefix|>"};
  writer.SetStrings("tokenizer.ggml.tokens", tokens);
  writer.Set("tokenizer.chat_template", "{% if tools %}{% endif %}");
  const std::array<std::byte, 256> bytes = {};
  const std::span<const std::byte> view(bytes);
  writer.AddTensor({.name = "n", .type = QuantType::kF32, .dims = {4}, .bytes = view.first(16)});
  writer.AddTensor(
      {.name = "a", .type = QuantType::kQ4_0, .dims = {32, 2}, .bytes = view.first(36)});
  writer.AddTensor(
      {.name = "b", .type = QuantType::kQ4_0, .dims = {32, 1}, .bytes = view.first(18)});

  const ModelFacts facts = Facts(writer);
  EXPECT_EQ(facts.architecture, "llama");
  EXPECT_EQ(facts.title, "Tiny");
  EXPECT_EQ(facts.license, "mit");
  EXPECT_EQ(facts.context, 2048U);
  EXPECT_EQ(facts.heads, 8U);
  EXPECT_EQ(facts.kv_heads, std::nullopt);
  EXPECT_EQ(facts.layers, std::nullopt);
  EXPECT_EQ(facts.parameters, 100U);
  EXPECT_EQ(facts.tensor_bytes, 70U);
  EXPECT_DOUBLE_EQ(facts.bits_per_parameter(), 5.6);
  ASSERT_EQ(facts.quants.size(), 2U);
  EXPECT_EQ(facts.quants[0].type, "Q4_0");
  EXPECT_EQ(facts.quants[0].tensors, 2U);
  EXPECT_EQ(facts.quants[0].values, 96U);
  EXPECT_EQ(facts.quants[0].bytes, 54U);
  EXPECT_EQ(facts.quants[1].type, "F32");
  EXPECT_EQ(facts.tokens, 2U);
  EXPECT_EQ(facts.capabilities,
            (std::vector<std::string>{"completion", "chat", "tools", "infill"}));
}

TEST(ModelFactsTest, AnEmptyFileSaysNothing) {
  const ModelFacts facts = Facts(GgufWriter());
  EXPECT_EQ(facts.architecture, "");
  EXPECT_EQ(facts.parameters, 0U);
  EXPECT_EQ(facts.bits_per_parameter(), 0);
  EXPECT_EQ(facts.capabilities, std::vector<std::string>{"completion"});
}

}  // namespace
}  // namespace vivace
