#include "measure/token_chooser.h"

#include <utility>

#include "model/forward.h"
#include "sampling/largest.h"

namespace vivace {

Result<TokenChooser> TokenChooser::Create(const Model& model, ThreadTeam& team,
                                          std::int64_t max_rows) {
  const auto floats = static_cast<std::size_t>(max_rows * LogitsStride(model.config()));
  auto logits = Buffer::Allocate(floats * sizeof(float), HugePages::kYes);
  if (!logits) return Failure(std::move(logits).error());
  return TokenChooser(model, team, max_rows, std::move(*logits));
}

TokenChooser::TokenChooser(const Model& model, ThreadTeam& team, std::int64_t max_rows,
                           Buffer logits)
    : model_(&model),
      team_(&team),
      logits_(std::move(logits)),
      full_bytes_(static_cast<double>(model.weights().output.groups() *
                                      model.weights().output.group_bytes)),
      found_(static_cast<std::size_t>(max_rows)) {
  if (model.weights().coarse_head) search_.emplace(model.weights(), max_rows, team.size());
}

// The coarse head is read once for all rows, each row's exact groups for itself.
double TokenChooser::BytesRead() const {
  const auto group_bytes = static_cast<double>(model_->weights().output.group_bytes);
  double bytes = static_cast<double>(found_[0].read_share) * full_bytes_;
  for (std::size_t row = 1; row < found_.size(); ++row) {
    bytes += static_cast<double>(found_[row].groups) * group_bytes;
  }
  return bytes;
}

void TokenChooser::Choose(Workspace& space, std::span<TokenId> tokens) {
  float* logits = logits_.As<float>().data();
  const auto vocab = static_cast<std::size_t>(model_->config().vocab_size);
  const std::int64_t stride = LogitsStride(model_->config());
  if (search_ && policy_.Try()) {
    found_.resize(tokens.size());
    search_->Find(0, 0, space, *team_, logits, found_);
    const double bytes = BytesRead();
    policy_.Judge(true, static_cast<float>(bytes / full_bytes_));
    bytes_read_ += bytes;
    for (std::size_t row = 0; row < tokens.size(); ++row) tokens[row] = found_[row].token;
    return;
  }
  bytes_read_ += full_bytes_;
  ComputeLogits(*model_, 0, static_cast<std::int64_t>(tokens.size()), space, *team_, logits);
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    tokens[row] = ArgMax({logits + static_cast<std::int64_t>(row) * stride, vocab});
  }
}

double TokenChooser::TakeBytesRead() { return std::exchange(bytes_read_, 0); }

}  // namespace vivace
