#include "app/page_assets.h"

#include <span>

#include "app/page_files.h"

namespace vivace {
namespace {

// Nothing from anywhere else, no inline script or style, no frame around the page. Whatever
// an answer of the model holds, the browser runs none of it.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

}  // namespace

http::Assets PageAssets() {
  http::Assets assets(kPolicy);
  for (const PageFile& file : std::span(kPageFiles, kPageFileCount)) {
    assets.Add({.path = file.path,
                .content_type = file.content_type,
                .bytes = {vivace_page_bytes + file.begin, file.bytes},
                .gzip = file.gzip,
                .immutable = file.immutable});
  }
  return assets;
}

}  // namespace vivace
