// What goes into the engine and what comes out: a request, its events and its timings.
//
// Plain values without threads: the engine, the generator and their clients share them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/token_id.h"
#include "constrain/constraint.h"
#include "sampling/params.h"
#include "sampling/probabilities.h"

namespace vivace {

enum class FinishReason : std::uint8_t { kStop, kLength, kStopString, kCancelled, kFailed };
// "stop", "length", "stop", "cancelled", "error"
const char* FinishReasonName(FinishReason reason);

enum class Priority : std::uint8_t {
  kOrdinary,
  // Runs only while no ordinary request does, a slice at a time, and gives its pages up
  // when an ordinary one needs them: for prompts that are evaluated ahead of time.
  kBackground,
};

struct GenerateRequest {
  std::vector<TokenId> prompt;  // at least one token
  SamplingParams sampling = {};
  std::int64_t max_tokens = -1;        // -1: until the context is full; 0: evaluate the prompt only
  std::vector<std::string> stop = {};  // the text ends before the first of them
  // The text ends with a line break after which fewer spaces and tabs follow; 0: never.
  std::size_t min_indent = 0;
  std::vector<TokenId> stop_tokens = {};  // the same, for tokens that are no text
  ConstraintSpec constraint = {};         // the form that the answer must have
  std::size_t logprobs = 0;  // most likely tokens to report per step, by a plain softmax
  // Those of the distribution that the token was drawn from, instead: fewer where filters
  // leave fewer.
  bool logprobs_of_kept = false;
  bool ignore_end = false;  // go on after an end-of-generation token
  // Ends an answer that has a line break and is this long after its first token; 0: never.
  double max_decode_ms = 0;
  // When the context is full, forget the older half of what follows the first `keep`
  // tokens and go on, until max_tokens or as many tokens as the context has positions.
  bool shift = false;
  std::int64_t keep = 0;
  std::int64_t dropped = 0;  // tokens that were left out of the prompt, for the timings
  // Give the mean of the prompt's last hidden states instead of tokens: max_tokens is 0.
  // All of the prompt is evaluated then, whatever is cached.
  bool embed = false;
  // Tell how likely each token of the prompt was, with as many of the likeliest beside it as
  // `logprobs` says. All of the prompt is evaluated then, too.
  bool score_prompt = false;
  Priority priority = Priority::kOrdinary;
  // Whether several tokens may be computed at once where it is likely how the answer goes on.
  // Changes no result.
  bool speculation = true;
  // Whose answers may tell about this one, and may learn from it: of one owner only.
  std::uint64_t owner = 0;
  // Names the conversation, or "": its pages are the last to be evicted, and a newer
  // request with the same name replaces a background one. Changes no result.
  std::string cache_id = {};

  // Whether all of the prompt is evaluated, whatever is cached.
  bool wants_all_rows() const { return embed || score_prompt; }
};

// All times are wall clock, in milliseconds.
struct GenerateTimings {
  std::int64_t prompt_tokens = 0;
  std::int64_t cached_tokens = 0;   // of the prompt, whose keys and values were there already
  std::int64_t dropped_tokens = 0;  // of prompt and answer, to stay within the context
  double queue_ms = 0;              // from the request's arrival until it was admitted
  double cache_ms = 0;              // looking up, reading from disk and copying what is cached
  double prefill_ms = 0;            // from admission to the end of the prompt's evaluation
  double first_token_ms = 0;        // from arrival to the first token
  std::int64_t decoded_tokens = 0;
  std::int64_t forced_tokens = 0;  // of them, that the grammar left no choice about
  double decode_ms = 0;            // first token to last
  // Tokens that were chosen without reading the whole output matrix, and the rows of it
  // that came into question for them, in total.
  std::int64_t coarse_tokens = 0;
  std::int64_t coarse_candidates = 0;
  std::int64_t drafted_tokens = 0;   // evaluated before they were chosen
  std::int64_t accepted_tokens = 0;  // of those, the right ones
};

// The token chosen at one step, and how likely tokens were.
struct Choice {
  TokenId token = 0;
  double logprob = 0;             // of `token`, where logprobs were asked for
  std::vector<TokenLogprob> top;  // as many as asked for, most likely first
};

// --- Events: what views and references point to lasts for the call only. ---

// The request runs: once, before all but a Done.
struct AdmittedEvent {
  const GenerateTimings& timings;
};
// A part of the prompt was evaluated.
struct ProgressEvent {
  std::int64_t evaluated;  // of prompt_tokens, with the cached ones
  const GenerateTimings& timings;
};
// Of a request that scores its prompt, in order: the token, given those before it. The first
// token of a prompt has none.
struct PromptTokenEvent {
  const Choice& choice;
  const GenerateTimings& timings;
};
// A token that is not the end of the generation. `text` is what has become certain with
// it, often that of earlier tokens; all texts of a request add up to the answer.
struct TokenEvent {
  const Choice& choice;
  std::string_view text;
  const GenerateTimings& timings;
};
// The last event of every request.
struct DoneEvent {
  FinishReason reason;
  std::string_view stopping_word;  // of kStopString
  std::string_view text;           // what was held back until now
  const GenerateTimings& timings;
  std::span<const float> embedding = {};  // [hidden] of unit length, where asked for
  std::string_view error = {};            // of kFailed: why the answer has no end
};

using Event = std::variant<AdmittedEvent, ProgressEvent, PromptTokenEvent, TokenEvent, DoneEvent>;

// Called on the thread that runs the steps, between two of them: everyone waits for it. It
// must not block, and not call back into the engine but to submit.
using EventSink = std::function<void(const Event&)>;

}  // namespace vivace
