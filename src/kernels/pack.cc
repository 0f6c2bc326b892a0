#include "kernels/pack.h"

#include <algorithm>
#include <cstring>

#include "kernels/pack_codes.h"
#include "kernels/packed_layout.h"

namespace vivace {
namespace {

// How a block's integer scales are stored; see packed_layout.h.
enum class ScaleForm { kNone, kByte, kTwoBytes, kBytePair, kSixBits, kTwoSixBits };

// How one type fills a group; see the table in packed_layout.h.
struct Form {
  QuantType type;
  std::int64_t entry;   // values that share a header entry
  std::int64_t halves;  // in a header entry, per row
  std::int64_t header_scale_bytes;
  std::int64_t body_scale_bytes;
  ScaleForm scales;
  int high_bits;  // of a code, as lines before those of the low bits
  int low_bits;

  std::int64_t entry_bytes() const { return halves * kGroupRows * 2 + header_scale_bytes; }
  std::int64_t block_bytes() const { return (high_bits + low_bits) * kLine; }
  // Of a unit: 64 values, so that its quants are whole lines, or a super-block.
  std::int64_t unit() const { return std::max(entry, kLine); }
  std::int64_t header_bytes() const { return unit() / entry * entry_bytes(); }
  std::int64_t body_bytes() const { return body_scale_bytes + unit() / kBlock * block_bytes(); }
  // Units whose headers fill a line together, and what they take with it.
  std::int64_t run() const { return std::max(std::int64_t{1}, kLine / header_bytes()); }
  std::int64_t run_bytes() const { return run() * (header_bytes() + body_bytes()); }
};

constexpr Form kForms[] = {
    {QuantType::kQ4_0, kBlock, 1, 0, 0, ScaleForm::kNone, 0, 4},
    {QuantType::kQ4_1, kBlock, 2, 0, 0, ScaleForm::kNone, 0, 4},
    {QuantType::kQ5_0, kBlock, 1, 0, 0, ScaleForm::kNone, 1, 4},
    {QuantType::kQ5_1, kBlock, 2, 0, 0, ScaleForm::kNone, 1, 4},
    {QuantType::kQ8_0, kBlock, 1, 0, 0, ScaleForm::kNone, 0, 8},
    {QuantType::kIQ4_NL, kBlock, 1, 0, 0, ScaleForm::kNone, 0, 4},
    {QuantType::kMXFP4, kBlock, 0, 16, 0, ScaleForm::kByte, 0, 4},
    {QuantType::kQ2_K, kSuperBlock, 2, 0, 256, ScaleForm::kBytePair, 0, 2},
    {QuantType::kQ3_K, kSuperBlock, 1, 0, 192, ScaleForm::kTwoSixBits, 1, 2},
    {QuantType::kQ4_K, kSuperBlock, 2, 0, 192, ScaleForm::kTwoSixBits, 0, 4},
    {QuantType::kQ5_K, kSuperBlock, 2, 0, 192, ScaleForm::kTwoSixBits, 1, 4},
    {QuantType::kQ6_K, kSuperBlock, 1, 0, 256, ScaleForm::kTwoBytes, 2, 4},
    {QuantType::kIQ4_XS, kSuperBlock, 1, 96, 0, ScaleForm::kSixBits, 0, 4},
};

bool IsFloat(QuantType type) { return FactsOf(type).block_values == 1; }

// Precondition: not a float type.
const Form& FormOf(QuantType type) {
  const Form* form = kForms;
  while (form->type != type) ++form;
  return *form;
}

std::int64_t RoundUp(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Where the parts of block `block` lie in a group.
struct Place {
  std::byte* header;  // [halves][16 rows] halves
  std::byte* scales;  // integer scales: of the block, or of its super-block
  std::byte* high;
  std::byte* low;
  std::int64_t in_unit;  // block within its unit
};

Place PlaceOf(const Form& form, std::byte* group, std::int64_t block) {
  const std::int64_t per_unit = form.unit() / kBlock;
  const std::int64_t unit = block / per_unit;
  const std::int64_t in_unit = block % per_unit;
  const std::int64_t in_run = unit % form.run();
  std::byte* run = group + unit / form.run() * form.run_bytes();
  std::byte* body = run + form.run() * form.header_bytes() + in_run * form.body_bytes();
  std::byte* lines = body + form.body_scale_bytes + in_unit * form.block_bytes();
  const std::int64_t entry = in_unit / (form.entry / kBlock);
  std::byte* header = run + in_run * form.header_bytes() + entry * form.entry_bytes();
  const bool in_header = form.header_scale_bytes != 0;
  return {.header = header,
          .scales = in_header ? header + form.halves * kGroupRows * 2 : body,
          .high = lines,
          .low = lines + form.high_bits * kLine,
          .in_unit = in_unit};
}

std::byte ToByte(int value) { return static_cast<std::byte>(value); }

void PutHalf(std::byte* halves, std::int64_t lane, std::uint16_t value) {
  std::memcpy(halves + 2 * lane, &value, sizeof(value));
}

std::uint16_t GetHalf(const std::byte* halves, std::int64_t lane) {
  std::uint16_t value = 0;
  std::memcpy(&value, halves + 2 * lane, sizeof(value));
  return value;
}

// The codes of a block of all rows, one line per quad.
using Quads = std::uint8_t[8][kLine];

// The quad that bits kBits * part and up of line `line` hold.
template <int kBits>
constexpr int QuadAt(int line, int part) {
  return kBits == 4 ? line + 4 * part : line * (8 / kBits) + part;
}

// kBits bits of every code, from bit `from` on, as lines.
template <int kBits>
void PutBits(const Quads& quads, int from, std::byte* lines) {
  constexpr int kMask = (1 << kBits) - 1;
  for (int line = 0; line < kBits; ++line, lines += kLine) {
    for (std::int64_t i = 0; i < kLine; ++i) {
      int byte = 0;
      for (int part = 0; part < 8 / kBits; ++part) {
        byte |= (quads[QuadAt<kBits>(line, part)][i] >> from & kMask) << (kBits * part);
      }
      lines[i] = ToByte(byte);
    }
  }
}

// The same bits of one row, into its 32 codes.
template <int kBits>
void GetBits(const std::byte* lines, std::int64_t lane, int from, std::uint8_t* codes) {
  constexpr int kMask = (1 << kBits) - 1;
  for (int line = 0; line < kBits; ++line, lines += kLine) {
    for (int part = 0; part < 8 / kBits; ++part) {
      for (int i = 0; i < 4; ++i) {
        std::uint8_t& code = codes[4 * QuadAt<kBits>(line, part) + i];
        const int byte = std::to_integer<int>(lines[4 * lane + i]);
        code = static_cast<std::uint8_t>(code | (byte >> (kBits * part) & kMask) << from);
      }
    }
  }
}

void PutCodes(const Form& form, const Place& place, const Quads& quads) {
  if (form.high_bits == 1) PutBits<1>(quads, form.low_bits, place.high);
  if (form.high_bits == 2) PutBits<2>(quads, form.low_bits, place.high);
  if (form.low_bits == 2) PutBits<2>(quads, 0, place.low);
  if (form.low_bits == 4) PutBits<4>(quads, 0, place.low);
  if (form.low_bits == 8) std::memcpy(place.low, quads, sizeof quads);
}

void GetCodes(const Form& form, const Place& place, std::int64_t lane, std::uint8_t* codes) {
  if (form.high_bits == 1) GetBits<1>(place.high, lane, form.low_bits, codes);
  if (form.high_bits == 2) GetBits<2>(place.high, lane, form.low_bits, codes);
  if (form.low_bits == 2) GetBits<2>(place.low, lane, 0, codes);
  if (form.low_bits == 4) GetBits<4>(place.low, lane, 0, codes);
  if (form.low_bits == 8) GetBits<8>(place.low, lane, 0, codes);
}

// `scales` are a unit's, `block` counts within it.
void PutScales(ScaleForm form, std::byte* scales, std::int64_t lane, std::int64_t block,
               const std::uint8_t* from) {
  const auto row = [scales, lane](std::int64_t i) -> std::byte& {
    return scales[i * kGroupRows + lane];
  };
  switch (form) {
    case ScaleForm::kNone:
      return;
    case ScaleForm::kByte:
      row(0) = ToByte(from[0]);
      return;
    case ScaleForm::kTwoBytes:
      row(2 * block) = ToByte(from[0]);
      row(2 * block + 1) = ToByte(from[1]);
      return;
    case ScaleForm::kBytePair:
      std::memcpy(scales + 2 * (block * kGroupRows + lane), from, 2);
      return;
    case ScaleForm::kSixBits:
      row(block / 2) |= ToByte((from[0] & 15) << (4 * (block % 2)));
      row(4 + block % 2) |= ToByte((from[0] >> 4) << (2 * (block / 2)));
      return;
    case ScaleForm::kTwoSixBits:
      row(block) = ToByte((from[0] & 15) | (from[1] & 15) << 4);
      row(8 + block / 2) |= ToByte((from[0] >> 4 | (from[1] >> 4) << 2) << (4 * (block % 2)));
      return;
  }
}

void GetScales(ScaleForm form, const std::byte* scales, std::int64_t lane, std::int64_t block,
               std::uint8_t* out) {
  const auto row = [scales, lane](std::int64_t i) {
    return std::to_integer<int>(scales[i * kGroupRows + lane]);
  };
  const auto put = [out](int first, int second) {
    out[0] = static_cast<std::uint8_t>(first);
    out[1] = static_cast<std::uint8_t>(second);
  };
  switch (form) {
    case ScaleForm::kNone:
      return;
    case ScaleForm::kByte:
      return put(row(0), 0);
    case ScaleForm::kTwoBytes:
      return put(row(2 * block), row(2 * block + 1));
    case ScaleForm::kBytePair:
      std::memcpy(out, scales + 2 * (block * kGroupRows + lane), 2);
      return;
    case ScaleForm::kSixBits: {
      const int high = row(4 + block % 2) >> (2 * (block / 2)) & 3;
      return put((row(block / 2) >> (4 * (block % 2)) & 15) | high << 4, 0);
    }
    case ScaleForm::kTwoSixBits: {
      const int high = row(8 + block / 2) >> (4 * (block % 2));
      return put((row(block) & 15) | (high & 3) << 4, row(block) >> 4 | (high >> 2 & 3) << 4);
    }
  }
}

void PutFields(const Form& form, const Place& place, std::int64_t lane, const BlockFields& fields) {
  if (form.halves >= 1) PutHalf(place.header, lane, fields.d);
  if (form.halves == 2) PutHalf(place.header + 2 * kGroupRows, lane, fields.m);
  PutScales(form.scales, place.scales, lane, place.in_unit, fields.scales);
}

BlockFields GetFields(const Form& form, const Place& place, std::int64_t lane) {
  BlockFields fields = {};
  if (form.halves >= 1) fields.d = GetHalf(place.header, lane);
  if (form.halves == 2) fields.m = GetHalf(place.header + 2 * kGroupRows, lane);
  GetScales(form.scales, place.scales, lane, place.in_unit, fields.scales);
  GetCodes(form, place, lane, fields.codes);
  return fields;
}

// Float types of kWidth bytes: [k][16 rows]. `group` begins at the row's lane.
template <std::size_t kWidth>
void PutFloats(const std::byte* row, std::int64_t k, std::byte* group) {
  for (std::int64_t i = 0; i < k; ++i, row += kWidth, group += kGroupRows * kWidth) {
    std::memcpy(group, row, kWidth);
  }
}

template <std::size_t kWidth>
void GetFloats(const std::byte* group, std::int64_t k, std::byte* row) {
  for (std::int64_t i = 0; i < k; ++i, row += kWidth, group += kGroupRows * kWidth) {
    std::memcpy(row, group, kWidth);
  }
}

}  // namespace

Result<PackedShape> PackedShapeOf(QuantType type, std::int64_t rows, std::int64_t k) {
  const auto row_bytes = RowBytes(type, static_cast<std::size_t>(k));
  if (!row_bytes) return Failure(row_bytes.error());
  PackedShape shape = {.type = type, .rows = rows, .k = RoundUp(k, kLine)};
  shape.groups = RoundUp(rows, kGroupRows) / kGroupRows;
  if (IsFloat(type)) {
    shape.group_bytes = shape.k * kGroupRows * (type == QuantType::kF32 ? 4 : 2);
  } else {
    const Form& form = FormOf(type);
    const std::int64_t units = shape.k / form.unit();
    const std::int64_t headers = RoundUp(units, form.run()) * form.header_bytes();
    shape.group_bytes = headers + units * form.body_bytes();
  }
  shape.total_bytes = shape.groups * shape.group_bytes;
  return shape;
}

void PackGroup(const PackedShape& shape, const std::byte* gguf_rows, std::int64_t rows,
               std::int64_t k, std::int64_t group, std::byte* out) {
  const auto row_bytes =
      static_cast<std::int64_t>(*RowBytes(shape.type, static_cast<std::size_t>(k)));
  const std::int64_t lanes = std::min(kGroupRows, rows - group * kGroupRows);
  const std::byte* first_row = gguf_rows + group * kGroupRows * row_bytes;
  if (IsFloat(shape.type)) {
    const bool single = shape.type == QuantType::kF32;
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const std::byte* row = first_row + lane * row_bytes;
      single ? PutFloats<4>(row, k, out + 4 * lane) : PutFloats<2>(row, k, out + 2 * lane);
    }
    return;
  }
  const Form& form = FormOf(shape.type);
  Quads quads = {};
  for (std::int64_t block = 0; block < k / kBlock; ++block) {
    const Place place = PlaceOf(form, out, block);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const BlockFields fields =
          LoadFields(shape.type, first_row + lane * row_bytes, static_cast<std::size_t>(block));
      PutFields(form, place, lane, fields);
      for (std::int64_t quad = 0; quad < 8; ++quad) {
        std::memcpy(&quads[quad][4 * lane], &fields.codes[4 * quad], 4);
      }
    }
    PutCodes(form, place, quads);
  }
}

void UnpackRow(const PackedShape& shape, const std::byte* packed, std::int64_t row, std::int64_t k,
               std::byte* gguf_row) {
  const std::size_t row_bytes = *RowBytes(shape.type, static_cast<std::size_t>(k));
  std::memset(gguf_row, 0, row_bytes);
  // Only read through: PlaceOf serves both directions.
  auto* group = const_cast<std::byte*>(packed) + row / kGroupRows * shape.group_bytes;
  const std::int64_t lane = row % kGroupRows;
  if (IsFloat(shape.type)) {
    shape.type == QuantType::kF32 ? GetFloats<4>(group + 4 * lane, k, gguf_row)
                                  : GetFloats<2>(group + 2 * lane, k, gguf_row);
    return;
  }
  const Form& form = FormOf(shape.type);
  for (std::int64_t block = 0; block < k / kBlock; ++block) {
    const Place place = PlaceOf(form, group, block);
    const BlockFields fields = GetFields(form, place, lane);
    StoreFields(shape.type, fields, gguf_row, static_cast<std::size_t>(block));
  }
}

}  // namespace vivace
