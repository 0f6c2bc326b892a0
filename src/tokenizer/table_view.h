// TableView: a tokenizer's tables, in place, over bytes that someone else keeps.
//
// Layout: TableHeader, then the sections it names, each 64-byte aligned. Open checks every
// size and offset once; what the sections hold may still be wrong (a damaged file), so the
// accessors bound every id and every probe: the answers are then wrong, never out of bounds.
// Immutable; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/token_id.h"
#include "tokenizer/spec.h"
#include "tokenizer/table_hash.h"

namespace vivace {

enum class TableSection : std::uint8_t {
  kPieceOffsets,  // u32 [vocab + 1], into kPieceBytes
  kPieceBytes,    // what the tokens stand for, one after the other
  kTypes,         // u8 [vocab]: TokenType, plus kEndOfGeneration
  kPieceSlots,    // PieceSlot, hashed by the piece
  kPairSlots,     // PairSlot, hashed by the pair
  kByteIds,       // TokenId [256]: the token of a byte, or -1
  kSpecials,      // u32: control, unknown and user-defined tokens, sorted by piece
  kUserDefined,   // u32: user-defined tokens, sorted by piece
  kClassIndex,    // u16 [0x1100]: block of 256 code points -> block of classes
  kClassBlocks,   // u8 [][256]: CharClass, plus kMayCompose
  kJoins,         // u64 [kJoinBits / 64], see joins.h
};
inline constexpr std::size_t kTableSections = 11;

inline constexpr std::uint8_t kEndOfGeneration = 0x80;  // beside a TokenType

// How text becomes words. Stored in tables: do not renumber.
enum class PreRules : std::uint8_t {
  kNone = 0,  // SentencePiece: the text is one word
  kGpt2 = 1,
  kSmolLm = 2,  // as GPT-2, and every digit alone
  kQwen2 = 3,
  kLlama3 = 4,
};

struct PieceSlot {
  // Merging the piece's bytes gives this very token.
  static constexpr std::uint32_t kReachable = 0x80000000U;
  static constexpr std::uint32_t kEmpty = 0x7FFFFFFFU;
  std::uint32_t tag;  // low half of the hash; the high half chooses the slot
  std::uint32_t id;   // plus kReachable
};

struct PairSlot {
  static constexpr std::uint32_t kEmpty = 0xFFFFFFFFU;
  std::uint32_t left;
  std::uint32_t right;
  std::uint32_t rank;  // lower merges first
  std::uint32_t id;    // of the merged token
};

struct TableHeader {
  static constexpr std::array<char, 8> kMagic = {'V', 'I', 'V', 'T', 'O', 'K', 'E', 'N'};
  static constexpr std::uint32_t kVersion = 1;
  struct Section {
    std::uint64_t offset;
    std::uint64_t bytes;
  };

  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t vocab_size;
  std::uint32_t piece_probes;  // no lookup needs more steps
  std::uint32_t pair_probes;
  std::uint32_t max_piece_bytes;    // of a piece that is looked up
  TokenId bos, eos, eot, unk, pad;  // -1: none
  PreRules pre;
  std::uint8_t sentence_piece;  // the rest are 0 or 1
  std::uint8_t ignore_merges;   // a word that is a piece is taken whole
  std::uint8_t normalize;       // to NFC
  std::uint8_t add_bos, add_eos, add_space_prefix;
  std::uint8_t lacks_bytes;                                 // some byte has no token
  std::array<std::array<std::uint64_t, 4>, 2> first_bytes;  // of kSpecials, kUserDefined
  std::array<Section, kTableSections> sections;
};
static_assert(sizeof(TableHeader) == 296);

inline constexpr std::size_t kTableAlignment = 64;

class TableView {
 public:
  struct Merge {
    std::uint32_t rank = kNoMerge;
    TokenId id = -1;
  };
  static constexpr std::uint32_t kNoMerge = 0xFFFFFFFFU;

  static Result<TableView> Open(std::span<const std::byte> bytes);

  const TableHeader& header() const { return *header_; }
  std::size_t vocab_size() const { return header_->vocab_size; }

  bool Contains(TokenId id) const { return static_cast<std::uint32_t>(id) < header_->vocab_size; }
  // Both: "" or kNormal for an id outside the vocabulary.
  std::string_view Piece(TokenId id) const;
  TokenType Type(TokenId id) const;
  bool EndsGeneration(TokenId id) const {
    return Contains(id) && (types_[static_cast<std::uint32_t>(id)] & kEndOfGeneration) != 0;
  }

  // The normal or user-defined token that stands for exactly these bytes.
  std::optional<TokenId> FindPiece(std::string_view piece) const;
  // The token that a word becomes as a whole, if it does: with `any` every piece counts, else
  // only one that merging would also give.
  std::optional<TokenId> FindWhole(std::string_view word, bool any) const;

  Merge FindMerge(TokenId left, TokenId right) const {
    if (pair_slots_.empty()) return {};
    std::size_t at = FirstSlot(HashPair(left, right), pair_slots_.size());
    for (std::uint32_t probe = 0; probe < header_->pair_probes; ++probe) {
      const PairSlot& slot = pair_slots_[at];
      if (slot.left == static_cast<std::uint32_t>(left) &&
          slot.right == static_cast<std::uint32_t>(right)) {
        const auto id = static_cast<TokenId>(slot.id);
        return Contains(id) ? Merge{slot.rank, id} : Merge{};
      }
      if (slot.left == PairSlot::kEmpty) return {};
      if (++at == pair_slots_.size()) at = 0;
    }
    return {};
  }

  // -1 where there is none.
  TokenId ByteToken(std::uint8_t byte) const {
    const TokenId id = byte_ids_[byte];
    return Contains(id) ? id : -1;
  }

  std::span<const std::uint32_t> specials() const { return specials_; }
  std::span<const std::uint32_t> user_defined() const { return user_defined_; }

  // The class byte of a code point up to 0x10FFFF.
  std::uint8_t ClassOf(char32_t code_point) const {
    return class_blocks_[(std::size_t{class_index_[code_point >> 8]} << 8) | (code_point & 0xFF)];
  }
  std::span<const std::uint64_t> joins() const { return joins_; }

 private:
  template <class T>
  Result<std::span<const T>> Find(std::span<const std::byte> bytes, TableSection section) const;
  Result<void> Resolve(std::span<const std::byte> bytes);
  Result<void> CheckSizes() const;
  Result<void> CheckContents() const;
  const PieceSlot* FindSlot(std::string_view piece) const;

  const TableHeader* header_ = nullptr;
  std::span<const std::uint32_t> piece_offsets_;
  std::span<const char> piece_bytes_;
  std::span<const std::uint8_t> types_;
  std::span<const PieceSlot> piece_slots_;
  std::span<const PairSlot> pair_slots_;
  std::span<const TokenId> byte_ids_;
  std::span<const std::uint32_t> specials_;
  std::span<const std::uint32_t> user_defined_;
  std::span<const std::uint16_t> class_index_;
  std::span<const std::uint8_t> class_blocks_;
  std::span<const std::uint64_t> joins_;
};

}  // namespace vivace
