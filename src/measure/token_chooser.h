// TokenChooser: the most likely next token of each row that a pass has left, found as the
// generator finds it: by the coarse output head where the model has one and it pays.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/result.h"
#include "base/thread_team.h"
#include "engine/coarse_policy.h"
#include "model/head_search.h"
#include "model/model.h"
#include "model/workspace.h"

namespace vivace {

class TokenChooser {
 public:
  // For up to `max_rows` rows. `model` and `team` must outlive the chooser.
  static Result<TokenChooser> Create(const Model& model, ThreadTeam& team, std::int64_t max_rows);

  // Of the first tokens.size() rows that Forward left in `space`.
  void Choose(Workspace& space, std::span<TokenId> tokens);

  // Bytes of the output matrix and its coarse head that all calls have read; sets it to 0.
  double TakeBytesRead();

 private:
  TokenChooser(const Model& model, ThreadTeam& team, std::int64_t max_rows, Buffer logits);

  // Of the last search.
  double BytesRead() const;

  const Model* model_;
  ThreadTeam* team_;
  Buffer logits_;
  double full_bytes_;  // of a scan of the whole matrix
  std::optional<HeadSearch> search_;
  CoarsePolicy policy_;
  std::vector<HeadResult> found_;
  double bytes_read_ = 0;
};

}  // namespace vivace
