// Counts what a step takes from the heap, by replacing this program's operator new. The
// sanitizers have replaced it already.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <atomic>
#include <cstdlib>
#include <new>

#include "gtest/gtest.h"

#include "engine/core.h"
#include "engine/testing.h"

namespace {

std::atomic<std::int64_t> allocations = 0;

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace vivace {
namespace {

// Four sequences, two of them sampled.
std::unique_ptr<EngineCore> Decoding(ThreadTeam& team, Speculation speculation) {
  auto core = EngineCore::Create(TestModel(), team, {.context = 1024, .speculation = speculation});
  const auto count_tokens = [](const Event&) {};
  for (std::uint32_t i = 0; i < 4; ++i) {
    GenerateRequest request = {.prompt = RandomTokens(33, i), .max_tokens = 150};
    request.ignore_end = true;
    request.sampling.temperature = i % 2 == 0 ? 0.0F : 1.0F;
    (*core)->Add({.request = std::move(request), .sink = count_tokens, .cancel = {}});
  }
  for (int step = 0; step < 4; ++step) (*core)->Step();
  return std::move(*core);
}

int StepsThatAllocate(EngineCore& core, int steps) {
  int allocating = 0;
  for (int step = 0; step < steps; ++step) {
    const std::int64_t before = allocations;
    EXPECT_TRUE(core.Step());
    allocating += allocations == before ? 0 : 1;
  }
  return allocating;
}

// Only a new page's place in the cache and a text that outgrows its memory are allocated.
TEST(AllocationTest, DecodeStepsDoNotAllocateWithinAPage) {
  ThreadTeam team({.threads = 2});
  const auto core = Decoding(team, Speculation::kOff);
  // Four times 16 positions: a new page for all four sequences in one step each, and one
  // step after which it is full; the texts double once or twice.
  EXPECT_LE(StepsThatAllocate(*core, 64), 16);
}

TEST(AllocationTest, StepsWithDraftsDoNotAllocateEither) {
  ThreadTeam team({.threads = 2});
  const auto core = Decoding(team, Speculation::kAlways);
  const std::int64_t before = core->metrics().tokens_generated.value();
  const int allocating = StepsThatAllocate(*core, 64);
  // Now the sequences get their pages in different steps.
  const std::int64_t pages = (core->metrics().tokens_generated.value() - before) / 16;
  EXPECT_LE(allocating, 2 * (pages + 4) + 12);
  EXPECT_GT(core->metrics().drafts.value(), 0);
}

}  // namespace
}  // namespace vivace

#endif
