// The int8 dot step of AMX at its fastest: whole tiles, whose sums stay in their registers.
// The kernels' tiles are half as deep and leave theirs after each block.
#include <cstddef>
#include <cstdint>

#include "kernels/amx/tiles.h"
#include "kernels/isa.h"

namespace vivace::VIVACE_ISA {

std::int64_t DotPeak(const std::uint8_t* a, const std::int8_t* b, std::int64_t rounds,
                     std::int32_t* out) {
  constexpr int kDepth = 64;
  constexpr int kTiles = 4;
  std::uint8_t row[kDepth];
  for (int k = 0; k < kDepth; ++k) row[k] = a[k % 4];
  Tiles<kDepth> tiles;
  tiles.Zero<0>();
  tiles.Zero<1>();
  tiles.Zero<2>();
  tiles.Zero<3>();
  // Without a stride all rows are the same.
  tiles.Load<4>(row, 0);
  tiles.Load<5>(row, 0);
  tiles.Load<6>(b, 0);
  tiles.Load<7>(b, 0);
  for (std::int64_t round = 0; round < rounds; ++round) {
    tiles.AddProduct<0, 4, 6>();
    tiles.AddProduct<1, 5, 6>();
    tiles.AddProduct<2, 4, 7>();
    tiles.AddProduct<3, 5, 7>();
  }
  alignas(64) std::int32_t sums[kTiles][kTileRows][kTileLanes];
  tiles.Store<0>(sums[0]);
  tiles.Store<1>(sums[1]);
  tiles.Store<2>(sums[2]);
  tiles.Store<3>(sums[3]);
  for (int lane = 0; lane < kTileLanes; ++lane) {
    std::uint32_t total = 0;
    for (const auto& tile : sums) {
      for (const auto& line : tile) total += static_cast<std::uint32_t>(line[lane]);
    }
    out[lane] = static_cast<std::int32_t>(total);
  }
  return kTiles * kTileRows * kTileLanes * kDepth * rounds;
}

}  // namespace vivace::VIVACE_ISA
