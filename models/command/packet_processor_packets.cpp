// The packet processor: how each type of packet starts.
#include <fmt/format.h>

#include <cstring>

#include "models/command/packet_processor.h"
#include "models/common/time/tlm_time.h"

namespace lacuna {

namespace {

bool fulfilled(std::int64_t signal, const hsa::BarrierValuePacket& packet) {
  const std::int64_t masked = signal & packet.mask;
  switch (static_cast<hsa::SignalCondition>(packet.condition)) {
    case hsa::SignalCondition::equal:
      return masked == packet.value;
    case hsa::SignalCondition::not_equal:
      return masked != packet.value;
    case hsa::SignalCondition::less:
      return masked < packet.value;
    default:
      return masked >= packet.value;
  }
}

}  // namespace

// -- kernel dispatch

PacketProcessor::Step PacketProcessor::start_dispatch(unsigned slot, const std::byte* raw, hsa::PacketHeader header) {
  QueueSlot& queue = slots_[slot];
  if (queue.in_flight.size() >= parameters_.dispatches_in_flight) {
    queue.waiting_for = "as many dispatches are running as may";
    return Step::idle;
  }
  auto dispatch = std::make_unique<Dispatch>();
  std::memcpy(&dispatch->packet, raw, sizeof dispatch->packet);
  const hsa::Queue& aql = *queue_memory(queue);
  if (dispatch->private_bytes() > aql.scratch_wave64_lane_byte_size) {
    if (const auto step = request_scratch(slot, aql)) return *step;
  }
  queue.scratch = QueueSlot::Scratch::settled;
  dispatch->queue_slot = slot;
  dispatch->packet_index = queue.next;
  dispatch->packet_address = queue.place(queue.next);
  dispatch->queue_address = queue.address;
  dispatch->priority = queue.priority;
  dispatch->cu_mask = queue.cu_mask;
  dispatch->may_sync_grid = synced_ == slot;
  if (const auto refusal = dispatch_packets_.read(*dispatch, aql)) {
    if (refusal->pc != 0) {
      interrupts_.record_fault(
          slot, {.code = LACUNA_FAULT_ILLEGAL_INSTRUCTION, .address = 0, .pc = refusal->pc, .what = {}, .where = {}});
    }
    fail(slot, refusal->error, queue.next, refusal->why);
    return Step::progress;
  }
  if (const std::string reason = dispatcher_.refusal(*dispatch); !reason.empty()) {
    fail(slot, LACUNA_QUEUE_ERROR_PACKET_SEGMENT, queue.next, fmt::format("kernel {}: {}", dispatch->kernel, reason));
    return Step::progress;
  }
  if (!check_signal(slot, dispatch->packet.completion_signal)) return Step::progress;
  const bool lent = dispatch->scratch.wave_bytes > 0 && (aql.queue_properties & hsa::kUseScratchOnce) != 0;

  const std::uint64_t generation = queue.generation;
  access(dispatch->packet_address, hsa::kPacketBytes, false);
  access(dispatch->packet.kernel_object, hsa::KernelDescriptor::kBytes, false);
  wait(to_sc_time(clock_.ticks(parameters_.packet_latency + parameters_.start_phase)));
  acquire(header.acquire());
  const Tick start = now();
  if (mode_ != TimingMode::functional) wait(to_sc_time(clock_.ticks(parameters_.launch_latency)));
  // Time has passed: the queue may have been destroyed, or made anew, or suspended by its owner.
  if (queue.state != QueueSlot::State::active || queue.generation != generation) return Step::progress;
  if (queue.suspended) return Step::idle;

  dispatch->index = next_dispatch_++;
  dispatch->start = start;
  if (parameters_.cold_dispatch) renew_pages(*dispatch);
  if (resources_ != nullptr) dispatch->activity.used = resources_->used();  // what report() counts from
  if (energy_ != nullptr) energy_->kernel_started(dispatch->index, start);
  Dispatch& started = *dispatch;
  queue.in_flight.push_back({.index = queue.next,
                             .completion_signal = started.packet.completion_signal,
                             .release = header.release(),
                             .dispatch = std::move(dispatch),
                             .started = start,
                             .wall_start = host_seconds()});
  ++queue.next;
  if (lent) queue.scratch = QueueSlot::Scratch::lent;
  ++statistics_.dispatches;
  for (KernelObserver* observer : observers_) observer->kernel_started(started);
  if (parameters_.instant_blits && blits_.perform(started)) {
    ++statistics_.blits;
    started.next_workgroup = started.finished_workgroups = started.total_workgroups();
    started.end = now();
    dispatch_done(started);
  } else if (bulk_.take(started)) {
    ++statistics_.bulk_blits;
  } else {
    bulk_.others_begin();
    dispatcher_.submit(started);
  }
  return Step::progress;
}

// The runtime reads the packet at the read index, and moves the memory that earlier dispatches use: all of them must be done.
std::optional<PacketProcessor::Step> PacketProcessor::request_scratch(unsigned slot, const hsa::Queue& aql) {
  QueueSlot& queue = slots_[slot];
  if (!signals_.valid(aql.queue_inactive_signal)) return std::nullopt;    // nobody to ask
  if (queue.scratch == QueueSlot::Scratch::granted) return std::nullopt;  // asked, and still too little: the packet is refused
  if (!queue.in_flight.empty()) {
    queue.waiting_for = "earlier packets, to ask for scratch memory";
    return Step::idle;
  }
  ++statistics_.scratch_requests;
  queue.scratch = QueueSlot::Scratch::requested;
  store_inactive_signal(queue, hsa::kScratchRequest);
  return Step::progress;
}

bool PacketProcessor::check_signal(unsigned slot, std::uint64_t handle) {
  if (handle == 0 || signals_.valid(handle)) return true;
  fail(slot, LACUNA_QUEUE_ERROR_SIGNAL, slots_[slot].next,
       fmt::format("signal handle {:#x} is not a 64-byte aligned, mapped address; {}", handle, vm_.nearest(handle)));
  return false;
}

// -- barriers

PacketProcessor::Step PacketProcessor::start_barrier(unsigned slot, const std::byte* raw, hsa::PacketHeader header) {
  hsa::BarrierPacket packet;
  std::memcpy(&packet, raw, sizeof packet);
  bool all = true;
  bool any = false;
  bool used = false;
  for (const std::uint64_t handle : packet.dependencies) {
    if (handle == 0) continue;
    if (!check_signal(slot, handle)) return Step::progress;
    const bool zero = signals_.value(handle) == 0;
    used = true;
    all &= zero;
    any |= zero;
  }
  if (!check_signal(slot, packet.completion_signal)) return Step::progress;
  const bool satisfied = header.type() == hsa::PacketType::barrier_and ? all : any || !used;
  if (!satisfied) return retry_later(slots_[slot], "dependency signals of a barrier packet");
  ++statistics_.barriers;
  return execute(slot, header, packet.completion_signal);
}

PacketProcessor::Step PacketProcessor::start_barrier_value(unsigned slot, const std::byte* raw, hsa::PacketHeader header) {
  hsa::BarrierValuePacket packet;
  std::memcpy(&packet, raw, sizeof packet);
  if (!check_signal(slot, packet.signal) || !check_signal(slot, packet.completion_signal)) return Step::progress;
  if (packet.condition > static_cast<std::uint32_t>(hsa::SignalCondition::greater_equal)) {
    fail(slot, LACUNA_QUEUE_ERROR_PACKET_TYPE, slots_[slot].next,
         fmt::format("barrier-value packet with unknown condition {}", packet.condition));
    return Step::progress;
  }
  if (packet.signal != 0 && !fulfilled(signals_.value(packet.signal), packet)) {
    return retry_later(slots_[slot], "the signal of a barrier-value packet");
  }
  ++statistics_.barriers;
  return execute(slot, header, packet.completion_signal);
}

PacketProcessor::Step PacketProcessor::retry_later(QueueSlot& queue, const char* what) {
  queue.waiting_for = what;
  queue.polls = true;
  return Step::poll;
}

// -- vendor-specific packets

PacketProcessor::Step PacketProcessor::start_vendor(unsigned slot, const std::byte* raw, hsa::PacketHeader header) {
  const auto format = static_cast<hsa::VendorFormat>(raw[2]);
  if (format == hsa::VendorFormat::barrier_value) return start_barrier_value(slot, raw, header);
  if (format == hsa::VendorFormat::pm4_indirect_buffer) {
    hsa::BarrierPacket packet;  // the completion signal is where barrier packets have theirs
    std::memcpy(&packet, raw, sizeof packet);
    return start_pm4(slot, pm4_.read_vendor_packet(raw), header, packet.completion_signal);
  }
  fail(slot, LACUNA_QUEUE_ERROR_PACKET_TYPE, slots_[slot].next,
       fmt::format("vendor-specific packet of unknown format {}", static_cast<unsigned>(format)));
  return Step::progress;
}

PacketProcessor::Step PacketProcessor::start_pm4(unsigned slot, const Pm4Actions& actions, hsa::PacketHeader header,
                                                 std::uint64_t completion_signal) {
  QueueSlot& queue = slots_[slot];
  if (!actions.error.empty()) {
    fail(slot, LACUNA_QUEUE_ERROR_PACKET_TYPE, queue.next, actions.error);
    return Step::progress;
  }
  if (!check_signal(slot, completion_signal)) return Step::progress;
  const std::uint64_t generation = queue.generation;
  if (actions.invalidate_l1) invalidate_l1();
  if (actions.invalidate_l2) {
    maintain_l2(&CacheMaintenance::invalidate);
  } else if (actions.write_back_l2) {
    maintain_l2(&CacheMaintenance::write_back);
  }
  if (queue.generation != generation) return Step::progress;
  ++statistics_.pm4_packets;
  return execute(slot, header, completion_signal);
}

PacketProcessor::Step PacketProcessor::execute(unsigned slot, hsa::PacketHeader header, std::uint64_t completion_signal) {
  QueueSlot& queue = slots_[slot];
  const std::uint64_t generation = queue.generation;
  const std::uint64_t index = queue.next;
  wait(to_sc_time(clock_.ticks(parameters_.packet_latency)));
  acquire(header.acquire());
  if (queue.state != QueueSlot::State::active || queue.generation != generation) return Step::progress;
  queue.in_flight.push_back({.index = index,
                             .completion_signal = completion_signal,
                             .release = header.release(),
                             .dispatch = nullptr,
                             .started = now()});
  ++queue.next;
  complete(slot, index);
  return Step::progress;
}

}  // namespace lacuna
