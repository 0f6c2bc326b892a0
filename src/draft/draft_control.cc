#include "draft/draft_control.h"

#include <array>

namespace vivace {
namespace {

// Expected to be faster by less than this is not tried: estimates are no better.
constexpr double kLeastGain = 1.03;

// The offer whose next token is the likeliest; offers.size() where none has another one.
std::size_t Likeliest(std::span<const DraftControl::Offer> offers) {
  std::size_t best = offers.size();
  float reach = 0;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const auto next = static_cast<std::size_t>(offers[i].taken);
    if (next >= offers[i].tokens.size() || offers[i].tokens[next].reach <= reach) continue;
    reach = offers[i].tokens[next].reach;
    best = i;
  }
  return best;
}

}  // namespace

void DraftControl::Decide(std::span<Offer> offers) const {
  for (Offer& offer : offers) offer.taken = 0;
  auto rows = static_cast<std::int64_t>(offers.size());
  if (!Open(rows)) return;
  // Chances only fall along a draft, so the likeliest tokens are always the first ones.
  std::array<std::size_t, static_cast<std::size_t>(kMostRows)> order = {};
  std::size_t taken = 0;
  std::size_t worthwhile = 0;
  double tokens = static_cast<double>(rows);
  double best = kLeastGain * tokens / cost_.Ms(rows);
  while (rows < kMostRows) {
    const std::size_t next = Likeliest(offers);
    if (next == offers.size()) break;
    Offer& offer = offers[next];
    tokens += static_cast<double>(offer.tokens[static_cast<std::size_t>(offer.taken++)].reach);
    ++rows;
    order[taken++] = next;
    const double speed = tokens / cost_.Ms(rows);
    if (speed <= best) continue;
    best = speed;
    worthwhile = taken;
  }
  for (std::size_t i = worthwhile; i < taken; ++i) --offers[order[i]].taken;
}

}  // namespace vivace
