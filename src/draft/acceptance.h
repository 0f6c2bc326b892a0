// Acceptance: how often drafted tokens turn out right, by their source and its evidence.
//
// Evidence is the length of the run that was found again, or how often a successor was
// confirmed; and how many sources say the same. Counts of each, which begin with a guess of little
// weight and forget what is long ago. Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace vivace {

enum class DraftSource : std::uint8_t {
  kConversation,  // this prompt and answer
  kMemory,        // earlier answers
  kSuccessor,     // what came after a token elsewhere
  kModel,         // a smaller model
};
inline constexpr std::size_t kDraftSources = 4;
inline constexpr std::size_t kFoundSources = 3;  // the first ones: what was seen before
inline constexpr const char* kDraftSourceNames[kDraftSources] = {"conversation", "memory",
                                                                 "successor", "model"};

struct DraftEvidence {
  DraftSource source;
  int amount;        // of evidence, from 0 on
  int agreeing = 1;  // sources that say the same, with this one
};

class Acceptance {
 public:
  Acceptance() {
    // Rounded, of a model of 0.5B on chat, code, JSON, quoting and editing. What successors are
    // worth differs more: they begin low.
    constexpr std::array<float, kLevels> kRuns = {0.2F, 0.2F, 0.4F, 0.5F,  0.6F,
                                                  0.7F, 0.7F, 0.8F, 0.85F, 0.95F};
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const bool successor = i >= kLevels * kFoundSources * 2;
      const float share = successor ? 0.25F : kRuns[i / kFoundSources % kLevels];
      counts_[i] = {.right = 4 * share, .all = 4};
    }
  }

  // The expected share of right ones.
  float Of(const DraftEvidence& evidence) const {
    const Count& count = counts_[Index(evidence)];
    return count.right / count.all;
  }

  // A token was drafted, or would have been.
  void Record(const DraftEvidence& evidence, bool right) {
    Count& count = counts_[Index(evidence)];
    count.right += right ? 1.0F : 0.0F;
    count.all += 1;
    if (count.all < kMost) return;
    count.right /= 2;
    count.all /= 2;
  }

 private:
  static constexpr std::size_t kLevels = 10;
  static constexpr int kSources = static_cast<int>(kFoundSources);
  // 0 to 6 as they are, then 7-10, 11-18 and longer ones: what long runs say differs less.
  static std::size_t Level(int amount) {
    if (amount <= 6) return static_cast<std::size_t>(std::max(amount, 0));
    if (amount <= 10) return 7;
    return amount <= 18 ? 8 : 9;
  }
  static std::size_t Index(const DraftEvidence& evidence) {
    const auto agreeing = static_cast<std::size_t>(std::clamp(evidence.agreeing, 1, kSources) - 1);
    return (static_cast<std::size_t>(evidence.source) * kLevels + Level(evidence.amount)) *
               kFoundSources +
           agreeing;
  }

  // Of the newest ones: kMost / 2 of them at least, once there are so many.
  struct Count {
    float right = 0;
    float all = 0;
  };
  static constexpr float kMost = 200;

  std::array<Count, kFoundSources * kLevels * kFoundSources> counts_;
};

}  // namespace vivace
