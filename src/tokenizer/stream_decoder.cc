#include "tokenizer/stream_decoder.h"

#include "base/utf8.h"

namespace vivace {

std::string StreamDecoder::Push(TokenId id) {
  if (control_ == Control::kSkip && tokenizer_.IsControl(id)) return {};
  return Push(tokenizer_.Piece(id));
}

std::string StreamDecoder::Push(std::string_view bytes) {
  std::string out;
  pending_.append(bytes);
  const std::size_t kept = AppendRepaired(pending_, true, out);
  pending_.erase(0, pending_.size() - kept);
  return out;
}

std::string StreamDecoder::Finish() {
  std::string out;
  AppendRepaired(pending_, false, out);
  pending_.clear();
  return out;
}

}  // namespace vivace
