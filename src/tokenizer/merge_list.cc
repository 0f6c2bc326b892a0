#include "tokenizer/merge_list.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/utf8.h"

namespace vivace {
namespace {

using Ids = std::unordered_map<std::string_view, std::uint32_t>;

Result<std::vector<PairSlot>> ListedMerges(const TokenizerSpec& spec) {
  if (spec.merges.empty()) return Fail(ErrorKind::kBadInput, "a BPE tokenizer without merges");
  Ids ids;
  ids.reserve(spec.tokens.size());
  for (std::uint32_t i = 0; i < spec.tokens.size(); ++i) ids.emplace(spec.tokens[i], i);
  std::vector<PairSlot> merges;
  merges.reserve(spec.merges.size());
  std::string whole;
  for (std::size_t rank = 0; rank < spec.merges.size(); ++rank) {
    const std::string_view merge = spec.merges[rank];
    // A part may itself begin with a space only in a file that is not byte-level.
    const std::size_t space = merge.find(' ', 1);
    const std::string_view left = merge.substr(0, std::min(space, merge.size()));
    const std::string_view right =
        space < merge.size() ? merge.substr(space + 1) : std::string_view();
    whole.assign(left).append(right);
    const auto left_id = ids.find(left);
    const auto right_id = ids.find(right);
    const auto id = ids.find(whole);
    if (left_id == ids.end() || right_id == ids.end() || id == ids.end()) {
      return Fail(ErrorKind::kBadInput, "merge " + std::to_string(rank) + " \"" +
                                            std::string(merge) +
                                            "\" needs a token that the vocabulary lacks");
    }
    merges.push_back(
        {left_id->second, right_id->second, static_cast<std::uint32_t>(rank), id->second});
  }
  return merges;
}

// A way to cut a token in two, and what decides its turn.
struct Cut {
  float score;
  std::uint32_t left_chars;
  std::uint32_t right_chars;
  PairSlot pair;
};

std::size_t CharStarts(std::string_view text, std::vector<std::size_t>& starts) {
  starts.clear();
  for (std::size_t i = 0; i < text.size(); i += DecodeUtf8(text, i).length) starts.push_back(i);
  return starts.size();
}

Result<void> CheckScores(const TokenizerSpec& spec) {
  if (spec.scores.size() != spec.tokens.size()) {
    return Fail(ErrorKind::kBadInput, std::to_string(spec.scores.size()) + " scores for " +
                                          std::to_string(spec.tokens.size()) + " tokens");
  }
  for (std::size_t i = 0; i < spec.scores.size(); ++i) {
    if (std::isnan(spec.scores[i])) {
      return Fail(ErrorKind::kBadInput,
                  "the score of token " + std::to_string(i) + " is not a number");
    }
  }
  return {};
}

Result<std::vector<PairSlot>> ScoredMerges(const TokenizerSpec& spec,
                                           const Vocabulary& vocabulary) {
  // Bounds the work on a file made to be slow; real tokens have under 100 bytes.
  constexpr std::size_t kMaxPieceBytes = 1024;
  VIVACE_RETURN_IF_ERROR(CheckScores(spec));
  Ids ids;
  ids.reserve(vocabulary.pieces.size());
  for (std::uint32_t i = 0; i < vocabulary.pieces.size(); ++i) {
    if (vocabulary.types[i] == TokenType::kNormal) ids.emplace(vocabulary.pieces[i], i);
  }
  std::vector<Cut> cuts;
  std::vector<std::size_t> starts;
  for (const auto& [piece, id] : ids) {
    if (piece.size() > kMaxPieceBytes) {
      return Fail(ErrorKind::kBadInput, "token " + std::to_string(id) + " has " +
                                            std::to_string(piece.size()) + " bytes, allowed are " +
                                            std::to_string(kMaxPieceBytes));
    }
    const std::size_t chars = CharStarts(piece, starts);
    for (std::size_t i = 1; i < chars; ++i) {
      const auto left = ids.find(piece.substr(0, starts[i]));
      const auto right = ids.find(piece.substr(starts[i]));
      if (left == ids.end() || right == ids.end()) continue;
      cuts.push_back({spec.scores[id],
                      static_cast<std::uint32_t>(i),
                      static_cast<std::uint32_t>(chars - i),
                      {left->second, right->second, 0, id}});
    }
  }
  // Of one token's cuts that with the longer left part comes first, as in the merge lists
  // that are made from SentencePiece models elsewhere.
  std::sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) {
    return std::tie(b.score, b.left_chars, b.right_chars, a.pair.id) <
           std::tie(a.score, a.left_chars, a.right_chars, b.pair.id);
  });
  std::vector<PairSlot> merges;
  merges.reserve(cuts.size());
  for (std::uint32_t rank = 0; rank < cuts.size(); ++rank) {
    merges.push_back(cuts[rank].pair);
    merges.back().rank = rank;
  }
  return merges;
}

}  // namespace

Result<std::vector<PairSlot>> ListMerges(const TokenizerSpec& spec, const Vocabulary& vocabulary) {
  return spec.model == "llama" ? ScoredMerges(spec, vocabulary) : ListedMerges(spec);
}

}  // namespace vivace
