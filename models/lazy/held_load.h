// Encoding of a delayed vector load in its destination registers (LazyGPU, ISCA '25, section 4.1, Fig. 6 and Table 1).
//
// A register whose busy bit is set holds a request instead of data, in each lane of the load:
//
//   31    29 28                     5 4      0
//   +-------+------------------------+--------+     in the load's first register; the address is
//   | type  | address, lower bits    | offset |     upper bits (35, once for all lanes) : lower bits (24) : offset (5)
//   +-------+------------------------+--------+
//   +-------+---------------------------------+
//   | reg-Y | 0                               |     in its other registers: the first register is Y registers before this one
//   +-------+---------------------------------+
//
// The figure defines the order of the fields, Table 1 the codes. The offset is the byte's position in a transaction of 32 B.
// For transactions of 64 B, the offset has 6 bits and the lower address bits are 23: the same 29 bits of the address are in the
// same position, so the encoding does not depend on the transaction size. Lanes whose addresses differ above these 29 bits (512
// MiB) do not share upper bits, and the load cannot be held.
//
// Only the first register holds the address: before an instruction overwrites this register, the load's other busy registers
// must be requested, unless the instruction overwrites them, too. Inactive lanes of a register keep their data. Pure functions:
// no state, no time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "models/compute/compute_unit_parameters.h"
#include "models/energy/hardware_cost.h"
#include "models/isa/memory/memory_interface.h"

namespace lacuna::isa {
struct Instruction;
}

namespace lacuna::held_load {

inline constexpr unsigned kTypeBits = 3;
inline constexpr unsigned kOffsetBits = 5;
inline constexpr unsigned kLowerBits = 24;
inline constexpr unsigned kAddressBits = kLowerBits + kOffsetBits;
inline constexpr unsigned kUpperBits = 64 - kAddressBits;
static_assert(kTypeBits + kAddressBits == 32 && kUpperBits == 35);
inline constexpr unsigned kMaxRegisters = 4;

/// The 3-bit "inst type" (Table 1).
enum class Type : std::uint8_t {
  load_16_bytes = 0b000,
  reg_minus_1 = 0b001,
  reg_minus_2 = 0b010,
  reg_minus_3 = 0b011,
  load_1_byte = 0b100,
  load_2_bytes = 0b101,
  load_4_bytes = 0b110,
  load_8_bytes = 0b111
};

constexpr Type type_of(std::uint32_t word) { return static_cast<Type>(word >> kAddressBits); }
constexpr bool is_follower(Type type) { return type >= Type::reg_minus_1 && type <= Type::reg_minus_3; }

/// Type of a load of 1, 2, 4, 8 or 16 bytes per lane; nullopt for other sizes, which have no code.
constexpr std::optional<Type> type_of_bytes(unsigned bytes) {
  switch (bytes) {
    case 1:
      return Type::load_1_byte;
    case 2:
      return Type::load_2_bytes;
    case 4:
      return Type::load_4_bytes;
    case 8:
      return Type::load_8_bytes;
    case 16:
      return Type::load_16_bytes;
    default:
      return std::nullopt;
  }
}
/// Bytes per lane of a load; 0 for a follower.
constexpr unsigned bytes_of(Type type) {
  if (is_follower(type)) return 0;
  return type == Type::load_16_bytes ? 16 : 1U << (static_cast<unsigned>(type) & 3);
}
/// Number of destination registers of a load.
constexpr unsigned registers_of(Type type) { return (bytes_of(type) + 3) / 4; }

/// Word in register `position` (1 to 3) of a held load. It refers to the load's first register.
constexpr std::uint32_t follower_word(unsigned position) { return position << kAddressBits; }
/// First register of the load to which `busy_register` belongs; `word`: contents of `busy_register` in a lane.
constexpr unsigned first_register(std::uint32_t word, unsigned busy_register) {
  const Type type = type_of(word);
  return is_follower(type) ? busy_register - static_cast<unsigned>(type) : busy_register;
}

using LaneAddresses = std::array<std::uint64_t, isa::kLanes>;
using LaneWords = std::array<std::uint32_t, isa::kLanes>;

/// Encodes the first register of a load of `bytes` bytes (1, 2, 4, 8 or 16; otherwise throws std::invalid_argument) from
/// `addresses`: sets the words of the `lanes` that load, and `upper` to the shared bits, 0 if there are no lanes. Returns
/// false, and writes nothing, if lanes differ in these bits.
bool encode(std::span<const std::uint64_t, isa::kLanes> addresses, std::uint64_t lanes, unsigned bytes, LaneWords& words,
            std::uint64_t& upper);
/// Decodes the first register of a load: sets the addresses of the `lanes`.
void decode(std::span<const std::uint32_t, isa::kLanes> words, std::uint64_t upper, std::uint64_t lanes,
            LaneAddresses& addresses);

/// Reason why a load is issued immediately.
enum class Refusal : std::uint8_t {
  no_load,
  scalar,
  lds_form,
  lds_lanes,
  tfe,
  format,
  half_register,
  sign,
  three_registers,
  glc,
  slc,
  scattered,
  deferred,
  upper_bits,
  partly_held,
  count
};
inline constexpr std::size_t kRefusals = static_cast<std::size_t>(Refusal::count);
struct RefusalText {
  std::string_view name;     ///< name in the output files
  std::string_view meaning;  ///< continuation of "the load ...", Markdown
};
/// The list that statistics and documentation are generated from.
constexpr std::array<RefusalText, kRefusals> kRefusalTexts{{
    {"no_load",
     "is not a load from memory to vector registers, but a store, an atomic operation, cache control or an LDS access"},
    {"scalar", "goes to SGPRs"},
    {"lds_form", "goes to LDS: it has no destination registers"},
    {"lds_lanes", "is a FLAT instruction with lanes in LDS"},
    {"tfe", "has TFE: a status word follows the data"},
    {"format", "converts a buffer format: the data type and number format have no place in the word"},
    {"half_register", "fills half a register (`d16`): the other half keeps data"},
    {"sign", "extends a sign (`sbyte`, `sshort`): Table 1 has no code for it"},
    {"three_registers", "is of 12 bytes: Table 1 has no code for it"},
    {"glc", "has GLC or SCC: it must return what memory holds now"},
    {"slc", "has SLC, which has no place in the word"},
    {"scattered",
     "loads more than a dword of private memory, where the dwords of a lane are not consecutive: one address does not describe "
     "them"},
    {"deferred", "reads a location that a pending atomic operation will write"},
    {"upper_bits", "has lanes whose addresses differ in the upper 35 bits"},
    {"partly_held", "has a destination that is held for other lanes: a register has one request"},
}};

/// Reason why the form of a vector memory instruction, which has just executed with the effects in `access`, does not allow
/// holding the load; nullopt if the load may be held. Of several reasons, the first in the order of Refusal is returned; for
/// scalar instructions, Refusal::scalar. Refusal::upper_bits and Refusal::partly_held are not checked here. Buffer accesses
/// through a swizzled descriptor, and FLAT accesses to private and other memory together, are allowed: for them MemoryAccess
/// has one address per lane, as for the coalescer.
std::optional<Refusal> why_not_held(const isa::Instruction& instruction, const isa::MemoryAccess& access);

/// Storage cost of holding loads (section 5.5).
///
/// The published area, 0.009 % of the R9 Nano's die, is 0.054 mm2. The estimate here: the same bits (8 KiB and 4.375 KiB per
/// compute unit), as cells of 0.16 um2 without periphery, are 1.04 mm2 for all 64 compute units, 0.17 % of the die. For the
/// published share with 64 units a bit would have to occupy 0.0083 um2, a fifteenth of the smallest 28 nm cells (0.127 um2,
/// TSMC at the VLSI Symposium 2009). Two other counts are close to the published share: the area of four compute units, one
/// shader array, with such cells (0.0086 %), and the transistors of one compute unit, eight per bit, among the chip's 8.9e9
/// (0.0091 %). The paper does not say what it counts.
struct Cost {
  std::uint64_t busy_bits = 0;   ///< busy bits of a compute unit: one for each lane of each physical register
  std::uint64_t upper_bits = 0;  ///< upper address bits of a compute unit: 35 for each physical register
  double area_mm2 = 0;           ///< area of the bits of all compute units
  double share_of(double die_mm2) const { return area_mm2 / die_mm2; }
};
/// Die size of the R9 Nano (Fiji), published by AMD.
inline constexpr double kR9NanoDieMm2 = 596;
Cost cost(const ComputeUnitParameters& parameters, unsigned compute_units);

std::array<CostLine, 4> lines(const Cost& cost);

}  // namespace lacuna::held_load
