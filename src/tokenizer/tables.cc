#include "tokenizer/tables.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <string_view>

#include "tokenizer/char_class.h"
#include "tokenizer/encoder.h"
#include "tokenizer/family.h"
#include "tokenizer/joins.h"
#include "tokenizer/merge_list.h"
#include "tokenizer/table_hash.h"
#include "tokenizer/table_view.h"
#include "tokenizer/vocabulary.h"

namespace vivace {
namespace {

// Control tokens that end an answer in some model, beside its eos and eot.
constexpr std::array<std::string_view, 8> kEndNames = {
    "<|im_end|>",      "<|endoftext|>", "<|eot_id|>", "<|eom_id|>",
    "<|end_of_text|>", "<end_of_turn>", "</s>",       "<|end|>",
};

// Hash tables are kept at most this full, in percent.
constexpr std::size_t kLoadPercent = 60;

std::size_t SlotsFor(std::size_t count) { return count * 100 / kLoadPercent + 1; }

template <class Slot>
struct HashTable {
  std::vector<Slot> slots;
  std::uint32_t probes = 0;
};

HashTable<PieceSlot> HashPieces(const Vocabulary& vocabulary) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < vocabulary.pieces.size(); ++i) count += vocabulary.IsText(i) ? 1 : 0;
  HashTable<PieceSlot> table;
  table.slots.assign(SlotsFor(count), {0, PieceSlot::kEmpty});
  for (std::size_t i = 0; i < vocabulary.pieces.size(); ++i) {
    if (!vocabulary.IsText(i)) continue;
    const std::uint64_t hash = HashPiece(vocabulary.pieces[i]);
    const auto tag = static_cast<std::uint32_t>(hash);
    std::size_t at = FirstSlot(hash, table.slots.size());
    std::uint32_t probes = 1;
    bool known = false;
    while (table.slots[at].id != PieceSlot::kEmpty) {
      known = table.slots[at].tag == tag &&
              vocabulary.pieces[table.slots[at].id] == vocabulary.pieces[i];
      if (known) break;
      at = (at + 1) % table.slots.size();
      ++probes;
    }
    if (known) continue;
    table.slots[at] = {tag, static_cast<std::uint32_t>(i)};
    table.probes = std::max(table.probes, probes);
  }
  return table;
}

HashTable<PairSlot> HashPairs(std::span<const PairSlot> merges) {
  constexpr PairSlot kFree = {PairSlot::kEmpty, 0, 0, 0};
  HashTable<PairSlot> table;
  table.slots.assign(SlotsFor(merges.size()), kFree);
  for (const PairSlot& merge : merges) {
    std::size_t at =
        FirstSlot(HashPair(static_cast<TokenId>(merge.left), static_cast<TokenId>(merge.right)),
                  table.slots.size());
    std::uint32_t probes = 1;
    bool known = false;
    while (table.slots[at].left != PairSlot::kEmpty) {
      known = table.slots[at].left == merge.left && table.slots[at].right == merge.right;
      if (known) break;
      at = (at + 1) % table.slots.size();
      ++probes;
    }
    if (known) continue;
    table.slots[at] = merge;
    table.probes = std::max(table.probes, probes);
  }
  return table;
}

std::vector<std::uint32_t> SortedByPiece(const Vocabulary& vocabulary, bool only_user_defined) {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < vocabulary.pieces.size(); ++i) {
    if (!vocabulary.IsSpecial(i)) continue;
    if (!only_user_defined || vocabulary.types[i] == TokenType::kUserDefined) ids.push_back(i);
  }
  const auto piece = [&](std::uint32_t id) -> const std::string& { return vocabulary.pieces[id]; };
  std::stable_sort(ids.begin(), ids.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return piece(a) < piece(b); });
  ids.erase(std::unique(ids.begin(), ids.end(),
                        [&](std::uint32_t a, std::uint32_t b) { return piece(a) == piece(b); }),
            ids.end());
  return ids;
}

std::array<std::uint64_t, 4> FirstBytes(const Vocabulary& vocabulary,
                                        std::span<const std::uint32_t> ids) {
  std::array<std::uint64_t, 4> set = {};
  for (const std::uint32_t id : ids) {
    const auto byte = static_cast<std::uint8_t>(vocabulary.pieces[id].front());
    set[byte / 64] |= std::uint64_t{1} << (byte % 64);
  }
  return set;
}

std::vector<std::uint8_t> TypeBytes(const TokenizerSpec& spec, const Vocabulary& vocabulary) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < vocabulary.types.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    const bool ends = id == spec.eos || id == spec.eot ||
                      (vocabulary.IsSpecial(i) &&
                       std::ranges::find(kEndNames, vocabulary.pieces[i]) != kEndNames.end());
    bytes.push_back(static_cast<std::uint8_t>(static_cast<std::uint8_t>(vocabulary.types[i]) |
                                              (ends ? kEndOfGeneration : 0)));
  }
  return bytes;
}

Result<TokenId> CheckId(const TokenizerSpec& spec, std::optional<TokenId> id, const char* name) {
  // Files write -1 (as 2^32 - 1) for a token that the model does not have.
  if (!id || *id == -1) return -1;
  if (*id < 0 || static_cast<std::size_t>(*id) >= spec.tokens.size()) {
    return Fail(ErrorKind::kBadInput, std::string(name) + " token is " + std::to_string(*id) +
                                          ", allowed is 0 to " +
                                          std::to_string(spec.tokens.size() - 1));
  }
  return *id;
}

Result<TableHeader> MakeHeader(const TokenizerSpec& spec, const TokenizerFamily& family) {
  TableHeader header = {};
  header.magic = TableHeader::kMagic;
  header.version = TableHeader::kVersion;
  header.vocab_size = static_cast<std::uint32_t>(spec.tokens.size());
  header.pre = family.pre;
  header.ignore_merges = family.ignore_merges ? 1 : 0;
  header.normalize = family.normalize ? 1 : 0;
  header.sentence_piece = spec.model == "llama" ? 1 : 0;
  header.add_bos = spec.add_bos ? 1 : 0;
  header.add_eos = spec.add_eos ? 1 : 0;
  header.add_space_prefix = header.sentence_piece != 0 && spec.add_space_prefix ? 1 : 0;
  struct Id {
    const char* name;
    std::optional<TokenId> id;
    TokenId* out;
  };
  for (const Id& id : {Id{"bos", spec.bos, &header.bos}, Id{"eos", spec.eos, &header.eos},
                       Id{"eot", spec.eot, &header.eot}, Id{"unk", spec.unk, &header.unk},
                       Id{"pad", spec.pad, &header.pad}}) {
    const auto checked = CheckId(spec, id.id, id.name);
    if (!checked) return Failure(checked.error());
    *id.out = *checked;
  }
  return header;
}

// Collects sections behind a header.
class TableWriter {
 public:
  TableWriter() : bytes_(sizeof(TableHeader)) {}

  template <class T>
  void Add(TableHeader& header, TableSection section, std::span<const T> values) {
    bytes_.resize((bytes_.size() + kTableAlignment - 1) / kTableAlignment * kTableAlignment);
    header.sections[static_cast<std::size_t>(section)] = {bytes_.size(), values.size_bytes()};
    const auto* first = reinterpret_cast<const std::byte*>(values.data());
    bytes_.insert(bytes_.end(), first, first + values.size_bytes());
  }

  std::vector<std::byte> Finish(const TableHeader& header) {
    std::memcpy(bytes_.data(), &header, sizeof(header));
    return std::move(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
};

// Marks the pieces that merging gives back whole, by merging every one of them.
Result<void> MarkReachable(std::vector<std::byte>& tables, const Vocabulary& vocabulary) {
  const auto view = TableView::Open(tables);
  if (!view) return Failure(view.error());
  const auto& section =
      view->header().sections[static_cast<std::size_t>(TableSection::kPieceSlots)];
  auto* const slots = reinterpret_cast<PieceSlot*>(tables.data() + section.offset);
  std::vector<TokenId> ids;
  Encoder encoder(*view, ids);
  for (std::size_t i = 0; i < section.bytes / sizeof(PieceSlot); ++i) {
    const std::uint32_t id = slots[i].id;
    if (id == PieceSlot::kEmpty || vocabulary.types[id] != TokenType::kNormal) continue;
    ids.clear();
    encoder.MergeAlone(vocabulary.pieces[id]);
    if (ids.size() == 1 && ids[0] == static_cast<TokenId>(id)) {
      slots[i].id |= PieceSlot::kReachable;
    }
  }
  return {};
}

std::vector<std::byte> Assemble(const TokenizerSpec& spec, const Vocabulary& vocabulary,
                                std::span<const PairSlot> merges, TableHeader header) {
  TableWriter writer;
  const auto add = [&]<class T>(TableSection section, const std::vector<T>& values) {
    writer.Add(header, section, std::span<const T>(values));
  };
  std::vector<std::uint32_t> offsets = {0};
  std::vector<char> bytes;
  for (std::size_t i = 0; i < vocabulary.pieces.size(); ++i) {
    const std::string& piece = vocabulary.pieces[i];
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    offsets.push_back(static_cast<std::uint32_t>(bytes.size()));
    if (!vocabulary.IsText(i)) continue;
    header.max_piece_bytes =
        std::max(header.max_piece_bytes, static_cast<std::uint32_t>(piece.size()));
  }
  header.lacks_bytes = std::ranges::find(vocabulary.byte_ids, -1) != vocabulary.byte_ids.end();
  add(TableSection::kPieceOffsets, offsets);
  add(TableSection::kPieceBytes, bytes);
  add(TableSection::kTypes, TypeBytes(spec, vocabulary));
  const auto pieces = HashPieces(vocabulary);
  add(TableSection::kPieceSlots, pieces.slots);
  header.piece_probes = pieces.probes;
  const auto pairs = HashPairs(merges);
  add(TableSection::kPairSlots, pairs.slots);
  header.pair_probes = pairs.probes;
  writer.Add(header, TableSection::kByteIds, std::span<const TokenId>(vocabulary.byte_ids));
  const auto specials = SortedByPiece(vocabulary, false);
  const auto user_defined = SortedByPiece(vocabulary, true);
  header.first_bytes = {FirstBytes(vocabulary, specials), FirstBytes(vocabulary, user_defined)};
  add(TableSection::kSpecials, specials);
  add(TableSection::kUserDefined, user_defined);
  const CharClassTable classes = BuildCharClasses();
  add(TableSection::kClassIndex, classes.index);
  add(TableSection::kClassBlocks, classes.blocks);
  JoinBuilder joins;
  for (const PairSlot& merge : merges) {
    joins.Add(vocabulary.pieces[merge.left], vocabulary.pieces[merge.right]);
  }
  writer.Add(header, TableSection::kJoins, joins.bits());
  return writer.Finish(header);
}

}  // namespace

Result<std::vector<std::byte>> BuildTables(const TokenizerSpec& spec) {
  const auto family = FindFamily(spec);
  if (!family) return Failure(family.error());
  auto vocabulary = ReadVocabulary(spec);
  if (!vocabulary) return Failure(std::move(vocabulary).error());
  const auto header = MakeHeader(spec, *family);
  if (!header) return Failure(header.error());
  const auto merges = ListMerges(spec, *vocabulary);
  if (!merges) return Failure(merges.error());
  std::vector<std::byte> tables = Assemble(spec, *vocabulary, *merges, *header);
  VIVACE_RETURN_IF_ERROR(MarkReachable(tables, *vocabulary));
  return tables;
}

}  // namespace vivace
