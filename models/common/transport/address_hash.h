// Hash of interleaved units (memory partitions, sets of a cache, DRAM banks), so that addresses a power of two apart are
// distributed over the units.
//
// The n bits that would select a unit without a hash are XORed with groups of n higher address bits. The higher bits stay
// unchanged, so unit and higher bits together determine the address.
//
// `fold` and `mi200` differ in the groups of higher bits. `fold`: adjacent groups of n bits, without overlap or gap. Each power
// of two then changes exactly one bit of the unit's number, so the values of any n adjacent address bits select every unit.
// `mi200`: groups that start at bits 16, 21 and 30 of the address, as on AMD's MI200, where bit i of the memory channel is the
// XOR of address bits 8 + i, 16 + i, 21 + i and 30 + i (the patch "RAS/AMD/ATL: Add MI200 support" for Linux; bits 20, 25 and
// 34 of the highest bit of the channel also in drivers/gpu/drm/amd/amdgpu/umc_v6_7.h). Bits between the unit's number and bit
// 16 then select no unit: with 32 channels of 256 bytes, eight rows of 8 KiB share a channel.
//
// MI300 XORs bits 8 + i, 15 + i, 22 + i, 29 + i and more (Linux, drivers/ras/amd/atl/dehash.c), nearly as `fold` does. Liu et
// al., "Get Out of the Valley: Power-Efficient Address Mapping for GPUs" (ISCA 2018), show why GPUs need such a hash. The
// bitwise XOR indexing of Accel-Sim is similar but uses only the next n bits. For DRAM banks, the hash corresponds to the
// permutation of Zhang, Zhu, Zhang (MICRO 2000).
#pragma once

#include <cstdint>

namespace lacuna {

enum class AddressHash : std::uint8_t { none, fold, mi200 };

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

/// Lowest bit of the first group of `mi200`, so the upper limit of the bits that select a unit and a byte of its chunk.
constexpr unsigned kMi200Bits = 16;

/// XOR of the groups of higher bits of `mi200`, from bit 0 on. The bits above the unit's number are undefined.
constexpr std::uint64_t xor_mi200(std::uint64_t address) { return address >> kMi200Bits ^ address >> 21 ^ address >> 30; }

}  // namespace lacuna
