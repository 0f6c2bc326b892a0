// Merger: byte-pair merging of one word's symbols.
//
// Always the merge of lowest rank, of equals the leftmost, until none is left. Short words
// are scanned; long ones use a heap, so a megabyte without a cut takes n log n. One object
// per thread: it keeps its buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/token_id.h"
#include "tokenizer/table_view.h"

namespace vivace {

class Merger {
 public:
  // `tables` must outlive this object.
  explicit Merger(const TableView& tables) : tables_(tables) {}

  // Merges the tokens from `begin` to the end of `tokens`, in place.
  void Merge(std::vector<TokenId>& tokens, std::size_t begin);

 private:
  struct Candidate {
    std::uint32_t rank;
    TokenId id;
    std::size_t position;
  };
  struct Node {
    std::size_t before;
    std::size_t after;
    std::uint32_t rank;  // of the merge with the next node
  };

  void MergeShort(std::vector<TokenId>& tokens, std::size_t begin) const;
  void MergeLong(std::vector<TokenId>& tokens, std::size_t begin);
  void Offer(const TokenId* tokens, std::size_t position);

  const TableView& tables_;
  std::vector<Candidate> heap_;
  std::vector<Node> nodes_;
};

}  // namespace vivace
