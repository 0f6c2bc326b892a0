// Fuzzes the tokenizer. An even first byte: the rest is text, which must come back from its
// ids. An odd one: the rest is damage to good tables, which may only give ids in bounds.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "byte_vocabulary.h"
#include "tokenizer/stream_decoder.h"
#include "tokenizer/tables.h"
#include "tokenizer/tokenizer.h"

namespace {

using vivace::TokenId;
using vivace::Tokenizer;

void RoundTrip(const Tokenizer& tokenizer, std::string_view text, Tokenizer::Special special) {
  std::vector<TokenId> ids;
  tokenizer.Encode(text, special, ids);
  std::string bytes;
  std::string streamed;
  vivace::StreamDecoder decoder(tokenizer, vivace::StreamDecoder::Control::kShow);
  for (const TokenId id : ids) {
    bytes += tokenizer.Piece(id);
    streamed += decoder.Push(id);
  }
  streamed += decoder.Finish();
  std::string repaired;
  vivace::AppendRepaired(text, false, repaired);
  if (bytes != text || streamed != repaired) std::abort();
}

void UseDamaged(std::vector<std::byte> tables, std::string_view damage) {
  for (; damage.size() >= 4; damage.remove_prefix(4)) {
    std::uint32_t word = 0;
    std::memcpy(&word, damage.data(), 4);
    tables[(word >> 8) % tables.size()] = static_cast<std::byte>(word & 0xFF);
  }
  const auto tokenizer = Tokenizer::Open(tables);
  if (!tokenizer) return;
  std::vector<TokenId> ids;
  tokenizer->Encode("the <end> aaaaaaa the\u00e9\u0301 \u4f60\u597d 123\n\n",
                    Tokenizer::Special::kParse, ids);
  for (const TokenId id : ids) {
    if (id < 0 || static_cast<std::size_t>(id) >= tokenizer->vocab_size()) std::abort();
    tokenizer->Find(tokenizer->Piece(id));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::byte> kGpt2 = vivace::ByteVocabulary("gpt-2");
  static const std::vector<std::byte> kQwen2 = vivace::ByteVocabulary("qwen2");
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    static const auto kTokenizer = Tokenizer::Open(kGpt2);
    RoundTrip(*kTokenizer, rest, Tokenizer::Special::kParse);
    RoundTrip(*kTokenizer, rest, Tokenizer::Special::kAsText);
  } else {
    UseDamaged(kQwen2, rest);
  }
  return 0;
}
