// F and D: arithmetic, sign injection, minimum and maximum.
#include "models/host/rv64/rv64_execute_float.h"

namespace lacuna::rv64 {
namespace {

template <FloatBits Bits, Bits (*Function)(Bits, Bits, Rounding, std::uint64_t&)>
void binary(ExecutionContext& c, const Instruction* i) {
  const auto rounding = rounding_of(c, i);
  if (!float_enabled(c) || !rounding) return c.illegal(i);
  put_float<Bits>(c, i->rd, Function(get_float<Bits>(c, i->rs1), get_float<Bits>(c, i->rs2), *rounding, c.csrs.fflags));
  return next(c, i);
}

template <FloatBits Bits>
void square_root(ExecutionContext& c, const Instruction* i) {
  const auto rounding = rounding_of(c, i);
  if (!float_enabled(c) || !rounding) return c.illegal(i);
  put_float<Bits>(c, i->rd, rv64::square_root<Bits>(get_float<Bits>(c, i->rs1), *rounding, c.csrs.fflags));
  return next(c, i);
}

/// Fused multiply-add with signs of (product, addend): fmadd (+,+), fmsub (+,-), fnmsub (-,+), fnmadd (-,-).
template <FloatBits Bits, bool NegateProduct, bool NegateAddend>
void fused(ExecutionContext& c, const Instruction* i) {
  const auto rounding = rounding_of(c, i);
  if (!float_enabled(c) || !rounding) return c.illegal(i);
  const Bits a = get_float<Bits>(c, i->rs1) ^ (NegateProduct ? kSign<Bits> : Bits{0});
  const Bits b = get_float<Bits>(c, i->rs2);
  const Bits addend = get_float<Bits>(c, i->rs3) ^ (NegateAddend ? kSign<Bits> : Bits{0});
  put_float<Bits>(c, i->rd, multiply_add<Bits>(a, b, addend, *rounding, c.csrs.fflags));
  return next(c, i);
}

template <FloatBits Bits, Bits (*Function)(Bits, Bits, std::uint64_t&)>
void select(ExecutionContext& c, const Instruction* i) {
  if (!float_enabled(c)) return c.illegal(i);
  put_float<Bits>(c, i->rd, Function(get_float<Bits>(c, i->rs1), get_float<Bits>(c, i->rs2), c.csrs.fflags));
  return next(c, i);
}

template <FloatBits Bits>
Bits inject(Bits a, Bits b, std::uint64_t&) {
  return (a & ~kSign<Bits>) | (b & kSign<Bits>);
}
template <FloatBits Bits>
Bits inject_negated(Bits a, Bits b, std::uint64_t&) {
  return (a & ~kSign<Bits>) | (~b & kSign<Bits>);
}
template <FloatBits Bits>
Bits inject_xor(Bits a, Bits b, std::uint64_t&) {
  return a ^ (b & kSign<Bits>);
}

}  // namespace

Handler float_handler(Operation operation) {
  using Single = std::uint32_t;
  using Double = std::uint64_t;
  switch (operation) {
    case Operation::fadd_s:
      return binary<Single, add<Single>>;
    case Operation::fsub_s:
      return binary<Single, subtract<Single>>;
    case Operation::fmul_s:
      return binary<Single, multiply<Single>>;
    case Operation::fdiv_s:
      return binary<Single, divide<Single>>;
    case Operation::fsqrt_s:
      return square_root<Single>;
    case Operation::fmadd_s:
      return fused<Single, false, false>;
    case Operation::fmsub_s:
      return fused<Single, false, true>;
    case Operation::fnmsub_s:
      return fused<Single, true, false>;
    case Operation::fnmadd_s:
      return fused<Single, true, true>;
    case Operation::fsgnj_s:
      return select<Single, inject<Single>>;
    case Operation::fsgnjn_s:
      return select<Single, inject_negated<Single>>;
    case Operation::fsgnjx_s:
      return select<Single, inject_xor<Single>>;
    case Operation::fmin_s:
      return select<Single, minimum<Single>>;
    case Operation::fmax_s:
      return select<Single, maximum<Single>>;
    case Operation::fadd_d:
      return binary<Double, add<Double>>;
    case Operation::fsub_d:
      return binary<Double, subtract<Double>>;
    case Operation::fmul_d:
      return binary<Double, multiply<Double>>;
    case Operation::fdiv_d:
      return binary<Double, divide<Double>>;
    case Operation::fsqrt_d:
      return square_root<Double>;
    case Operation::fmadd_d:
      return fused<Double, false, false>;
    case Operation::fmsub_d:
      return fused<Double, false, true>;
    case Operation::fnmsub_d:
      return fused<Double, true, false>;
    case Operation::fnmadd_d:
      return fused<Double, true, true>;
    case Operation::fsgnj_d:
      return select<Double, inject<Double>>;
    case Operation::fsgnjn_d:
      return select<Double, inject_negated<Double>>;
    case Operation::fsgnjx_d:
      return select<Double, inject_xor<Double>>;
    case Operation::fmin_d:
      return select<Double, minimum<Double>>;
    case Operation::fmax_d:
      return select<Double, maximum<Double>>;
    default:
      return nullptr;
  }
}

}  // namespace lacuna::rv64
