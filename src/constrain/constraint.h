// Constraint: where one answer stands in its grammar, and what may come next.
//
// A function of the grammar and the tokens so far, whatever else runs. Not thread-safe; the
// owner calls it between and during steps, from one thread at a time. Allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "base/token_mask.h"
#include "constrain/grammar.h"
#include "constrain/matcher.h"
#include "tokenizer/tokenizer.h"

namespace vivace {

// From where on a lazy grammar holds: with the first of them that the answer contains. The
// grammar describes the answer from the trigger's text on.
struct Trigger {
  enum class Kind : std::uint8_t { kWord, kToken, kPattern };
  Kind kind = Kind::kWord;
  std::string word = {};                               // of kWord, not empty
  TokenId token = 0;                                   // of kToken
  std::shared_ptr<const TriggerPattern> pattern = {};  // of kPattern
};

// What a request asks for. Without a grammar, nothing is constrained.
struct ConstraintSpec {
  std::shared_ptr<const Grammar> grammar = {};
  bool lazy = false;  // free text until a trigger; without triggers the grammar never holds
  std::vector<Trigger> triggers = {};

  explicit operator bool() const { return grammar != nullptr; }
};

class Constraint {
 public:
  // The tokenizer must outlive this object. Masks have `vocab_size` bits. Precondition:
  // `spec` has a grammar.
  Constraint(ConstraintSpec spec, const Tokenizer& tokenizer, std::size_t vocab_size);
  ~Constraint() = default;
  Constraint(const Constraint&) = delete;
  Constraint& operator=(const Constraint&) = delete;

  // Whether the grammar holds already: always, unless it is lazy.
  bool active() const { return active_; }
  // Whether nothing can follow: the answer is complete.
  bool complete() const { return complete_; }
  // Why there is no next token, where the grammar cannot be followed any further.
  const std::optional<Error>& failure() const { return failure_; }

  // The tokens that may come next, a bit for each of the vocabulary; empty where all may,
  // and after a failure. Tokens that end the generation are among them where the text may
  // end here. Valid until the next Accept. Computed once per state.
  TokenMask Mask();
  // Whether the next call of Mask has to ask the grammar.
  bool MaskTakesWork() const;

  // Goes on by a token that the mask allows.
  void Accept(TokenId token);

  // The tokens that must come next, often none. They are not accepted by this call. While
  // there are any, the mask allows the first one only. Valid until the next Accept.
  std::span<const TokenId> Forced();

 private:
  void AcceptFree(TokenId token);
  // Where in the free text the first trigger begins.
  std::optional<std::size_t> FindTrigger() const;
  void AcceptText(std::string_view text);
  void Consume(std::span<const TokenId> tokens);
  void Fail(Error error);

  ConstraintSpec spec_;
  const Tokenizer& tokenizer_;
  std::optional<MatcherAnswer> answer_;
  bool active_;
  bool complete_ = false;
  std::optional<Error> failure_;
  std::string tail_;  // of the free text: what may be part of a trigger
  std::vector<std::uint32_t> mask_;
  std::vector<TokenId> forced_;
  bool has_mask_ = false;     // of this state
  std::size_t accepted_ = 0;  // of forced_
  bool has_forced_ = false;   // of this state
};

}  // namespace vivace
