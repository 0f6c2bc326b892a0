// PagePromotion: moves the bytes of a mapped file to anonymous huge pages, a few megabytes
// at a time, under addresses that stay the same.
//
// Reading weights from 4 KB pages costs up to a third of the speed of memory in a virtual
// machine. Files come in huge pages only where the file system has large folios. The
// bytes never change, but while Step runs nobody else may read them: call it between two
// passes. Memory is private to the process afterwards.
#pragma once

#include <cstddef>
#include <span>

namespace vivace {

class PagePromotion {
 public:
  // `bytes` lie in a private or shared mapping of a file, which must outlive this object
  // and the last read of them. Nothing is done yet.
  explicit PagePromotion(std::span<const std::byte> bytes);

  // Promotes the next piece. A few milliseconds at most; false when there is no more to do,
  // or when it is not worth while: the file is in huge pages already, the system has none
  // or too little memory, or reading the first pieces has not become faster.
  bool Step();

  std::size_t promoted_bytes() const { return promoted_; }

 private:
  bool WorthStarting() const;
  bool HasBecomeFaster() const;
  bool PromotePiece();

  std::byte* begin_;  // whole huge pages
  std::size_t size_;
  std::size_t promoted_ = 0;
  bool done_ = false;
};

// Bytes of `range` that are mapped by entries of 2 MB: of a file, or anonymous.
std::size_t HugeMappedBytes(std::span<const std::byte> range);

}  // namespace vivace
