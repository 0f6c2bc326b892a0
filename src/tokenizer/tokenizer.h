// Tokenizer: text to token ids and back, with the ids that the model was trained with.
//
// Works in place from tables built by BuildTables; opening them copies and parses nothing.
// Immutable: any number of threads may use one object. The tables must outlive it, and the
// views it returns point into them.
//
// Invalid UTF-8 is encoded byte for byte: for cutting into words each bad byte counts as one
// symbol-like character, nothing normalizes or composes across it, and what is valid around
// it becomes what it would anyway. Bytes for which the vocabulary has no token vanish, or
// become the unknown token in SentencePiece models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "tokenizer/spec.h"
#include "tokenizer/table_view.h"

namespace vivace {

class Tokenizer {
 public:
  // Whether text that spells a control token becomes that token. User-defined tokens are
  // ordinary vocabulary and are found in either case. Only text of our own may be parsed.
  enum class Special : std::uint8_t { kAsText, kParse };

  // `tables` must be 8-byte aligned. Damaged ones are an error, or give wrong ids that are
  // still in the vocabulary. Takes well under a millisecond.
  static Result<Tokenizer> Open(std::span<const std::byte> tables);

  std::size_t vocab_size() const { return tables_.vocab_size(); }
  std::optional<TokenId> bos() const { return Optional(tables_.header().bos); }
  std::optional<TokenId> eos() const { return Optional(tables_.header().eos); }
  std::optional<TokenId> eot() const { return Optional(tables_.header().eot); }
  std::optional<TokenId> unk() const { return Optional(tables_.header().unk); }
  std::optional<TokenId> pad() const { return Optional(tables_.header().pad); }
  // What the model's file asks for; Encode itself adds neither.
  bool add_bos() const { return tables_.header().add_bos != 0; }
  bool add_eos() const { return tables_.header().add_eos != 0; }

  // Whether the model says with this token that its answer ends: eos, eot and the known
  // tokens of that meaning. False for ids outside the vocabulary.
  bool IsEndOfGeneration(TokenId id) const { return tables_.EndsGeneration(id); }
  bool IsControl(TokenId id) const;

  // Appends the ids of `text`.
  void Encode(std::string_view text, Special special, std::vector<TokenId>& out) const;

  // The bytes that a token stands for, a control token's being its name; "" for an id outside
  // the vocabulary.
  std::string_view Piece(TokenId id) const { return tables_.Piece(id); }
  TokenType Type(TokenId id) const { return tables_.Type(id); }

  // The token whose piece this is exactly; control tokens come first.
  std::optional<TokenId> Find(std::string_view piece) const;
  // The pieces of all control, unknown and user-defined tokens, sorted.
  std::vector<std::string_view> control_texts() const;

 private:
  explicit Tokenizer(const TableView& tables) : tables_(tables) {}
  static std::optional<TokenId> Optional(TokenId id) {
    return id < 0 ? std::nullopt : std::optional<TokenId>(id);
  }

  TableView tables_;
};

}  // namespace vivace
