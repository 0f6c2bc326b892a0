// What the tests of this module share: a tiny model with seeded random weights and
// requests of every kind.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "base/clock.h"
#include "base/testing.h"
#include "base/thread_team.h"
#include "engine/core.h"
#include "engine/request.h"
#include "gguf/gguf_writer.h"
#include "kernels/dispatch.h"
#include "model/loader.h"
#include "quant/encode.h"

namespace vivace {

// Two layers, 4 heads of 16 in 2 groups, 160 tokens: printable ASCII, two bytes that only
// together are a character, pairs of letters and an end token. Its head has a coarse plane.
class TinyModel {
 public:
  explicit TinyModel(std::uint32_t seed = 7, const KernelTable& kernels = **SelectKernels(""))
      : files_("tiny_model"), random_(seed) {
    AddVocabulary();
    AddConfig();
    AddTensors();
    const std::string path = files_.root() + "tiny.gguf";
    const auto written = writer_.WriteFile(path);
    EXPECT_TRUE(written.has_value()) << written.error().message;
    ThreadTeam team({.threads = 1});
    auto loaded = LoadModel(path, kernels, team, {});
    EXPECT_TRUE(loaded.has_value()) << loaded.error().message;
    model_.emplace(std::move(loaded->model));
  }

  const Model& model() const { return *model_; }

  static constexpr std::int64_t kVocab = 160;
  static constexpr TokenId kEnd = 159;

 private:
  void AddVocabulary() {
    std::vector<std::string> names;
    for (char c = '!'; c <= '~'; ++c) names.emplace_back(1, c);
    names.insert(names.end(), {"\u00c3", "\u00a4"});
    for (char a = 'a'; names.size() < kVocab - 1; ++a) {
      for (char b = 'a'; b <= 'h' && names.size() < kVocab - 1; ++b) {
        names.push_back(std::string(1, a) + b);
      }
    }
    names.emplace_back("<|end|>");
    const std::vector<std::string_view> views(names.begin(), names.end());
    std::vector<std::int32_t> types(names.size(), 1);
    types.back() = 3;
    const std::string_view merges[] = {"a a"};
    writer_.Set("tokenizer.ggml.model", std::string_view("gpt2"));
    writer_.Set("tokenizer.ggml.pre", std::string_view("qwen2"));
    writer_.SetStrings("tokenizer.ggml.tokens", views);
    writer_.SetArray<std::int32_t>("tokenizer.ggml.token_type", types);
    writer_.SetStrings("tokenizer.ggml.merges", merges);
    writer_.Set("tokenizer.ggml.eos_token_id", static_cast<std::uint32_t>(kEnd));
  }

  void AddConfig() {
    writer_.Set("general.architecture", std::string_view("qwen2"));
    const std::pair<const char*, std::uint32_t> numbers[] = {
        {"block_count", 2},           {"context_length", 4096},    {"embedding_length", 64},
        {"feed_forward_length", 128}, {"attention.head_count", 4}, {"attention.head_count_kv", 2}};
    for (const auto& [key, value] : numbers) writer_.Set(std::string("qwen2.") + key, value);
    writer_.Set("qwen2.attention.layer_norm_rms_epsilon", 1e-6F);
    writer_.Set("qwen2.rope.freq_base", 10000.0F);
  }

  void AddTensors() {
    Matrix("token_embd.weight", kVocab, 64, 0.4F);
    for (int layer = 0; layer < 2; ++layer) {
      const std::string block = "blk." + std::to_string(layer) + ".";
      Vector(block + "attn_norm.weight", 64, 1);
      Matrix(block + "attn_q.weight", 64, 64, 0.2F);
      Matrix(block + "attn_k.weight", 32, 64, 0.2F);
      Matrix(block + "attn_v.weight", 32, 64, 0.2F);
      Matrix(block + "attn_output.weight", 64, 64, 0.2F);
      Vector(block + "attn_q.bias", 64, 0);
      Vector(block + "attn_k.bias", 32, 0);
      Vector(block + "attn_v.bias", 32, 0);
      Vector(block + "ffn_norm.weight", 64, 1);
      Matrix(block + "ffn_gate.weight", 128, 64, 0.2F);
      Matrix(block + "ffn_up.weight", 128, 64, 0.2F);
      Matrix(block + "ffn_down.weight", 64, 128, 0.2F);
    }
    Vector("output_norm.weight", 64, 1);
  }

  float Random() { return static_cast<float>(random_() >> 8) * 0x1p-24F - 0.5F; }

  void Matrix(const std::string& name, std::size_t rows, std::size_t k, float scale) {
    const std::size_t row_bytes = *RowBytes(QuantType::kQ8_0, k);
    std::vector<std::byte>& bytes = bytes_.emplace_back(rows * row_bytes);
    std::vector<float> row(k);
    for (std::size_t i = 0; i < rows; ++i) {
      for (float& value : row) value = 3 * scale * Random();
      EncodeRow(QuantType::kQ8_0, row.data(), k, bytes.data() + i * row_bytes);
    }
    Add(name, QuantType::kQ8_0, {k, rows}, bytes);
  }

  void Vector(const std::string& name, std::size_t size, float middle) {
    std::vector<float> values(size);
    for (float& value : values) value = middle + 0.2F * Random();
    const auto raw = std::as_bytes(std::span(values));
    Add(name, QuantType::kF32, {size}, bytes_.emplace_back(raw.begin(), raw.end()));
  }

  void Add(const std::string& name, QuantType type, std::vector<std::uint64_t> dims,
           const std::vector<std::byte>& bytes) {
    names_.push_back(std::make_unique<std::string>(name));
    writer_.AddTensor(
        {.name = *names_.back(), .type = type, .dims = std::move(dims), .bytes = bytes});
  }

  FileTree files_;
  std::mt19937 random_;
  GgufWriter writer_;
  std::list<std::vector<std::byte>> bytes_;
  std::vector<std::unique_ptr<std::string>> names_;
  std::optional<Model> model_;
};

// One for all tests of a program: making it costs more than they do.
inline const Model& TestModel() {
  static const TinyModel model;
  return model.model();
}

// All that a request's events have said.
struct Outcome {
  std::vector<TokenId> tokens;
  std::vector<double> logprobs;
  std::string text;
  std::optional<FinishReason> reason;  // of the DoneEvent
  std::string stopping_word;
  GenerateTimings timings;
  int admitted = 0;
  std::vector<std::int64_t> progress;
  std::vector<float> embedding;
  std::vector<Choice> scores;  // of the prompt's tokens but the first

  // What must not depend on company, cache, threads or cuts.
  bool SameAnswer(const Outcome& other) const {
    return tokens == other.tokens && logprobs == other.logprobs && text == other.text &&
           reason == other.reason && stopping_word == other.stopping_word;
  }
};

// A sink that writes down the events. `outcome` must outlive the request.
inline EventSink Record(Outcome& outcome) {
  struct Recorder {
    Outcome& out;
    void operator()(const AdmittedEvent& event) const {
      ++out.admitted;
      out.timings = event.timings;
    }
    void operator()(const ProgressEvent& event) const { out.progress.push_back(event.evaluated); }
    void operator()(const PromptTokenEvent& event) const { out.scores.push_back(event.choice); }
    void operator()(const TokenEvent& event) const {
      out.tokens.push_back(event.choice.token);
      out.text += event.text;
      if (event.choice.top.empty()) return;
      out.logprobs.push_back(event.choice.logprob);
      for (const TokenLogprob& entry : event.choice.top) out.logprobs.push_back(entry.logprob);
    }
    void operator()(const DoneEvent& event) const {
      EXPECT_FALSE(out.reason.has_value()) << "two DoneEvents";
      out.reason = event.reason;
      out.stopping_word = event.stopping_word;
      out.text += event.text;
      out.timings = event.timings;
      out.embedding.assign(event.embedding.begin(), event.embedding.end());
    }
  };
  return [&outcome](const Event& event) { std::visit(Recorder{outcome}, event); };
}

// Seeded tokens, none of them the end.
inline std::vector<TokenId> RandomTokens(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<TokenId> tokens(count);
  for (TokenId& token : tokens) token = static_cast<TokenId>(random() % (TinyModel::kVocab - 1));
  return tokens;
}

inline SamplingParams Greedy() {
  SamplingParams sampling;
  sampling.temperature = 0;
  return sampling;
}

// Greedy and sampled ones, with and without penalties, stop strings, logprobs and limits,
// of lengths 1 to 150; a third of them begin like another one.
inline GenerateRequest MixedRequest(std::uint32_t seed) {
  std::mt19937 random(seed * 7919 + 1);
  GenerateRequest request;
  if (random() % 3 == 0) request.prompt = RandomTokens(20 + random() % 60, seed % 3);
  const auto rest = RandomTokens(1 + random() % (seed % 5 == 0 ? 150 : 30), seed + 100);
  request.prompt.insert(request.prompt.end(), rest.begin(), rest.end());
  request.sampling.seed = seed;
  request.sampling.temperature = random() % 2 == 0 ? 0.0F : 1.0F;
  if (random() % 4 == 0) request.sampling.repeat_penalty = 1.3F;
  if (random() % 4 == 0) request.sampling.top_k = 0;
  if (random() % 4 == 0) request.logprobs = 3;
  if (random() % 3 == 0) request.stop = {"a", "zz", "}"};
  request.ignore_end = random() % 2 == 0;
  request.max_tokens = static_cast<std::int64_t>(random() % 40);
  if (random() % 3 == 0) request.cache_id = "conversation " + std::to_string(random() % 5);
  return request;
}

}  // namespace vivace
