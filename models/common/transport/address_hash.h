// Hash of interleaved units (memory partitions, sets of a cache, DRAM banks), so that addresses a power of two apart are
// distributed over the units.
//
// The n bits that would select a unit without a hash are XORed with all higher address bits, folded to n bits. Each power of
// two then changes exactly one bit of the unit's number, so the values of any n adjacent address bits select every unit. The
// higher bits stay unchanged, so unit and higher bits together determine the address.
//
// Source: AMD's Instinct accelerators select the memory channel in this way. On MI200, bit i of the channel number is the XOR
// of address bits 8 + i, 16 + i, 21 + i and 30 + i; on MI300 of 8 + i, 15 + i, 22 + i, 29 + i, 36 + i and 43 + i (Linux,
// drivers/ras/amd/atl/dehash.c and the patch "RAS/AMD/ATL: Add MI200 support"). Here the groups are adjacent, without overlap
// or gap. Liu et al., "Get Out of the Valley: Power-Efficient Address Mapping for GPUs" (ISCA 2018), show why GPUs need such a
// hash. The bitwise XOR indexing of Accel-Sim is similar but uses only the next n bits. For DRAM banks, the hash corresponds to
// the permutation of Zhang, Zhu, Zhang (MICRO 2000).
#pragma once

#include <cstdint>

namespace lacuna {

enum class AddressHash : std::uint8_t { none, fold };

/// XOR of the groups of `bits` bits of `value`, from bit 0 on, in the lowest `bits` bits of the result. The other bits of the
/// result are undefined. `bits` must not be 0.
constexpr std::uint64_t xor_fold(std::uint64_t value, unsigned bits) {
  if (bits >= 4 && bits < 8) {  // the common case, folded in four steps
    value ^= value >> bits;
    value ^= value >> 2 * bits;
    value ^= value >> 4 * bits;
    return value ^ value >> 8 * bits;
  }
  for (unsigned shift = bits; shift < 64; shift *= 2) value ^= value >> shift;
  return value;
}

}  // namespace lacuna
