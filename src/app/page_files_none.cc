// What stands in for the web page in a build without it.
#include "app/page_files.h"

namespace vivace {

const PageFile kPageFiles[] = {{"", "", 0, 0, false, false}};
const std::size_t kPageFileCount = 0;

}  // namespace vivace

extern "C" const char vivace_page_bytes[] = {0};
