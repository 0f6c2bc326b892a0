// The web page as the server sends it: the files of the build under a strict policy.
#pragma once

#include "http/assets.h"

namespace vivace {

// Empty in a build without the page.
http::Assets PageAssets();

}  // namespace vivace
