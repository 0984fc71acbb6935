#include "models/duplo/duplo_hardware.h"

#include <algorithm>

#include "models/duplo/id_generator.h"
#include "models/duplo/lowered_convolution.h"
#include "models/duplo/parameter_block.h"
#include "models/duplo/shared_registers.h"

namespace lacuna {
namespace {

constexpr unsigned kLanes = 64;
constexpr unsigned kWordBits = 32;
/// Maximum number of registers of a gfx90a wavefront, AGPRs included.
constexpr unsigned kMostRegisters = 512;
/// Maximum number of memory instructions of a wavefront that vmcnt can count.
constexpr unsigned kMostLoads = 64;

}  // namespace

DuploHardware duplo_hardware(const DuploParameters& parameters, const ComputeUnitParameters& unit) {
  constexpr unsigned kImageBits = 10;
  static_assert(1U << kImageBits == LoweredConvolution::kMostImages);
  constexpr unsigned kFilterBits = 8;  // bits of a filter row or column; one of the values means "irrelevant"
  constexpr unsigned kFormBits = 2;    // 16 or 32 rows, 8 or 16 bytes per lane
  const unsigned pairs = unit.vgprs_per_simd / kPairRegisters;
  const std::uint64_t wavefronts = std::uint64_t{unit.simds} * unit.wavefronts_per_simd;
  const unsigned logical_pairs = std::min(kMostRegisters / kPairRegisters, pairs);

  DuploHardware hardware{.pair_bits = bits_for(pairs)};
  hardware.register_file_bits = std::uint64_t{unit.simds} * unit.vgprs_per_simd * kLanes * kWordBits;
  hardware.map_bits = wavefronts * logical_pairs * hardware.pair_bits;
  hardware.reader_bits =
      std::uint64_t{unit.simds} * pairs * bits_for(std::uint64_t{unit.wavefronts_per_simd} * logical_pairs + 1);
  hardware.parameter_bits = std::uint64_t{parameters.convolutions} * ParameterBlock::kBytes * 8;
  const unsigned index_bits = parameters.entries == 0 ? 0 : bits_for(parameters.entries / parameters.ways);
  const unsigned filter_bits = parameters.ids == DatumIds::exact ? 2 * kFilterBits : 0;
  const unsigned tag_bits =
      IdGenerator::kElementBits - index_bits + kImageBits + bits_for(parameters.convolutions) + filter_bits + kFormBits;
  const unsigned register_bits = bits_for(unit.simds) + 2 * hardware.pair_bits + 1;  // + 1: whether there is a second pair
  const unsigned load_bits = bits_for(wavefronts * kMostLoads + 1);
  hardware.entry_bits = 1 + tag_bits + register_bits + load_bits + bits_for(parameters.ways);
  hardware.history_bits = std::uint64_t{parameters.entries} * hardware.entry_bits;
  return hardware;
}

std::vector<CostLine> cost_lines(const DuploHardware& hardware, unsigned compute_units) {
  const auto bits = [](std::uint64_t value) { return static_cast<double>(value); };
  const double file = bits(hardware.register_file_bits);
  return {
      {"entry_bits", "bits", "an entry of the load history buffer: valid, tag, registers, loads that have not retired, use",
       bits(hardware.entry_bits)},
      {"history_bits", "bits",
       "all entries of a compute unit's load history buffer; 0 for any number of entries, which is a bound",
       bits(hardware.history_bits)},
      {"map_bits", "bits", "physical register pair of each register pair of a compute unit's wavefronts",
       bits(hardware.map_bits)},
      {"reader_bits", "bits", "counts of the readers of a compute unit's physical register pairs", bits(hardware.reader_bits)},
      {"parameter_bits", "bits", "parameters of the convolutions that run", bits(hardware.parameter_bits)},
      {"register_file_bits", "bits", "vector registers of a compute unit, for comparison", file},
      {"history_share", "of the register file", "the load history buffer's bits", bits(hardware.history_bits) / file},
      {"map_share", "of the register file", "the bits of the map of register pairs", bits(hardware.map_bits) / file},
      {"reader_share", "of the register file", "the bits of the counts of readers", bits(hardware.reader_bits) / file},
      {"parameter_share", "of the register file", "the bits of the parameters", bits(hardware.parameter_bits) / file},
      {"total_share", "of the register file",
       "all of Duplo's bits, without the logic of the ID generator; the paper publishes 0.0077 of the register file's area "
       "(section V.H)",
       bits(hardware.total_bits()) / file},
      {"area_mm2", "mm2", "SRAM cells for Duplo's bits of all compute units, 28 nm",
       sram_mm2(hardware.total_bits() * compute_units)},
  };
}

}  // namespace lacuna
