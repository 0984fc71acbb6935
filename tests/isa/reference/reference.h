// Required results of instructions, one function per mnemonic, written from the instruction-set documents and not from the
// executor: integers in plain wide arithmetic, floating point with MPFR. The tests of this folder run every row that has such a
// function through decoder and executor and compare.
//
// Documents: [GCN3] "Graphics Core Next Architecture, Generation 3" rev. 1.1; [Vega] "Vega" ISA rev. 28-July-2017; [MI200]
// "AMD Instinct MI200" ISA; [LLVM] the AMDGPU back end and its user guide.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "models/isa/decode/instruction.h"
#include "models/isa/target.h"

namespace lacuna::isa::test {

/// The sources of one lane as bits, after NEG and ABS; for 16-bit operands, only the half that is read.
struct Lane {
  std::uint64_t a = 0, b = 0, c = 0;
  std::uint64_t c_high = 0;  ///< bits 64.. of a 128-bit third source
  std::uint64_t old = 0;     ///< destination register before the instruction
  bool flag = false;         ///< the lane's bit of the mask that is read: carry, VCC
  unsigned index = 0;
};

/// Target, MODE and clamp bit with which an instruction executes. MODE fields are at their positions in the register ([GCN3]
/// table "MODE register").
struct Context {
  Target target = Target::gfx803;
  std::uint32_t mode = 0;
  bool clamp = false;
  bool ieee() const { return (mode >> 9 & 1) != 0; }
  bool dx10_clamp() const { return (mode >> 8 & 1) != 0; }
};

struct Outcome {
  std::uint64_t value = 0;
  std::uint64_t high = 0;  ///< bits 64.. of a 128-bit result
  bool flag = false;       ///< carry, comparison
};

using Reference = Outcome (*)(const Lane&, const Context&);

struct ReferenceEntry {
  std::string_view mnemonic;
  Reference reference;
  unsigned ulps = 0;       ///< permitted error of a finite result, for instructions with a documented error bound
  unsigned part_bits = 0;  ///< packed: width of the part that the function computes; 0: the whole result
};

/// Vector instructions by subject; a mnemonic whose results differ between the targets uses Context::target.
std::span<const ReferenceEntry> integer_references();
std::span<const ReferenceEntry> integer16_references();
std::span<const ReferenceEntry> sad_references();
std::span<const ReferenceEntry> float_references();
std::span<const ReferenceEntry> convert_references();
std::span<const ReferenceEntry> compare_references();
std::span<const ReferenceEntry> division_references();
std::span<const ReferenceEntry> transcendental_references();
std::span<const ReferenceEntry> packed_references();

/// Views of unsigned values as two's complement.
constexpr std::int32_t s32(std::uint64_t v) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(v)); }
constexpr std::int64_t s64(std::uint64_t v) { return static_cast<std::int64_t>(v); }
constexpr std::int32_t s16(std::uint64_t v) { return static_cast<std::int16_t>(static_cast<std::uint16_t>(v)); }
constexpr std::uint32_t u32(std::uint64_t v) { return static_cast<std::uint32_t>(v); }
constexpr std::uint32_t u16(std::uint64_t v) { return static_cast<std::uint16_t>(v); }
/// The low `width` bits of v as a signed number.
constexpr std::int64_t sign_extend(std::uint64_t v, unsigned width) {
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  const std::uint64_t low = v & (sign | (sign - 1));
  return static_cast<std::int64_t>(low ^ sign) - static_cast<std::int64_t>(sign);
}
/// The value `v`; with `clamp`, the number in [low, high] that is nearest to `v`.
constexpr std::uint64_t saturated(std::int64_t v, std::int64_t low, std::int64_t high, bool clamp) {
  if (!clamp) return static_cast<std::uint64_t>(v);
  return static_cast<std::uint64_t>(v < low ? low : v > high ? high : v);
}
constexpr std::uint64_t saturated_i32(std::int64_t v, bool clamp) { return u32(saturated(v, INT32_MIN, INT32_MAX, clamp)); }
constexpr std::uint64_t saturated_u32(std::int64_t v, bool clamp) { return u32(saturated(v, 0, UINT32_MAX, clamp)); }
constexpr std::uint64_t saturated_i16(std::int64_t v, bool clamp) { return u16(saturated(v, INT16_MIN, INT16_MAX, clamp)); }
constexpr std::uint64_t saturated_u16(std::int64_t v, bool clamp) { return u16(saturated(v, 0, UINT16_MAX, clamp)); }

}  // namespace lacuna::isa::test
