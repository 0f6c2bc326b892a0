// For tests of the hub: a home folder of its own, and files to be fetched from it.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "base/testing.h"
#include "hub/store.h"

namespace vivace {

// echo -n abc | sha256sum
inline constexpr const char* kAbcSha256 =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

class HubTest : public testing::Test {
 protected:
  HubTest() : tree_(testing::UnitTest::GetInstance()->current_test_info()->name()) {
    setenv("VIVACE_HOME", (tree_.root() + "home").c_str(), 1);
    unsetenv("VIVACE_CATALOGUE");
  }

  // A model with this content, to be had as a local file.
  CatalogueEntry Entry(const std::string& content, const std::string& sha256) const {
    tree_.Write("source.bin", content);
    return {.name = "tiny",
            .quant = "q8_0",
            .file = "tiny.gguf",
            .size = content.size(),
            .sha256 = sha256,
            .sources = {{.label = "disk", .url = Url("source.bin"), .parts = {}}}};
  }
  std::string Url(const std::string& file) const { return "file://" + tree_.root() + file; }

  PullEvents Events() {
    return {.say = [this](const std::string& line) { said_.push_back(line); },
            .progress = [](std::uint64_t, std::uint64_t) {}};
  }

  FileTree tree_;
  std::vector<std::string> said_;
};

}  // namespace vivace
