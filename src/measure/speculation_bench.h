// SpeculationBench: what drafts are worth, by class of work: the same answers with and without
// them, one after the other, on one engine.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "engine/generator.h"

namespace vivace {

// Prompts of one class of work, as token ids.
struct SpeculationWork {
  std::string name;
  std::vector<std::vector<TokenId>> prompts;
};

// Sums over answers.
struct SpeculationSum {
  std::int64_t answers = 0;
  std::int64_t tokens = 0;  // after the first one of each answer
  double plain_ms = 0;      // without drafts
  double drafts_ms = 0;
  std::int64_t drafted = 0;
  std::int64_t accepted = 0;

  double ratio() const { return drafts_ms > 0 ? plain_ms / drafts_ms : 0; }
};

struct SpeculationPoint {
  std::string name;
  SpeculationSum all;
  SpeculationSum plain;  // of the answers that do not repeat themselves over and over
};

// Up to `tokens` greedy tokens for each prompt. progress(share, what) comes before each answer.
// kBadInput where the two differ, which is a fault of this program.
Result<std::vector<SpeculationPoint>> RunSpeculationBench(
    Generator& generator, std::span<const SpeculationWork> work, std::int64_t tokens,
    const std::function<void(double, std::string_view)>& progress);

// Whether a run of tokens comes more than twice.
bool RepeatsItself(std::span<const TokenId> tokens);

}  // namespace vivace
