// HeadSearch: the largest logits without reading all of the output matrix.
//
// Reads the coarse head, takes the exact logit of its best row and then only those groups
// of 16 exact rows that have one whose bound reaches it, or comes near enough. What it
// finds is that of a full scan, bit for bit and ties included, for any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_team.h"
#include "base/token_id.h"
#include "base/token_mask.h"
#include "model/coarse_head.h"
#include "model/weights.h"
#include "model/workspace.h"

namespace vivace {

struct HeadResult {
  TokenId token = 0;            // ArgMax of all logits
  float logit = 0;              // its own; -infinity where no row has more
  float floor = 0;              // all logits from here on up are known
  std::int64_t candidates = 0;  // rows whose bound reached the floor
  std::int64_t groups = 0;      // of 16 rows, that were read exactly
  float read_share = 0;         // bytes read, of those of a full scan
};

class HeadSearch {
 public:
  // For up to `max_rows` rows at once. `weights` must outlive this and have a coarse head.
  HeadSearch(const Weights& weights, std::int64_t max_rows, int threads);

  // Searches for rows [first, first + out.size()) of space.hidden_activations, as Forward
  // left them, down to `depth` >= 0 below the best. Leaves in `logits` [out.size(),
  // LogitsStride] every logit that is at least the row's floor, and -infinity or the
  // logit for every other token. `masks` are the rows', or empty: what a mask forbids counts
  // as -infinity throughout. Does not allocate.
  void Find(std::int64_t first, float depth, Workspace& space, ThreadTeam& team, float* logits,
            std::span<HeadResult> out, std::span<const TokenMask> masks = {});

 private:
  struct Call;
  struct Best {
    float logit;
    TokenId token;
  };
  // What one thread knows about one row.
  struct Found {
    Best coarse;
    Best exact;
    std::int64_t candidates;
    std::int64_t groups;
  };

  std::span<Found> FoundBy(int thread);
  void ScanCoarse(const Call& call, TeamMember& member, ThreadSpace& thread);
  float BestOfBestGroup(const Call& call, std::size_t row, ThreadSpace& thread) const;
  void ScanExact(const Call& call, std::size_t row, TeamMember& member, ThreadSpace& thread);
  HeadResult Merged(std::size_t row, float floor) const;

  static void Take(float logit, TokenId token, Best& best);
  static void TakeAll(const float* logits, std::int64_t first, std::int64_t count, Best& best);

  const Matrix& exact_;
  const CoarseHead& coarse_;
  std::int64_t max_rows_;
  std::vector<float> reach_;  // [max_rows]
  std::vector<float> floor_;  // [max_rows], written by member 0
  std::vector<Found> found_;  // [threads][max_rows]
};

}  // namespace vivace
