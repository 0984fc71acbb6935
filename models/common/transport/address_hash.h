// Hash of interleaved units (memory partitions, sets of a cache, DRAM banks), so that addresses a power of two apart are
// distributed over the units.
//
// The number of the unit, the n bits that would select it, is XORed with all higher address bits, folded to n. Each power of
// two then changes exactly one bit of the number, so that the values of any n adjacent address bits select every unit. The
// higher bits stay unchanged: unit and higher bits together determine the address.
//
// Source: AMD's Instinct accelerators select the memory channel like this. On MI200, bit i of it is the XOR of address bits 8 +
// i, 16 + i, 21 + i and 30 + i; on MI300 of 8 + i, 15 + i, 22 + i, 29 + i, 36 + i and 43 + i (Linux,
// drivers/ras/amd/atl/dehash.c and the patch "RAS/AMD/ATL: Add MI200 support"). Here the groups are adjacent, without overlap
// or gap. Liu et al., "Get Out of the Valley: Power-Efficient Address Mapping for GPUs" (ISCA 2018), show why GPUs need it;
// Accel-Sim has the same as its bitwise XOR indexing, which uses the next n bits only. For DRAM banks it is the permutation of
// Zhang, Zhu, Zhang (MICRO 2000).
#pragma once

#include <cstdint>

namespace lacuna {

enum class AddressHash : std::uint8_t { none, fold };

/// XOR of the groups of `bits` bits of `value`, from bit 0 on, in the result's lowest `bits` bits; its other bits are
/// undefined. `bits` must not be 0.
constexpr std::uint64_t xor_fold(std::uint64_t value, unsigned bits) {
  if (bits >= 4 && bits < 8) {  // the common case: four steps
    value ^= value >> bits;
    value ^= value >> 2 * bits;
    value ^= value >> 4 * bits;
    return value ^ value >> 8 * bits;
  }
  for (unsigned shift = bits; shift < 64; shift *= 2) value ^= value >> shift;
  return value;
}

}  // namespace lacuna
