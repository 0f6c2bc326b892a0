// SHA-256 of a file.
#pragma once

#include <stop_token>
#include <string>

#include "base/result.h"

namespace vivace {

// 64 lower-case hexadecimal digits. Reads in blocks of 1 MiB; kCancelled when asked to stop.
Result<std::string> Sha256OfFile(const std::string& path, const std::stop_token& stop = {});

}  // namespace vivace
