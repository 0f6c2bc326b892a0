#include "machine/read_target.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/clock.h"
#include "base/page_promotion.h"

namespace vivace {
namespace {

// Small enough that threads end together, large enough that a start costs nothing.
constexpr std::size_t kChunk = std::size_t{512} << 10;

// Adds up all words, as far ahead with its prefetches as the kernels are.
std::uint64_t Sum(std::span<const std::byte> bytes) {
  constexpr std::size_t kLanes = 16;
  constexpr std::size_t kAhead = 512;  // words: 4 KB
  const auto* words = reinterpret_cast<const std::uint64_t*>(bytes.data());
  const std::size_t count = bytes.size() / sizeof(std::uint64_t);
  std::uint64_t sums[kLanes] = {};
  for (std::size_t i = 0; i + kLanes <= count; i += kLanes) {
    __builtin_prefetch(words + i + kAhead);
    __builtin_prefetch(words + i + kAhead + kLanes / 2);
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += words[i + lane];
  }
  std::uint64_t total = 0;
  for (const std::uint64_t sum : sums) total += sum;
  return total;
}

Failure FileFailure(const std::string& folder, int code) {
  return Fail(ErrorKind::kIo, folder + ": " + std::generic_category().message(code));
}

// Writes `bytes` bytes that are not all zero: some file systems keep no zeros.
Result<void> Fill(int fd, const std::string& folder, std::size_t bytes) {
  const std::vector<char> block(std::size_t{4} << 20, 0x25);
  while (bytes > 0) {
    const ssize_t written = write(fd, block.data(), std::min(bytes, block.size()));
    if (written <= 0) return FileFailure(folder, errno);
    bytes -= static_cast<std::size_t>(written);
  }
  return {};
}

}  // namespace

ReadTarget::ReadTarget(std::span<const std::span<const std::byte>> parts) {
  for (std::span<const std::byte> part : parts) {
    bytes_ += part.size();
    while (!part.empty()) {
      chunks_.push_back(part.first(std::min(kChunk, part.size())));
      part = part.subspan(chunks_.back().size());
    }
  }
}

Result<ReadTarget> ReadTarget::OfMemory(std::size_t bytes, PageKind pages, ThreadTeam& team) {
  const HugePages huge = pages == PageKind::kHuge ? HugePages::kYes : HugePages::kNo;
  auto memory = Buffer::Allocate(bytes, huge);
  if (!memory) return Failure(std::move(memory).error());
  // Where huge pages are the system's habit, small ones have to be asked for.
  if (pages == PageKind::kSmall) madvise(memory->data(), bytes, MADV_NOHUGEPAGE);
  team.Run([&](TeamMember& member) {
    member.ForEachChunk(
        static_cast<std::int64_t>(bytes), kChunk, [&](std::int64_t begin, std::int64_t end) {
          std::memset(memory->data() + begin, 1, static_cast<std::size_t>(end - begin));
        });
  });
  const std::span<const std::byte> part(memory->data(), bytes);
  ReadTarget target({&part, 1});
  target.memory_ = std::move(*memory);
  return target;
}

Result<ReadTarget> ReadTarget::OfFile(const std::string& folder, std::size_t bytes) {
  const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return FileFailure(folder, errno);
  auto filled = Fill(fd, folder, bytes);
  // By its descriptor, for it has no name.
  auto file = filled ? MappedFile::Open("/proc/self/fd/" + std::to_string(fd))
                     : Result<MappedFile>(Failure(filled.error()));
  close(fd);
  if (!file) return Failure(std::move(file).error());
  const std::span<const std::byte> part = file->bytes();
  ReadTarget target({&part, 1});
  target.file_ = std::move(*file);
  return target;
}

double ReadTarget::Read(ThreadTeam& team, int threads) const {
  std::atomic<std::size_t> next = 0;
  std::atomic<std::uint64_t> total = 0;  // or the compiler would read nothing
  const double start = NowMs();
  team.Run([&](const TeamMember& member) {
    if (member.index() >= threads) return;
    std::uint64_t sum = 0;
    for (std::size_t i = next.fetch_add(1); i < chunks_.size(); i = next.fetch_add(1)) {
      sum += Sum(chunks_[i]);
    }
    total += sum;
  });
  const double seconds = (NowMs() - start) / 1000;
  return seconds > 0 ? static_cast<double>(bytes_) / seconds : 0;
}

std::size_t ReadTarget::huge_bytes() const {
  if (memory_.size() > 0) return HugeMappedBytes({memory_.data(), memory_.size()});
  return HugeMappedBytes(file_.bytes());
}

}  // namespace vivace
