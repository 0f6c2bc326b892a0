#include "tokenizer/space_mark.h"

namespace vivace {

std::string_view ReplaceSpaceMarks(std::string_view text, std::string& buffer) {
  constexpr std::string_view kSpaceMark = "\xE2\x96\x81";
  std::size_t mark = text.find(kSpaceMark);
  if (mark == std::string_view::npos) return text;
  buffer.clear();
  std::size_t done = 0;
  for (; mark != std::string_view::npos; mark = text.find(kSpaceMark, done)) {
    buffer.append(text, done, mark - done);
    buffer.push_back(' ');
    done = mark + kSpaceMark.size();
  }
  buffer.append(text, done);
  return buffer;
}

}  // namespace vivace
