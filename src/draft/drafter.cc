#include "draft/drafter.h"

#include <algorithm>

namespace vivace {
namespace {

// The shortest run that says something.
constexpr int kLeastConversation = 2;

}  // namespace

Drafter::Drafter(std::span<const TokenId> prompt, std::int64_t longest, DraftKnowledge& shared)
    : shared_(shared), conversation_(std::min(longest, kMostSearched), kLeastConversation) {
  recent_.reserve(2 * TokenIndex::kLongest);
  draft_.reserve(static_cast<std::size_t>(kMostTokens));
  for (const TokenId token : prompt) {
    conversation_.Append(token);
  }
  const std::size_t kept = std::min(prompt.size(), static_cast<std::size_t>(TokenIndex::kLongest));
  recent_.assign(prompt.end() - static_cast<std::ptrdiff_t>(kept), prompt.end());
}

Drafter::Guess Drafter::Trail::Now(std::span<const DraftToken> draft) const {
  if (match.next < 0 || match.next < index->oldest()) return {};
  if (match.next < index->size()) return {.token = index->at(match.next), .evidence = match.length};
  const auto beyond = static_cast<std::size_t>(match.next - index->size());
  if (beyond >= draft.size()) return {};
  return {.token = draft[beyond].token, .evidence = match.length};
}

std::span<const TokenId> Drafter::recent() const {
  return std::span(recent_).last(
      std::min(recent_.size(), static_cast<std::size_t>(TokenIndex::kLongest)));
}

Drafter::Guesses Drafter::GuessNext(const Trails& trails, TokenId last,
                                    std::span<const DraftToken> draft) const {
  Guesses guesses;
  guesses[0] = trails[0].Now(draft);
  guesses[1] = trails[1].Now();
  if (last != TokenIndex::kBreak) {
    const Successors::Entry entry = shared_.successors.Next(last);
    guesses[2] = {.token = entry.next, .evidence = entry.count};
  }
  return guesses;
}

DraftEvidence Drafter::EvidenceFor(const Guesses& guesses, std::size_t source) {
  const Guess& guess = guesses[source];
  const auto agreeing = std::ranges::count(guesses, guess.token, &Guess::token);
  return {.source = static_cast<DraftSource>(source),
          .amount = guess.evidence,
          .agreeing = static_cast<int>(agreeing)};
}

void Drafter::Search() {
  if (searched_) return;
  const TokenIndex* const indices[] = {&conversation_, &shared_.answers};
  for (std::size_t i = 0; i < trails_.size(); ++i) {
    const std::int64_t likely = trails_[i].match.next;
    trails_[i] = {.index = indices[i], .match = indices[i]->Find(recent(), likely)};
  }
  searched_ = true;
}

void Drafter::Append(TokenId token) {
  Search();
  const TokenId last = recent_.empty() ? TokenIndex::kBreak : recent_.back();
  const Guesses guesses = GuessNext(trails_, last, {});
  for (std::size_t source = 0; source < kFoundSources; ++source) {
    if (guesses[source].token == TokenIndex::kBreak) continue;
    shared_.acceptance.Record(EvidenceFor(guesses, source), guesses[source].token == token);
  }
  if (last != TokenIndex::kBreak) shared_.successors.See(last, token);
  for (Trail& trail : trails_) {
    // Where the next search may go on: only after a guess that was right.
    trail.match.next = trail.Now().token == token ? trail.match.next + 1 : -1;
  }
  conversation_.Append(token);
  if (recent_.size() == recent_.capacity()) {
    recent_.erase(recent_.begin(), recent_.end() - TokenIndex::kLongest);
  }
  recent_.push_back(token);
  searched_ = false;
}

std::span<const DraftToken> Drafter::Propose(std::int64_t most) {
  Search();
  draft_.clear();
  Trails trails = trails_;
  TokenId last = recent_.empty() ? TokenIndex::kBreak : recent_.back();
  float reach = 1;
  while (static_cast<std::int64_t>(draft_.size()) < std::min(most, kMostTokens)) {
    const Guesses guesses = GuessNext(trails, last, draft_);
    DraftToken best;
    for (std::size_t source = 0; source < kFoundSources; ++source) {
      if (guesses[source].token == TokenIndex::kBreak) continue;
      const float chance = shared_.acceptance.Of(EvidenceFor(guesses, source));
      if (chance <= best.reach) continue;
      best = {.token = guesses[source].token,
              .source = static_cast<DraftSource>(source),
              .reach = chance};
    }
    if (best.reach <= 0) break;
    best.reach *= reach;
    reach = best.reach;
    last = best.token;
    for (std::size_t i = 0; i < trails.size(); ++i) {
      trails[i].match.next = guesses[i].token == last ? trails[i].match.next + 1 : -1;
      ++trails[i].match.length;
    }
    draft_.push_back(best);
  }
  return draft_;
}

}  // namespace vivace
