// Nfc: brings text to Unicode's composed normal form, as some models expect.
//
// Only the surroundings of characters that may change are touched, so ordinary text costs one
// pass. Broken UTF-8 stays as it is and nothing composes across it. Stateless.
#pragma once

#include <string>
#include <string_view>

#include "tokenizer/table_view.h"

namespace vivace {

// `text` itself if it is already normal, else a view of `buffer`, whose old content is lost.
// Linear time but for sorting runs of combining marks.
std::string_view ToNfc(const TableView& tables, std::string_view text, std::string& buffer);

}  // namespace vivace
