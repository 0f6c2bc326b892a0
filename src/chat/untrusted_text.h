// Makes the texts of a request harmless before a template sees them.
//
// Works on every string of the request, also inside tools and in JSON keys.
// Stateless; any thread.
#pragma once

#include <bitset>
#include <string_view>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/control_texts.h"

namespace vivace {

// The 32 characters that Unicode reserves for uses like this one: they never stand
// in text that is meant to be exchanged.
inline constexpr char32_t kFirstMarker = 0xFDD0;
using MarkerSet = std::bitset<32>;

// Adds the markers that occur in `text`.
void FindMarkers(std::string_view text, MarkerSet& found);

// kBadInput if JSON in `request` nests deeper than kMaxJsonDepth. The functions below
// recurse, so they require this.
Result<void> CheckNesting(const ChatRequest& request);

// Adds the markers that occur anywhere in `request`.
void FindMarkers(const ChatRequest& request, MarkerSet& found);

// A copy of `request` with all control texts broken up by `marker`.
ChatRequest BreakControlTexts(const ChatRequest& request, const ControlTexts& controls,
                              std::string_view marker);

}  // namespace vivace
