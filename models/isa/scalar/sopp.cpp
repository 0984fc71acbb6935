// SOPP: program control. Semantics: GCN3 ISA manual, "SOPP instructions".
#include <array>

#include "models/isa/decode/operand.h"
#include "models/isa/row_sets.h"
#include "models/isa/scalar/gpr_index.h"

namespace lacuna::isa {
namespace sopp {
namespace {

using T = OperandType;

void nothing(const Instruction&, Wavefront&) {}

template <Event kEvent>
void report(const Instruction& i, Wavefront& w) {
  w.raise(kEvent, static_cast<std::uint32_t>(i.immediate) & 0xffff);
}

constexpr bool always(const Wavefront&) { return true; }
constexpr bool scc_clear(const Wavefront& w) { return !w.scc; }
constexpr bool scc_set(const Wavefront& w) { return w.scc; }
bool vcc_zero(const Wavefront& w) { return w.vcc() == 0; }
bool vcc_nonzero(const Wavefront& w) { return w.vcc() != 0; }
bool exec_zero(const Wavefront& w) { return w.exec() == 0; }
bool exec_nonzero(const Wavefront& w) { return w.exec() != 0; }

template <auto kCondition>
void branch(const Instruction& i, Wavefront& w) {
  if (kCondition(w)) w.pc += static_cast<std::uint64_t>(std::int64_t{i.immediate} * 4);
}

void no_operation(const Instruction& i, Wavefront& w) {
  if (const std::uint32_t more = static_cast<std::uint32_t>(i.immediate) & 0xf; more != 0) w.raise(Event::wait_states, more);
}
void sleep(const Instruction& i, Wavefront& w) { w.raise(Event::sleep, 64 * (static_cast<std::uint32_t>(i.immediate) & 0x7f)); }
void set_halt(const Instruction& i, Wavefront& w) {
  if ((i.immediate & 1) != 0) w.raise(Event::halt, 1);
}
// The KILL bit ends the wavefront before its next instruction.
void set_kill(const Instruction& i, Wavefront& w) {
  if ((i.immediate & 1) != 0) w.raise(Event::end_program);
}
void set_priority(const Instruction& i, Wavefront& w) {
  constexpr unsigned kUserPriority = 3;  // STATUS[4:3]
  w.status = (w.status & ~(3U << kUserPriority)) | (static_cast<std::uint32_t>(i.immediate) & 3) << kUserPriority;
}
void message_and_halt(const Instruction& i, Wavefront& w) {
  w.raise(Event::message, (static_cast<std::uint32_t>(i.immediate) & 0xffff) | kMessageThenHalt);
}
void trap(const Instruction& i, Wavefront& w) { w.raise(Event::trap, static_cast<std::uint32_t>(i.immediate) & 0xff); }
void invalidate_instructions(const Instruction&, Wavefront& w) {
  w.access.space = MemoryAccess::Space::none;
  w.raise(Event::cache_invalidate);
}

constexpr InstructionRow row(std::string_view mnemonic, Opcodes opcode, OperandTypes src, LatencyClass latency,
                             ExecuteFn execute, std::uint32_t flags = kNoFlags, Unit unit = Unit::special) {
  return {mnemonic, Format::sopp, opcode, {}, src, unit, latency, flags, execute};
}
constexpr InstructionRow branch_row(std::string_view mnemonic, int opcode, ExecuteFn execute, std::uint32_t flags = kNoFlags) {
  return row(mnemonic, both(opcode), {T::label16}, LatencyClass::branch, execute, flags | kBranch, Unit::branch);
}

constexpr std::array kRows{
    row("s_nop", both(0x00), {T::simm16}, LatencyClass::nop, no_operation),
    row("s_endpgm", both(0x01), {T::simm16}, LatencyClass::end_program, report<Event::end_program>),
    branch_row("s_branch", 0x02, branch<always>),
    row("s_wakeup", both(0x03), {}, LatencyClass::nop, nothing),
    branch_row("s_cbranch_scc0", 0x04, branch<scc_clear>, kReadsScc),
    branch_row("s_cbranch_scc1", 0x05, branch<scc_set>, kReadsScc),
    branch_row("s_cbranch_vccz", 0x06, branch<vcc_zero>, kReadsVcc),
    branch_row("s_cbranch_vccnz", 0x07, branch<vcc_nonzero>, kReadsVcc),
    branch_row("s_cbranch_execz", 0x08, branch<exec_zero>, kReadsExec),
    branch_row("s_cbranch_execnz", 0x09, branch<exec_nonzero>, kReadsExec),
    row("s_barrier", both(0x0a), {}, LatencyClass::barrier, report<Event::barrier>),
    row("s_setkill", both(0x0b), {T::simm16}, LatencyClass::nop, set_kill),
    row("s_waitcnt", both(0x0c), {T::waitcnt}, LatencyClass::waitcnt, report<Event::wait_count>),
    row("s_sethalt", both(0x0d), {T::simm16}, LatencyClass::nop, set_halt),
    row("s_sleep", both(0x0e), {T::simm16}, LatencyClass::sleep, sleep),
    row("s_setprio", both(0x0f), {T::simm16}, LatencyClass::nop, set_priority),
    row("s_sendmsg", both(0x10), {T::sendmsg}, LatencyClass::message, report<Event::message>, kReadsM0),
    row("s_sendmsghalt", both(0x11), {T::sendmsg}, LatencyClass::message, message_and_halt, kReadsM0),
    row("s_trap", both(0x12), {T::simm16}, LatencyClass::trap, trap),
    row("s_icache_inv", both(0x13), {}, LatencyClass::nop, invalidate_instructions),
    row("s_incperflevel", both(0x14), {T::simm16}, LatencyClass::nop, nothing),
    row("s_decperflevel", both(0x15), {T::simm16}, LatencyClass::nop, nothing),
    row("s_ttracedata", both(0x16), {}, LatencyClass::nop, nothing, kReadsM0),
    // Conditional debugging is never enabled, so these instructions never branch.
    branch_row("s_cbranch_cdbgsys", 0x17, nothing),
    branch_row("s_cbranch_cdbguser", 0x18, nothing),
    branch_row("s_cbranch_cdbgsys_or_user", 0x19, nothing),
    branch_row("s_cbranch_cdbgsys_and_user", 0x1a, nothing),
    row("s_endpgm_saved", both(0x1b), {}, LatencyClass::end_program, report<Event::end_program>),
    row("s_set_gpr_idx_off", both(0x1c), {}, LatencyClass::salu, execute_set_gpr_idx_off, kNoFlags, Unit::salu),
    row("s_set_gpr_idx_mode", both(0x1d), {T::simm16}, LatencyClass::salu, execute_set_gpr_idx_mode, kReadsM0 | kWritesM0,
        Unit::salu),
    row("s_endpgm_ordered_ps_done", gfx9_only(0x1e), {}, LatencyClass::end_program, nullptr),
};

}  // namespace
}  // namespace sopp

std::span<const InstructionRow> sopp_rows() { return sopp::kRows; }

}  // namespace lacuna::isa
