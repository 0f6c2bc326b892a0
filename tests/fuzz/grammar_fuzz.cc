// Fuzzes grammars of all kinds, the first byte says which. What compiles is followed for some
// tokens: the first that is allowed, the last, and in turns. Nothing may crash or hang.
#include <cstdint>
#include <string>
#include <utility>

#include "byte_vocabulary.h"
#include "constrain/constraint.h"
#include "constrain/grammar.h"

namespace {

using vivace::GrammarKind;
using vivace::TokenId;
using vivace::Tokenizer;

const Tokenizer& Vocabulary() {
  static const std::vector<std::byte> tables = vivace::ByteVocabulary("gpt-2");
  static const Tokenizer tokenizer = *Tokenizer::Open(tables);
  return tokenizer;
}

void Follow(const std::shared_ptr<const vivace::Grammar>& grammar, unsigned way) {
  const std::size_t size = Vocabulary().vocab_size();
  vivace::Constraint constraint({.grammar = grammar}, Vocabulary(), size);
  for (unsigned step = 0; step < 12 && !constraint.complete(); ++step) {
    const auto mask = constraint.Mask();
    if (mask.empty()) return;
    (void)constraint.Forced();
    TokenId chosen = -1;
    const bool last = way == 2 ? step % 2 == 0 : way == 1;
    for (std::size_t id = 0; id < size; ++id) {
      if ((mask[id / 32] >> (id % 32) & 1U) == 0) continue;
      chosen = static_cast<TokenId>(id);
      if (!last) break;
    }
    if (chosen < 0 || Vocabulary().IsEndOfGeneration(chosen)) return;
    constraint.Accept(chosen);
    if (constraint.failure()) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static vivace::GrammarCompiler compiler(Vocabulary(), Vocabulary().vocab_size(), {.cached = 1});
  constexpr GrammarKind kKinds[] = {GrammarKind::kGbnf, GrammarKind::kJsonSchema,
                                    GrammarKind::kRegex, GrammarKind::kLark};
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto grammar = compiler.Compile({.kind = kKinds[data[0] % 4], .text = text});
  if (!grammar) return 0;
  for (unsigned way = 0; way < 3; ++way) Follow(*grammar, way);
  return 0;
}
