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
//   2 bit     2 lines, line h: bits 2j, 2j+1 = quad 4h + j, j < 4
//   1 bit     1 line, bit j of a byte = quad j
// A code of 3, 5 or 6 bits is two such parts, its high bits before its low ones.
// Halves and one-byte scales are stored [16 rows].
//
//   type    header: per block      body per block
//   Q8_0    d                      8 bit: q + 128 (unsigned)
//   Q4_0    d                      4 bit: q + 8, as in GGUF
//   Q5_0    d                      1 bit, 4 bit: q + 16
//   Q4_1    d, m                   4 bit
//   Q5_1    d, m                   1 bit, 4 bit
//   IQ4_NL  d                      4 bit: places in the code book
//   MXFP4   exponent, a byte       4 bit: places in the code book
// Types with super-blocks of 256 k (8 blocks), header per super-block:
//   Q4_K    d, dmin   six-bit pairs (scale, min), 192 bytes:
//                       [8 blocks][16 rows]: low nibble = first & 15, high = second & 15;
//                       [4 pairs][16 rows]: bits 0-1 first >> 4, bits 2-3 second >> 4 of
//                       the even block, bits 4-5 and 6-7 of the odd one;
//                     then 8 x 4 bit
//   Q5_K    d, dmin   as Q4_K, then 8 x (1 bit, 4 bit)
//   Q3_K    d         six-bit pairs (scale + 32 of the first half, of the second half),
//                     then 8 x (1 bit, 2 bit): q + 4
//   Q6_K    d         256 bytes of int8 scales [16 sub-blocks of 16 k][16 rows],
//                     then 8 x (2 bit, 4 bit): q + 32
//   Q2_K    d, dmin   256 bytes [8 blocks][16 rows][2 halves], low nibble scale, high min,
//                     then 8 x 2 bit
//   IQ4_XS  d, then   scale + 32 in six bits, 96 bytes: [4 pairs][16 rows], low nibble the
//                     even block's low bits, high the odd one's; [2][16 rows]: bits 2i, 2i+1
//                     of byte h = high bits of block 2i + h
//                     body: 8 x 4 bit, places in the code book
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
