// The dispatcher: blocks, traps, time slices.
#include "models/host/rv64/rv64_execute.h"

#include <algorithm>

#include "models/host/rv64/rv64_context.h"

namespace lacuna::rv64 {

ExecutionContext::ExecutionContext(Bus& bus, HostServices& host_services, const CoreTiming& timing)
    : services(host_services), bus_(bus), timing_(timing), slots_(kSlots) {
  instructions_.reserve(kMaxInstructions);
  blocks_.reserve(kMaxBlocks);
  regions_.reserve(16);
}

void ExecutionContext::dispatch() {
  while (elapsed_ps < limit_ps) {
    const std::uint64_t pc = registers.pc;
    const Slot& slot = slots_[pc >> 1 & (kSlots - 1)];
    const Block* next_block = slot.block;
    if (slot.pc != pc || pc < fetch_first_ || next_block->end > fetch_end_) [[unlikely]] {
      next_block = find_block(pc);
      if (next_block == nullptr) continue;
    }
    begin_block(next_block);
    next_block->first->handler(*this, next_block->first);
  }
}

StopReason ExecutionContext::run(std::uint64_t limit) {
  stop_reason_ = StopReason::time_limit;
  do {
    if (flush_requested_) flush_blocks();
    if (const auto number = csrs.pending_interrupt()) {
      ++statistics.interrupts;
      enter_trap(cause::interrupt | *number, registers.pc, 0);
    }
    limit_ps = limit;
    dispatch();
  } while (stop_reason_ == StopReason::time_limit && elapsed_ps < limit);
  statistics.instructions = retired;
  return stop_reason_;
}

StopReason ExecutionContext::step() {
  stop_reason_ = StopReason::time_limit;
  if (flush_requested_) flush_blocks();
  if (const Block* single = build_single(registers.pc, false)) {
    ebreak_released = true;
    begin_block(single);
    single->first->handler(*this, single->first);
    ebreak_released = false;
  }
  statistics.instructions = retired;
  return stop_reason_;
}

void ExecutionContext::stop(StopReason reason) {
  stop_reason_ = std::max(stop_reason_, reason);
  limit_ps = 0;
}

void ExecutionContext::uncharge(const Instruction* first_without_time, const Instruction* first_not_retired) {
  const Instruction* end = block->first + block->count;
  std::uint64_t cycles = 0;
  for (const Instruction* i = first_without_time; i < end; ++i) cycles += i->cycles;
  elapsed_ps -= cycles * timing_.period_ps;
  if (first_not_retired < end) retired -= static_cast<std::uint64_t>(end - first_not_retired);
}

std::uint64_t ExecutionContext::local_time_before(const Instruction* i) const {
  const Instruction* end = block->first + block->count;
  std::uint64_t cycles = 0;
  for (; i < end; ++i) cycles += i->cycles;
  return elapsed_ps - cycles * timing_.period_ps;
}

void ExecutionContext::raise(const Instruction* i, std::uint64_t trap_cause, std::uint64_t value) {
  uncharge(i + 1, i);
  ++statistics.exceptions;
  enter_trap(trap_cause, pc_of(i), value);
}

void ExecutionContext::leave_after(const Instruction* i) {
  uncharge(i + 1, i + 1);
  registers.pc = next_pc(i);
}

void ExecutionContext::leave_before(const Instruction* i) {
  uncharge(i, i);
  registers.pc = pc_of(i);
}

template <class Change>
void ExecutionContext::change_privilege(Change change) {
  const Privilege before = csrs.privilege;
  const Privilege data_before = csrs.data_privilege();
  change();
  if (csrs.privilege != before || csrs.data_privilege() != data_before) forget_windows();
}

void ExecutionContext::enter_trap(std::uint64_t trap_cause, std::uint64_t pc, std::uint64_t value) {
  change_privilege([&] { registers.pc = csrs.enter_trap(trap_cause, pc, value); });
  handler_ = registers.pc;
  retired_at_trap_ = retired;
}

void ExecutionContext::return_from_trap() {
  // A return to M mode can change the privilege of data accesses, too: MPRV = 1 stays set, and MPP becomes U.
  change_privilege([&] { registers.pc = csrs.leave_trap(); });
  reserved = false;
  recheck_interrupts();
}

void ExecutionContext::fetch_fault(std::uint64_t pc, std::uint64_t address) {
  elapsed_ps += timing_.cycles[static_cast<std::size_t>(Class::system)] * timing_.period_ps;
  // Hardware would trap forever here. The CSRs keep the cause of the original trap.
  if (pc == handler_ && retired == retired_at_trap_) return stop(StopReason::trap_unreachable);
  ++statistics.exceptions;
  enter_trap(cause::instruction_access_fault, pc, address);
}

CounterValues ExecutionContext::counters(unsigned number) const {
  const std::uint64_t now = base_ps + elapsed_ps;
  // The instruction that reads the counter is a separate block and has already been charged and counted.
  return {now / timing_.period_ps, number == csr::time ? bus_.time(now) : std::nullopt, retired - 1};
}

// --- Core -----------------------------------------------------------------------------------------------------------------

Core::Core(Bus& bus, HostServices& services, const CoreTiming& timing)
    : context_(std::make_unique<ExecutionContext>(bus, services, timing)) {}
Core::~Core() = default;

Registers& Core::registers() { return context_->registers; }
const Registers& Core::registers() const { return context_->registers; }
CsrFile& Core::csrs() { return context_->csrs; }
const CsrFile& Core::csrs() const { return context_->csrs; }
const CoreStatistics& Core::statistics() const { return context_->statistics; }

std::optional<std::uint64_t> Core::read_csr(unsigned number) const {
  CounterValues now = context_->counters(number);
  ++now.instret;
  // A debugger may read the floating-point registers even if the unit is off.
  CsrFile view = context_->csrs;
  view.mstatus |= mstatus::fs;
  if (number == csr::mstatus) return context_->csrs.read(number, Privilege::machine, now);
  return view.read(number, Privilege::machine, now);
}

bool Core::write_csr(unsigned number, std::uint64_t value) {
  const CounterValues now = context_->counters(number);
  CsrEffect effect;
  const bool written = context_->csrs.write(number, value, Privilege::machine, now, effect);
  context_->forget_windows();
  return written;
}

void Core::begin_slice(std::uint64_t base_ps) {
  context_->base_ps = base_ps;
  context_->elapsed_ps = 0;
}
std::uint64_t Core::local_ps() const { return context_->elapsed_ps; }
std::uint64_t Core::now_ps() const { return context_->base_ps + context_->elapsed_ps; }
StopReason Core::run(std::uint64_t limit_ps) { return context_->run(limit_ps); }
StopReason Core::step() { return context_->step(); }
void Core::request_stop() { context_->stop(StopReason::stopped); }
void Core::flush_blocks() { context_->request_flush(); }
void Core::drop_regions(std::uint64_t first, std::uint64_t last) { context_->drop_regions(first, last); }

void Core::set_breakpoints(std::vector<std::uint64_t> addresses) {
  std::sort(addresses.begin(), addresses.end());
  context_->breakpoints = std::move(addresses);
  context_->request_flush();
}

void Core::set_watchpoints(std::vector<Watchpoint> watchpoints) {
  context_->watchpoints = std::move(watchpoints);
  context_->forget_windows();
}

void Core::set_stop_at_ebreak(bool stop) { context_->stop_at_ebreak = stop; }
const WatchpointHit& Core::hit_watchpoint() const { return context_->watchpoint_hit; }

void Core::watch_htif(std::uint64_t address) {
  context_->htif_address = address;
  context_->forget_windows();
}

void Core::enable_semihosting() { context_->semihosting_enabled = true; }

}  // namespace lacuna::rv64
