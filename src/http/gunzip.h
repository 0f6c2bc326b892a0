// Gunzip: the content of gzip data that a build has put into the program.
//
// For trusted data of known size only: what comes out is as large as the data's own trailer
// says, up to a limit.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace vivace::http {

// One gzip member without optional header fields. kBadInput for anything else.
Result<std::string> Gunzip(std::string_view bytes);

}  // namespace vivace::http
