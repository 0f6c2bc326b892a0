// Encoder: the state of one Encode call, from text without special tokens to ids.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/token_id.h"
#include "tokenizer/merger.h"
#include "tokenizer/pre_split.h"
#include "tokenizer/table_view.h"

namespace vivace {

class Encoder {
 public:
  // Both must outlive this object.
  Encoder(const TableView& tables, std::vector<TokenId>& out)
      : tables_(tables), pre_split_(tables), merger_(tables), out_(out) {}

  // Normalizes, cuts and merges a text that stands between special tokens.
  void EncodeText(std::string_view text);
  // Merges one chunk without a look into the vocabulary.
  void MergeAlone(std::string_view chunk);

 private:
  void EncodeWord(std::string_view word);
  bool HasByteWithoutToken(std::string_view word) const;
  // The end of the piece of `word` from `begin` on that merges on its own.
  std::size_t ChunkEnd(std::string_view word, std::size_t begin) const;
  void EncodeChunk(std::string_view chunk);
  void AppendSymbols(std::string_view chunk);
  void AppendBytes(std::string_view bytes);

  const TableView& tables_;
  PreSplit pre_split_;
  Merger merger_;
  std::string buffer_;  // of normalized text
  std::vector<TokenId>& out_;
};

}  // namespace vivace
