// The library that matches tokens against grammars, behind handles: a vocabulary
// compiles grammars, a grammar begins answers, an answer says what may come next.
//
// matcher_ffi.cc binds the Rust library; matcher_none.cc stands in for it in builds without.
// Vocabularies and grammars may be used by any thread, an answer by one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "tokenizer/tokenizer.h"

namespace vivace {

class MatcherAnswer {
 public:
  struct Handle;
  explicit MatcherAnswer(Handle* handle) : handle_(handle) {}

  // A bit for each token that may come next. kExhausted where that takes too much work.
  Result<void> Mask(std::span<std::uint32_t> words);
  Result<void> Consume(std::span<const TokenId> tokens);
  // The tokens that must come next, at most as many as fit; returns how many.
  std::size_t Forced(std::span<TokenId> tokens);
  // Whether nothing can follow.
  bool Complete() const;

 private:
  struct Free {
    void operator()(Handle* handle) const;
  };
  std::unique_ptr<Handle, Free> handle_;
};

class CompiledGrammar {
 public:
  struct Handle;
  CompiledGrammar(Handle* handle, std::vector<std::string> warnings)
      : handle_(handle), warnings_(std::move(warnings)) {}

  const std::vector<std::string>& warnings() const { return warnings_; }
  Result<MatcherAnswer> Begin() const;

 private:
  struct Free {
    void operator()(Handle* handle) const;
  };
  std::unique_ptr<Handle, Free> handle_;
  std::vector<std::string> warnings_;
};

// A regular expression that a free text is searched for.
class TriggerPattern {
 public:
  struct Handle;
  // `whole`: all of the text must match. kBadInput says what is wrong with it.
  static Result<TriggerPattern> Compile(std::string_view text, bool whole);

  // Where its first group that holds text begins in `text`, or else the match; nothing where
  // there is no match. Takes time in proportion to the text. Any thread may call it.
  std::optional<std::size_t> Find(std::string_view text) const;

 private:
  struct Free {
    void operator()(Handle* handle) const;
  };
  explicit TriggerPattern(Handle* handle) : handle_(handle) {}
  std::unique_ptr<Handle, Free> handle_;
};

class MatcherVocabulary {
 public:
  struct Handle;
  enum class Kind : std::uint8_t { kJsonSchema, kRegex, kLark };
  using Schemas = std::vector<std::pair<std::string, std::string>>;  // names and texts

  static bool Available();

  // `tokenizer` must outlive this and all grammars. `size` is the model's vocabulary, which
  // may be larger than the tokenizer's. Takes some 100 ms for 150 000 tokens.
  static Result<MatcherVocabulary> Create(const Tokenizer& tokenizer, std::size_t size);

  // kBadInput says where the text is wrong.
  Result<CompiledGrammar> Compile(Kind kind, std::string_view text, const Schemas& schemas) const;

 private:
  struct Free {
    void operator()(Handle* handle) const;
  };
  explicit MatcherVocabulary(Handle* handle) : handle_(handle) {}
  std::unique_ptr<Handle, Free> handle_;
};

}  // namespace vivace
