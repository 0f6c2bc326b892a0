#include "tokenizer/encoder.h"

#include <algorithm>

#include "base/utf8.h"
#include "tokenizer/joins.h"
#include "tokenizer/nfc.h"

namespace vivace {

void Encoder::EncodeText(std::string_view text) {
  if (text.empty()) return;
  if (tables_.header().normalize != 0) text = ToNfc(tables_, text, buffer_);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = pre_split_.WordEnd(text, begin);
    EncodeWord(text.substr(begin, end - begin));
    begin = end;
  }
}

void Encoder::EncodeWord(std::string_view word) {
  if (const auto id = tables_.FindWhole(word, tables_.header().ignore_merges != 0)) {
    out_.push_back(*id);
    return;
  }
  // What stands around a byte that vanishes may merge: there are no safe cuts.
  if (HasByteWithoutToken(word)) return MergeAlone(word);
  for (std::size_t begin = 0; begin < word.size();) {
    const std::size_t end = ChunkEnd(word, begin);
    EncodeChunk(word.substr(begin, end - begin));
    begin = end;
  }
}

bool Encoder::HasByteWithoutToken(std::string_view word) const {
  const TableHeader& header = tables_.header();
  if (header.lacks_bytes == 0 || header.sentence_piece != 0) return false;
  return std::ranges::any_of(
      word, [&](char byte) { return tables_.ByteToken(static_cast<std::uint8_t>(byte)) < 0; });
}

std::size_t Encoder::ChunkEnd(std::string_view word, std::size_t begin) const {
  Utf8Char left = DecodeUtf8(word, begin);
  std::size_t at = begin + left.length;
  while (at < word.size()) {
    const Utf8Char right = DecodeUtf8(word, at);
    if (left.status == Utf8Status::kValid && right.status == Utf8Status::kValid &&
        !MayJoin(tables_.joins(), left.code_point, static_cast<std::uint8_t>(word[at - 1]),
                 right.code_point, static_cast<std::uint8_t>(word[at]))) {
      break;
    }
    left = right;
    at += right.length;
  }
  return at;
}

void Encoder::EncodeChunk(std::string_view chunk) {
  if (const auto id = tables_.FindWhole(chunk, false)) {
    out_.push_back(*id);
    return;
  }
  MergeAlone(chunk);
}

void Encoder::MergeAlone(std::string_view chunk) {
  const std::size_t begin = out_.size();
  AppendSymbols(chunk);
  merger_.Merge(out_, begin);
}

// The symbols that merging starts from: bytes; in SentencePiece characters, and the bytes of
// those that the vocabulary lacks.
void Encoder::AppendSymbols(std::string_view chunk) {
  if (tables_.header().sentence_piece == 0) {
    AppendBytes(chunk);
    return;
  }
  for (std::size_t at = 0; at < chunk.size();) {
    const std::string_view symbol = chunk.substr(at, DecodeUtf8(chunk, at).length);
    if (const auto id = tables_.FindPiece(symbol)) {
      out_.push_back(*id);
    } else {
      AppendBytes(symbol);
    }
    at += symbol.size();
  }
}

void Encoder::AppendBytes(std::string_view bytes) {
  const TableHeader& header = tables_.header();
  for (const char c : bytes) {
    const TokenId id = tables_.ByteToken(static_cast<std::uint8_t>(c));
    if (id >= 0) {
      out_.push_back(id);
    } else if (header.sentence_piece != 0 && header.unk >= 0) {
      out_.push_back(header.unk);
    }
  }
}

}  // namespace vivace
