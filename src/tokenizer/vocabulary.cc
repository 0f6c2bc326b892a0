#include "tokenizer/vocabulary.h"

#include <charconv>
#include <map>
#include <optional>

#include "base/utf8.h"
#include "tokenizer/space_mark.h"

namespace vivace {
namespace {

// What a 32-bit offset can reach, with room to spare.
constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
constexpr std::size_t kMaxTokens = std::size_t{1} << 24;

// Byte-level BPE writes each byte as one visible character: printable Latin-1 as itself, the
// other 68 bytes as U+0100 and up, in order.
std::map<char32_t, char> MakeByteOfCharacter() {
  std::map<char32_t, char> byte_of;
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool visible = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    byte_of[visible ? byte : next++] = static_cast<char>(byte);
  }
  return byte_of;
}

// The bytes of a byte-level token; the text itself if it is not written that way.
std::string FromByteLevel(std::string_view text, const std::map<char32_t, char>& byte_of) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Char c = DecodeUtf8(text, i);
    const auto found = byte_of.find(c.code_point);
    if (c.status != Utf8Status::kValid || found == byte_of.end()) return std::string(text);
    bytes.push_back(found->second);
    i += c.length;
  }
  return bytes;
}

// Of "<0x0A>".
std::optional<std::uint8_t> ParseByteToken(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return std::nullopt;
  std::uint8_t byte = 0;
  const char* const end = text.data() + 5;
  const auto [parsed, error] = std::from_chars(text.data() + 3, end, byte, 16);
  if (error != std::errc() || parsed != end) return std::nullopt;
  return byte;
}

Result<void> CheckSizes(const TokenizerSpec& spec) {
  const std::size_t count = spec.tokens.size();
  if (count == 0 || count > kMaxTokens) {
    return Fail(ErrorKind::kBadInput, "a vocabulary of " + std::to_string(count) +
                                          " tokens, allowed is 1 to " + std::to_string(kMaxTokens));
  }
  if (!spec.types.empty() && spec.types.size() != count) {
    return Fail(ErrorKind::kBadInput, std::to_string(spec.types.size()) + " token types for " +
                                          std::to_string(count) + " tokens");
  }
  std::size_t bytes = 0;
  for (const std::string_view token : spec.tokens) bytes += token.size();
  if (bytes > kMaxBytes) {
    return Fail(ErrorKind::kBadInput, "a vocabulary of " + std::to_string(bytes) +
                                          " bytes, allowed are " + std::to_string(kMaxBytes));
  }
  return {};
}

Result<void> ReadSentencePiece(const TokenizerSpec& spec, Vocabulary& vocabulary) {
  std::string buffer;
  for (std::size_t i = 0; i < spec.tokens.size(); ++i) {
    const std::string_view text = spec.tokens[i];
    std::string piece(text);
    if (vocabulary.types[i] == TokenType::kNormal ||
        vocabulary.types[i] == TokenType::kUserDefined) {
      piece = ReplaceSpaceMarks(text, buffer);
    } else if (vocabulary.types[i] == TokenType::kByte) {
      const auto byte = ParseByteToken(text);
      if (!byte) {
        return Fail(ErrorKind::kBadInput, "byte token " + std::to_string(i) + " is \"" + piece +
                                              "\", expected is <0x00> to <0xFF>");
      }
      piece.assign(1, static_cast<char>(*byte));
      TokenId& id = vocabulary.byte_ids[*byte];
      if (id < 0) id = static_cast<TokenId>(i);
    }
    vocabulary.pieces.push_back(std::move(piece));
  }
  return {};
}

void ReadByteLevel(const TokenizerSpec& spec, Vocabulary& vocabulary) {
  const std::map<char32_t, char> byte_of = MakeByteOfCharacter();
  for (std::size_t i = 0; i < spec.tokens.size(); ++i) {
    const bool is_normal = vocabulary.types[i] == TokenType::kNormal;
    std::string piece =
        is_normal ? FromByteLevel(spec.tokens[i], byte_of) : std::string(spec.tokens[i]);
    if (is_normal && piece.size() == 1) {
      TokenId& id = vocabulary.byte_ids[static_cast<std::uint8_t>(piece[0])];
      if (id < 0) id = static_cast<TokenId>(i);
    }
    vocabulary.pieces.push_back(std::move(piece));
  }
}

}  // namespace

Result<Vocabulary> ReadVocabulary(const TokenizerSpec& spec) {
  VIVACE_RETURN_IF_ERROR(CheckSizes(spec));
  Vocabulary vocabulary;
  vocabulary.byte_ids.fill(-1);
  vocabulary.types = spec.types;
  vocabulary.types.resize(spec.tokens.size(), TokenType::kNormal);
  vocabulary.pieces.reserve(spec.tokens.size());
  if (spec.model == "llama") {
    VIVACE_RETURN_IF_ERROR(ReadSentencePiece(spec, vocabulary));
  } else {
    ReadByteLevel(spec, vocabulary);
  }
  return vocabulary;
}

}  // namespace vivace
