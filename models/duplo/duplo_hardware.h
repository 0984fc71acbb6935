// Hardware cost of Duplo in a compute unit, by part: bits of storage, and the area of their cells relative to the register
// file.
//
// The paper (section V.H) gives 0.77 % of the register file's area, and counts tags of 22 and 10 bits and register numbers of
// 10 bits in 1,024 entries. Together they are 2.05 % of the register file's bits, so the published share implies cells of 0.38
// times the size, and leaves no area for renaming and reader counts. Here all bits are counted, as cells of one size. Logic is
// not counted: the ID generator's dividers and multipliers, comparators of tags, and multiplexers have neither bits nor area.
//
// This is the hardware for tile entries. Row entries (DuploEntry::row) model an upper bound that has no hardware counterpart:
// with them, a run reports neither bits nor area nor energy of Duplo.
#pragma once

#include <cstdint>
#include <vector>

#include "models/compute/compute_unit_parameters.h"
#include "models/duplo/duplo_parameters.h"
#include "models/energy/hardware_cost.h"

namespace lacuna {

/// Storage bits of a compute unit.
struct DuploHardware {
  unsigned pair_bits = 0;            ///< bits to number the physical register pairs of a SIMD
  unsigned entry_bits = 0;           ///< bits of an entry of the load history buffer: valid, tag, registers, loads, use
  std::uint64_t history_bits = 0;    ///< bits of all entries; 0 if their number is unlimited, which no hardware can provide
  std::uint64_t map_bits = 0;        ///< bits of the physical pair of each logical pair of each wavefront
  std::uint64_t reader_bits = 0;     ///< bits of the count of readers of each physical pair
  std::uint64_t parameter_bits = 0;  ///< bits of the parameter blocks of the convolutions that can run at a time
  std::uint64_t register_file_bits = 0;

  std::uint64_t total_bits() const { return history_bits + map_bits + reader_bits + parameter_bits; }
};

DuploHardware duplo_hardware(const DuploParameters& parameters, const ComputeUnitParameters& unit);

/// Table of hardware costs for statistics and documentation: bits of a compute unit by part, their shares of the register file,
/// and the area of `compute_units` compute units.
std::vector<CostLine> cost_lines(const DuploHardware& hardware, unsigned compute_units);

}  // namespace lacuna
