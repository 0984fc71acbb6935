// Types of the lanes of vector operands: how a lane is read from its register planes, passed to an operation and written back.
//
// A plane is one register's 64 contiguous lanes; a 64-bit operand is two planes, the low words first. A tag below names an
// operand type of the table and the C++ type that operations compute with.
#pragma once

#include <bit>
#include <cstdint>

#include "models/isa/decode/instruction.h"
#include "models/isa/vector/host_fp.h"
#include "models/isa/vector/valu_half.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa {

/// Environment of an operation, the same for all lanes.
struct LaneContext {
  FpSetting fp = kDefaultFpSetting;  ///< setting of the operation's FpMode, for types that are not rounded by the host
  Mode mode;
  bool flushes_minmax = false;  ///< v_min/v_max flush denormals according to MODE: from gfx9 on, not on gfx8
};

constexpr unsigned rounding_of(FpSetting setting) { return setting & 3; }
constexpr bool flushes_inputs(FpSetting setting) { return (setting & 4) != 0; }
constexpr bool flushes_results(FpSetting setting) { return (setting & 8) != 0; }

/// Source of an operation's argument.
enum class ArgumentSource : std::uint8_t {
  operand,          ///< the next source operand of the instruction
  old_destination,  ///< the destination register before the instruction
  vcc,              ///< the lane's bit of VCC, which is not among the operands (v_div_fmas)
  lane_index,
};

namespace detail {

constexpr bool is_tiny(std::uint32_t bits) { return (bits & 0x7f800000U) == 0; }
constexpr bool is_tiny(std::uint64_t bits) { return (bits & 0x7ff0000000000000ULL) == 0; }

inline float flush(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>(is_tiny(bits) ? bits & 0x80000000U : bits);
}
inline double flush(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return std::bit_cast<double>(is_tiny(bits) ? bits & 0x8000000000000000ULL : bits);
}

// Integers and bit patterns of one plane.
template <class Value, OperandType kType>
struct Plane32 {
  using result_type = Value;  ///< type to which an operation's result is converted
  static constexpr OperandType kOperand = kType;
  static constexpr unsigned kPlanes = 1;
  static constexpr ArgumentSource kSource = ArgumentSource::operand;
  static constexpr bool kArithmetic = false;
  static constexpr FpMode kFp = FpMode::none;
  static Value load(const LaneContext&, const std::uint32_t* planes, unsigned lane) { return static_cast<Value>(planes[lane]); }
  static void store(const LaneContext&, std::uint32_t* planes, unsigned lane, Value value) {
    planes[lane] = static_cast<std::uint32_t>(value);
  }
};

// 16-bit values use the low half; a result clears the high half (GCN3: 16-bit instructions write zeros there).
template <class Value, OperandType kType>
struct Plane16 : Plane32<Value, kType> {
  static void store(const LaneContext&, std::uint32_t* planes, unsigned lane, Value value) {
    planes[lane] = static_cast<std::uint16_t>(value);
  }
};

template <class Value, OperandType kType>
struct Plane64 : Plane32<Value, kType> {
  static constexpr unsigned kPlanes = 2;
  static Value load(const LaneContext&, const std::uint32_t* planes, unsigned lane) {
    return static_cast<Value>(std::uint64_t{planes[lane]} | std::uint64_t{planes[lane + kLanes]} << 32);
  }
  static void store(const LaneContext&, std::uint32_t* planes, unsigned lane, Value value) {
    planes[lane] = static_cast<std::uint32_t>(value);
    planes[lane + kLanes] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) >> 32);
  }
};

}  // namespace detail

// -- integers and untyped bits
struct b32 : detail::Plane32<std::uint32_t, OperandType::b32> {};
struct u32 : detail::Plane32<std::uint32_t, OperandType::u32> {};
struct i32 : detail::Plane32<std::int32_t, OperandType::i32> {};
struct b16 : detail::Plane16<std::uint16_t, OperandType::b16> {};
struct u16 : detail::Plane16<std::uint16_t, OperandType::u16> {};
struct i16 : detail::Plane16<std::int16_t, OperandType::i16> {};
struct pk_i16 : detail::Plane32<std::uint32_t, OperandType::pk_i16> {};  // both halves, for operations that split them
struct pk_u16 : detail::Plane32<std::uint32_t, OperandType::pk_u16> {};
struct pk_f16 : detail::Plane32<std::uint32_t, OperandType::pk_f16> {};
struct b64 : detail::Plane64<std::uint64_t, OperandType::b64> {};
struct u64 : detail::Plane64<std::uint64_t, OperandType::u64> {};
struct i64 : detail::Plane64<std::int64_t, OperandType::i64> {};

/// Four words of a 128-bit operand.
struct Words4 {
  std::uint32_t word[4];
};
struct b128 : detail::Plane32<Words4, OperandType::b128> {
  static constexpr unsigned kPlanes = 4;
  static Words4 load(const LaneContext&, const std::uint32_t* planes, unsigned lane) {
    return {{planes[lane], planes[lane + kLanes], planes[lane + 2 * kLanes], planes[lane + 3 * kLanes]}};
  }
  static void store(const LaneContext&, std::uint32_t* planes, unsigned lane, Words4 value) {
    for (unsigned i = 0; i < 4; ++i) planes[lane + i * kLanes] = value.word[i];
  }
};

// -- floats as bit patterns, for operations that select, compare or decompose them
struct f16_bits : detail::Plane16<std::uint16_t, OperandType::f16> {};
struct f32_bits : detail::Plane32<std::uint32_t, OperandType::f32> {};
struct f64_bits : detail::Plane64<std::uint64_t, OperandType::f64> {};

// -- floats for arithmetic, under the host setting of their FpMode
struct f32 {
  using result_type = float;
  static constexpr OperandType kOperand = OperandType::f32;
  static constexpr unsigned kPlanes = 1;
  static constexpr ArgumentSource kSource = ArgumentSource::operand;
  static constexpr bool kArithmetic = true;
  static constexpr FpMode kFp = FpMode::f32;
  static float load(const LaneContext& context, const std::uint32_t* planes, unsigned lane) {
    const auto value = std::bit_cast<float>(planes[lane]);
    if constexpr (kHostFlushesDenormals) return value;
    return flushes_inputs(context.fp) ? detail::flush(value) : value;
  }
  static void store(const LaneContext& context, std::uint32_t* planes, unsigned lane, float value) {
    if constexpr (!kHostFlushesDenormals) value = flushes_results(context.fp) ? detail::flush(value) : value;
    planes[lane] = std::bit_cast<std::uint32_t>(value);
  }
};

struct f64 {
  using result_type = double;
  static constexpr OperandType kOperand = OperandType::f64;
  static constexpr unsigned kPlanes = 2;
  static constexpr ArgumentSource kSource = ArgumentSource::operand;
  static constexpr bool kArithmetic = true;
  static constexpr FpMode kFp = FpMode::f64;
  static double from_bits(const LaneContext& context, std::uint64_t bits) {
    const auto value = std::bit_cast<double>(bits);
    if constexpr (kHostFlushesDenormals) return value;
    return flushes_inputs(context.fp) ? detail::flush(value) : value;
  }
  static std::uint64_t to_bits(const LaneContext& context, double value) {
    if constexpr (!kHostFlushesDenormals) value = flushes_results(context.fp) ? detail::flush(value) : value;
    return std::bit_cast<std::uint64_t>(value);
  }
  static double load(const LaneContext& context, const std::uint32_t* planes, unsigned lane) {
    return from_bits(context, f64_bits::load(context, planes, lane));
  }
  static void store(const LaneContext& context, std::uint32_t* planes, unsigned lane, double value) {
    f64_bits::store(context, planes, lane, to_bits(context, value));
  }
};

/// f16 operations compute in float (or in double, if they request it), and the result is rounded a second time. This is
/// harmless for +, -, *: with 24 significand bits for the 11 of f16, the second rounding cannot meet a false tie (Figueroa
/// 1995, "When is double rounding innocuous?"), and directed roundings in the same direction compose.
struct f16 {
  using result_type = double;
  static constexpr OperandType kOperand = OperandType::f16;
  static constexpr unsigned kPlanes = 1;
  static constexpr ArgumentSource kSource = ArgumentSource::operand;
  static constexpr bool kArithmetic = true;
  static constexpr FpMode kFp = FpMode::f64;
  static float load(const LaneContext& context, const std::uint32_t* planes, unsigned lane) {
    const std::uint32_t bits = planes[lane];
    const bool zero = flushes_inputs(context.fp) && (bits & 0x7c00) == 0;
    return half_to_float(zero ? bits & 0x8000 : bits);
  }
  static void store(const LaneContext& context, std::uint32_t* planes, unsigned lane, double value) {
    planes[lane] = round_to_half(value, rounding_of(context.fp), flushes_results(context.fp));
  }
};

/// As a source: a lane mask, non-zero where the lane's bit is set. As a result: the outcome of the comparison.
struct mask {
  using result_type = bool;
  static constexpr OperandType kOperand = OperandType::lane_mask;
  static constexpr unsigned kPlanes = 1;
  static constexpr ArgumentSource kSource = ArgumentSource::operand;
  static constexpr bool kArithmetic = false;
  static constexpr FpMode kFp = FpMode::none;
  static bool load(const LaneContext&, const std::uint32_t* planes, unsigned lane) { return planes[lane] != 0; }
  static void store(const LaneContext&, std::uint32_t* planes, unsigned lane, bool value) {
    planes[lane] = value ? ~std::uint32_t{0} : 0;
  }
};

/// The literal of v_madmk and v_madak: a T, but called simm32 in the table.
template <class T>
struct literal : T {
  static constexpr OperandType kRowOperand = OperandType::simm32;
};

/// A 16-bit result that leaves the other half of the destination register unchanged, as in instructions that gfx9 added or
/// changed.
template <class T>
struct kept : T {
  static constexpr bool kKeepsOtherHalf = true;
};

/// The destination's value before the instruction.
template <class T>
struct old : T {
  static constexpr ArgumentSource kSource = ArgumentSource::old_destination;
};

struct vcc_bit : mask {
  static constexpr ArgumentSource kSource = ArgumentSource::vcc;
};

struct lane_index : u32 {
  static constexpr ArgumentSource kSource = ArgumentSource::lane_index;
  static std::uint32_t load(const LaneContext&, const std::uint32_t*, unsigned lane) { return lane; }
};

/// A result with a flag: one bit per lane for an SGPR pair (carry, v_div_scale's flag). The operation's last argument is a
/// `bool&` for the flag.
template <class T>
struct flagged : T {};

}  // namespace lacuna::isa
