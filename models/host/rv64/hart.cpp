#include "models/host/rv64/hart.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <stdexcept>

#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"
#include "models/host/rv64/hart_implementation.h"

namespace lacuna {
namespace {

constexpr int kLostTrapExit = 1;
constexpr std::size_t kHartStack = 1u << 20;

rv64::CoreTiming core_timing(const HartParameters& p) {
  rv64::CoreTiming timing;
  timing.period_ps = p.clock.period().ps;
  const auto set = [&timing](rv64::Class klass, Cycles cycles) {
    timing.cycles[static_cast<std::size_t>(klass)] = static_cast<std::uint8_t>(std::min<std::uint64_t>(cycles.n, 255));
  };
  set(rv64::Class::alu, p.alu_cycles);
  set(rv64::Class::load, p.load_cycles);
  set(rv64::Class::store, p.store_cycles);
  set(rv64::Class::branch, p.branch_cycles);
  set(rv64::Class::jump, p.jump_cycles);
  set(rv64::Class::multiply, p.multiply_cycles);
  set(rv64::Class::divide, p.divide_cycles);
  set(rv64::Class::atomic, p.atomic_cycles);
  set(rv64::Class::system, p.system_cycles);
  set(rv64::Class::floating, p.float_cycles);
  set(rv64::Class::float_divide, p.float_divide_cycles);
  return timing;
}

const HartParameters& validated(const HartParameters& p) {
  if (p.quantum.ps == 0) throw std::invalid_argument("hart quantum: must not be 0");
  return p;
}

}  // namespace

void HartParameters::describe(ParameterSection& s) {
  constexpr ParameterRange cycles{1, 255};
  // The cycle counts are typical of in-order single-issue cores; the hart's caches are not modelled.
  const std::string_view source = "assumption: in-order single-issue core with its data in the first-level cache";
  s.add("clock", clock, "Clock of the host hart", {.range = {1e6, 1e10}});
  s.add("quantum", quantum, "Maximum time by which the hart may run ahead of the rest of the platform", {.range = {1, 1e9}});
  s.add("reset_pc", reset_pc, "Address of the first instruction, unless the program has an entry point");
  s.add("hart_id", hart_id, "Value of mhartid");
  s.add("alu_cycles", alu_cycles, "Integer computation", {.range = cycles, .source = source});
  s.add("load_cycles", load_cycles, "Load, memory latency excluded", {.range = cycles, .source = source});
  s.add("store_cycles", store_cycles, "Store, memory latency excluded", {.range = cycles, .source = source});
  s.add("branch_cycles", branch_cycles, "Conditional branch", {.range = cycles, .source = source});
  s.add("jump_cycles", jump_cycles, "Jump, call and return", {.range = cycles, .source = source});
  s.add("multiply_cycles", multiply_cycles, "Integer multiplication", {.range = cycles, .source = source});
  s.add("divide_cycles", divide_cycles, "Integer division and remainder", {.range = cycles, .source = source});
  s.add("atomic_cycles", atomic_cycles, "LR, SC and AMO, memory latency excluded", {.range = cycles, .source = source});
  s.add("system_cycles", system_cycles, "CSR access, fence.i, mret, trap entry", {.range = cycles, .source = source});
  s.add("float_cycles", float_cycles, "Floating-point operation", {.range = cycles, .source = source});
  s.add("float_divide_cycles", float_divide_cycles, "Floating-point division and square root",
        {.range = cycles, .source = source});
}

void HartStatistics::describe(StatisticsGroup& g) const {
  g.add("instructions", instructions, "instructions retired", "instructions");
  g.add("exceptions", exceptions, "synchronous exceptions taken", "traps");
  g.add("interrupts", interrupts, "interrupts taken", "traps");
  g.add("bus_reads", bus_reads, "reads by transaction, direct memory accesses excluded", "transactions");
  g.add("bus_writes", bus_writes, "writes by transaction, direct memory accesses excluded", "transactions");
  g.add("bus_errors", bus_errors, "transactions with an error response", "transactions");
  g.add("blocks_decoded", blocks_decoded, "straight-line blocks decoded", "blocks");
  g.add("block_cache_flushes", block_cache_flushes, "times that all decoded blocks were dropped", "flushes");
  g.add("semihosting_calls", semihosting_calls, "semihosting operations", "calls");
  g.add("waiting", waiting, "simulated time spent in wfi");
}

Hart::Implementation::Implementation(Hart& owner, const HartParameters& with)
    : hart(owner), parameters(validated(with)), core(*this, *this, core_timing(with)) {
  core.csrs().mhartid = with.hart_id;
  attributes.kind = RequestKind::host;
  payload.set_extension(&attributes);
  payload.set_extension(&line_change);
}

Hart::Implementation::~Implementation() {
  payload.clear_extension(&line_change);
  payload.clear_extension(&attributes);
}

// --- process --------------------------------------------------------------------------------------------------------------

void Hart::Implementation::run() {
  core.registers().pc = parameters.reset_pc;
  core.begin_slice(sc_core::sc_time_stamp().value());
  // Keep a separate event list: wait() takes ownership of the list that `a | b | c` builds.
  interrupt_inputs |= hart.machine_software_interrupt.value_changed_event();
  interrupt_inputs |= hart.machine_timer_interrupt.value_changed_event();
  interrupt_inputs |= hart.machine_external_interrupt.value_changed_event();
  if (debugger_holds_reset) debug({GdbStop::Reason::attached, {}}, true);
  while (!ended) {
    if (gdb) poll_debugger(0);
    if (ended) break;
    run_slice(slice_limit());
  }
  finish();
}

std::uint64_t Hart::Implementation::slice_limit() const {
  const std::uint64_t quantum = parameters.quantum.ps;
  if (!next_line_change) return quantum;
  const Tick now{sc_core::sc_time_stamp().value()};
  const Tick change = next_line_change(now);
  // The slice ends 1 ps after the change, because the line changes some delta cycles after the forecast time.
  return change == kNever ? quantum : std::min(quantum, (change - now).ps + 1);
}

void Hart::Implementation::run_slice(std::uint64_t limit_ps) {
  sample_interrupts();
  core.begin_slice(sc_core::sc_time_stamp().value());
  const rv64::StopReason reason = core.run(limit_ps);
  spend_slice();
  switch (reason) {
    case rv64::StopReason::time_limit:
    case rv64::StopReason::synchronise:
    case rv64::StopReason::stopped:
      break;
    case rv64::StopReason::wait_for_interrupt:
      wait_for_interrupt();
      break;
    case rv64::StopReason::trap_unreachable:
      spdlog::error("{}: {}: its handler at {:#x} cannot be fetched, the hart stops", hart.name(), last_trap(),
                    core.registers().pc);
      if (gdb && gdb->connected()) debug({GdbStop::Reason::fault, {}}, false);
      if (!ended) stopped_by_trap = true;
      end_program(kLostTrapExit);
      break;
    case rv64::StopReason::breakpoint:
    case rv64::StopReason::ebreak:
    case rv64::StopReason::watchpoint:
      debug(stop_of(reason), false);
      break;
  }
}

void Hart::Implementation::spend_slice() {
  refresh_statistics();
  sc_core::wait(to_sc_time(Tick{core.local_ps()}));
  core.begin_slice(sc_core::sc_time_stamp().value());
}

void Hart::Implementation::sample_interrupts() {
  std::uint64_t lines = 0;
  if (hart.machine_software_interrupt.read()) lines |= std::uint64_t{1} << rv64::interrupt::software;
  if (hart.machine_timer_interrupt.read()) lines |= std::uint64_t{1} << rv64::interrupt::timer;
  if (hart.machine_external_interrupt.read()) lines |= std::uint64_t{1} << rv64::interrupt::external;
  core.csrs().mip = lines;
}

void Hart::Implementation::wait_for_interrupt() {
  waiting = true;
  waiting_since = {sc_core::sc_time_stamp().value()};
  sample_interrupts();
  while ((core.csrs().mip & core.csrs().mie) == 0) {
    if (gdb) {
      // Time advances in small steps so that debugger requests are noticed. Each poll waits 1 ms of host time if no other event
      // is pending.
      constexpr Tick kPollInterval{100'000'000};
      poll_debugger(sc_core::sc_pending_activity() ? 0 : 1);
      if (ended || !waiting) break;
      sc_core::wait(to_sc_time(kPollInterval), interrupt_inputs);
    } else {
      sc_core::wait(interrupt_inputs);
    }
    sample_interrupts();
  }
  end_wait();
}

void Hart::Implementation::end_wait() {
  if (!waiting) return;
  waiting = false;
  const Tick now{sc_core::sc_time_stamp().value()};
  statistics.waiting += now - waiting_since;
  core.begin_slice(now.ps);
}

void Hart::Implementation::finish() {
  refresh_statistics();
  if (exit_callback) exit_callback(exit_code);
}

void Hart::Implementation::refresh_statistics() {
  const rv64::CoreStatistics& s = core.statistics();
  statistics.instructions = s.instructions;
  statistics.exceptions = s.exceptions;
  statistics.interrupts = s.interrupts;
  statistics.blocks_decoded = s.blocks_decoded;
  statistics.block_cache_flushes = s.block_cache_flushes;
  if (semihosting) statistics.semihosting_calls = semihosting->calls();
}

std::string Hart::Implementation::last_trap() const {
  const rv64::CoreStatistics& s = core.statistics();
  if (s.exceptions + s.interrupts == 0) return {};
  const rv64::CsrFile& csrs = core.csrs();
  return fmt::format("{} (mcause {:#x}) at mepc {:#x}, mtval {:#x}", rv64::trap_name(csrs.mcause), csrs.mcause, csrs.mepc,
                     csrs.mtval);
}

// --- bus ------------------------------------------------------------------------------------------------------------------

void Hart::Implementation::prepare(tlm::tlm_command command, std::uint64_t address, std::byte* data, std::size_t size) {
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(data));
  payload.set_data_length(static_cast<unsigned>(size));
  payload.set_streaming_width(static_cast<unsigned>(size));
  payload.set_byte_enable_ptr(nullptr);
  payload.set_dmi_allowed(false);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

rv64::Bus::Result Hart::Implementation::transport(tlm::tlm_command command, std::uint64_t address, std::byte* data,
                                                  std::size_t size, std::uint64_t& local_ps) {
  prepare(command, address, data, size);
  attributes.latency = {};
  line_change.changed = false;
  sc_core::sc_time delay = to_sc_time(Tick{local_ps});
  hart.bus->b_transport(payload, delay);
  local_ps = delay.value();
  if (payload.is_response_ok()) return {true, payload.is_dmi_allowed(), line_change.changed};
  ++statistics.bus_errors;
  guest_warning("failed accesses of the hart", "{}: {} of {} bytes at {:#x} failed: {} (pc in the block at {:#x})", hart.name(),
                command == tlm::TLM_READ_COMMAND ? "read" : "write", size, address, payload.get_response_string(),
                core.registers().pc);
  return {};
}

rv64::Bus::Result Hart::Implementation::read(std::uint64_t address, std::span<std::byte> bytes, std::uint64_t& local_ps) {
  ++statistics.bus_reads;
  return transport(tlm::TLM_READ_COMMAND, address, bytes.data(), bytes.size(), local_ps);
}

rv64::Bus::Result Hart::Implementation::write(std::uint64_t address, std::span<const std::byte> bytes,
                                              std::uint64_t& local_ps) {
  ++statistics.bus_writes;
  std::array<std::byte, 8> copy{};
  std::copy(bytes.begin(), bytes.end(), copy.begin());
  return transport(tlm::TLM_WRITE_COMMAND, address, copy.data(), bytes.size(), local_ps);
}

std::optional<rv64::MemoryRegion> Hart::Implementation::direct(std::uint64_t address, bool for_write) {
  prepare(for_write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address, nullptr, 0);
  tlm::tlm_dmi dmi;
  if (!hart.bus->get_direct_mem_ptr(payload, dmi)) return std::nullopt;
  return rv64::MemoryRegion{
      dmi.get_start_address(),        dmi.get_end_address(),  reinterpret_cast<std::byte*>(dmi.get_dmi_ptr()),
      dmi.is_read_allowed(),          dmi.is_write_allowed(), dmi.get_read_latency().value(),
      dmi.get_write_latency().value()};
}

std::optional<std::uint64_t> Hart::Implementation::time(std::uint64_t now_ps) {
  return mtime ? std::optional(mtime(Tick{now_ps})) : std::nullopt;
}

bool Hart::Implementation::transport_debug(tlm::tlm_command command, std::uint64_t address, std::byte* data, std::size_t size) {
  if (size == 0) return true;
  debug_payload.set_command(command);
  debug_payload.set_address(address);
  debug_payload.set_data_ptr(reinterpret_cast<unsigned char*>(data));
  debug_payload.set_data_length(static_cast<unsigned>(size));
  debug_payload.set_streaming_width(static_cast<unsigned>(size));
  debug_payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  return hart.bus->transport_dbg(debug_payload) == size;
}

bool Hart::Implementation::read_guest(std::uint64_t address, std::span<std::byte> bytes) {
  return transport_debug(tlm::TLM_READ_COMMAND, address, bytes.data(), bytes.size());
}

bool Hart::Implementation::write_guest(std::uint64_t address, std::span<const std::byte> bytes) {
  // A payload's data pointer is not const; a write command only reads through it.
  return transport_debug(tlm::TLM_WRITE_COMMAND, address, const_cast<std::byte*>(bytes.data()), bytes.size());
}

// --- services -------------------------------------------------------------------------------------------------------------

bool Hart::Implementation::semihosting_call() {
  constexpr unsigned kA0 = 10;
  constexpr unsigned kA1 = 11;
  auto& x = core.registers().x;
  x[kA0] = semihosting->call(x[kA0], x[kA1]);
  return true;
}

void Hart::Implementation::htif_store() { htif->serve(); }

void Hart::Implementation::end_program(std::uint64_t code) {
  if (!ended) exit_code = process_exit_code(code);
  ended = true;
  core.request_stop();
}

// --- Hart -----------------------------------------------------------------------------------------------------------------

Hart::Hart(sc_core::sc_module_name, const HartParameters& parameters)
    : bus("bus"),
      machine_external_interrupt("machine_external_interrupt"),
      machine_timer_interrupt("machine_timer_interrupt"),
      machine_software_interrupt("machine_software_interrupt"),
      implementation_(std::make_unique<Implementation>(*this, parameters)) {
  SC_HAS_PROCESS(Hart);
  SC_THREAD(run);
  set_stack_size(kHartStack);
  bus.register_invalidate_direct_mem_ptr(this, &Hart::invalidate_direct_mem_ptr);
}

Hart::~Hart() = default;

void Hart::run() { implementation_->run(); }

void Hart::invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) {
  implementation_->core.drop_regions(first, last);
}

void Hart::set_reset_pc(std::uint64_t pc) { implementation_->parameters.reset_pc = pc; }

void Hart::set_time_source(std::function<std::uint64_t(Tick)> mtime) { implementation_->mtime = std::move(mtime); }

void Hart::set_line_forecast(std::function<Tick(Tick)> next_change) {
  implementation_->next_line_change = std::move(next_change);
}

void Hart::set_console(HartConsole console) { implementation_->console = std::move(console); }

void Hart::detach_semihosting() { implementation_->semihosting.reset(); }

void Hart::attach_semihosting(const SemihostingParameters& parameters) {
  implementation_->semihosting.emplace(parameters, implementation_->console, *implementation_);
  implementation_->core.enable_semihosting();
}

void Hart::attach_htif(std::uint64_t tohost, std::uint64_t fromhost) {
  implementation_->htif.emplace(tohost, fromhost, implementation_->console, *implementation_);
  implementation_->core.watch_htif(tohost);
}

std::uint16_t Hart::attach_gdb(std::uint16_t port) {
  implementation_->gdb = std::make_unique<GdbStub>(port, *implementation_);
  implementation_->debugger_holds_reset = true;
  return implementation_->gdb->port();
}

void Hart::set_exit_callback(std::function<void(int)> callback) { implementation_->exit_callback = std::move(callback); }
void Hart::set_stop_request(std::function<bool()> requested) { implementation_->stop_requested = std::move(requested); }

void Hart::tell_debugger_of_end(int exit_code, std::string_view why) {
  if (implementation_->gdb) implementation_->gdb->report_exit(exit_code, why);
}

const HartStatistics& Hart::statistics() const { return implementation_->statistics; }
std::uint64_t Hart::pc() const { return implementation_->core.registers().pc; }
bool Hart::waiting_for_interrupt() const { return implementation_->waiting; }
bool Hart::halted() const { return implementation_->ended; }
bool Hart::stopped_by_trap() const { return implementation_->stopped_by_trap; }
std::string Hart::last_trap() const { return implementation_->last_trap(); }

std::uint64_t Hart::read_register(unsigned index) const { return implementation_->core.registers().x.at(index); }
void Hart::write_register(unsigned index, std::uint64_t value) {
  if (index != 0) implementation_->core.registers().x.at(index) = value;
}
std::uint64_t Hart::read_float_register(unsigned index) const { return implementation_->core.registers().f.at(index); }
void Hart::write_float_register(unsigned index, std::uint64_t bits) { implementation_->core.registers().f.at(index) = bits; }

bool Hart::read_csr(unsigned number, std::uint64_t& value) const {
  const auto read = implementation_->core.read_csr(number);
  if (read) value = *read;
  return read.has_value();
}

bool Hart::read_memory(std::uint64_t address, std::span<std::byte> bytes) {
  return implementation_->read_guest(address, bytes);
}
bool Hart::write_memory(std::uint64_t address, std::span<const std::byte> bytes) {
  return implementation_->write_gdb_memory(address, bytes);
}

}  // namespace lacuna
