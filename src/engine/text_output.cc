#include "engine/text_output.h"

#include <algorithm>
#include <utility>

namespace vivace {
namespace {

// The longest suffix of `text` that is a proper prefix of `word`.
std::size_t PartialMatch(std::string_view text, std::string_view word) {
  for (std::size_t size = std::min(text.size(), word.size() - 1); size > 0; --size) {
    if (text.ends_with(word.substr(0, size))) return size;
  }
  return 0;
}

}  // namespace

TextOutput::TextOutput(const Tokenizer& tokenizer, std::vector<std::string> stop,
                       std::function<void(std::string_view)> on_text)
    : stop_(std::move(stop)), on_text_(std::move(on_text)), decoder_(tokenizer) {
  std::erase(stop_, "");
}

bool TextOutput::Push(TokenId token) { return PushText(decoder_.Push(token)); }

void TextOutput::Finish() {
  if (!stopping_word_.empty()) return;
  if (PushText(decoder_.Finish())) return;
  HandOut(pending_.size());
}

bool TextOutput::PushText(std::string_view piece) {
  pending_ += piece;
  std::size_t first = std::string::npos;
  for (const std::string& word : stop_) {
    const std::size_t found = pending_.find(word);
    if (found < first) {
      first = found;
      stopping_word_ = word;
    }
  }
  if (first != std::string::npos) {
    HandOut(first);
    pending_.clear();
    return true;
  }
  std::size_t held = 0;
  for (const std::string& word : stop_) held = std::max(held, PartialMatch(pending_, word));
  HandOut(pending_.size() - held);
  return false;
}

void TextOutput::HandOut(std::size_t count) {
  if (count == 0) return;
  on_text_(std::string_view(pending_).substr(0, count));
  text_.append(pending_, 0, count);
  pending_.erase(0, count);
}

}  // namespace vivace
