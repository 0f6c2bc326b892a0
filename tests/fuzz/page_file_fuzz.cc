// Any bytes as a file of the disk store: its header is read or refused, and what was read is
// the same bytes when it is written again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "kv/page_file_header.h"

namespace vivace {
namespace {

constexpr PageFileKind kKind = {.root = {.low = 1, .high = 2},
                                .shape = {.layers = 1, .kv_heads = 1, .dim = 16}};

void Parse(std::span<const std::byte> bytes) {
  if (bytes.size() < kPageFileStart) return;
  const auto sizes = ParsePageFileStart(bytes.first<kPageFileStart>(), kKind);
  if (!sizes) return;
  VIVACE_CHECK(sizes->file_bytes > sizes->header_bytes, "a file without pages");
  // A reader has compared the file's size by now; here the padding may be missing.
  const auto header =
      ParsePageFileHeader(bytes.first(std::min(bytes.size(), sizes->header_bytes)), kKind);
  if (!header) return;
  VIVACE_CHECK(
      std::ranges::equal(EncodePageFileHeader(*header, kKind), bytes.first(sizes->header_bytes)),
      "a header differs after reading and writing");
}

}  // namespace
}  // namespace vivace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  vivace::Parse(std::as_bytes(std::span(data, size)));
  return 0;
}
