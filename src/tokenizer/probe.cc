// tokenizer_probe SPEC.json DOCUMENTS IDS parse|text [RUNS]
//
// Encodes documents for tools/check_tokenizer.py and prints the speed in processor time. DOCUMENTS
// holds documents, each its size (u32) and bytes; IDS gets for each the count (u32) and the ids.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "tokenizer/spec_json.h"
#include "tokenizer/tables.h"
#include "tokenizer/tokenizer.h"

namespace vivace {
namespace {

// Of this thread alone: other programs on the machine do not count.
double CpuMs() {
  return 1e3 * static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

int Stop(const std::string& message) {
  std::fprintf(stderr, "tokenizer_probe: %s\n", message.c_str());
  return 1;
}

std::vector<std::string_view> Documents(std::span<const std::byte> bytes) {
  std::vector<std::string_view> documents;
  while (bytes.size() >= 4) {
    std::uint32_t size = 0;
    std::memcpy(&size, bytes.data(), 4);
    bytes = bytes.subspan(4);
    if (size > bytes.size()) break;
    documents.emplace_back(reinterpret_cast<const char*>(bytes.data()), size);
    bytes = bytes.subspan(size);
  }
  return documents;
}

int Run(const std::string& spec_path, const std::string& documents_path,
        const std::string& ids_path, Tokenizer::Special special, int runs) {
  const auto owned = ReadSpecJson(spec_path);
  if (!owned) return Stop(owned.error().message);
  const double build_start = CpuMs();
  const auto tables = BuildTables((*owned)->spec);
  if (!tables) return Stop(tables.error().message);
  const double open_start = CpuMs();
  const auto tokenizer = Tokenizer::Open(*tables);
  if (!tokenizer) return Stop(tokenizer.error().message);
  const double open_end = CpuMs();
  const auto file = MappedFile::Open(documents_path);
  if (!file) return Stop(file.error().message);
  const std::vector<std::string_view> documents = Documents(file->bytes());
  std::size_t bytes = 0;
  for (const std::string_view document : documents) bytes += document.size();

  double best_ms = 1e300;
  std::vector<TokenId> ids;
  std::size_t tokens = 0;
  for (int run = 0; run < runs; ++run) {
    tokens = 0;
    const double start = CpuMs();
    for (const std::string_view document : documents) {
      ids.clear();
      tokenizer->Encode(document, special, ids);
      tokens += ids.size();
    }
    best_ms = std::min(best_ms, CpuMs() - start);
  }
  std::ofstream out(ids_path, std::ios::binary);
  for (const std::string_view document : documents) {
    ids.clear();
    tokenizer->Encode(document, special, ids);
    const auto count = static_cast<std::uint32_t>(ids.size());
    out.write(reinterpret_cast<const char*>(&count), sizeof(count));
    out.write(reinterpret_cast<const char*>(ids.data()),
              static_cast<std::streamsize>(ids.size() * sizeof(TokenId)));
  }
  std::printf(
      "%zu documents, %.2f MB, %zu tokens, %.1f MB/s; tables %.1f MB, build %.0f ms, "
      "open %.3f ms\n",
      documents.size(), static_cast<double>(bytes) / 1e6, tokens,
      static_cast<double>(bytes) / 1e3 / best_ms, static_cast<double>(tables->size()) / 1e6,
      open_start - build_start, open_end - open_start);
  return out ? 0 : Stop("cannot write " + ids_path);
}

}  // namespace
}  // namespace vivace

int main(int argc, char** argv) {
  const std::string mode = argc > 4 ? argv[4] : "";
  if (argc < 5 || argc > 6 || (mode != "parse" && mode != "text")) {
    return vivace::Stop("usage: tokenizer_probe SPEC.json DOCUMENTS IDS parse|text [RUNS]");
  }
  const auto special =
      mode == "parse" ? vivace::Tokenizer::Special::kParse : vivace::Tokenizer::Special::kAsText;
  return vivace::Run(argv[1], argv[2], argv[3], special,
                     argc > 5 ? std::max(1, std::atoi(argv[5])) : 1);
}
