#include "models/sida/machine/area.h"

#include "models/energy/matrix_cost.h"

namespace lacuna::sida {
namespace {

constexpr double kMm2PerUm2 = 1e-6;
constexpr unsigned kPeRows = 3;  // one row each for OS, E-wise and IS

/// High-density 6T cell of Samsung's 10 nm: ISSCC 2017, "A 10 nm FinFET 128 Mb SRAM" gives 0.040 um2.
constexpr double kCellUm2 = 0.040;
/// AMD's 3D V-Cache has 64 MB in 41 mm2, including tags (ISSCC 2022, 26.4). The area share of the cells follows with TSMC's 7
/// nm cell of 0.027 um2 (ISSCC 2017).
constexpr double kVCacheMm2 = 41;
constexpr double kVCacheCellUm2 = 0.027;
constexpr double kVCacheBits = 64.0 * 1024 * 1024 * 8;
constexpr double kCellShare = kVCacheBits * kVCacheCellUm2 * kMm2PerUm2 / kVCacheMm2;

/// Multiply-adds of the thesis' 4 x 4 x 4 matrix unit.
constexpr double kUnitProducts = 64;
/// Area scaling from 45 nm to 8N: the operators that the thesis adds to a unit, 69 % of its area, scale to 0.378 mm2 (section
/// 3.6.1).
constexpr double kScale =
    matrix_cost::kScaledSquareMillimetres / ((matrix_cost::kAllOperators - 1) * matrix_cost::kBaselineSquareMillimetres);

}  // namespace

double buffer_mm2(std::uint64_t bytes) {
  constexpr double kBits = 8;
  return static_cast<double>(bytes) * kBits * kCellUm2 * kMm2PerUm2 / kCellShare;
}

double pes_mm2(unsigned pes, bool all_semirings) {
  const matrix_cost::Width& wide = matrix_cost::kWidths.back();
  const double unit = (all_semirings ? wide.with_operators : wide.mma) * matrix_cost::kBaselineSquareMillimetres * kScale;
  return kPeRows * pes * unit / kUnitProducts;
}

std::vector<CostLine> area_lines(unsigned pes, std::uint64_t buffer_bytes) {
  return {
      {"buffer_mm2", "mm2", "buffer, cells of Samsung's 10 nm at the density of AMD's 3D V-Cache", buffer_mm2(buffer_bytes)},
      {"pes_mm2", "mm2", "PEs of three cores, as multiply-adds of the thesis' 64-bit matrix unit", pes_mm2(pes, false)},
      {"pes_all_semirings_mm2", "mm2", "the same with the operators of all semirings", pes_mm2(pes, true)}};
}

}  // namespace lacuna::sida
