// CompletionFormat: how /completion and /infill answer, as llama.cpp's clients expect it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "api/reply.h"

namespace vivace {

struct CompletionOptions {
  bool return_tokens = false;
  bool timings_per_token = false;
  // Of the last object only: names, or paths with slashes; empty: all.
  std::vector<std::string> response_fields;
  // Between the pings of a silent stream; zero: none; not set: the server's.
  std::optional<std::chrono::milliseconds> ping_time;
  Json settings;  // as they are echoed
};

class CompletionFormat : public ReplyFormat {
 public:
  explicit CompletionFormat(CompletionOptions options) : options_(std::move(options)) {}

  http::Response Whole(std::span<const Outcome> outcomes) override;
  http::StreamHead Head() override;
  void Progress(const Outcome& outcome, std::int64_t evaluated, std::string& out) override;
  void Next(const Part& part, std::string& out) override;
  void End(const Outcome& outcome, std::string& out) override;
  void Fail(const ApiError& error, std::string& out) override;

 private:
  const Tokenizer& tokenizer() const { return generation().model->tokenizer(); }
  Json Chunk(const Outcome& outcome, std::string_view text, std::span<const Choice> steps) const;
  Json Final(const Outcome& outcome, bool with_text) const;

  CompletionOptions options_;
};

// The fields of `answer` that are asked for; a path with slashes reaches into objects and
// is the name of what it finds. What is not there is left out.
Json PickFields(const Json& answer, const std::vector<std::string>& paths);

// "completion_probabilities": of each step the chosen token and the most likely ones, as
// logarithms, or as plain numbers of the distribution that it was drawn from.
Json StepProbabilities(const Tokenizer& tokenizer, std::span<const Choice> steps, bool of_kept);

}  // namespace vivace
