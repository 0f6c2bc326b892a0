// Ids of answers and of what they are made of.
#pragma once

#include <string>
#include <string_view>

namespace vivace {

// "prefix" and 24 characters that no other id has.
std::string NewId(std::string_view prefix);

}  // namespace vivace
