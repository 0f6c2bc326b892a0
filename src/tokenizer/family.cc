#include "tokenizer/family.h"

#include <array>
#include <string>

namespace vivace {
namespace {

struct Name {
  std::string_view pre;
  TokenizerFamily family;
};

constexpr TokenizerFamily kGpt2 = {PreRules::kGpt2, false, false};
constexpr TokenizerFamily kSmolLm = {PreRules::kSmolLm, false, false};
constexpr TokenizerFamily kQwen2 = {PreRules::kQwen2, false, true};
constexpr TokenizerFamily kLlama3 = {PreRules::kLlama3, true, false};

// Several names stand for the same rules.
constexpr std::array kNames = {
    Name{"qwen2", kQwen2},
    Name{"deepseek-r1-qwen", kQwen2},
    Name{"llama-bpe", kLlama3},
    Name{"llama3", kLlama3},
    Name{"llama-v3", kLlama3},
    Name{"smollm", kSmolLm},
    Name{"starcoder", kSmolLm},
    Name{"refact", kSmolLm},
    Name{"gpt-2", kGpt2},
    Name{"gpt2", kGpt2},
    Name{"phi-2", kGpt2},
    Name{"default", kGpt2},
    Name{"", kGpt2},
};

}  // namespace

Result<TokenizerFamily> FindFamily(const TokenizerSpec& spec) {
  if (spec.model == "llama") return TokenizerFamily{};
  if (spec.model != "gpt2") {
    return Fail(ErrorKind::kUnsupported,
                "tokenizer model \"" + spec.model + "\" is unknown; known are gpt2 and llama");
  }
  std::string known;
  for (const Name& name : kNames) {
    if (name.pre == spec.pre) return name.family;
    if (!name.pre.empty()) known.append(known.empty() ? "" : ", ").append(name.pre);
  }
  return Fail(ErrorKind::kUnsupported,
              "tokenizer pre-split \"" + spec.pre + "\" is unknown; known are " + known);
}

}  // namespace vivace
