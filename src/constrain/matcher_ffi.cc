#include <algorithm>
#include <optional>

#include <vivace_ffi.h>

#include "constrain/matcher.h"

namespace vivace {
namespace {

template <class To, class From>
To* As(From* handle) {
  return static_cast<To*>(static_cast<void*>(handle));
}

// Copies the library's text and frees it.
std::string Take(vivace_text& text) {
  std::string copy(text.size == 0 ? "" : text.data, text.size);
  vivace_text_free(&text);
  return copy;
}

vivace_view View(std::string_view text) { return {.data = text.data(), .size = text.size()}; }

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::uint8_t KindOf(const Tokenizer& tokenizer, TokenId id) {
  if (tokenizer.IsEndOfGeneration(id)) return VIVACE_TOKEN_END;
  switch (tokenizer.Type(id)) {
    case TokenType::kControl:
    case TokenType::kUnknown:
      return VIVACE_TOKEN_CONTROL;
    case TokenType::kUnused:
      return VIVACE_TOKEN_UNUSED;
    default:
      return VIVACE_TOKEN_TEXT;
  }
}

bool Spell(const Tokenizer& tokenizer, std::span<const TokenId> tokens, std::string_view text) {
  for (const TokenId token : tokens) {
    const std::string_view piece = tokenizer.Piece(token);
    if (!text.starts_with(piece)) return false;
    text.remove_prefix(piece.size());
  }
  return text.empty();
}

// The longest token first, then that of what is left.
std::vector<TokenId> Greedily(const Tokenizer& tokenizer, std::string_view text) {
  constexpr std::size_t kLongest = 32;
  std::vector<TokenId> tokens;
  while (!text.empty()) {
    std::size_t size = std::min(text.size(), kLongest);
    std::optional<TokenId> token;
    for (; size > 0; --size) {
      token = tokenizer.Find(text.substr(0, size));
      if (token && !tokenizer.IsControl(*token)) break;
    }
    if (size == 0) return {};  // the vocabulary lacks a byte: nothing is forced
    tokens.push_back(*token);
    text.remove_prefix(size);
  }
  return tokens;
}

void Tokenize(const void* context, const char* text, std::size_t size, void* sink,
              vivace_emit emit) {
  const auto& tokenizer = *static_cast<const Tokenizer*>(context);
  const std::string_view view(text, size);
  std::vector<TokenId> tokens;
  tokenizer.Encode(view, Tokenizer::Special::kAsText, tokens);
  // Models that put a space before every text do so here, too.
  if (!Spell(tokenizer, tokens, view)) tokens = Greedily(tokenizer, view);
  const std::vector<std::uint32_t> ids(tokens.begin(), tokens.end());
  emit(sink, ids.data(), ids.size());
}

Result<void> Checked(std::int32_t status, vivace_text& error) {
  const std::string message = Take(error);
  if (status == VIVACE_GRAMMAR_OK) return {};
  return Fail(ErrorKind::kBadInput, message);
}

}  // namespace

void MatcherAnswer::Free::operator()(Handle* handle) const {
  vivace_answer_free(As<vivace_answer>(handle));
}

Result<void> MatcherAnswer::Mask(std::span<std::uint32_t> words) {
  vivace_text error{};
  const auto status =
      vivace_answer_mask(As<vivace_answer>(handle_.get()), words.data(), words.size(), &error);
  return Checked(status, error);
}

Result<void> MatcherAnswer::Consume(std::span<const TokenId> tokens) {
  static_assert(sizeof(TokenId) == sizeof(std::uint32_t));
  vivace_text error{};
  const auto* ids = static_cast<const std::uint32_t*>(static_cast<const void*>(tokens.data()));
  const auto status =
      vivace_answer_consume(As<vivace_answer>(handle_.get()), ids, tokens.size(), &error);
  return Checked(status, error);
}

std::size_t MatcherAnswer::Forced(std::span<TokenId> tokens) {
  auto* ids = static_cast<std::uint32_t*>(static_cast<void*>(tokens.data()));
  return vivace_answer_forced(As<vivace_answer>(handle_.get()), ids, tokens.size());
}

bool MatcherAnswer::Complete() const {
  vivace_text error{};
  const bool complete =
      vivace_answer_is_complete(As<const vivace_answer>(handle_.get()), &error) != 0;
  vivace_text_free(&error);
  return complete;
}

void CompiledGrammar::Free::operator()(Handle* handle) const {
  vivace_grammar_free(As<vivace_grammar>(handle));
}

Result<MatcherAnswer> CompiledGrammar::Begin() const {
  vivace_answer* answer = nullptr;
  vivace_text error{};
  const auto status =
      vivace_answer_create(As<const vivace_grammar>(handle_.get()), &answer, &error);
  VIVACE_RETURN_IF_ERROR(Checked(status, error));
  return MatcherAnswer(As<MatcherAnswer::Handle>(answer));
}

void TriggerPattern::Free::operator()(Handle* handle) const {
  vivace_pattern_free(As<vivace_pattern>(handle));
}

Result<TriggerPattern> TriggerPattern::Compile(std::string_view text, bool whole) {
  vivace_pattern* pattern = nullptr;
  vivace_text error{};
  const auto status = vivace_pattern_compile(View(text), whole ? 1 : 0, &pattern, &error);
  VIVACE_RETURN_IF_ERROR(Checked(status, error));
  return TriggerPattern(As<Handle>(pattern));
}

std::optional<std::size_t> TriggerPattern::Find(std::string_view text) const {
  std::size_t begin = 0;
  const auto* pattern = As<const vivace_pattern>(handle_.get());
  if (vivace_pattern_find(pattern, View(text), &begin) == 0) return std::nullopt;
  return begin;
}

void MatcherVocabulary::Free::operator()(Handle* handle) const {
  vivace_vocabulary_free(As<vivace_vocabulary>(handle));
}

bool MatcherVocabulary::Available() { return true; }

Result<MatcherVocabulary> MatcherVocabulary::Create(const Tokenizer& tokenizer, std::size_t size) {
  std::string bytes;
  std::vector<std::size_t> ends;
  std::vector<std::uint8_t> kinds;
  ends.reserve(size);
  kinds.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto id = static_cast<TokenId>(i);
    const bool known = i < tokenizer.vocab_size();
    if (known) bytes += tokenizer.Piece(id);
    ends.push_back(bytes.size());
    kinds.push_back(known ? KindOf(tokenizer, id) : std::uint8_t{VIVACE_TOKEN_UNUSED});
  }
  vivace_vocabulary* vocabulary = nullptr;
  vivace_text error{};
  const vivace_tokens tokens = {.bytes = bytes.data(),
                                .ends = ends.data(),
                                .kinds = kinds.data(),
                                .count = size,
                                .tokenize = Tokenize,
                                .context = &tokenizer};
  const auto status = vivace_vocabulary_create(&tokens, &vocabulary, &error);
  VIVACE_RETURN_IF_ERROR(Checked(status, error));
  return MatcherVocabulary(As<Handle>(vocabulary));
}

Result<CompiledGrammar> MatcherVocabulary::Compile(Kind kind, std::string_view text,
                                                   const Schemas& schemas) const {
  std::vector<vivace_schema> views;
  for (const auto& [name, schema] : schemas) {
    views.push_back({.name = View(name), .text = View(schema)});
  }
  constexpr std::int32_t kKinds[] = {VIVACE_GRAMMAR_JSON_SCHEMA, VIVACE_GRAMMAR_REGEX,
                                     VIVACE_GRAMMAR_LARK};
  vivace_grammar* grammar = nullptr;
  vivace_text warnings{};
  vivace_text error{};
  const vivace_source source = {.kind = kKinds[static_cast<std::size_t>(kind)],
                                .text = View(text),
                                .schemas = views.data(),
                                .count = views.size()};
  const auto status = vivace_grammar_compile(As<const vivace_vocabulary>(handle_.get()), &source,
                                             &grammar, &warnings, &error);
  std::vector<std::string> lines = Lines(Take(warnings));
  VIVACE_RETURN_IF_ERROR(Checked(status, error));
  return CompiledGrammar(As<CompiledGrammar::Handle>(grammar), std::move(lines));
}

}  // namespace vivace
