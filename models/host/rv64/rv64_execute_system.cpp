// Zicsr, Zifencei, environment calls, mret, wfi. Each instruction is a separate block, so that counters and pc are exact.
#include "models/host/rv64/rv64_context.h"

namespace lacuna::rv64 {
namespace {

enum class CsrAction { write, set, clear };

/// `writes` is false for csrrs and csrrc with x0 or 0, which do not count as writes (volume I, table 9.1).
void csr_instruction(ExecutionContext& c, const Instruction* i, CsrAction action, std::uint64_t operand, bool writes) {
  const auto number = static_cast<unsigned>(i->immediate);
  const CounterValues now = c.counters(number);
  const Privilege from = c.csrs.privilege;
  const auto old = c.csrs.read(number, from, now);
  if (!old) return c.illegal(i);
  if (writes) {
    std::uint64_t value = operand;
    if (action == CsrAction::set) value = *old | operand;
    if (action == CsrAction::clear) value = *old & ~operand;
    CsrEffect effect;
    if (!c.csrs.write(number, value, from, now, effect)) return c.illegal(i);
    if (effect.protection) c.forget_windows();
    if (effect.interrupts) c.recheck_interrupts();
  }
  c.registers.x[i->rd] = *old;
  c.registers.pc = c.next_pc(i);
}

template <CsrAction Action>
void csr_register(ExecutionContext& c, const Instruction* i) {
  const bool writes = Action == CsrAction::write || i->rs1 != 0;
  return csr_instruction(c, i, Action, c.registers.x[i->rs1], writes);
}

template <CsrAction Action>
void csr_immediate(ExecutionContext& c, const Instruction* i) {
  const bool writes = Action == CsrAction::write || i->rs1 != 0;
  return csr_instruction(c, i, Action, i->rs1, writes);
}

void illegal(ExecutionContext& c, const Instruction* i) { return c.illegal(i); }

void breakpoint(ExecutionContext& c, const Instruction* i) {
  c.registers.pc = c.pc_of(i);
  c.stop(StopReason::breakpoint);
}

void fence_i(ExecutionContext& c, const Instruction* i) {
  c.registers.pc = c.next_pc(i);
  c.request_flush();
}

void ecall(ExecutionContext& c, const Instruction* i) {
  return c.raise(i, c.csrs.privilege == Privilege::machine ? cause::machine_ecall : cause::user_ecall, 0);
}

void ebreak(ExecutionContext& c, const Instruction* i) {
  if (c.semihosting_sequence(i) && c.services.semihosting_call()) {
    c.registers.pc = c.next_pc(i);
    return;
  }
  if (c.stop_at_ebreak && !c.ebreak_released) {
    c.leave_before(i);
    return c.stop(StopReason::ebreak);
  }
  return c.raise(i, cause::breakpoint, c.pc_of(i));
}

void mret(ExecutionContext& c, const Instruction* i) {
  if (c.csrs.privilege != Privilege::machine) return c.illegal(i);
  return c.return_from_trap();
}

void wfi(ExecutionContext& c, const Instruction* i) {
  if (c.csrs.privilege == Privilege::user && (c.csrs.mstatus & mstatus::tw) != 0) return c.illegal(i);
  c.registers.pc = c.next_pc(i);
  if ((c.csrs.mip & c.csrs.mie) == 0) c.stop(StopReason::wait_for_interrupt);
}

}  // namespace

Handler system_handler(Operation operation) {
  switch (operation) {
    case Operation::csrrw:
      return csr_register<CsrAction::write>;
    case Operation::csrrs:
      return csr_register<CsrAction::set>;
    case Operation::csrrc:
      return csr_register<CsrAction::clear>;
    case Operation::csrrwi:
      return csr_immediate<CsrAction::write>;
    case Operation::csrrsi:
      return csr_immediate<CsrAction::set>;
    case Operation::csrrci:
      return csr_immediate<CsrAction::clear>;
    case Operation::fence_i:
      return fence_i;
    case Operation::ecall:
      return ecall;
    case Operation::ebreak:
      return ebreak;
    case Operation::mret:
      return mret;
    case Operation::wfi:
      return wfi;
    case Operation::illegal:
      return illegal;
    case Operation::breakpoint:
      return breakpoint;
    default:
      return nullptr;
  }
}

}  // namespace lacuna::rv64
