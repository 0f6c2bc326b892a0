// What a benchmark asks of a server before it begins: whether it is there, and its model.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "measure/http_loop.h"
#include "measure/serve_bench.h"

namespace vivace {

// The first model that the target lists; "default" where it has no such list. kIo, naming
// the target, when nothing answers or the key is refused.
Result<std::string> FindModel(HttpLoop& loop, const ServeTarget& target,
                              const ServeBenchOptions& options);

// The header with the key, if there is one.
std::vector<std::string> AuthHeaders(const ServeBenchOptions& options);

}  // namespace vivace
