// How the history compares texts: without regard to case, width and composition of
// characters, so that a search finds what looks the same, in any script.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vivace {

// Unicode's case folding over its compatibility form. What is no UTF-8 stays as it is.
std::string FoldForSearch(std::string_view text);

// The folded words of a query. Chinese needs no spaces: a run of characters is one word,
// which is looked for as it stands.
std::vector<std::string> WordsOf(std::string_view query);

}  // namespace vivace
