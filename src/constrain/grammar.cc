#include "constrain/grammar.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/clock.h"
#include "constrain/gbnf.h"

namespace vivace {

const char* GrammarKindName(GrammarKind kind) {
  switch (kind) {
    case GrammarKind::kJsonSchema:
      return "json_schema";
    case GrammarKind::kGbnf:
      return "gbnf";
    case GrammarKind::kRegex:
      return "regex";
    case GrammarKind::kLark:
      return "lark";
  }
  return "";
}

GrammarSource AnyJsonObject() {
  return {.kind = GrammarKind::kJsonSchema, .text = R"({"type": "object"})"};
}

GrammarCompiler::GrammarCompiler(const Tokenizer& tokenizer, std::size_t vocab_size,
                                 const GrammarLimits& limits)
    : tokenizer_(tokenizer), vocab_size_(vocab_size), limits_(limits) {}

Result<void> GrammarCompiler::Prepare() {
  const std::lock_guard lock(vocabulary_mutex_);
  if (!vocabulary_) vocabulary_ = MatcherVocabulary::Create(tokenizer_, vocab_size_);
  if (!*vocabulary_) return Failure(vocabulary_->error());
  return {};
}

void GrammarCompiler::PrepareAhead() {
  const auto done = [this] {
    const std::lock_guard lock(vocabulary_mutex_);
    return vocabulary_.has_value();
  };
  if (done()) return;
  auto vocabulary = MatcherVocabulary::Create(tokenizer_, vocab_size_);
  const std::lock_guard lock(vocabulary_mutex_);
  if (!vocabulary_) vocabulary_ = std::move(vocabulary);
}

std::shared_ptr<const Grammar> GrammarCompiler::Find(const GrammarSource& source) {
  const std::lock_guard lock(kept_mutex_);
  const auto found = std::ranges::find(kept_, source, &Kept::source);
  if (found == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found);
  return found->grammar;
}

void GrammarCompiler::Keep(const GrammarSource& source,
                           const std::shared_ptr<const Grammar>& grammar) {
  const std::lock_guard lock(kept_mutex_);
  kept_.push_front({.source = source, .grammar = grammar});
  if (kept_.size() > limits_.cached) kept_.pop_back();
}

Result<std::shared_ptr<const Grammar>> GrammarCompiler::Compile(const GrammarSource& source) {
  std::size_t bytes = source.text.size();
  for (const auto& [name, text] : source.schemas) bytes += name.size() + text.size();
  if (bytes > limits_.max_bytes) {
    return Fail(ErrorKind::kBadInput, fmt::format("the grammar has {} bytes, allowed is up to {}",
                                                  bytes, limits_.max_bytes));
  }
  if (auto kept = Find(source)) return kept;
  auto grammar = CompileAnew(source);
  if (grammar) Keep(source, *grammar);
  return grammar;
}

Result<std::shared_ptr<const Grammar>> GrammarCompiler::CompileAnew(const GrammarSource& source) {
  VIVACE_RETURN_IF_ERROR(Prepare());
  const double start_ms = NowMs();
  using Language = MatcherVocabulary::Kind;
  Language language = Language::kLark;
  if (source.kind == GrammarKind::kJsonSchema) language = Language::kJsonSchema;
  if (source.kind == GrammarKind::kRegex) language = Language::kRegex;
  std::string text = source.text;
  if (source.kind == GrammarKind::kGbnf) {
    auto translated = LarkFromGbnf(source.text, tokenizer_);
    if (!translated) return Failure(std::move(translated).error());
    text = std::move(*translated);
  }
  auto compiled = (*vocabulary_)->Compile(language, text, source.schemas);
  if (!compiled) return Failure(std::move(compiled).error());
  return std::make_shared<const Grammar>(source.kind, std::move(*compiled), NowMs() - start_ms);
}

}  // namespace vivace
