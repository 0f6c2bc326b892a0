// The files of the web page as the build has put them into the program.
//
// Both tables are made by tools/build_page.py; without Node.js they are empty. Nothing here
// is ever freed; any thread may read.
#pragma once

#include <cstddef>

namespace vivace {

struct PageFile {
  const char* path;  // "/index.html"
  const char* content_type;
  std::size_t begin;  // in vivace_page_bytes
  std::size_t bytes;
  bool gzip;       // those bytes are compressed
  bool immutable;  // the name holds a hash of the content
};

extern const PageFile kPageFiles[];
extern const std::size_t kPageFileCount;

}  // namespace vivace

extern "C" const char vivace_page_bytes[];
