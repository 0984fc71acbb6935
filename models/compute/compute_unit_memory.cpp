// The compute unit's three memory ports: instruction fetch, vector and scalar memory, and the LDS.

#include <algorithm>

#include "models/common/tlm_time.h"
#include "models/compute/compute_unit.h"
#include "models/compute/compute_unit_state.h"

namespace lacuna {
namespace {

// Requests of an instruction by which the host's fetch of an L1 set runs ahead of its use.
constexpr std::size_t kPrefetchDistance = 2;

}  // namespace

// -- instruction fetch

// The buffer holds the line of the PC and prefetches the next one, so that straight-line code pays only what the fetch of a
// line takes longer than the execution of the one before: there is room for the next line when the wavefront enters its own. A
// branch out of the buffered lines pays the fetch in full.
void ComputeUnit::fetch(Slot& slot, Cycles cycle) {
  slot.next = code_.at(slot.wave.pc);
  if (mode_ == TimingMode::functional) return;
  slot.unit = static_cast<std::uint8_t>(slot.next != nullptr ? slot.next->unit : isa::Unit::special);
  if (slot.next == nullptr) return;
  const std::uint64_t first = slot.wave.pc / kInstructionLineBytes;
  const std::uint64_t last = (slot.wave.pc + slot.next->size - 1) / kInstructionLineBytes;
  if (first != slot.line) {
    const Dispatch& dispatch = *slot.group->dispatch;
    const Cycles there = first == slot.line + 1 ? slot.next_line_ready : fetch_line(dispatch, first, cycle);
    slot.ready = later(slot.ready, there);
    slot.line = first;
    slot.next_line_ready = fetch_line(dispatch, first + 1, later(there, cycle));
  }
  if (last != first) slot.ready = later(slot.ready, slot.next_line_ready);
  if (slot.state == Slot::State::running) slot.account(WavefrontTime::fetch, slot.ready);
}

Cycles ComputeUnit::fetch_line(const Dispatch& dispatch, std::uint64_t line, Cycles cycle) {
  const std::uint64_t address = line * kInstructionLineBytes;
  const auto where = physical(address);
  if (!where) return cycle;  // a prefetch past the end of the code; executing there faults by itself
  ++statistics_.instruction_requests;
  const Request request{.kind = RequestKind::instruction, .address = *where, .bytes = kInstructionLineBytes};
  const Tick at = translate(instruction_tlb_, address ^ dispatch.page_salt, clock_.ticks(cycle));
  return clock_.ceil(transport(instruction_port, request, at));
}

// -- data

std::optional<std::uint64_t> ComputeUnit::physical(std::uint64_t address) {
  if (window_epoch_ != vm_.epoch() || !window_.contains(address, 1)) {
    window_ = vm_.find(address);
    window_epoch_ = vm_.epoch();
    if (window_.size == 0) return std::nullopt;
  }
  return window_.physical + (address - window_.base);
}

Tick ComputeUnit::translate(TranslationLevel* tlb, std::uint64_t address, Tick at) {
  return tlb == nullptr ? at : tlb->translate(address, at);
}

Tick ComputeUnit::transport(tlm_utils::simple_initiator_socket<ComputeUnit>& port, const Request& request, Tick at) {
  MemoryAttributes& attributes =
      payload_.renew(request.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, request.address, request.bytes);
  attributes.kind = request.kind;
  attributes.atomic = request.atomic;
  attributes.bypass_l1 = request.bypass_l1;
  attributes.requester = static_cast<std::uint16_t>(place_.index);
  attributes.byte_mask = request.byte_mask;
  const Tick now = to_tick(sc_core::sc_time_stamp());
  sc_core::sc_time delay = to_sc_time(at - now);
  port->b_transport(*payload_, delay);
  if (payload_->is_response_error()) {
    SC_REPORT_FATAL(name(), ("no memory answers at bus address of a mapped page: " + payload_->get_response_string()).c_str());
  }
  return now + to_tick(delay);
}

/// Where the time of an instruction's requests goes. The payload's latency breakdown is that of all of them together: what one
/// of them added is the difference to the sum before it.
class ComputeUnit::RequestAccount {
 public:
  RequestAccount(TimingPayload& payload, Tick start) : payload_(payload), latest_{start, {}, {}, {}} {
    payload.clear_latency();
  }
  /// After a request that was made at `made`, left when its address was translated, and got its answer, which the wavefront
  /// sees at `returned`.
  void add(Tick made, Tick left, Tick answered, Tick returned) {
    const LatencyBreakdown& sum = payload_.latency();
    Tick queues{};
    for (const Tick waited : sum.queueing) queues += waited;
    if (returned >= latest_.at) latest_ = {returned, left - made, sum.mshr - mshr_, queues - queues_ + (returned - answered)};
    mshr_ = sum.mshr;
    queues_ = queues;
    translating_ += left - made;
    time_ += answered - made;
    ++requests_;
  }
  void charge(KernelActivity& activity) const {
    activity.requests += requests_;
    activity.request_time += time_;
    activity.latency += payload_.latency();
    activity.latency.add(MemoryLevel::tlb, {}, translating_);
  }
  Tick latest() const { return latest_.at; }
  /// What made the latest answer late, which waited for `port` before it was made.
  OperationDelays delays(const Clock& clock, Tick port) const {
    const std::uint16_t queues = OperationDelays::saturated(clock.ceil(latest_.queues - latest_.mshr).n);
    return {.tlb = OperationDelays::saturated(clock.ceil(latest_.tlb).n),
            .mshr = OperationDelays::saturated(clock.ceil(latest_.mshr).n),
            .queues = OperationDelays::saturated(queues + clock.ceil(port).n)};
  }

 private:
  TimingPayload& payload_;
  LatestAnswer latest_;
  Tick mshr_{};
  Tick queues_{};
  Tick translating_{};
  Tick time_{};
  std::uint64_t requests_ = 0;
};

void ComputeUnit::vector_memory(Slot& slot, const isa::Instruction& instruction, Cycles cycle) {
  const isa::MemoryAccess& access = slot.wave.access;
  const bool flat = instruction.format == isa::Format::flat;
  MemoryResult result{cycle + Cycles{1}, {}};
  if (mode_ != TimingMode::functional && access.bytes_per_lane != 0) {
    if (access.lanes != 0) result = global_access(access, cycle, slot.group->dispatch->activity);
    if (access.lds_lanes != 0) {
      const MemoryResult local = lds_access(slot, cycle);
      if (local.done > result.done) result = local;
    }
  }
  slot.vmcnt.add_in_order(result.done, result.delays);
  if (flat) slot.lgkmcnt.add_out_of_order(result.done, result.delays);
}

ComputeUnit::MemoryResult ComputeUnit::global_access(const isa::MemoryAccess& access, Cycles cycle, KernelActivity& activity) {
  const auto lines = coalescer_.coalesce(access, addresses_.global);
  const Tick period = clock_.period();
  // The address unit takes lanes_per_simd addresses and gives one transaction a cycle.
  const std::uint64_t occupancy = std::max<std::uint64_t>(lines.size(), isa::kLanes / parameters_.lanes_per_simd);
  const Tick wanted = clock_.ticks(cycle + parameters_.vmem_address_latency);
  const Tick start = vmem_port_.reserve(wanted, period * occupancy);
  const bool write = access.operation != isa::MemoryAccess::Operation::load;
  RequestAccount account(payload_, start);
  Tick at = start;
  std::uint64_t page = ~std::uint64_t{0};  // of the smallest size: its translation is known at
  Tick translated{};
  Request request{.kind = RequestKind::vector,
                  .bytes = coalescer_.line_bytes(),
                  .write = write,
                  .atomic = access.operation == isa::MemoryAccess::Operation::atomic,
                  .bypass_l1 = access.glc || access.slc};
  // The accessed bytes are mapped (the executor checked), so the lines' pages are as well.
  for (std::size_t i = 0; i < lines.size(); ++i) line_addresses_[i] = physical(lines[i].address).value_or(kUnmapped);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const LineRequest& line = lines[i];
    if (prefetch_ != nullptr && i + kPrefetchDistance < lines.size())
      prefetch_->prefetch(line_addresses_[i + kPrefetchDistance]);
    at = reorder_.enter(at);
    if (line.address / GpuVm::kPage != page) {
      page = line.address / GpuVm::kPage;
      translated = translate(vector_tlb_, line.address, at);
    }
    if (line_addresses_[i] == kUnmapped) continue;
    request.address = line_addresses_[i];
    request.byte_mask = line.byte_mask;
    const Tick leaves = later(at, translated);
    const Tick answered = transport(vector_port, request, leaves);
    account.add(at, leaves, answered, reorder_.leave(answered, period));
    at += period;
  }
  if (!write) account.charge(activity);
  statistics_.vector_requests += lines.size();
  return {clock_.ceil(account.latest()) + parameters_.vmem_return_latency, account.delays(clock_, start - wanted)};
}

void ComputeUnit::scalar_memory(Slot& slot, Cycles cycle) {
  const isa::MemoryAccess& access = slot.wave.access;
  if (access.bytes_per_lane == 0 || mode_ == TimingMode::functional) {
    slot.lgkmcnt.add_out_of_order(cycle + Cycles{1});
    return;
  }
  const Tick start = smem_port_.reserve(clock_.ticks(cycle), clock_.period() * kScalarIssueCycles);
  const std::uint64_t first = access.scalar_address / kScalarLineBytes;
  const std::uint64_t last = (access.scalar_address + access.bytes_per_lane - 1) / kScalarLineBytes;
  Dispatch& dispatch = *slot.group->dispatch;
  const bool write = access.operation != isa::MemoryAccess::Operation::load;
  RequestAccount account(payload_, start);
  Tick at = start;
  for (std::uint64_t line = first; line <= last; ++line) {
    const auto where = physical(line * kScalarLineBytes);
    if (!where) continue;
    ++statistics_.scalar_requests;
    const Request request{.kind = RequestKind::scalar,
                          .address = *where,
                          .bytes = kScalarLineBytes,
                          .write = write,
                          .atomic = access.operation == isa::MemoryAccess::Operation::atomic,
                          .bypass_l1 = access.glc};
    const std::uint64_t salt = dispatch.launch_page(line * kScalarLineBytes) ? dispatch.page_salt : 0;
    const Tick leaves = translate(scalar_tlb_, line * kScalarLineBytes ^ salt, at);
    const Tick answered = transport(scalar_port, request, leaves);
    account.add(at, leaves, answered, answered);
    at += clock_.period();
  }
  if (!write) account.charge(dispatch.activity);
  slot.lgkmcnt.add_out_of_order(clock_.ceil(account.latest()) + parameters_.smem_latency,
                                account.delays(clock_, start - clock_.ticks(cycle)));
}

void ComputeUnit::lds_memory(Slot& slot, Cycles cycle) {
  const MemoryResult result = lds_access(slot, cycle);
  slot.lgkmcnt.add_out_of_order(result.done, result.delays);
}

ComputeUnit::MemoryResult ComputeUnit::lds_access(const Slot& slot, Cycles cycle) {
  if (mode_ == TimingMode::functional) return {cycle + Cycles{1}, {}};
  const isa::MemoryAccess& access = slot.wave.access;
  const std::uint64_t lanes = access.space == isa::MemoryAccess::Space::lds ? access.lanes : access.lds_lanes;
  const LdsCycles cycles = access.bytes_per_lane == 0 || !parameters_.lds_conflicts
                               ? LdsCycles{.busy = 1, .conflicts = 0}
                               : lds_banks_.cycles(access, addresses_.lds, lanes, slot.next);
  statistics_.lds_conflict_cycles += cycles.conflicts;
  const Cycles start = clock_.ceil(lds_port_.reserve(clock_.ticks(cycle), clock_.period() * cycles.busy));
  const OperationDelays delays{.lds_conflict = OperationDelays::saturated((start - cycle).n + cycles.conflicts)};
  return {start + Cycles{cycles.busy} + parameters_.lds_latency, delays};
}

void ComputeUnit::invalidate_caches(Slot& slot, const isa::Instruction& instruction, Cycles cycle) {
  CacheMaintenance* cache = instruction.unit == isa::Unit::vmem   ? l1_vector_
                            : instruction.unit == isa::Unit::smem ? l1_scalar_
                                                                  : l1_instruction_;
  if (cache == l1_instruction_) code_.revalidate();
  if (cache == nullptr || mode_ == TimingMode::functional) return;
  const Cycles done = clock_.ceil(cache->invalidate(clock_.ticks(cycle)));
  if (instruction.unit == isa::Unit::vmem) {
    slot.vmcnt.add_in_order(done);
  } else {
    slot.ready = later(slot.ready, done);
  }
}

}  // namespace lacuna
