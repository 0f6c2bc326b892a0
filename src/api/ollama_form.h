// What Ollama's two generating endpoints have in common: fields, and the form of answers.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/endpoint.h"
#include "api/generation.h"
#include "api/model_pool.h"
#include "api/reply.h"

namespace vivace {

// A duration as Go writes it: "5m", "1h30m", "-1s", "1.5h", "300ms", "0".
std::optional<std::chrono::nanoseconds> ParseDuration(std::string_view text);

// How long the model shall stay in memory after the request: seconds as a number, or text
// as above; below zero is forever. Nothing where the request does not say.
struct KeepAliveWish {
  bool given = false;
  ModelPool::KeepAlive keep_alive = {};
  bool unload() const { return given && keep_alive && keep_alive->count() == 0; }
};
KeepAliveWish ReadKeepAlive(Fields& fields);

// "2026-11-30T14:05:00.123456Z"
std::string Rfc3339(std::chrono::system_clock::time_point time);

// "model", or in older clients "name". 400 where there is neither.
Answer<std::string> ReadModelName(Fields& fields);

// One of these requests, with its model.
struct OllamaRequest {
  Generation generation;
  std::string model_name;  // as asked for
  KeepAliveWish keep_alive;
  double start_ms = 0;
};

// Acquires the model and reads what both endpoints know: options, stream, keep_alive,
// logprobs. Refuses what cannot be honoured: format, think, images.
Answer<OllamaRequest> ReadOllamaRequest(Call& call, Fields& fields);

// How an answer says its text, and what its last object has of its own.
enum class OllamaKind : std::uint8_t { kGenerate, kChat };

// Answers from now on.
Answer<void> StartOllama(Call& call, OllamaRequest request, OllamaKind kind);

// A request without anything to answer: loads the model, or unloads it where keep_alive is 0.
Answer<void> LoadOrUnload(Call& call, Fields& fields, OllamaKind kind);

}  // namespace vivace
