// F and D: conversions, comparisons, moves, fclass.
#include "models/host/rv64/rv64_execute_float.h"

namespace lacuna::rv64 {
namespace {

template <class Integer>
std::uint64_t extend(Integer value) {
  // Even unsigned 32-bit results are sign-extended (volume I, section 11.7).
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::make_signed_t<Integer>>(value)));
}

template <class Integer, FloatBits Bits>
void float_to_integer(ExecutionContext& c, const Instruction* i) {
  const auto rounding = rounding_of(c, i);
  if (!float_enabled(c) || !rounding) return c.illegal(i);
  std::uint64_t flags = 0;
  c.registers.x[i->rd] = extend(to_integer<Integer>(get_float<Bits>(c, i->rs1), *rounding, flags));
  if (flags != 0) raise_flags(c, flags);
  return next(c, i);
}

template <FloatBits Bits, class Integer>
void integer_to_float(ExecutionContext& c, const Instruction* i) {
  const auto rounding = rounding_of(c, i);
  if (!float_enabled(c) || !rounding) return c.illegal(i);
  const auto value = static_cast<Integer>(c.registers.x[i->rs1]);
  put_float<Bits>(c, i->rd, from_integer<Bits, Integer>(value, *rounding, c.csrs.fflags));
  return next(c, i);
}

void double_to_single(ExecutionContext& c, const Instruction* i) {
  const auto rounding = rounding_of(c, i);
  if (!float_enabled(c) || !rounding) return c.illegal(i);
  put_float<std::uint32_t>(c, i->rd, narrow(get_float<std::uint64_t>(c, i->rs1), *rounding, c.csrs.fflags));
  return next(c, i);
}

void single_to_double(ExecutionContext& c, const Instruction* i) {
  if (!float_enabled(c) || !rounding_of(c, i)) return c.illegal(i);
  put_float<std::uint64_t>(c, i->rd, widen(get_float<std::uint32_t>(c, i->rs1), c.csrs.fflags));
  return next(c, i);
}

template <FloatBits Bits, bool (*Function)(Bits, Bits, std::uint64_t&)>
void compare(ExecutionContext& c, const Instruction* i) {
  if (!float_enabled(c)) return c.illegal(i);
  std::uint64_t flags = 0;
  c.registers.x[i->rd] = Function(get_float<Bits>(c, i->rs1), get_float<Bits>(c, i->rs2), flags) ? 1 : 0;
  if (flags != 0) raise_flags(c, flags);
  return next(c, i);
}

template <FloatBits Bits>
void classify(ExecutionContext& c, const Instruction* i) {
  if (!float_enabled(c)) return c.illegal(i);
  c.registers.x[i->rd] = rv64::classify<Bits>(get_float<Bits>(c, i->rs1));
  return next(c, i);
}

/// Moves the raw low bits, regardless of NaN boxing.
template <FloatBits Bits>
void move_to_integer(ExecutionContext& c, const Instruction* i) {
  if (!float_enabled(c)) return c.illegal(i);
  c.registers.x[i->rd] = extend(static_cast<Bits>(c.registers.f[i->rs1]));
  return next(c, i);
}

template <FloatBits Bits>
void move_to_float(ExecutionContext& c, const Instruction* i) {
  if (!float_enabled(c)) return c.illegal(i);
  put_float<Bits>(c, i->rd, static_cast<Bits>(c.registers.x[i->rs1]));
  return next(c, i);
}

}  // namespace

Handler float_convert_handler(Operation operation) {
  using Single = std::uint32_t;
  using Double = std::uint64_t;
  switch (operation) {
    case Operation::fcvt_w_s:
      return float_to_integer<std::int32_t, Single>;
    case Operation::fcvt_wu_s:
      return float_to_integer<std::uint32_t, Single>;
    case Operation::fcvt_l_s:
      return float_to_integer<std::int64_t, Single>;
    case Operation::fcvt_lu_s:
      return float_to_integer<std::uint64_t, Single>;
    case Operation::fcvt_w_d:
      return float_to_integer<std::int32_t, Double>;
    case Operation::fcvt_wu_d:
      return float_to_integer<std::uint32_t, Double>;
    case Operation::fcvt_l_d:
      return float_to_integer<std::int64_t, Double>;
    case Operation::fcvt_lu_d:
      return float_to_integer<std::uint64_t, Double>;
    case Operation::fcvt_s_w:
      return integer_to_float<Single, std::int32_t>;
    case Operation::fcvt_s_wu:
      return integer_to_float<Single, std::uint32_t>;
    case Operation::fcvt_s_l:
      return integer_to_float<Single, std::int64_t>;
    case Operation::fcvt_s_lu:
      return integer_to_float<Single, std::uint64_t>;
    case Operation::fcvt_d_w:
      return integer_to_float<Double, std::int32_t>;
    case Operation::fcvt_d_wu:
      return integer_to_float<Double, std::uint32_t>;
    case Operation::fcvt_d_l:
      return integer_to_float<Double, std::int64_t>;
    case Operation::fcvt_d_lu:
      return integer_to_float<Double, std::uint64_t>;
    case Operation::fcvt_s_d:
      return double_to_single;
    case Operation::fcvt_d_s:
      return single_to_double;
    case Operation::feq_s:
      return compare<Single, equal<Single>>;
    case Operation::flt_s:
      return compare<Single, less<Single>>;
    case Operation::fle_s:
      return compare<Single, less_or_equal<Single>>;
    case Operation::feq_d:
      return compare<Double, equal<Double>>;
    case Operation::flt_d:
      return compare<Double, less<Double>>;
    case Operation::fle_d:
      return compare<Double, less_or_equal<Double>>;
    case Operation::fclass_s:
      return classify<Single>;
    case Operation::fclass_d:
      return classify<Double>;
    case Operation::fmv_x_w:
      return move_to_integer<Single>;
    case Operation::fmv_x_d:
      return move_to_integer<Double>;
    case Operation::fmv_w_x:
      return move_to_float<Single>;
    case Operation::fmv_d_x:
      return move_to_float<Double>;
    default:
      return nullptr;
  }
}

}  // namespace lacuna::rv64
