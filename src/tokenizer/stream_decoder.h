// StreamDecoder: tokens, one at a time, to text that is valid UTF-8 at every step.
//
// A character whose bytes span tokens comes out once it is complete; broken bytes become
// U+FFFD by maximal subparts. All pieces together are the same for every way of cutting the
// bytes. One object per stream; not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/token_id.h"
#include "tokenizer/tokenizer.h"

namespace vivace {

class StreamDecoder {
 public:
  enum class Control : std::uint8_t { kSkip, kShow };

  // `tokenizer` must outlive this object. kSkip leaves control tokens out.
  explicit StreamDecoder(const Tokenizer& tokenizer, Control control = Control::kSkip)
      : tokenizer_(tokenizer), control_(control) {}

  // The text that this token completes; may be empty.
  std::string Push(TokenId id);
  std::string Push(std::string_view bytes);
  // No more bytes: an incomplete character becomes one U+FFFD. The object can be used again.
  std::string Finish();

 private:
  const Tokenizer& tokenizer_;
  Control control_;
  std::string pending_;  // an incomplete character, at most 3 bytes
};

}  // namespace vivace
