// Definitions of tools, as requests in OpenAI's form give them.
//
// Stateless; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "chat/json_input.h"

namespace vivace {

inline constexpr std::size_t kMaxTools = 512;
inline constexpr std::size_t kMaxToolName = 256;  // bytes

// The "tools" of a request: null, or an array of functions, each with a name of its own and
// a schema for an object where it takes arguments. Returns it as it is, or null if it is
// empty. An error names the tool.
Result<Json> ParseTools(const Json& tools);

// In their order. Precondition, here and below: `tools` is as ParseTools returns it.
std::vector<std::string> ToolNames(const Json& tools);

// The schema that the arguments of a tool must follow: that of the tool, without members that
// it does not name, unless it says that there may be some.
Json ToolSchema(const Json& tool);

}  // namespace vivace
