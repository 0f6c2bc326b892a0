// TokenizerSpec: what a model file says about its tokenizer, as plain values.
//
// The reader of the file fills it; BuildTables turns it into what a Tokenizer uses. The
// texts are views: the file must stay mapped until the tables are built.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/token_id.h"

namespace vivace {

// The numbers are GGUF's.
enum class TokenType : std::uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

struct TokenizerSpec {
  std::string model;  // "gpt2": byte-level BPE; "llama": SentencePiece
  std::string pre;    // how text is cut before BPE: "qwen2", "llama-bpe", "smollm", ...
  std::vector<std::string_view> tokens;
  std::vector<float> scores;             // [tokens], SentencePiece only
  std::vector<TokenType> types;          // [tokens], or empty: all kNormal
  std::vector<std::string_view> merges;  // "left right", best first; BPE only
  std::optional<TokenId> bos, eos, eot, unk, pad;
  bool add_bos = false;
  bool add_eos = false;
  bool add_space_prefix = true;  // SentencePiece: text gets a space in front
};

}  // namespace vivace
