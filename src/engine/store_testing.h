// What the tests of the disk store under the engine share: a folder, and cores that come and
// go over it.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "engine/core.h"
#include "engine/core_testing.h"
#include "engine/testing.h"

namespace vivace {

class PageCourierTest : public testing::Test {
 protected:
  EngineOptions Options(std::int64_t pages = 8 * kContextPages) {
    return {.context = kContext, .kv_bytes = pages * PageBytes(), .store = Store()};
  }
  PageStoreOptions Store() {
    return {.folder = folder(),
            .max_bytes = std::int64_t{1} << 30,
            .warn = [this](const std::string&) { ++warnings_; },
            .look_ms = 0,
            .retry_ms = 0};
  }
  std::string folder() const { return files_.root() + "kv"; }
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder(), error)) {
      files.push_back(entry.path().string());
    }
    return files;
  }

  // As after a restart of the program.
  void Start(const EngineOptions& options) {
    core_.reset();
    core_ = std::move(*EngineCore::Create(TestModel(), team_, options));
  }
  void Add(GenerateRequest request, Outcome& outcome, std::stop_token cancel = {}) {
    ASSERT_TRUE(core_->Check(request).has_value());
    core_->Add({.request = std::move(request),
                .sink = Record(outcome),
                .cancel = std::move(cancel),
                .arrival_ms = NowMs()});
  }
  void Drain() {
    while (core_->Step()) {
    }
  }
  Outcome Run(GenerateRequest request) {
    Outcome outcome;
    Add(std::move(request), outcome);
    Drain();
    return outcome;
  }
  std::vector<Outcome> RunMany(std::uint32_t count) {
    std::vector<Outcome> outcomes(count);
    for (std::uint32_t i = 0; i < count; ++i) Add(MixedRequest(i), outcomes[i]);
    Drain();
    return outcomes;
  }
  void ExpectNothingHeld() {
    core_->Flush(60'000);
    EXPECT_EQ(core_->pool().available() + core_->cache().idle_pages(), core_->pool().capacity());
  }
  static void ExpectSame(const std::vector<Outcome>& a, const std::vector<Outcome>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].SameAnswer(b[i])) << i;
  }
  // What comes out without a store.
  const std::vector<Outcome>& Plain() {
    static const std::vector<Outcome> outcomes = [this] {
      EngineOptions options = Options();
      options.store = {};
      Start(options);
      return RunMany(100);
    }();
    return outcomes;
  }

  FileTree files_{"courier"};
  std::atomic<int> warnings_ = 0;
  ThreadTeam team_{{.threads = 1}};
  std::unique_ptr<EngineCore> core_;
};

}  // namespace vivace
