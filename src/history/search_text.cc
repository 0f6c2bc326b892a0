#include "history/search_text.h"

#include <cstdlib>

#include <utf8proc.h>

namespace vivace {

std::string FoldForSearch(std::string_view text) {
  utf8proc_uint8_t* folded = nullptr;
  const utf8proc_ssize_t length = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(text.size()), &folded,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT |
                                     UTF8PROC_CASEFOLD | UTF8PROC_IGNORE));
  if (length < 0) return std::string(text);
  std::string result(reinterpret_cast<const char*>(folded), static_cast<std::size_t>(length));
  std::free(folded);  // NOLINT(cppcoreguidelines-no-malloc): the library's memory
  return result;
}

std::vector<std::string> WordsOf(std::string_view query) {
  // The compatibility form of every wide space is the plain one.
  const std::string folded = FoldForSearch(query);
  constexpr std::string_view kSpaces = " \t\r\n";
  std::vector<std::string> words;
  std::size_t begin = folded.find_first_not_of(kSpaces);
  while (begin != std::string::npos) {
    const std::size_t end = std::min(folded.find_first_of(kSpaces, begin), folded.size());
    words.push_back(folded.substr(begin, end - begin));
    begin = folded.find_first_not_of(kSpaces, end);
  }
  return words;
}

}  // namespace vivace
