// The tile registers of AMX: 16 rows of up to 64 bytes each, and their int8 product.
//
// VIVACE_EMULATED is a build for tests: the same operations on arrays, for machines
// without tiles. Registers belong to a thread, which has them while a Tiles exists.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vivace::VIVACE_ISA {
namespace {

// Registers 0-3 hold sums, [16 rows][16 lanes] of int32. 4 and 5 are left operands, 16 rows
// of kDepth signed bytes. 6 and 7 are right operands, kDepth / 4 rows of [16 lanes][4]
// signed bytes: lines of packed weights.
constexpr int kTileRows = 16;
constexpr int kTileLanes = 16;

#ifdef VIVACE_EMULATED

template <int kDepth>
class Tiles {
 public:
  template <int kTile>
  void Zero() {
    for (auto& row : sums_[kTile]) {
      for (std::int32_t& sum : row) sum = 0;
    }
  }
  template <int kTile>
  void Load(const void* from, std::int64_t stride) {
    constexpr int kRows = kTile < 6 ? kTileRows : kDepth / 4;
    constexpr int kBytes = kTile < 6 ? kDepth : 64;
    for (int row = 0; row < kRows; ++row) {
      __builtin_memcpy(bytes_[kTile - 4][row], static_cast<const char*>(from) + row * stride,
                       kBytes);
    }
  }
  template <int kSums, int kLeft, int kRight>
  void AddProduct() {
    for (int row = 0; row < kTileRows; ++row) {
      for (int k = 0; k < kDepth; ++k) {
        for (int lane = 0; lane < kTileLanes; ++lane) {
          sums_[kSums][row][lane] +=
              bytes_[kLeft - 4][row][k] * bytes_[kRight - 4][k / 4][4 * lane + k % 4];
        }
      }
    }
  }
  template <int kTile>
  void Store(std::int32_t (*to)[kTileLanes]) {
    __builtin_memcpy(to, sums_[kTile], sizeof sums_[kTile]);
  }

 private:
  std::int32_t sums_[4][kTileRows][kTileLanes];
  std::int8_t bytes_[4][kTileRows][64];
};

#else

// Written as instructions because GCC's intrinsics take a register's number as a token, so
// a template cannot choose it.
template <int kDepth>
class Tiles {
 public:
  Tiles() {
    Shapes shapes = {.palette = 1, .start_row = 0, .reserved = {}, .row_bytes = {}, .rows = {}};
    for (int tile = 0; tile < 8; ++tile) {
      shapes.row_bytes[tile] = tile == 4 || tile == 5 ? kDepth : 64;
      shapes.rows[tile] = tile < 6 ? kTileRows : kDepth / 4;
    }
    __asm__ volatile("ldtilecfg %0" ::"m"(shapes));
  }
  // A thread that keeps its tiles makes every switch of context save 8 KB more.
  ~Tiles() { __asm__ volatile("tilerelease"); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  template <int kTile>
  [[gnu::always_inline]] void Zero() {
    __asm__ volatile("tilezero %%tmm%c0" ::"i"(kTile));
  }
  template <int kTile>
  [[gnu::always_inline]] void Load(const void* from, std::int64_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2"
                     :
                     : "r"(from), "r"(stride), "i"(kTile)
                     : "memory");
  }
  template <int kSums, int kLeft, int kRight>
  [[gnu::always_inline]] void AddProduct() {
    __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSums), "i"(kLeft), "i"(kRight));
  }
  template <int kTile>
  [[gnu::always_inline]] void Store(std::int32_t (*to)[kTileLanes]) {
    const std::int64_t stride = sizeof *to;
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)"
                     :
                     : "r"(to), "r"(stride), "i"(kTile)
                     : "memory");
  }

 private:
  struct Shapes {
    std::uint8_t palette;
    std::uint8_t start_row;
    std::uint8_t reserved[14];
    std::uint16_t row_bytes[16];
    std::uint8_t rows[16];
  };
  static_assert(sizeof(Shapes) == 64);
};

#endif

}  // namespace
}  // namespace vivace::VIVACE_ISA
