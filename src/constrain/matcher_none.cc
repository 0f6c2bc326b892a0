#include "base/check.h"
#include "constrain/matcher.h"

namespace vivace {
namespace {

[[noreturn]] void Unreachable() {
  CheckFailed(__FILE__, __LINE__, "no vocabulary can have been made");
}

}  // namespace

void MatcherAnswer::Free::operator()(Handle*) const {}
Result<void> MatcherAnswer::Mask(std::span<std::uint32_t>) { Unreachable(); }
Result<void> MatcherAnswer::Consume(std::span<const TokenId>) { Unreachable(); }
std::size_t MatcherAnswer::Forced(std::span<TokenId>) { Unreachable(); }
bool MatcherAnswer::Complete() const { Unreachable(); }

void CompiledGrammar::Free::operator()(Handle*) const {}
Result<MatcherAnswer> CompiledGrammar::Begin() const { Unreachable(); }

void TriggerPattern::Free::operator()(Handle*) const {}
Result<TriggerPattern> TriggerPattern::Compile(std::string_view, bool) { Unreachable(); }
std::optional<std::size_t> TriggerPattern::Find(std::string_view) const { Unreachable(); }

void MatcherVocabulary::Free::operator()(Handle*) const {}
bool MatcherVocabulary::Available() { return false; }
Result<MatcherVocabulary> MatcherVocabulary::Create(const Tokenizer&, std::size_t) {
  return Fail(ErrorKind::kUnsupported, "structured output is not available in this build");
}
Result<CompiledGrammar> MatcherVocabulary::Compile(Kind, std::string_view, const Schemas&) const {
  Unreachable();
}

}  // namespace vivace
