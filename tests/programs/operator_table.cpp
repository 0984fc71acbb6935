#include "operator_table.h"

#include <array>

namespace lacuna::programs {
namespace {

using namespace results;

constexpr unsigned kSignedIntegers = kIntegers & ~kUnsigned;
constexpr unsigned kUnsignedIntegers = kIntegers & ~kSigned;
constexpr unsigned kScalarInt = kSigned | kScalar | k32;
constexpr unsigned kMasks = kSigned | kVector | kAnySize;
constexpr unsigned kIntegerVectors = kIntegers & ~kScalar;
constexpr unsigned kFloatVectors = kFloats & ~kScalar;
constexpr unsigned kAnything = kIntegers | kFloat;
constexpr unsigned kVectors = kAnything & ~kScalar;
constexpr unsigned kScalars = kAnything & ~kVector;

// Signed overflow is undefined: arithmetic of signed types is written in unsigned types. Division by zero and of the smallest
// number by -1 are undefined, too: divisor() of random_program.h avoids them. All float operations here are exactly rounded, so
// any correct machine gives the same bits; number() replaces NaN where its bits, its sign or its conversion would affect the
// result.
constexpr std::array kRows{
    // Arithmetic
    OperatorRow{"as_<T>((<U>)((<P>)as_<U>({0}) + (<P>)as_<U>({1})))", "TT", kIntegers, 6},
    OperatorRow{"as_<T>((<U>)((<P>)as_<U>({0}) - (<P>)as_<U>({1})))", "TT", kIntegers, 6},
    OperatorRow{"as_<T>((<U>)((<P>)as_<U>({0}) * (<P>)as_<U>({1})))", "TT", kIntegers, 5},
    OperatorRow{"as_<T>((<U>)((<P>)as_<U>({0}) * (<P>)as_<U>({1}) + (<P>)as_<U>({2})))", "TTT", kIntegers, 3},
    OperatorRow{"as_<T>((<U>)(-(<P>)as_<U>({0})))", "T", kIntegers, 2},
    OperatorRow{"(<T>)({0} / divisor({1}))", "TT", kIntegers, 2},
    OperatorRow{"(<T>)({0} % divisor({1}))", "TT", kIntegers, 2},
    OperatorRow{"(<T>)({0} / (<T>)(<k>))", "T", kIntegers, 1},
    OperatorRow{"(<T>)({0} % (<T>)(<k>))", "T", kIntegers, 1},
    // Bits
    OperatorRow{"(<T>)({0} & {1})", "TT", kIntegers, 3},
    OperatorRow{"(<T>)({0} | {1})", "TT", kIntegers, 3},
    OperatorRow{"(<T>)({0} ^ {1})", "TT", kIntegers, 3},
    OperatorRow{"(<T>)~{0}", "T", kIntegers, 2},
    OperatorRow{"(<T>)({0} << {1})", "TT", kIntegers, 3},
    OperatorRow{"(<T>)({0} >> {1})", "TT", kIntegers, 3},
    OperatorRow{"(<T>)({0} << <k>)", "T", kIntegers, 2},
    OperatorRow{"(<T>)({0} >> <k>)", "T", kIntegers, 2},
    OperatorRow{"(<T>)(({0} >> <k>) & (<T>)(<k>))", "T", kIntegers, 1},
    OperatorRow{"rotate({0}, {1})", "TT", kIntegers, 2},
    OperatorRow{"bitselect({0}, {1}, {2})", "TTT", kIntegers, 2},
    OperatorRow{"clz({0})", "T", kIntegers, 2},
    OperatorRow{"ctz({0})", "T", kIntegers, 2},
    OperatorRow{"popcount({0})", "T", kIntegers, 2},
    OperatorRow{"upsample({0}, {1})", "Nn", kIntegers & ~k8, 2},
    // Integer functions
    OperatorRow{"min({0}, {1})", "TT", kIntegers, 2},
    OperatorRow{"max({0}, {1})", "TT", kIntegers, 2},
    OperatorRow{"clamp({0}, min({1}, (<T>)(<k>)), max({1}, (<T>)(<k>)))", "TT", kIntegers, 1},
    OperatorRow{"abs({0})", "T", kUnsignedIntegers, 1},
    OperatorRow{"abs({0})", "S", kUnsignedIntegers, 2},
    OperatorRow{"abs_diff({0}, {1})", "TT", kUnsignedIntegers, 1},
    OperatorRow{"abs_diff({0}, {1})", "SS", kUnsignedIntegers, 2},
    // uint is excluded: clang-16 shrinks gfx803's v_add_u32 and v_sub_u32 with clamp to the form without clamp.
    OperatorRow{"add_sat({0}, {1})", "TT", kSignedIntegers, 1},
    OperatorRow{"sub_sat({0}, {1})", "TT", kSignedIntegers, 1},
    OperatorRow{"add_sat({0}, {1})", "TT", kUnsignedIntegers & ~k32, 1},
    OperatorRow{"sub_sat({0}, {1})", "TT", kUnsignedIntegers & ~k32, 1},
    OperatorRow{"hadd({0}, {1})", "TT", kIntegers, 2},
    OperatorRow{"rhadd({0}, {1})", "TT", kIntegers, 2},
    OperatorRow{"mul_hi({0}, {1})", "TT", kIntegers, 2},
    OperatorRow{"mad_hi({0}, {1}, {2})", "TTT", kUnsignedIntegers, 1},
    OperatorRow{"mad_sat({0}, {1}, {2})", "TTT", kIntegers, 1},
    // The shifts of mul24 keep the product of int operands within 31 bits: the device library assumes at most 31 bits.
    OperatorRow{"mul24(({0} << 8) >> 8, ({1} << 24) >> 24)", "TT", kSigned | kUnsigned | kAnyShape | k32, 3},
    OperatorRow{"mad24(({0} << 8) >> 8, ({1} << 8) >> 8, {2})", "TTT", kUnsigned | kAnyShape | k32, 3},
    // Comparison and choice
    OperatorRow{"({0} < {1})", "KK", kScalarInt, 3},
    OperatorRow{"({0} >= {1})", "KK", kScalarInt, 3},
    OperatorRow{"({0} == {1})", "KK", kScalarInt, 2},
    OperatorRow{"({0} != {1})", "KK", kScalarInt, 2},
    OperatorRow{"({0} < {1})", "KK", kMasks, 2},
    OperatorRow{"({0} >= {1})", "KK", kMasks, 2},
    OperatorRow{"({0} == {1})", "KK", kMasks, 2},
    OperatorRow{"({0} != {1})", "KK", kMasks, 2},
    OperatorRow{"({0} && {1})", "II", kScalarInt, 1},
    OperatorRow{"({0} || {1})", "II", kScalarInt, 1},
    OperatorRow{"(!{0})", "I", kScalarInt, 1},
    OperatorRow{"({0} && {1})", "TT", kMasks, 1},
    OperatorRow{"(<T>)({0} ? {1} : {2})", "CTT", kAnything, 4},
    OperatorRow{"select({0}, {1}, {2})", "TTS", kAnything, 3},
    OperatorRow{"isless({0}, {1})", "kk", kScalarInt, 1},
    OperatorRow{"islessgreater({0}, {1})", "kk", kScalarInt, 1},
    OperatorRow{"isunordered({0}, {1})", "kk", kScalarInt, 1},
    OperatorRow{"isnan({0})", "k", kScalarInt, 1},
    OperatorRow{"isfinite({0})", "k", kScalarInt, 1},
    OperatorRow{"isnormal({0})", "k", kScalarInt, 1},
    OperatorRow{"signbit(number({0}))", "k", kScalarInt, 1},
    OperatorRow{"isgreaterequal({0}, {1})", "kk", kMasks & ~(k8 | k16), 1},
    OperatorRow{"isinf({0})", "k", kMasks & ~(k8 | k16), 1},
    // Conversion
    OperatorRow{"convert_<T>({0})", "A", kIntegers, 5},
    OperatorRow{"convert_<T>_sat({0})", "A", kIntegers, 2},
    OperatorRow{"convert_<T>_sat<R>(number({0}))", "F", kIntegers, 2},
    OperatorRow{"convert_<T><R>({0})", "A", kFloats, 4},
    OperatorRow{"convert_<T><R>({0})", "F", kFloats, 2},
    OperatorRow{"as_<T>({0})", "X", kIntegers, 3},
    OperatorRow{"as_<T>(canonical({0}))", "Y", kIntegers & ~(k8 | k16), 2},
    OperatorRow{"number(as_<T>({0}))", "X", kFloats, 2},
    // Vectors
    OperatorRow{"(<T>)({0})", "E", kVectors, 3},
    OperatorRow{"(<T>)({0}, {1})", "LL", kVectors, 3},
    OperatorRow{"{0}.s<c>", "V", kScalars, 6},
    OperatorRow{"{0}.lo", "D", kAnything, 2},
    OperatorRow{"{0}.hi", "D", kAnything, 2},
    OperatorRow{"{0}.odd", "D", kAnything, 1},
    OperatorRow{"{0}.even", "D", kAnything, 1},
    OperatorRow{"{0}.s<q>", "T", kVectors, 2},
    OperatorRow{"shuffle(held({0}), {1})", "TP", kVectors, 2},
    OperatorRow{"shuffle2(held({0}), held({1}), {2})", "TTP", kVectors, 1},
    OperatorRow{"any({0})", "M", kScalarInt, 1},
    OperatorRow{"all({0})", "M", kScalarInt, 1},
    // Floats
    OperatorRow{"({0} + {1})", "TT", kFloats, 6},
    OperatorRow{"({0} - {1})", "TT", kFloats, 6},
    OperatorRow{"({0} * {1})", "TT", kFloats, 6},
    OperatorRow{"({0} / {1})", "TT", kFloats, 2},
    OperatorRow{"(-{0})", "T", kFloats, 2},
    OperatorRow{"fma({0}, {1}, {2})", "TTT", kFloats, 3},
    OperatorRow{"sqrt({0})", "T", kFloats, 1},
    OperatorRow{"fabs({0})", "T", kFloats, 2},
    // Zero is added because the sign of the minimum of two zeros is not defined.
    OperatorRow{"(fmin({0}, {1}) + (<T>)(0))", "TT", kFloats, 1},
    OperatorRow{"(fmax({0}, {1}) + (<T>)(0))", "TT", kFloats, 1},
    // Zero is added because clang-15's code for round() loses the sign of a zero.
    OperatorRow{"(round({0}) + (<T>)(0))", "T", kFloats, 1},
    OperatorRow{"floor({0})", "T", kFloats, 1},
    OperatorRow{"ceil({0})", "T", kFloats, 1},
    OperatorRow{"trunc({0})", "T", kFloats, 1},
    OperatorRow{"rint({0})", "T", kFloats, 1},
    OperatorRow{"copysign({0}, number({1}))", "TT", kFloats, 1},
    OperatorRow{"ldexp({0}, {1} >> 24)", "TJ", kFloats, 1},
};

unsigned size_bit(unsigned bytes) {
  switch (bytes) {
    case 1:
      return k8;
    case 2:
      return k16;
    case 4:
      return k32;
    default:
      return k64;
  }
}

}  // namespace

bool in_set(Type type, unsigned set) {
  const unsigned kind = type.is_float() ? kFloat : type.is_signed() ? kSigned : kUnsigned;
  const unsigned shape = type.is_vector() ? kVector : kScalar;
  return (set & kind) != 0 && (set & shape) != 0 && (set & size_bit(type.element_bytes())) != 0;
}

std::span<const OperatorRow> operator_table() { return kRows; }

}  // namespace lacuna::programs
