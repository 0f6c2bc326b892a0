// ParseJson: JSON from outside, with its keys in the order they were written.
//
// The order matters: chat templates print tool definitions, and a model expects
// them as their author wrote them. Stateless; any thread.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace vivace {

using Json = nlohmann::ordered_json;
using SortedJson = nlohmann::json;

// Values may nest this deep; the outermost counts as 1. Everything in this module
// may therefore recurse over a checked value.
inline constexpr int kMaxJsonDepth = 64;

// An ordered object finds its keys by search, so many keys take quadratic time.
inline constexpr std::size_t kMaxJsonKeys = 1024;

// kBadInput on a syntax error, deeper nesting, or more keys in one object. Of
// equal keys the last value counts.
Result<Json> ParseJson(std::string_view text);

// The same for values whose order means nothing: keys are sorted, so there may be any number.
Result<SortedJson> ParseSortedJson(std::string_view text);

// True if `value` nests at most `depth` deep.
bool NestsWithin(const Json& value, int depth = kMaxJsonDepth);

}  // namespace vivace
