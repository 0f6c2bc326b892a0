#include "base/page_promotion.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/huge_page.h"
#include "base/memory_facts.h"

namespace vivace {
namespace {

constexpr std::size_t kPiece = 2 * kHugePage;  // cleared and copied in one to two milliseconds
constexpr std::size_t kTrial = 16 * kHugePage;
constexpr std::size_t kSample = 4 * kHugePage;  // read from each side to compare them
constexpr double kGain = 1.05;
// Memory that stays available to others after a promotion.
constexpr std::size_t kSpare = std::size_t{512} << 20;

bool SystemHasHugePages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  return std::getline(file, line) && line.find("[never]") == std::string::npos;
}

// Milliseconds to read one word of every line.
double ReadMs(const std::byte* at, std::size_t size) {
  const double start = NowMs();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < size; i += 64) {
    std::uint64_t word = 0;
    std::memcpy(&word, at + i, sizeof word);
    sum += word;
  }
  // The sum must be formed.
  __asm__ volatile("" : : "r"(sum));
  return NowMs() - start;
}

}  // namespace

std::size_t HugeMappedBytes(std::span<const std::byte> range) {
  const auto first = reinterpret_cast<std::uintptr_t>(range.data());
  std::ifstream file("/proc/self/smaps");
  std::size_t total = 0;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    unsigned long long kilobytes = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2) {
      inside = begin < first + range.size() && end > first;
    } else if (inside && (std::sscanf(line.c_str(), "FilePmdMapped: %llu kB", &kilobytes) == 1 ||
                          std::sscanf(line.c_str(), "AnonHugePages: %llu kB", &kilobytes) == 1)) {
      total += static_cast<std::size_t>(kilobytes) << 10;
    }
  }
  return total;
}

PagePromotion::PagePromotion(std::span<const std::byte> bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t begin = (address + kHugePage - 1) & ~(kHugePage - 1);
  const std::uintptr_t end = (address + bytes.size()) & ~(kHugePage - 1);
  // The pages are replaced, the bytes stay: a view of constant bytes remains true.
  begin_ = const_cast<std::byte*>(bytes.data()) + (begin - address);
  size_ = end > begin ? end - begin : 0;
}

bool PagePromotion::WorthStarting() const {
  return size_ >= 2 * kTrial && SystemHasHugePages() &&
         HugeMappedBytes({begin_, size_}) < size_ / 2 &&
         std::cmp_greater(AvailableMemory(), size_ + kSpare);
}

bool PagePromotion::HasBecomeFaster() const {
  // The oldest promoted pages against the last of all: both were read by the pass before.
  double promoted = 0;
  double others = 0;
  for (int round = 0; round < 2; ++round) {
    const std::size_t offset = static_cast<std::size_t>(round) * kSample;
    promoted += ReadMs(begin_ + offset, kSample);
    others += ReadMs(begin_ + size_ - kTrial + offset, kSample);
  }
  return others > kGain * promoted;
}

bool PagePromotion::PromotePiece() {
  const std::size_t size = kPiece < size_ - promoted_ ? kPiece : size_ - promoted_;
  void* mapping =
      mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(mapping);
  auto* piece =
      static_cast<std::byte*>(mapping) + (((address + kHugePage - 1) & ~(kHugePage - 1)) - address);
  madvise(piece, size, MADV_HUGEPAGE);
  std::memcpy(piece, begin_ + promoted_, size);
  mprotect(piece, size, PROT_READ);
  const bool moved =
      mremap(piece, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, begin_ + promoted_) != MAP_FAILED;
  // What is left of the mapping: all of it, or the slack before and behind the piece.
  if (!moved) {
    munmap(mapping, size + kHugePage);
    return false;
  }
  const auto before = static_cast<std::size_t>(piece - static_cast<std::byte*>(mapping));
  if (before > 0) munmap(mapping, before);
  if (before < kHugePage) munmap(piece + size, kHugePage - before);
  promoted_ += size;
  return true;
}

bool PagePromotion::Step() {
  if (done_) return false;
  const bool on = promoted_ == 0        ? WorthStarting()
                  : promoted_ == kTrial ? HasBecomeFaster()
                                        : promoted_ < size_;
  done_ = !on || !PromotePiece();
  return !done_;
}

}  // namespace vivace
