// POST /api/generate
#include <utility>

#include <fmt/format.h>

#include "api/endpoints.h"
#include "api/infill_prompt.h"
#include "api/ollama_form.h"
#include "base/clock.h"
#include "chat/prompt.h"

namespace vivace {
namespace {

struct Prompt {
  std::string text;
  std::string suffix;
  std::string system;
  std::string chat_template;  // "": the model's
  std::vector<TokenId> context;
  bool raw = false;
};

std::vector<TokenId> ReadContextIds(Fields& fields, std::size_t vocab_size) {
  std::vector<TokenId> ids;
  const Json* context = fields.Array("context");
  if (context == nullptr) return ids;
  ids.reserve(context->size());
  for (const Json& value : *context) {
    const bool in_vocabulary =
        value.is_number_unsigned() && value.get<std::uint64_t>() < vocab_size;
    if (!in_vocabulary) {
      fields.Reject("context", fmt::format("{} is no token, allowed is 0 to {}",
                                           Dump(value).substr(0, 40), vocab_size - 1));
      return {};
    }
    ids.push_back(value.get<TokenId>());
  }
  return ids;
}

Answer<Prompt> ReadPrompt(Fields& fields, const Tokenizer& tokenizer) {
  Prompt prompt = {.text = fields.Text("prompt"),
                   .suffix = fields.Text("suffix"),
                   .system = fields.Text("system"),
                   .chat_template = fields.Text("template"),
                   .context = ReadContextIds(fields, tokenizer.vocab_size()),
                   .raw = fields.Bool("raw", false)};
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  return prompt;
}

ChatRequest ConversationOf(const Prompt& prompt, const DerivedModel* derived) {
  ChatRequest chat;
  if (!prompt.system.empty()) {
    chat.messages.push_back({.role = "system", .content = prompt.system});
  }
  if (derived != nullptr) {
    for (const ModelfileMessage& message : derived->modelfile.messages) {
      chat.messages.push_back({.role = message.role, .content = message.content});
    }
  }
  chat.messages.push_back({.role = "user", .content = prompt.text});
  return chat;
}

// Goes on from the ids of an earlier answer, which end where the model stopped: what closes
// that answer comes first. A short conversation with an answer that can be found again shows
// how the template does that.
Answer<void> SetContinuedPrompt(const ChatTemplate& chat_template, const Prompt& prompt,
                                Generation& generation) {
  // Of one token or more, but never found by chance.
  const std::string answer = "4f1b7c9e answer 4f1b7c9e";
  ChatRequest chat;
  chat.messages = {{.role = "user", .content = "x"},
                   {.role = "assistant", .content = answer},
                   {.role = "user", .content = prompt.text}};
  std::vector<TokenId> ids = prompt.context;
  const double start_ms = NowMs();
  const auto pieces = chat_template.Render(chat);
  if (!pieces) return Refusal(pieces.error());
  std::vector<PromptPiece> later;
  for (const PromptPiece& piece : *pieces) {
    const std::size_t found = piece.control ? std::string::npos : piece.text.find(answer);
    if (found != std::string::npos) {
      later.clear();
      if (found + answer.size() < piece.text.size()) {
        later.push_back({.text = piece.text.substr(found + answer.size())});
      }
    } else {
      later.push_back(piece);
    }
  }
  const auto next = EncodePieces(generation.model->model(), later);
  ids.insert(ids.end(), next.begin(), next.end());
  generation.request.prompt = std::move(ids);
  generation.preparation.template_ms = NowMs() - start_ms;
  return {};
}

Answer<void> SetPrompt(const Prompt& prompt, Generation& generation) {
  if (prompt.raw) {
    SetTextPrompt(prompt.text, true, generation);
    return {};
  }
  if (!prompt.suffix.empty()) {
    if (!prompt.context.empty()) return RefuseInput("context: goes with no suffix");
    const Tokenizer& tokenizer = generation.model->tokenizer();
    const auto tokens = FindInfillTokens(tokenizer);
    if (!tokens) {
      return RefuseInput(
          fmt::format("suffix: {} does not support insertion", generation.model_name()));
    }
    generation.request.prompt =
        InfillPrompt({.prefix = prompt.text, .suffix = prompt.suffix}, *tokens, tokenizer);
    return {};
  }
  const auto own = OwnTemplate(prompt.chat_template, generation);
  if (!own) return Refusal(own.error());
  const ChatTemplate& chat_template = *own ? **own : generation.model->chat();
  if (!prompt.context.empty()) return SetContinuedPrompt(chat_template, prompt, generation);
  const ChatRequest chat = ConversationOf(prompt, generation.derived.get());
  return SetChatPrompt(chat_template, chat, generation);
}

Answer<void> Generate(Call& call) {
  Fields fields(call.body);
  if (fields.IsEmpty("prompt") && fields.IsEmpty("suffix")) {
    return LoadOrUnload(call, fields, OllamaKind::kGenerate);
  }
  if (fields.Has("raw") && *fields.Find("raw") == true) {
    // Before the model's own defaults come in.
    for (const char* name : {"template", "system", "context", "suffix"}) {
      if (!fields.IsEmpty(name)) {
        return RefuseInput(fmt::format("{}: raw prompts are taken as they are", name));
      }
    }
  }
  auto request = ReadOllamaRequest(call, fields);
  if (!request) return Refusal(std::move(request).error());
  const auto prompt = ReadPrompt(fields, request->generation.model->tokenizer());
  if (!prompt) return Refusal(prompt.error());
  if (const auto set = SetPrompt(*prompt, request->generation); !set) return set;
  return StartOllama(call, std::move(*request), OllamaKind::kGenerate);
}

}  // namespace

void AddOllamaGenerate(http::Router& router, Service& service) {
  router.Add("POST", "/api/generate", JsonEndpoint(service, Generate));
}

}  // namespace vivace
