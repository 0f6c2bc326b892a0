// Generation: what one request wants of a model, in no dialect, and how it is started.
//
// Endpoints read it from their request's fields and give it away together with a
// ReplyFormat, which turns what the engine tells into the bytes of their dialect.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/context_policy.h"
#include "api/endpoint.h"
#include "api/errors.h"
#include "api/fields.h"
#include "api/model_pool.h"
#include "api/timings.h"
#include "chat/tool_calls.h"
#include "engine/request.h"

namespace vivace {

class ReplyFormat;

// How a streamed answer is cut into events: one is sent as soon as it has so many tokens,
// or so long after the one before, whichever comes first.
struct StreamCut {
  std::int64_t tokens = 1;
  double ms = 0;  // 0: by tokens only
};

struct Generation {
  // What answers call the model: the derived one's name, or the model's own.
  const std::string& model_name() const { return derived ? derived->name : model->name(); }

  ModelLease model;
  GenerateRequest request;   // of the first choice; the others differ in their seed
  std::int64_t choices = 1;  // of each prompt
  // Of further prompts, answered with the first; each has as many choices.
  std::vector<std::vector<TokenId>> more_prompts = {};
  bool seeded = false;  // by the request, not by chance
  Preparation preparation = {};
  std::string fingerprint = {};  // of server and model, for clients that compare answers
  bool stream = false;
  StreamCut cut = {};
  bool report_progress = false;  // events while the prompt is evaluated
  ContextPolicy context_policy = {};
  std::int64_t context = 0;  // "num_ctx": fewer positions than the model has; 0: all
  std::shared_ptr<const DerivedModel> derived = {};  // as in Call
  // The calls of tools that answers may have in them; null: none are looked for.
  std::shared_ptr<const ToolCallOptions> tool_calls = {};
  std::optional<GrammarSource> form = {};  // that the request asks for
};

// "model": the one that the request names. Where that is derived from another, what the
// request leaves out is put into its body, and the call knows.
Answer<ModelLease> AcquireModel(Call& call, Fields& fields);

// The fields that belong to no dialect alone: "stream_chunk", "cache_id", "context_policy",
// "n_keep" and "num_ctx", that one also inside "options".
void ReadOwnFields(Fields& fields, Generation& generation);
// Those, and what OpenAI's and llama.cpp's requests have in common: sampling, "max_tokens"
// and its other names, "stop", "n", "stream", "ignore_eos".
void ReadGeneration(Call& call, Fields& fields, Generation& generation);

// Stop strings that spell a control token work by their id as well.
void AddStops(const Tokenizer& tokenizer, std::vector<std::string> stops, GenerateRequest& request);

// The chat template that `text` stands for (see TemplateSource), or where it is empty the
// derived model's; nothing: the model's own counts. 400 and 501 say what is wrong with it.
Answer<std::optional<ChatTemplate>> OwnTemplate(const std::string& text,
                                                const Generation& generation);

// A prompt's ids from text, timed.
void SetTextPrompt(const std::string& text, bool parse_special, Generation& generation);
// From a conversation. 400 where the template refuses it.
Answer<void> SetChatPrompt(const ChatRequest& chat, Generation& generation);

Answer<void> SetChatPrompt(const ChatTemplate& chat_template, const ChatRequest& chat,
                           Generation& generation);

// 400 where a prompt does not fit; with a policy that allows it, the first one is made to.
Answer<void> CheckLength(Call& call, Generation& generation);

// Hands the choices to the engine; the format answers from now on. A prompt without tokens
// has an empty answer. Errors before the first byte: a prompt that does not fit, more
// answers than the queue holds, a full queue.
Answer<void> Start(Call& call, Generation generation, std::unique_ptr<ReplyFormat> format);

}  // namespace vivace
