// The compute unit's three memory ports: instruction fetch, vector and scalar memory, and the LDS.

#include <algorithm>

#include "models/common/tlm_time.h"
#include "models/gpu/compute_unit.h"
#include "models/gpu/compute_unit_state.h"

namespace lacuna {

// -- instruction fetch

// The buffer holds the line of the PC and prefetches the next one, so that straight-line code pays only what the fetch of a
// line takes longer than the execution of the one before. A branch out of the buffered lines pays the fetch in full.
void ComputeUnit::fetch(Slot& slot, Cycles cycle) {
  slot.next = code_.at(slot.wave.pc);
  if (mode_ == TimingMode::functional) return;
  slot.unit = static_cast<std::uint8_t>(slot.next != nullptr ? slot.next->unit : isa::Unit::special);
  if (slot.next == nullptr) return;
  const std::uint64_t first = slot.wave.pc / kInstructionLineBytes;
  const std::uint64_t last = (slot.wave.pc + slot.next->size - 1) / kInstructionLineBytes;
  if (first != slot.line) {
    const Cycles there = first == slot.line + 1 ? slot.next_line_ready : fetch_line(first, cycle);
    slot.ready = later(slot.ready, there);
    slot.line = first;
    // There is room for it when the wavefront has left the line before.
    slot.next_line_ready = fetch_line(first + 1, later(there, cycle));
  }
  if (last != first) slot.ready = later(slot.ready, slot.next_line_ready);
  if (slot.state == Slot::State::running) slot.account(WavefrontTime::fetch, slot.ready);
}

Cycles ComputeUnit::fetch_line(std::uint64_t line, Cycles cycle) {
  const std::uint64_t address = line * kInstructionLineBytes;
  const auto where = physical(address);
  if (!where) return cycle;  // a prefetch past the end of the code; executing there faults by itself
  ++statistics_.instruction_requests;
  const Request request{.kind = RequestKind::instruction, .address = *where, .bytes = kInstructionLineBytes};
  const Tick at = translate(instruction_tlb_, address, clock_.ticks(cycle));
  return clock_.ceil(transport(instruction_port, request, at, nullptr).at);
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

ComputeUnit::Answer ComputeUnit::transport(tlm_utils::simple_initiator_socket<ComputeUnit>& port, const Request& request,
                                           Tick at, KernelActivity* activity) {
  PooledPayload payload(payloads_);
  payload->set_command(request.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  payload->set_address(request.address);
  payload->set_data_length(request.bytes);
  payload->set_streaming_width(request.bytes);
  MemoryAttributes& attributes = payload.attributes();
  attributes.kind = request.kind;
  attributes.timing_only = true;
  attributes.atomic = request.atomic;
  attributes.bypass_l1 = request.bypass_l1;
  attributes.requester = static_cast<std::uint16_t>(place_.index);
  attributes.byte_mask = request.byte_mask;
  sc_core::sc_time delay;
  set_local_time(delay, at);
  port->b_transport(*payload, delay);
  if (payload->is_response_error()) {
    SC_REPORT_FATAL(name(), ("no memory answers at bus address of a mapped page: " + payload->get_response_string()).c_str());
  }
  const Tick done = local_time(delay);
  if (activity == nullptr) return {done, {}};
  const LatencyBreakdown& latency = attributes.latency;
  if (!request.write) {
    ++activity->requests;
    activity->request_time += done - at;
    activity->latency += latency;
  }
  Tick queued{};
  for (const Tick waited : latency.queueing) queued += waited;
  return {done,
          {.mshr = OperationDelays::saturated(clock_.ceil(latency.mshr).n),
           .queues = OperationDelays::saturated(clock_.ceil(queued - latency.mshr).n)}};
}

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
  Answer last{start, {}};
  Tick at = start;
  std::uint64_t page = ~std::uint64_t{0};  // of the smallest size: its translation is known at
  Tick translated{};
  for (const LineRequest& line : lines) {
    if (line.address / GpuVm::kPage != page) {
      page = line.address / GpuVm::kPage;
      translated = translate(vector_tlb_, line.address, at);
    }
    const auto where = physical(line.address);
    if (!where) continue;  // the accessed bytes are mapped (the executor checked), so the line's page is as well
    const Request request{.kind = RequestKind::vector,
                          .address = *where,
                          .bytes = coalescer_.line_bytes(),
                          .write = write,
                          .atomic = access.operation == isa::MemoryAccess::Operation::atomic,
                          .bypass_l1 = access.glc || access.slc,
                          .byte_mask = line.byte_mask};
    const Tick leaves = later(at, translated);
    Answer answer = transport(vector_port, request, leaves, &activity);
    if (answer.at >= last.at) {
      answer.delays.tlb = OperationDelays::saturated(clock_.ceil(leaves - at).n);
      last = answer;
    }
    if (!write) {
      activity.latency.add(MemoryLevel::tlb, {}, leaves - at);
      activity.request_time += leaves - at;
    }
    at += period;
  }
  statistics_.vector_requests += lines.size();
  last.delays.queues = OperationDelays::saturated(last.delays.queues + clock_.ceil(start - wanted).n);
  return {clock_.ceil(last.at) + parameters_.vmem_return_latency, last.delays};
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
  KernelActivity& activity = slot.group->dispatch->activity;
  Answer latest{start, {}};
  Tick at = start;
  for (std::uint64_t line = first; line <= last; ++line) {
    const auto where = physical(line * kScalarLineBytes);
    if (!where) continue;
    ++statistics_.scalar_requests;
    const Request request{.kind = RequestKind::scalar,
                          .address = *where,
                          .bytes = kScalarLineBytes,
                          .write = access.operation != isa::MemoryAccess::Operation::load,
                          .atomic = access.operation == isa::MemoryAccess::Operation::atomic,
                          .bypass_l1 = access.glc};
    const Tick leaves = translate(scalar_tlb_, line * kScalarLineBytes, at);
    Answer answer = transport(scalar_port, request, leaves, &activity);
    if (!request.write) {
      activity.latency.add(MemoryLevel::tlb, {}, leaves - at);
      activity.request_time += leaves - at;
    }
    if (answer.at >= latest.at) {
      answer.delays.tlb = OperationDelays::saturated(clock_.ceil(leaves - at).n);
      latest = answer;
    }
    at += clock_.period();
  }
  latest.delays.queues = OperationDelays::saturated(latest.delays.queues + clock_.ceil(start - clock_.ticks(cycle)).n);
  slot.lgkmcnt.add_out_of_order(clock_.ceil(latest.at) + parameters_.smem_latency, latest.delays);
}

void ComputeUnit::lds_memory(Slot& slot, Cycles cycle) {
  const MemoryResult result = lds_access(slot, cycle);
  slot.lgkmcnt.add_out_of_order(result.done, result.delays);
}

ComputeUnit::MemoryResult ComputeUnit::lds_access(const Slot& slot, Cycles cycle) {
  if (mode_ == TimingMode::functional) return {cycle + Cycles{1}, {}};
  const isa::MemoryAccess& access = slot.wave.access;
  const std::uint64_t lanes = access.space == isa::MemoryAccess::Space::lds ? access.lanes : access.lds_lanes;
  const LdsCycles cycles = access.bytes_per_lane == 0 ? LdsCycles{.busy = 1, .conflicts = 0}
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
