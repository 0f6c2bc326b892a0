// Numbers and texts in the form that people read in a terminal.
#pragma once

#include <string>
#include <string_view>

namespace vivace {

std::string HumanBytes(double bytes);      // "812 kB", "98.4 MB", "1.12 GB"
std::string HumanSeconds(double seconds);  // "42 s", "3 min 5 s", "2 h 10 min"

// The text with every control character replaced: what a model file says must not steer
// the terminal. Line ends stay.
std::string Printable(std::string_view text);

}  // namespace vivace
