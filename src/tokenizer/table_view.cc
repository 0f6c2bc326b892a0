#include "tokenizer/table_view.h"

#include <algorithm>
#include <string>

#include "tokenizer/joins.h"

namespace vivace {
namespace {

// Longer probes than this would make a damaged table slow; the builder stays far below.
constexpr std::uint32_t kMaxProbes = 4096;
constexpr std::size_t kClassIndexSize = 0x1100;

Failure Damaged(const std::string& what) {
  return Fail(ErrorKind::kBadInput, "damaged tokenizer tables: " + what);
}

}  // namespace

Result<TableView> TableView::Open(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(TableHeader)) {
    return Damaged(std::to_string(bytes.size()) + " bytes, at least " +
                   std::to_string(sizeof(TableHeader)) + " are needed");
  }
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(TableHeader) != 0) {
    return Damaged("they are not aligned to " + std::to_string(alignof(TableHeader)) + " bytes");
  }
  TableView view;
  view.header_ = reinterpret_cast<const TableHeader*>(bytes.data());
  if (view.header_->magic != TableHeader::kMagic) return Damaged("no magic number");
  if (view.header_->version != TableHeader::kVersion) {
    return Fail(ErrorKind::kUnsupported, "tokenizer tables of version " +
                                             std::to_string(view.header_->version) + ", expected " +
                                             std::to_string(TableHeader::kVersion));
  }
  VIVACE_RETURN_IF_ERROR(view.Resolve(bytes));
  VIVACE_RETURN_IF_ERROR(view.CheckSizes());
  VIVACE_RETURN_IF_ERROR(view.CheckContents());
  return view;
}

template <class T>
Result<std::span<const T>> TableView::Find(std::span<const std::byte> bytes,
                                           TableSection section) const {
  const auto number = static_cast<std::size_t>(section);
  const TableHeader::Section& at = header_->sections[number];
  if (at.offset > bytes.size() || at.bytes > bytes.size() - at.offset ||
      at.offset % kTableAlignment != 0 || at.bytes % sizeof(T) != 0) {
    return Damaged("section " + std::to_string(number) + " is " + std::to_string(at.bytes) +
                   " bytes at " + std::to_string(at.offset) + " of " +
                   std::to_string(bytes.size()));
  }
  return std::span<const T>(reinterpret_cast<const T*>(bytes.data() + at.offset),
                            at.bytes / sizeof(T));
}

Result<void> TableView::Resolve(std::span<const std::byte> bytes) {
  Result<void> result;
  const auto resolve = [&]<class T>(TableSection section, std::span<const T>& out) {
    auto found = Find<T>(bytes, section);
    if (found) {
      out = *found;
    } else if (result) {
      result = Failure(std::move(found).error());
    }
  };
  resolve(TableSection::kPieceOffsets, piece_offsets_);
  resolve(TableSection::kPieceBytes, piece_bytes_);
  resolve(TableSection::kTypes, types_);
  resolve(TableSection::kPieceSlots, piece_slots_);
  resolve(TableSection::kPairSlots, pair_slots_);
  resolve(TableSection::kByteIds, byte_ids_);
  resolve(TableSection::kSpecials, specials_);
  resolve(TableSection::kUserDefined, user_defined_);
  resolve(TableSection::kClassIndex, class_index_);
  resolve(TableSection::kClassBlocks, class_blocks_);
  resolve(TableSection::kJoins, joins_);
  return result;
}

Result<void> TableView::CheckSizes() const {
  const std::size_t vocab = header_->vocab_size;
  if (vocab == 0 || vocab >= PieceSlot::kEmpty) {
    return Damaged("a vocabulary of " + std::to_string(vocab));
  }
  const bool fits_vocabulary = piece_offsets_.size() == vocab + 1 && types_.size() == vocab &&
                               specials_.size() <= vocab && user_defined_.size() <= vocab;
  const bool fixed = byte_ids_.size() == 256 && class_index_.size() == kClassIndexSize &&
                     class_blocks_.size() % 256 == 0 && joins_.size() == kJoinBits / 64;
  if (!fits_vocabulary || !fixed) {
    return Damaged("a section's size does not fit a vocabulary of " + std::to_string(vocab));
  }
  const auto probes_fit = [](std::uint32_t probes, std::size_t slots) {
    return slots < PairSlot::kEmpty && probes <= kMaxProbes && probes <= slots;
  };
  if (!probes_fit(header_->piece_probes, piece_slots_.size()) ||
      !probes_fit(header_->pair_probes, pair_slots_.size())) {
    return Damaged("more probes than slots");
  }
  return {};
}

Result<void> TableView::CheckContents() const {
  const std::size_t vocab = header_->vocab_size;
  if (header_->pre > PreRules::kLlama3) return Damaged("unknown pre-split rules");
  // Passes that the compiler vectorizes: 151936 tokens take about 20 microseconds.
  std::uint32_t falling = 0;
  for (std::size_t i = 0; i < vocab; ++i) {
    falling |= static_cast<std::uint32_t>(piece_offsets_[i] > piece_offsets_[i + 1]);
  }
  if (falling != 0 || piece_offsets_[vocab] > piece_bytes_.size()) {
    return Damaged("piece offsets do not rise within the pieces");
  }
  std::uint16_t last_block = 0;
  for (const std::uint16_t block : class_index_) last_block = std::max(last_block, block);
  if (last_block >= class_blocks_.size() / 256) return Damaged("a class block is missing");
  for (const TokenId id : {header_->bos, header_->eos, header_->eot, header_->unk, header_->pad}) {
    if (id != -1 && !Contains(id)) {
      return Damaged("special token " + std::to_string(id) + " of " + std::to_string(vocab));
    }
  }
  return {};
}

std::string_view TableView::Piece(TokenId id) const {
  if (!Contains(id)) return {};
  const std::uint32_t begin = piece_offsets_[static_cast<std::uint32_t>(id)];
  const std::uint32_t end = piece_offsets_[static_cast<std::uint32_t>(id) + 1];
  return {piece_bytes_.data() + begin, end - begin};
}

TokenType TableView::Type(TokenId id) const {
  if (!Contains(id)) return TokenType::kNormal;
  const auto type = static_cast<std::uint8_t>(types_[static_cast<std::uint32_t>(id)] &
                                              static_cast<std::uint8_t>(~kEndOfGeneration));
  return type >= 1 && type <= 6 ? static_cast<TokenType>(type) : TokenType::kNormal;
}

const PieceSlot* TableView::FindSlot(std::string_view piece) const {
  if (piece.empty() || piece.size() > header_->max_piece_bytes) return nullptr;
  const std::uint64_t hash = HashPiece(piece);
  std::size_t at = FirstSlot(hash, piece_slots_.size());
  for (std::uint32_t probe = 0; probe < header_->piece_probes; ++probe) {
    const PieceSlot& slot = piece_slots_[at];
    if (slot.id == PieceSlot::kEmpty) return nullptr;
    if (slot.tag == static_cast<std::uint32_t>(hash) &&
        Piece(static_cast<TokenId>(slot.id & ~PieceSlot::kReachable)) == piece) {
      return &slot;
    }
    if (++at == piece_slots_.size()) at = 0;
  }
  return nullptr;
}

std::optional<TokenId> TableView::FindPiece(std::string_view piece) const {
  return FindWhole(piece, true);
}

std::optional<TokenId> TableView::FindWhole(std::string_view word, bool any) const {
  const PieceSlot* slot = FindSlot(word);
  if (slot == nullptr || (!any && (slot->id & PieceSlot::kReachable) == 0)) return std::nullopt;
  return static_cast<TokenId>(slot->id & ~PieceSlot::kReachable);
}

}  // namespace vivace
