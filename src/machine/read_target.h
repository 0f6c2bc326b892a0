// ReadTarget: memory that is read plainly, with software prefetch, by one or more threads:
// the most that any kernel which streams it can reach.
//
// Over memory that someone else owns (a model's weights), or over memory of its own on the
// kind of pages asked for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/mapped_file.h"
#include "base/result.h"
#include "base/thread_team.h"

namespace vivace {

enum class PageKind : std::uint8_t { kHuge, kSmall };

class ReadTarget {
 public:
  // `parts` must outlive the object.
  explicit ReadTarget(std::span<const std::span<const std::byte>> parts);

  // Anonymous memory, written once by the team. kHuge is a wish: see huge_bytes().
  static Result<ReadTarget> OfMemory(std::size_t bytes, PageKind pages, ThreadTeam& team);
  // A file without a name in `folder`, written and mapped, gone with the object.
  static Result<ReadTarget> OfFile(const std::string& folder, std::size_t bytes);

  // Reads everything once by the first `threads` members; bytes per second.
  double Read(ThreadTeam& team, int threads) const;

  std::size_t bytes() const { return bytes_; }
  // Of the memory of its own, how much the system maps by 2 MB pages now.
  std::size_t huge_bytes() const;

 private:
  Buffer memory_;
  MappedFile file_;
  std::vector<std::span<const std::byte>> chunks_;  // what one thread takes at a time
  std::size_t bytes_ = 0;
};

}  // namespace vivace
