// TextOutput: turns sampled tokens into text, watching for stop strings.
//
// Text that may be the start of a stop string is held back until it is clear; what was
// handed out is never taken back, and handed-out pieces always add up to text().
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/stream_decoder.h"
#include "tokenizer/tokenizer.h"

namespace vivace {

class TextOutput {
 public:
  // `tokenizer` must outlive this object. Empty stop strings are ignored. Lines after the
  // first that begin with fewer than `min_indent` spaces and tabs end the text as well.
  TextOutput(const Tokenizer& tokenizer, std::vector<std::string> stop, std::size_t min_indent,
             std::function<void(std::string_view)> on_text);

  // True once a stop string is complete or a line begins too early: the text ends before it.
  bool Push(TokenId token);
  // No more tokens: hands out what was held back.
  void Finish();

  const std::string& text() const { return text_; }
  const std::string& stopping_word() const { return stopping_word_; }

 private:
  bool PushText(std::string_view piece);
  void HandOut(std::size_t count);
  // Where in the pending text, up to `end`, a line begins too early.
  std::size_t FindDedent(std::size_t end);

  std::vector<std::string> stop_;
  std::function<void(std::string_view)> on_text_;
  StreamDecoder decoder_;
  std::string text_;     // handed out
  std::string pending_;  // may still become a stop string
  std::string stopping_word_;
  std::size_t min_indent_;
  std::size_t seen_ = 0;    // of pending_, by FindDedent
  std::size_t indent_ = 0;  // of the line that has begun
  bool in_indent_ = false;  // of a line after the first
  bool ended_ = false;
};

}  // namespace vivace
