// The packed weight layout "R16k4": one layout for every instruction set.
//
// A matrix [rows, k] is cut into groups of 16 output rows; rows are padded to 16
// and k to 64 with zeros. A group is a row of units: a unit is 64 k, or the 256 k of a
// super-block. Each has
//   header  the scales of its blocks
//   body    the quants in block order, every part a multiple of 64 bytes
// with the header before the body. Headers of 32 bytes share a line: that of units 2i and
// 2i + 1 precedes the body of 2i. All loads are aligned, and one thread reads one strictly
// ascending stream: with the headers gathered at the start of a group, the prefetcher of
// a Zen 4 core lost track and a third of the speed of memory was left. The bytes are the
// GGUF's bytes in another order: pack and unpack are exact inverses.
//
// A *line* is 64 bytes = [16 rows][4 k]: byte 4*row + i belongs to k = 4*quad + i.
// It is one ZMM, two YMM or four NEON registers, and one step of a 4-way int8 dot.
// Per block b of 32 k (8 quads, k = 32 b + 4 quad + i):
//   8 bit     8 lines, line j = quad j
//   4 bit     4 lines, line j: low nibbles = quad j, high nibbles = quad j + 4
//   5th bit   1 line, bit j of a byte = quad j
//   top 2 of 6 bits   2 lines, line h: bits 2j, 2j+1 = quad 4h + j, j < 4
// Halves and int8 scales are stored [16 rows].
//
//   type  header: per block        body per block
//   Q8_0  d                        8 lines of q + 128 (unsigned)
//   Q4_0  d                        4 nibble lines of q + 8, as in GGUF
//   Q5_0  d                        5th-bit line (q + 16), 4 nibble lines
//   Q4_1  d, m                     4 nibble lines
//   Q5_1  d, m                     5th-bit line, 4 nibble lines
// Types with super-blocks of 256 k (8 blocks), header per super-block:
//   Q4_K  d, dmin   128 bytes [8 blocks][16 rows]: low nibble = scale & 15, high = min & 15;
//                   64 bytes [4 pairs][16 rows]: bits 0-1 scale >> 4, bits 2-3 min >> 4 of the
//                   even block, bits 4-5 and 6-7 of the odd one; then 8 x 4 nibble lines
//   Q5_K  d, dmin   as Q4_K, with a 5th-bit line before each block's nibbles
//   Q6_K  d         256 bytes of int8 scales [16 sub-blocks of 16 k][16 rows];
//                   then 8 x (2 lines of top bits, 4 nibble lines), q + 32 unsigned
// Float types have no header:
//   F32   per k 16 floats          F16, BF16  per k 16 halves
#pragma once

#include <cstddef>
#include <cstdint>

namespace vivace {

inline constexpr std::int64_t kGroupRows = 16;
inline constexpr std::int64_t kBlock = 32;        // values that share an activation scale
inline constexpr std::int64_t kSuperBlock = 256;  // K-quants
inline constexpr std::int64_t kLine = 64;         // bytes

}  // namespace vivace
