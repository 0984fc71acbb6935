// Debugger support of the hart.
#include "models/common/time/tlm_time.h"
#include "models/host/rv64/hart_implementation.h"

namespace lacuna {
namespace {

constexpr unsigned kPc = 32;
constexpr unsigned kFloatBase = 33;
constexpr unsigned kCsrBase = 65;
constexpr int kKilledExit = 137;  // 128 + SIGKILL, as a shell reports it
constexpr int kStopRequestedExit = 130;
constexpr unsigned kSlicesBetweenPolls = 32;

}  // namespace

void Hart::Implementation::poll_debugger(int wait_ms) {
  // Polls rarely, because querying the host for socket events costs about as much as a short slice.
  if (!waiting && slices_to_poll-- != 0) return;
  slices_to_poll = kSlicesBetweenPolls;
  switch (gdb->poll(wait_ms)) {
    case GdbEvent::attached:
      debug({GdbStop::Reason::attached, {}}, false);
      break;
    case GdbEvent::interrupted:
      debug({GdbStop::Reason::interrupted, {}}, false);
      break;
    case GdbEvent::detached:
      core.set_stop_at_ebreak(false);
      break;
    case GdbEvent::none:
      break;
  }
}

GdbStop Hart::Implementation::stop_of(rv64::StopReason reason) const {
  switch (reason) {
    case rv64::StopReason::breakpoint:
    case rv64::StopReason::ebreak:
      return {GdbStop::Reason::breakpoint, {}};
    case rv64::StopReason::watchpoint:
      return {GdbStop::Reason::watchpoint, core.hit_watchpoint()};
    case rv64::StopReason::trap_unreachable:
      return {GdbStop::Reason::fault, {}};
    default:
      return {GdbStop::Reason::step, {}};
  }
}

/// Serves the debugger until it resumes the hart. The first instruction is then executed alone, so that a breakpoint at pc is
/// not hit twice. A hart that was in wfi remains in wfi, unless it is stepped or its pc is changed.
void Hart::Implementation::debug(const GdbStop& stop, bool wait_for_client) {
  const std::uint64_t stopped_at = core.registers().pc;
  gdb->report(stop);
  while (!ended) {
    const GdbResume resume = gdb->serve(wait_for_client, stop_requested);
    core.set_stop_at_ebreak(gdb->connected());
    if (resume == GdbResume::step || core.registers().pc != stopped_at) end_wait();
    switch (resume) {
      case GdbResume::detached:
        return;
      case GdbResume::killed:
        end_program(kKilledExit);
        return;
      case GdbResume::stop_requested:
        end_program(kStopRequestedExit);
        return;
      case GdbResume::run:
      case GdbResume::step:
        break;
    }
    if (waiting) return;
    core.begin_slice(sc_core::sc_time_stamp().value());
    const rv64::StopReason reason = core.step();
    spend_slice();
    if (ended) return;
    if (reason == rv64::StopReason::watchpoint || resume == GdbResume::step) {
      gdb->report(stop_of(reason));
      continue;
    }
    if (reason == rv64::StopReason::wait_for_interrupt) wait_for_interrupt();
    return;
  }
}

bool Hart::Implementation::read_gdb_register(unsigned number, std::uint64_t& value) {
  if (number < kPc) {
    value = core.registers().x[number];
  } else if (number == kPc) {
    value = core.registers().pc;
  } else if (number < kCsrBase) {
    value = core.registers().f[number - kFloatBase];
  } else {
    const auto read = core.read_csr(number - kCsrBase);
    if (!read) return false;
    value = *read;
  }
  return true;
}

bool Hart::Implementation::write_gdb_register(unsigned number, std::uint64_t value) {
  if (number == 0) return true;
  if (number < kPc) {
    core.registers().x[number] = value;
  } else if (number == kPc) {
    core.registers().pc = value & ~std::uint64_t{1};
  } else if (number < kCsrBase) {
    core.registers().f[number - kFloatBase] = value;
  } else {
    return core.write_csr(number - kCsrBase, value);
  }
  return true;
}

bool Hart::Implementation::write_gdb_memory(std::uint64_t address, std::span<const std::byte> bytes) {
  const bool written = write_guest(address, bytes);
  core.flush_blocks();
  return written;
}

void Hart::Implementation::set_gdb_breakpoints(std::vector<std::uint64_t> addresses) {
  core.set_breakpoints(std::move(addresses));
}

void Hart::Implementation::set_gdb_watchpoints(std::vector<rv64::Watchpoint> watchpoints) {
  core.set_watchpoints(std::move(watchpoints));
}

}  // namespace lacuna
