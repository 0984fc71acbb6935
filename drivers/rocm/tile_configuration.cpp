// Tiling tables: layout of multi-sample and array surfaces in memory. The runtime's image library computes addresses from them.
#include <algorithm>
#include <array>

#include "drivers/rocm/topology.h"

namespace lacuna::rocm {
namespace {

// Fields of GB_TILE_MODE and GB_MACROTILE_MODE, and their values for Fiji, from Linux:
// drivers/gpu/drm/amd/amdgpu/gfx_v8_0.c and include/asic_reg/gca/gfx_8_0_enum.h.
enum class Array : HSAuint32 {
  linear_aligned = 1,
  thin_1d = 2,
  thick_1d = 3,
  thin_2d = 4,
  prt_thin = 5,
  thick_2d = 7,
  xthick_2d = 8,
  thin_3d = 12,
  thick_3d = 13,
  xthick_3d = 14
};
enum class Micro : HSAuint32 { display = 0, thin = 1, depth = 2, rotated = 3, thick = 4 };
constexpr HSAuint32 kPipes16 = 0x11;
constexpr HSAuint32 kPipes4 = 0x4;
constexpr HSAuint32 kSplit2K = 5;

constexpr HSAuint32 mode(Array array, Micro micro, HSAuint32 split = 0, HSAuint32 samples = 0, HSAuint32 pipes = kPipes16) {
  return static_cast<HSAuint32>(array) << 2 | pipes << 6 | split << 11 | static_cast<HSAuint32>(micro) << 22 | samples << 25;
}

constexpr std::array<HSAuint32, 31> kTileModes{mode(Array::thin_2d, Micro::depth, 0),
                                               mode(Array::thin_2d, Micro::depth, 1),
                                               mode(Array::thin_2d, Micro::depth, 2),
                                               mode(Array::thin_2d, Micro::depth, 3),
                                               mode(Array::thin_2d, Micro::depth, kSplit2K),
                                               mode(Array::thin_1d, Micro::depth, kSplit2K),
                                               mode(Array::prt_thin, Micro::depth, kSplit2K),
                                               mode(Array::prt_thin, Micro::depth, kSplit2K, 0, kPipes4),
                                               mode(Array::linear_aligned, Micro::display),
                                               mode(Array::thin_1d, Micro::display),
                                               mode(Array::thin_2d, Micro::display, 0, 1),
                                               mode(Array::prt_thin, Micro::display, 0, 3),
                                               mode(Array::prt_thin, Micro::display, 0, 3, kPipes4),
                                               mode(Array::thin_1d, Micro::thin),
                                               mode(Array::thin_2d, Micro::thin, 0, 1),
                                               mode(Array::thin_3d, Micro::thin, 0, 1),
                                               mode(Array::prt_thin, Micro::thin, 0, 3),
                                               mode(Array::prt_thin, Micro::thin, 0, 3, kPipes4),
                                               mode(Array::thick_1d, Micro::thin),
                                               mode(Array::thick_1d, Micro::thick),
                                               mode(Array::thick_2d, Micro::thick),
                                               mode(Array::thick_3d, Micro::thick),
                                               mode(Array::thick_2d, Micro::thin, 0, 1),
                                               mode(Array::thick_3d, Micro::thin, 0, 1),
                                               mode(Array::thick_2d, Micro::thin),
                                               mode(Array::xthick_2d, Micro::thick),
                                               mode(Array::xthick_3d, Micro::thick),
                                               mode(Array::thin_1d, Micro::rotated),
                                               mode(Array::thin_2d, Micro::rotated, 0, 1),
                                               mode(Array::prt_thin, Micro::rotated, 0, 3),
                                               mode(Array::prt_thin, Micro::rotated, 0, 3, kPipes4)};

constexpr HSAuint32 macro(HSAuint32 width, HSAuint32 height, HSAuint32 aspect, HSAuint32 banks) {
  return width | height << 2 | aspect << 4 | banks << 6;
}

/// Entry 7 is not used.
constexpr std::array<HSAuint32, 16> kMacroTileModes{macro(0, 2, 2, 2), macro(0, 2, 2, 2), macro(0, 2, 2, 2), macro(0, 2, 2, 2),
                                                    macro(0, 1, 1, 2), macro(0, 0, 0, 2), macro(0, 0, 0, 2), 0,
                                                    macro(0, 3, 2, 2), macro(0, 2, 2, 2), macro(0, 1, 1, 2), macro(0, 0, 0, 2),
                                                    macro(0, 0, 0, 2), macro(0, 0, 0, 2), macro(0, 0, 0, 1), macro(0, 0, 0, 1)};

constexpr HSAuint32 kAddressConfigGfx8 = 0x22011003;
constexpr HSAuint32 kAddressConfigGfx9 = 0x2a114042;
/// Encodings: 2 = 16 banks, 0 = one rank.
constexpr HSAuint32 kBanks = 2;
constexpr HSAuint32 kRanks = 0;

}  // namespace

bool tile_configuration(isa::Target target, HsaGpuTileConfig& config) {
  if (config.TileConfig == nullptr || config.NumTileConfigs < kTileModes.size() || config.MacroTileConfig == nullptr ||
      config.NumMacroTileConfigs < kMacroTileModes.size())
    return false;
  std::copy(kTileModes.begin(), kTileModes.end(), config.TileConfig);
  std::copy(kMacroTileModes.begin(), kMacroTileModes.end(), config.MacroTileConfig);
  config.NumTileConfigs = kTileModes.size();
  config.NumMacroTileConfigs = kMacroTileModes.size();
  config.GbAddrConfig = target == isa::Target::gfx803 ? kAddressConfigGfx8 : kAddressConfigGfx9;
  config.NumBanks = kBanks;
  config.NumRanks = kRanks;
  return true;
}

}  // namespace lacuna::rocm
