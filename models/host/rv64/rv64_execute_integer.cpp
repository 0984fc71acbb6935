// RV64I computation, branches and jumps; RV64M.
#include <limits>

#include "models/host/rv64/rv64_context.h"

namespace lacuna::rv64 {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

constexpr s64 as_signed(u64 value) { return static_cast<s64>(value); }
constexpr s32 as_signed_word(u64 value) { return static_cast<s32>(value); }
constexpr u64 word(u64 value) { return static_cast<u64>(static_cast<s64>(static_cast<s32>(value))); }

template <auto Function>
void register_register(ExecutionContext& c, const Instruction* i) {
  auto& x = c.registers.x;
  x[i->rd] = Function(x[i->rs1], x[i->rs2]);
  return next(c, i);
}

template <auto Function>
void register_immediate(ExecutionContext& c, const Instruction* i) {
  auto& x = c.registers.x;
  x[i->rd] = Function(x[i->rs1], i->immediate);
  return next(c, i);
}

/// lui, auipc: the decoder has computed the value.
void constant(ExecutionContext& c, const Instruction* i) {
  c.registers.x[i->rd] = i->immediate;
  return next(c, i);
}

template <auto Condition>
void branch(ExecutionContext& c, const Instruction* i) {
  const auto& x = c.registers.x;
  c.registers.pc = Condition(x[i->rs1], x[i->rs2]) ? i->immediate : c.next_pc(i);
}

void jal(ExecutionContext& c, const Instruction* i) {
  c.registers.x[i->rd] = c.next_pc(i);
  c.registers.pc = i->immediate;
}

void jalr(ExecutionContext& c, const Instruction* i) {
  auto& x = c.registers.x;
  const u64 target = (x[i->rs1] + i->immediate) & ~u64{1};
  x[i->rd] = c.next_pc(i);
  c.registers.pc = target;
}

void fence(ExecutionContext& c, const Instruction* i) { return next(c, i); }

void end_of_block(ExecutionContext& c, const Instruction* i) { c.registers.pc = i->immediate; }

// Division by zero and overflow as in table 7.1 of volume I: no exceptions.
template <class Signed>
constexpr Signed divide(Signed a, Signed b) {
  if (b == 0) return -1;
  if (b == -1) return static_cast<Signed>(0 - static_cast<std::make_unsigned_t<Signed>>(a));
  return static_cast<Signed>(a / b);
}
template <class Signed>
constexpr Signed remainder(Signed a, Signed b) {
  if (b == 0) return a;
  return b == -1 ? Signed{0} : static_cast<Signed>(a % b);
}
template <class Unsigned>
constexpr Unsigned divide_unsigned(Unsigned a, Unsigned b) {
  return b == 0 ? std::numeric_limits<Unsigned>::max() : a / b;
}
template <class Unsigned>
constexpr Unsigned remainder_unsigned(Unsigned a, Unsigned b) {
  return b == 0 ? a : a % b;
}

constexpr auto kAdd = [](u64 a, u64 b) { return a + b; };
constexpr auto kSub = [](u64 a, u64 b) { return a - b; };
constexpr auto kAnd = [](u64 a, u64 b) { return a & b; };
constexpr auto kOr = [](u64 a, u64 b) { return a | b; };
constexpr auto kXor = [](u64 a, u64 b) { return a ^ b; };
constexpr auto kLess = [](u64 a, u64 b) { return as_signed(a) < as_signed(b) ? u64{1} : u64{0}; };
constexpr auto kLessUnsigned = [](u64 a, u64 b) { return a < b ? u64{1} : u64{0}; };
constexpr auto kShiftLeft = [](u64 a, u64 b) { return a << (b & 63); };
constexpr auto kShiftRight = [](u64 a, u64 b) { return a >> (b & 63); };
constexpr auto kShiftRightArithmetic = [](u64 a, u64 b) { return static_cast<u64>(as_signed(a) >> (b & 63)); };
constexpr auto kAddWord = [](u64 a, u64 b) { return word(a + b); };
constexpr auto kSubWord = [](u64 a, u64 b) { return word(a - b); };
constexpr auto kShiftLeftWord = [](u64 a, u64 b) { return word(a << (b & 31)); };
constexpr auto kShiftRightWord = [](u64 a, u64 b) { return word(static_cast<u32>(a) >> (b & 31)); };
constexpr auto kShiftRightArithmeticWord = [](u64 a, u64 b) { return static_cast<u64>(s64{as_signed_word(a) >> (b & 31)}); };

constexpr auto kMul = [](u64 a, u64 b) { return a * b; };
constexpr auto kMulHigh = [](u64 a, u64 b) { return static_cast<u64>(static_cast<s128>(as_signed(a)) * as_signed(b) >> 64); };
constexpr auto kMulHighMixed = [](u64 a, u64 b) {
  return static_cast<u64>(static_cast<s128>(as_signed(a)) * static_cast<s128>(b) >> 64);
};
constexpr auto kMulHighUnsigned = [](u64 a, u64 b) { return static_cast<u64>(static_cast<u128>(a) * b >> 64); };
constexpr auto kDiv = [](u64 a, u64 b) { return static_cast<u64>(divide(as_signed(a), as_signed(b))); };
constexpr auto kDivUnsigned = [](u64 a, u64 b) { return divide_unsigned(a, b); };
constexpr auto kRem = [](u64 a, u64 b) { return static_cast<u64>(remainder(as_signed(a), as_signed(b))); };
constexpr auto kRemUnsigned = [](u64 a, u64 b) { return remainder_unsigned(a, b); };
constexpr auto kMulWord = [](u64 a, u64 b) { return word(a * b); };
constexpr auto kDivWord = [](u64 a, u64 b) { return static_cast<u64>(s64{divide(as_signed_word(a), as_signed_word(b))}); };
constexpr auto kDivWordUnsigned = [](u64 a, u64 b) { return word(divide_unsigned(static_cast<u32>(a), static_cast<u32>(b))); };
constexpr auto kRemWord = [](u64 a, u64 b) { return static_cast<u64>(s64{remainder(as_signed_word(a), as_signed_word(b))}); };
constexpr auto kRemWordUnsigned = [](u64 a, u64 b) {
  return word(remainder_unsigned(static_cast<u32>(a), static_cast<u32>(b)));
};

constexpr auto kEqual = [](u64 a, u64 b) { return a == b; };
constexpr auto kNotEqual = [](u64 a, u64 b) { return a != b; };
constexpr auto kBelow = [](u64 a, u64 b) { return as_signed(a) < as_signed(b); };
constexpr auto kNotBelow = [](u64 a, u64 b) { return as_signed(a) >= as_signed(b); };
constexpr auto kBelowUnsigned = [](u64 a, u64 b) { return a < b; };
constexpr auto kNotBelowUnsigned = [](u64 a, u64 b) { return a >= b; };

Handler multiply_handler(Operation operation) {
  switch (operation) {
    case Operation::mul:
      return register_register<kMul>;
    case Operation::mulh:
      return register_register<kMulHigh>;
    case Operation::mulhsu:
      return register_register<kMulHighMixed>;
    case Operation::mulhu:
      return register_register<kMulHighUnsigned>;
    case Operation::div:
      return register_register<kDiv>;
    case Operation::divu:
      return register_register<kDivUnsigned>;
    case Operation::rem:
      return register_register<kRem>;
    case Operation::remu:
      return register_register<kRemUnsigned>;
    case Operation::mulw:
      return register_register<kMulWord>;
    case Operation::divw:
      return register_register<kDivWord>;
    case Operation::divuw:
      return register_register<kDivWordUnsigned>;
    case Operation::remw:
      return register_register<kRemWord>;
    case Operation::remuw:
      return register_register<kRemWordUnsigned>;
    default:
      return nullptr;
  }
}

Handler control_handler(Operation operation) {
  switch (operation) {
    case Operation::jal:
      return jal;
    case Operation::jalr:
      return jalr;
    case Operation::beq:
      return branch<kEqual>;
    case Operation::bne:
      return branch<kNotEqual>;
    case Operation::blt:
      return branch<kBelow>;
    case Operation::bge:
      return branch<kNotBelow>;
    case Operation::bltu:
      return branch<kBelowUnsigned>;
    case Operation::bgeu:
      return branch<kNotBelowUnsigned>;
    case Operation::fence:
      return fence;
    case Operation::end_of_block:
      return end_of_block;
    default:
      return multiply_handler(operation);
  }
}

}  // namespace

Handler integer_handler(Operation operation) {
  switch (operation) {
    case Operation::lui:
    case Operation::auipc:
      return constant;
    case Operation::addi:
      return register_immediate<kAdd>;
    case Operation::slti:
      return register_immediate<kLess>;
    case Operation::sltiu:
      return register_immediate<kLessUnsigned>;
    case Operation::xori:
      return register_immediate<kXor>;
    case Operation::ori:
      return register_immediate<kOr>;
    case Operation::andi:
      return register_immediate<kAnd>;
    case Operation::slli:
      return register_immediate<kShiftLeft>;
    case Operation::srli:
      return register_immediate<kShiftRight>;
    case Operation::srai:
      return register_immediate<kShiftRightArithmetic>;
    case Operation::addiw:
      return register_immediate<kAddWord>;
    case Operation::slliw:
      return register_immediate<kShiftLeftWord>;
    case Operation::srliw:
      return register_immediate<kShiftRightWord>;
    case Operation::sraiw:
      return register_immediate<kShiftRightArithmeticWord>;
    case Operation::add:
      return register_register<kAdd>;
    case Operation::sub:
      return register_register<kSub>;
    case Operation::sll:
      return register_register<kShiftLeft>;
    case Operation::slt:
      return register_register<kLess>;
    case Operation::sltu:
      return register_register<kLessUnsigned>;
    case Operation::xor_:
      return register_register<kXor>;
    case Operation::srl:
      return register_register<kShiftRight>;
    case Operation::sra:
      return register_register<kShiftRightArithmetic>;
    case Operation::or_:
      return register_register<kOr>;
    case Operation::and_:
      return register_register<kAnd>;
    case Operation::addw:
      return register_register<kAddWord>;
    case Operation::subw:
      return register_register<kSubWord>;
    case Operation::sllw:
      return register_register<kShiftLeftWord>;
    case Operation::srlw:
      return register_register<kShiftRightWord>;
    case Operation::sraw:
      return register_register<kShiftRightArithmeticWord>;
    default:
      return control_handler(operation);
  }
}

}  // namespace lacuna::rv64
