#include "tokenizer/tokenizer.h"

#include <string>

#include "tokenizer/encoder.h"
#include "tokenizer/space_mark.h"
#include "tokenizer/special_matcher.h"

namespace vivace {
Result<Tokenizer> Tokenizer::Open(std::span<const std::byte> tables) {
  auto view = TableView::Open(tables);
  if (!view) return Failure(std::move(view).error());
  return Tokenizer(*view);
}

bool Tokenizer::IsControl(TokenId id) const {
  const TokenType type = Type(id);
  return type == TokenType::kControl || type == TokenType::kUnknown;
}

void Tokenizer::Encode(std::string_view text, Special special, std::vector<TokenId>& out) const {
  const TableHeader& header = tables_.header();
  const bool parse = special == Special::kParse;
  const auto tokens = parse ? tables_.specials() : tables_.user_defined();
  const auto& first_bytes = header.first_bytes[parse ? 0 : 1];
  std::string without_marks;
  if (header.sentence_piece != 0) text = ReplaceSpaceMarks(text, without_marks);
  Encoder encoder(tables_, out);
  std::string prefixed;
  for (std::size_t begin = 0; begin < text.size();) {
    const SpecialMatch match = FindSpecial(tables_, tokens, first_bytes, text, begin);
    std::string_view plain = text.substr(begin, match.begin - begin);
    if (header.add_space_prefix != 0 && !plain.empty()) {
      prefixed.assign(1, ' ').append(plain);
      plain = prefixed;
    }
    encoder.EncodeText(plain);
    if (match.id < 0) break;
    out.push_back(match.id);
    begin = match.begin + tables_.Piece(match.id).size();
  }
}

std::optional<TokenId> Tokenizer::Find(std::string_view piece) const {
  const TokenId special = LongestPrefix(tables_, tables_.specials(), piece);
  if (special >= 0 && tables_.Piece(special).size() == piece.size()) return special;
  return tables_.FindPiece(piece);
}

std::vector<std::string_view> Tokenizer::control_texts() const {
  std::vector<std::string_view> texts;
  texts.reserve(tables_.specials().size());
  for (const std::uint32_t id : tables_.specials()) {
    texts.push_back(tables_.Piece(static_cast<TokenId>(id)));
  }
  return texts;
}

}  // namespace vivace
