// What the tests of the disk store share: paths of pages with telling bytes, and a store in a
// folder of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "base/testing.h"
#include "kv/page_store.h"

namespace vivace {

inline constexpr PageFileKind kTestKind = {.root = {.low = 11, .high = 22},
                                           .shape = {.layers = 2, .kv_heads = 1, .dim = 16}};
inline constexpr auto kTestPage = static_cast<std::size_t>(kPagePositions);

// A path of full pages. What a page holds follows from its name.
struct TestPath {
  // 16 tokens a page, counted up from `first_token`.
  TestPath(std::size_t count, TokenId first_token) : tokens(count * kTestPage) {
    std::iota(tokens.begin(), tokens.end(), first_token);
    Fill();
  }
  explicit TestPath(std::vector<TokenId> of) : tokens(std::move(of)) { Fill(); }

  void Fill() {
    PageName parent = kTestKind.root;
    for (std::size_t page = 0; page < tokens.size() / kTestPage; ++page) {
      names.push_back(NameOfPage(parent, Tokens(page)));
      parent = names.back();
      auto& page_bytes = bytes.emplace_back(static_cast<std::size_t>(kTestKind.shape.page_size()));
      std::uint64_t state = parent.low;
      for (std::uint16_t& half : page_bytes) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        half = static_cast<std::uint16_t>(state >> 48);
      }
    }
  }
  PageTokens Tokens(std::size_t page) const {
    return std::span(tokens).subspan(page * kTestPage).first<kTestPage>();
  }
  std::vector<PageToStore> Pages() const {
    std::vector<PageToStore> pages;
    for (std::size_t i = 0; i < names.size(); ++i) {
      pages.push_back({.name = names[i], .tokens = Tokens(i), .page = bytes[i].data()});
    }
    return pages;
  }

  std::vector<TokenId> tokens;
  std::vector<PageName> names;
  std::vector<std::vector<std::uint16_t>> bytes;
};

// A folder in which stores are opened one after the other, or at once.
class StoreFolder {
 public:
  explicit StoreFolder(const std::string& name) : files_(name) {}

  PageStoreOptions Options(std::int64_t max_bytes = 1 << 30) {
    return {.folder = folder(),
            .max_bytes = max_bytes,
            .warn = [this](const std::string& text) { warnings_.push_back(text); },
            .look_ms = 0,
            .retry_ms = 0};
  }
  std::string folder() const { return files_.root() + "kv"; }
  const std::vector<std::string>& warnings() const { return warnings_; }

  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder(), error)) {
      files.push_back(entry.path().string());
    }
    std::ranges::sort(files);
    return files;
  }

 private:
  FileTree files_;
  std::vector<std::string> warnings_;
};

inline std::int64_t WriteAll(PageStore& store, const TestPath& path) {
  const std::atomic<bool> dropped = false;
  return store.Write(path.Pages(), dropped);
}

// Reads the path's pages from number `first` on; what arrives must be right. Returns how many.
inline std::int64_t ReadAll(PageStore& store, const TestPath& path, std::size_t first = 0) {
  std::vector<std::vector<std::uint16_t>> bytes(path.names.size() - first);
  std::vector<std::uint16_t*> pages;
  for (auto& page : bytes) {
    page.resize(static_cast<std::size_t>(kTestKind.shape.page_size()));
    pages.push_back(page.data());
  }
  const std::atomic<bool> stop = false;
  const std::int64_t read = store.Read(path.tokens, static_cast<std::int64_t>(first), pages, stop);
  for (std::size_t i = 0; i < static_cast<std::size_t>(read); ++i) {
    EXPECT_EQ(bytes[i], path.bytes[first + i]) << "page " << first + i;
  }
  return read;
}

inline std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace vivace
