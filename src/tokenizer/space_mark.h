// SentencePiece writes a space as U+2581; in its text and pieces both mean a space.
#pragma once

#include <string>
#include <string_view>

namespace vivace {

// `text` with spaces for space marks: itself, or a view of `buffer`, whose old content is lost.
std::string_view ReplaceSpaceMarks(std::string_view text, std::string& buffer);

}  // namespace vivace
