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
                       std::size_t min_indent, std::function<void(std::string_view)> on_text)
    : stop_(std::move(stop)),
      on_text_(std::move(on_text)),
      decoder_(tokenizer),
      min_indent_(min_indent) {
  std::erase(stop_, "");
}

bool TextOutput::Push(TokenId token) { return PushText(decoder_.Push(token)); }

void TextOutput::Finish() {
  if (ended_) return;
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
  if (const std::size_t dedent = FindDedent(first); dedent < first) {
    first = dedent;
    stopping_word_.clear();
  }
  if (first != std::string::npos) {
    HandOut(first);
    pending_.clear();
    ended_ = true;
    return true;
  }
  std::size_t held = 0;
  for (const std::string& word : stop_) held = std::max(held, PartialMatch(pending_, word));
  HandOut(pending_.size() - held);
  return false;
}

std::size_t TextOutput::FindDedent(std::size_t end) {
  if (min_indent_ == 0) return std::string::npos;
  for (; seen_ < std::min(end, pending_.size()); ++seen_) {
    const char c = pending_[seen_];
    if (in_indent_ && (c == ' ' || c == '\t')) {
      ++indent_;
      continue;
    }
    if (in_indent_ && indent_ < min_indent_) return seen_;
    in_indent_ = c == '\n';
    indent_ = 0;
  }
  return std::string::npos;
}

void TextOutput::HandOut(std::size_t count) {
  if (count == 0) return;
  on_text_(std::string_view(pending_).substr(0, count));
  text_.append(pending_, 0, count);
  pending_.erase(0, count);
  seen_ -= std::min(seen_, count);
}

}  // namespace vivace
