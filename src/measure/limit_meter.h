// LimitMeter: the machine's limits, measured again and again between what they limit.
//
// Reading is measured over plain memory on huge pages and over the model's own weights; the
// faster of the two counts, so that neither slow pages nor a model that fits the cache make
// a share look better than it is.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/thread_team.h"
#include "kernels/kernel_table.h"
#include "machine/read_target.h"
#include "machine/spread.h"
#include "measure/model_work.h"

namespace vivace {

class LimitMeter {
 public:
  // `model` and `team` must outlive the meter.
  static Result<LimitMeter> Create(const Model& model, ThreadTeam& team, std::size_t bytes);

  // Takes about a tenth of a second.
  Limit Measure();

  // Of all measurements so far.
  Spread read() const { return SpreadOf(speeds_); }
  Spread read_memory() const { return SpreadOf(memory_speeds_); }
  Spread read_weights() const { return SpreadOf(weights_speeds_); }
  Spread peak() const { return SpreadOf(peaks_); }
  // Of the memory that holds the weights, mapped by 2 MB pages now.
  double weights_huge_share() const;

 private:
  LimitMeter(const Model& model, ThreadTeam& team, ReadTarget memory)
      : kernels_(&model.kernels()),
        team_(&team),
        memory_(std::move(memory)),
        weight_bytes_(WeightBytes(model)),
        weights_(weight_bytes_) {}

  const KernelTable* kernels_;
  ThreadTeam* team_;
  ReadTarget memory_;
  std::vector<std::span<const std::byte>> weight_bytes_;
  ReadTarget weights_;
  std::vector<double> speeds_;
  std::vector<double> memory_speeds_;
  std::vector<double> weights_speeds_;
  std::vector<double> peaks_;
};

}  // namespace vivace
