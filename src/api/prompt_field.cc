#include "api/prompt_field.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "chat/prompt.h"
#include "tokenizer/stream_decoder.h"

namespace vivace {
namespace {

std::string Shown(const Json& value) {
  return value.is_structured() ? value.type_name() : Dump(value).substr(0, 40);
}

Answer<TokenId> ReadTokenId(const Json& value, const Tokenizer& tokenizer,
                            const std::string& where) {
  const auto most = static_cast<std::uint64_t>(tokenizer.vocab_size()) - 1;
  if (!value.is_number_integer()) {
    return RefuseInput(fmt::format("{}: expected a token id, got {}", where, Shown(value)));
  }
  // A negative one is huge without its sign.
  const auto id = value.is_number_unsigned()
                      ? value.get<std::uint64_t>()
                      : static_cast<std::uint64_t>(value.get<std::int64_t>());
  if (id > most) {
    return RefuseInput(
        fmt::format("{}: token {} is out of range, allowed is 0 to {}", where, Dump(value), most));
  }
  return static_cast<TokenId>(id);
}

// Whether an array is one prompt of ids, or ids and texts. An empty one has no tokens.
bool IsOnePrompt(const Json& array) {
  const bool flat = std::ranges::none_of(array, [](const Json& e) { return e.is_structured(); });
  return flat && (array.empty() ||
                  std::ranges::any_of(array, [](const Json& e) { return !e.is_string(); }));
}

// Ids and texts in their order; `first_text` encodes a text at the beginning.
template <class FirstText>
Answer<TokenIds> ReadMixed(const Json& array, const Tokenizer& tokenizer,
                           Tokenizer::Special special, const std::string& where,
                           const FirstText& first_text) {
  TokenIds ids;
  for (std::size_t i = 0; i < array.size(); ++i) {
    const Json& part = array[i];
    if (part.is_string()) {
      if (i == 0) {
        ids = first_text(part.get_ref<const std::string&>());
      } else {
        tokenizer.Encode(part.get_ref<const std::string&>(), special, ids);
      }
      continue;
    }
    const auto id = ReadTokenId(part, tokenizer, fmt::format("{}[{}]", where, i));
    if (!id) return Refusal(id.error());
    ids.push_back(*id);
  }
  return ids;
}

Answer<TokenIds> ReadPromptObject(const Json& object, const Model& model,
                                  const std::string& where) {
  const auto media = object.find("multimodal_data");
  if (media != object.end() && !media->is_null() && !media->empty()) {
    return NotSupported(where + ".multimodal_data: images and sound are not available");
  }
  const auto text = object.find("prompt_string");
  if (text == object.end() || !text->is_string()) {
    return RefuseInput(where + ".prompt_string: needed, a string");
  }
  return RawPrompt(model, text->get_ref<const std::string&>(), true);
}

Answer<TokenIds> ReadOnePrompt(const Json& value, const Model& model, const std::string& where) {
  if (value.is_string()) return RawPrompt(model, value.get_ref<const std::string&>(), true);
  if (value.is_object()) return ReadPromptObject(value, model, where);
  if (!value.is_array() || !IsOnePrompt(value)) {
    return RefuseInput(
        fmt::format("{}: expected a string, token ids, ids and strings mixed, or an object with "
                    "\"prompt_string\", got {}",
                    where, value.is_array() ? "an array of something else" : Shown(value)));
  }
  return ReadMixed(value, model.tokenizer(), Tokenizer::Special::kParse, where,
                   [&](const std::string& text) { return RawPrompt(model, text, true); });
}

}  // namespace

Answer<std::vector<TokenIds>> ReadPrompts(const Json& value, const Model& model) {
  std::vector<TokenIds> prompts;
  const bool several = value.is_array() && !IsOnePrompt(value);
  const std::size_t count = several ? value.size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    auto prompt = several ? ReadOnePrompt(value[i], model, fmt::format("prompt[{}]", i))
                          : ReadOnePrompt(value, model, "prompt");
    if (!prompt) return Refusal(std::move(prompt).error());
    prompts.push_back(std::move(*prompt));
  }
  return prompts;
}

Answer<TokenIds> ReadContent(const Json& value, const Tokenizer& tokenizer,
                             Tokenizer::Special special) {
  const auto encode = [&](const std::string& text) {
    TokenIds ids;
    tokenizer.Encode(text, special, ids);
    return ids;
  };
  if (value.is_string()) return encode(value.get_ref<const std::string&>());
  if (value.is_array()) return ReadMixed(value, tokenizer, special, "content", encode);
  return RefuseInput("content: expected a string, or an array of token ids and strings, got " +
                     Shown(value));
}

Answer<TokenIds> ReadTokenIds(const Json& value, const Tokenizer& tokenizer,
                              const std::string& where) {
  if (!value.is_array()) {
    return RefuseInput(
        fmt::format("{}: expected an array of token ids, got {}", where, Shown(value)));
  }
  TokenIds ids;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto id = ReadTokenId(value[i], tokenizer, fmt::format("{}[{}]", where, i));
    if (!id) return Refusal(id.error());
    ids.push_back(*id);
  }
  return ids;
}

std::string TextOfTokens(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  StreamDecoder decoder(tokenizer, StreamDecoder::Control::kShow);
  std::string text;
  for (const TokenId id : ids) text += decoder.Push(id);
  text += decoder.Finish();
  return text;
}

Answer<void> SetPrompts(const Fields& fields, Generation& generation) {
  const Json* prompt = fields.Find("prompt");
  if (prompt == nullptr) {
    return RefuseInput("prompt: needed, a string, token ids, or an array of prompts");
  }
  const double start_ms = NowMs();
  auto prompts = ReadPrompts(*prompt, generation.model->model());
  if (!prompts) return Refusal(std::move(prompts).error());
  generation.preparation.tokenize_ms = NowMs() - start_ms;
  generation.request.prompt = std::move(prompts->front());
  generation.more_prompts.assign(std::make_move_iterator(prompts->begin() + 1),
                                 std::make_move_iterator(prompts->end()));
  return {};
}

}  // namespace vivace
