#include "kernels/pack.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "kernels/pack_codes.h"
#include "kernels/packed_layout.h"

namespace vivace {
namespace {

// How one type fills a group; see the table in packed_layout.h.
struct Form {
  QuantType type;
  std::int64_t entry;        // values that share a header entry
  std::int64_t halves;       // in a header entry, per row
  std::int64_t scale_bytes;  // at the start of a super-block's body
  std::int64_t low_bytes;    // of a block's quant lines
  std::int64_t fifth_bytes;
  std::int64_t top_bytes;

  std::int64_t block_bytes() const { return top_bytes + fifth_bytes + low_bytes; }
  // Of a unit: 64 values, so that its quants are whole lines, or a super-block.
  std::int64_t unit() const { return std::max(entry, kLine); }
  std::int64_t header_bytes() const { return unit() / entry * halves * kGroupRows * 2; }
  std::int64_t body_bytes() const { return scale_bytes + unit() / kBlock * block_bytes(); }
  // Units whose headers fill a line together, and what they take with it.
  std::int64_t run() const { return std::max(std::int64_t{1}, kLine / header_bytes()); }
  std::int64_t run_bytes() const { return run() * (header_bytes() + body_bytes()); }
};

constexpr Form kForms[] = {
    {QuantType::kQ4_0, kBlock, 1, 0, 256, 0, 0},
    {QuantType::kQ4_1, kBlock, 2, 0, 256, 0, 0},
    {QuantType::kQ5_0, kBlock, 1, 0, 256, 64, 0},
    {QuantType::kQ8_0, kBlock, 1, 0, 512, 0, 0},
    {QuantType::kQ4_K, kSuperBlock, 2, 192, 256, 0, 0},
    {QuantType::kQ6_K, kSuperBlock, 1, 256, 256, 0, 128},
};

std::optional<Form> FormOf(QuantType type) {
  for (const Form& form : kForms) {
    if (form.type == type) return form;
  }
  return std::nullopt;
}

bool IsFloat(QuantType type) { return type == QuantType::kF32 || type == QuantType::kF16; }

std::int64_t RoundUp(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Where row `lane`'s parts of block `block` lie in a group.
struct Place {
  std::byte* header;  // [halves][16 rows] halves
  std::byte* scales;  // start of the super-block's scales
  std::byte* top;
  std::byte* fifth;
  std::byte* low;
  std::int64_t in_super;  // block within its super-block
};

Place PlaceOf(const Form& form, std::byte* group, std::int64_t block) {
  const std::int64_t per_unit = form.unit() / kBlock;
  const std::int64_t unit = block / per_unit;
  const std::int64_t in_run = unit % form.run();
  std::byte* run = group + unit / form.run() * form.run_bytes();
  std::byte* body = run + form.run() * form.header_bytes() + in_run * form.body_bytes();
  std::byte* lines = body + form.scale_bytes + block % per_unit * form.block_bytes();
  const std::int64_t entry = block % per_unit / (form.entry / kBlock);
  return {.header = run + in_run * form.header_bytes() + entry * form.halves * kGroupRows * 2,
          .scales = body,
          .top = lines,
          .fifth = lines + form.top_bytes,
          .low = lines + form.top_bytes + form.fifth_bytes,
          .in_super = block % per_unit};
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

// Byte 4 * lane + i of line `quad`.
std::int64_t At(std::int64_t quad, std::int64_t lane, std::int64_t i) {
  return quad * kLine + 4 * lane + i;
}

// The codes of a block of all rows, one line per quad, as lines of the layout.
void PutCodes(const Form& form, const Place& place, const std::uint8_t (&quads)[8][kLine]) {
  if (form.low_bytes == sizeof quads) {
    std::memcpy(place.low, quads, sizeof quads);
    return;
  }
  for (std::int64_t j = 0; j < 4; ++j) {
    for (std::int64_t i = 0; i < kLine; ++i) {
      place.low[j * kLine + i] = ToByte((quads[j][i] & 15) | (quads[j + 4][i] & 15) << 4);
    }
  }
  const auto put_high = [&](std::byte* line, std::int64_t first, std::int64_t count, int bits) {
    for (std::int64_t i = 0; i < kLine; ++i) {
      int byte = 0;
      for (std::int64_t j = 0; j < count; ++j) byte |= (quads[first + j][i] >> 4) << (bits * j);
      line[i] = ToByte(byte);
    }
  };
  if (form.fifth_bytes != 0) put_high(place.fifth, 0, 8, 1);
  if (form.top_bytes != 0) {
    put_high(place.top, 0, 4, 2);
    put_high(place.top + kLine, 4, 4, 2);
  }
}

void GetCodes(const Form& form, const Place& place, std::int64_t lane, std::uint8_t* codes) {
  for (std::int64_t quad = 0; quad < 8; ++quad) {
    for (std::int64_t i = 0; i < 4; ++i) {
      std::uint8_t& code = codes[4 * quad + i];
      if (form.low_bytes == 512) {
        code = std::to_integer<std::uint8_t>(place.low[At(quad, lane, i)]);
        continue;
      }
      int value = std::to_integer<int>(place.low[At(quad % 4, lane, i)]) >> (4 * (quad / 4)) & 15;
      if (form.fifth_bytes != 0) {
        value |= (std::to_integer<int>(place.fifth[At(0, lane, i)]) >> quad & 1) << 4;
      }
      if (form.top_bytes != 0) {
        value |= (std::to_integer<int>(place.top[At(quad / 4, lane, i)]) >> (2 * (quad % 4)) & 3)
                 << 4;
      }
      code = static_cast<std::uint8_t>(value);
    }
  }
}

void PutScales(const Form& form, const Place& place, std::int64_t lane, const BlockFields& fields) {
  PutHalf(place.header, lane, fields.d);
  if (form.halves == 2) PutHalf(place.header + 2 * kGroupRows, lane, fields.m);
  const std::int64_t block = place.in_super;
  if (form.type == QuantType::kQ6_K) {
    place.scales[2 * block * kGroupRows + lane] = ToByte(fields.sub_scales[0]);
    place.scales[(2 * block + 1) * kGroupRows + lane] = ToByte(fields.sub_scales[1]);
  } else if (form.scale_bytes != 0) {
    place.scales[block * kGroupRows + lane] = ToByte((fields.scale & 15) | (fields.min & 15) << 4);
    place.scales[(8 + block / 2) * kGroupRows + lane] |=
        ToByte((fields.scale >> 4 | (fields.min >> 4) << 2) << (4 * (block % 2)));
  }
}

void GetScales(const Form& form, const Place& place, std::int64_t lane, BlockFields& fields) {
  fields.d = GetHalf(place.header, lane);
  fields.m = form.halves == 2 ? GetHalf(place.header + 2 * kGroupRows, lane) : std::uint16_t{0};
  const std::int64_t block = place.in_super;
  if (form.type == QuantType::kQ6_K) {
    fields.sub_scales[0] =
        std::to_integer<std::int8_t>(place.scales[2 * block * kGroupRows + lane]);
    fields.sub_scales[1] =
        std::to_integer<std::int8_t>(place.scales[(2 * block + 1) * kGroupRows + lane]);
  } else if (form.scale_bytes != 0) {
    const int low = std::to_integer<int>(place.scales[block * kGroupRows + lane]);
    const int high = std::to_integer<int>(place.scales[(8 + block / 2) * kGroupRows + lane]) >>
                     (4 * (block % 2));
    fields.scale = static_cast<std::uint8_t>((low & 15) | (high & 3) << 4);
    fields.min = static_cast<std::uint8_t>(low >> 4 | (high >> 2 & 3) << 4);
  }
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
  } else if (const auto form = FormOf(type)) {
    const std::int64_t units = shape.k / form->unit();
    const std::int64_t headers = RoundUp(units, form->run()) * form->header_bytes();
    shape.group_bytes = headers + units * form->body_bytes();
  } else {
    return Fail(ErrorKind::kUnsupported, "matrices of type " + std::string(Name(type)) +
                                             " have no kernels, allowed is F32, F16, Q4_0, Q4_1, "
                                             "Q4_K, Q5_0, Q6_K, Q8_0");
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
  const auto form = FormOf(shape.type);
  if (!form) {
    const bool single = shape.type == QuantType::kF32;
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const std::byte* row = first_row + lane * row_bytes;
      single ? PutFloats<4>(row, k, out + 4 * lane) : PutFloats<2>(row, k, out + 2 * lane);
    }
    return;
  }
  std::uint8_t quads[8][kLine] = {};
  for (std::int64_t block = 0; block < k / kBlock; ++block) {
    const Place place = PlaceOf(*form, out, block);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const BlockFields fields =
          LoadFields(shape.type, first_row + lane * row_bytes, static_cast<std::size_t>(block));
      PutScales(*form, place, lane, fields);
      for (std::int64_t quad = 0; quad < 8; ++quad) {
        std::memcpy(&quads[quad][4 * lane], &fields.codes[4 * quad], 4);
      }
    }
    PutCodes(*form, place, quads);
  }
}

void UnpackRow(const PackedShape& shape, const std::byte* packed, std::int64_t row, std::int64_t k,
               std::byte* gguf_row) {
  const std::size_t row_bytes = *RowBytes(shape.type, static_cast<std::size_t>(k));
  std::memset(gguf_row, 0, row_bytes);
  // Only read through: PlaceOf serves both directions.
  auto* group = const_cast<std::byte*>(packed) + row / kGroupRows * shape.group_bytes;
  const std::int64_t lane = row % kGroupRows;
  const auto form = FormOf(shape.type);
  if (!form) {
    shape.type == QuantType::kF32 ? GetFloats<4>(group + 4 * lane, k, gguf_row)
                                  : GetFloats<2>(group + 2 * lane, k, gguf_row);
    return;
  }
  for (std::int64_t block = 0; block < k / kBlock; ++block) {
    const Place place = PlaceOf(*form, group, block);
    BlockFields fields = {};
    GetScales(*form, place, lane, fields);
    GetCodes(*form, place, lane, fields.codes);
    StoreFields(shape.type, fields, gguf_row, static_cast<std::size_t>(block));
  }
}

}  // namespace vivace
