// What several tests of this module need to look at prompts.
//
// For tests only. Stateless.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chat/control_texts.h"

namespace vivace {

using Pieces = std::vector<PromptPiece>;

// GoogleTest finds it by its name.
inline void PrintTo(const PromptPiece& piece, std::ostream* out) {
  *out << (piece.control ? "control " : "plain ") << testing::PrintToString(piece.text);
}

inline std::string Joined(const Pieces& pieces) {
  std::string text;
  for (const PromptPiece& piece : pieces) text += piece.text;
  return text;
}

}  // namespace vivace
