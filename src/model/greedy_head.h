// GreedyHead: the most likely token without reading all of the output matrix.
//
// Reads the coarse head, takes the exact logit of its best row and then only those groups
// of 16 exact rows that have one whose bound reaches it. The token is that of ArgMax over
// all logits, bit for bit and ties included, for any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_team.h"
#include "base/token_id.h"
#include "model/coarse_head.h"
#include "model/weights.h"
#include "model/workspace.h"

namespace vivace {

struct GreedyToken {
  TokenId token = 0;
  float logit = 0;              // -infinity where no row has more
  std::int64_t candidates = 0;  // rows whose bound reached the best
  std::int64_t groups = 0;      // of 16 rows, that were read exactly
};

class GreedyHead {
 public:
  // For up to `max_rows` rows at once. `weights` must outlive this and have a coarse head.
  GreedyHead(const Weights& weights, std::int64_t max_rows, int threads);

  // The tokens of rows [first, first + out.size()) of space.hidden_activations, as Forward
  // left them. `logits` [out.size(), LogitsStride] is for use in between. Does not allocate.
  void Find(std::int64_t first, Workspace& space, ThreadTeam& team, float* logits,
            std::span<GreedyToken> out);

  // Whether Find is likely to read less than all of the matrix. After a call that did not,
  // some tokens are better scanned in full, twice as many each time; each question counts
  // as one of them.
  bool Worthwhile();

 private:
  // What one thread knows about one row.
  struct Found {
    GreedyToken coarse;
    GreedyToken exact;
  };
  struct Call;

  std::span<Found> FoundBy(int thread);
  void ScanCoarse(const Call& call, TeamMember& member);
  GreedyToken CoarseBest(std::size_t row) const;
  float Threshold(const Call& call, std::size_t row, ThreadSpace& thread) const;
  void Judge(std::int64_t groups);
  void ScanExact(const Call& call, std::size_t row, TeamMember& member, ThreadSpace& thread);

  const Matrix& exact_;
  const CoarseHead& coarse_;
  std::int64_t max_rows_;
  std::vector<float> reach_;  // [max_rows]
  std::vector<Found> found_;  // [threads][max_rows]
  std::int64_t pause_ = 1;    // tokens to scan in full after the next call in vain
  std::int64_t paused_ = 0;   // of them to come
};

}  // namespace vivace
