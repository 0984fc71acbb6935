#include "models/command/packet_processor.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <ostream>
#include <span>

#include "models/command/timed_access.h"
#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"

namespace lacuna {

PacketProcessor::PacketProcessor(sc_core::sc_module_name module_name, const PacketProcessorParameters& parameters,
                                 const PacketProcessorContext& context)
    : sc_module(module_name),
      memory("memory"),
      parameters_(parameters),
      context_(context),
      port_(memory),
      signals_(context.vm),
      blits_(context.vm),
      bulk_("bulk", blits_, context.dispatcher, *this),
      reader_(context.vm, context.target, context.code.matrix_codes(), blits_),
      queues_(name(), parameters.queue_slots, context.vm,
              [&dispatcher = context.dispatcher](std::span<const std::uint32_t> mask) {
                return dispatcher.mask_selects_any(mask);
              }),
      host_({.owner = name(),
             .vm = context.vm,
             .signals = signals_,
             .timestamp = context.timestamp,
             .interrupts = context.interrupts,
             .statistics = statistics_}),
      fences_({.mode = context.mode,
               .vm = context.vm,
               .code = context.code,
               .dispatcher = context.dispatcher,
               .statistics = statistics_}),
      scratch_(signals_, host_, statistics_),
      recorder_(context.clock, context.dispatcher),
      dispatches_({.parameters = parameters_,
                   .clock = context.clock,
                   .mode = context.mode,
                   .vm = context.vm,
                   .queues = queues_,
                   .signals = signals_,
                   .reader = reader_,
                   .scratch = scratch_,
                   .fences = fences_,
                   .port = port_,
                   .dispatcher = context.dispatcher,
                   .blits = blits_,
                   .bulk = bulk_,
                   .recorder = recorder_,
                   .listener = *this,
                   .statistics = statistics_}),
      controls_({.clock = context.clock,
                 .packet_latency = parameters.packet_latency,
                 .vm = context.vm,
                 .signals = signals_,
                 .fences = fences_,
                 .statistics = statistics_}),
      work_("work") {
  SC_HAS_PROCESS(PacketProcessor);
  SC_THREAD(process);
}

void PacketProcessor::set_driver_events(DriverEvents& driver) {
  host_.set_driver_events(driver);
  reader_.set_driver_events(driver);
}

// -- the loop

void PacketProcessor::process() {
  process_ = sc_core::sc_get_current_process_handle();
  for (;;) {
    working_ = true;
    visited_ = kernel_time();
    bool progress = complete_packets();
    progress |= report_faults();
    bool poll = false;
    bool started = false;
    int level = 0;
    // Each queue starts at most one packet in a round, so that no queue starves another of equal priority.
    const std::vector<unsigned>& order = queues_.by_priority();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const unsigned slot = order[i];
      if (started && queues_[slot].priority < level) break;
      level = queues_[slot].priority;
      const PacketOutcome::Kind result = visit(slot);
      started |= result == PacketOutcome::Kind::progress;
      poll |= result == PacketOutcome::Kind::poll;
    }
    if (progress || started) continue;
    working_ = false;
    if (poll) {
      wait(to_sc_time(parameters_.poll_interval), work_);
    } else {
      wait(work_);
    }
  }
}

bool PacketProcessor::complete_packets() {
  bool any = false;
  while (const auto completion = reports_.next_completion()) {
    complete(completion->slot, completion->packet);
    any = true;
  }
  return any;
}

bool PacketProcessor::report_faults() {
  bool any = false;
  while (const auto fault = reports_.next_fault()) {
    const bool reported = host_.wavefront_fault(fault->slot, fault->fault);
    fail(fault->slot, queue_error_of_fault(fault->fault.code), fault->packet, fault->text, !reported);
    any = true;
  }
  while (const auto failure = reports_.next_failure()) {
    fail(failure->slot, failure->refusal.error, failure->packet, failure->refusal.why);
    any = true;
  }
  return any;
}

/// Handles the queue's next packet. Returns idle, poll or progress.
PacketOutcome::Kind PacketProcessor::visit(unsigned slot) {
  QueueSlot& queue = queues_[slot];
  queue.polls = false;
  if (queue.state != QueueSlot::State::active || queue.suspended) return PacketOutcome::Kind::idle;
  const PacketOutcome outcome = start_next(slot);
  switch (outcome.kind) {
    case PacketOutcome::Kind::idle:
    case PacketOutcome::Kind::poll:
      if (outcome.waiting_for != nullptr) queue.waiting_for = outcome.waiting_for;
      queue.polls = outcome.kind == PacketOutcome::Kind::poll;
      return outcome.kind;
    case PacketOutcome::Kind::completed:
      complete(slot, queue.in_flight.back().index);
      return PacketOutcome::Kind::progress;
    case PacketOutcome::Kind::refused:
      if (outcome.refusal.pc != 0) host_.record_illegal_instruction(slot, outcome.refusal.pc);
      fail(slot, outcome.refusal.error, queue.next, outcome.refusal.why);
      return PacketOutcome::Kind::progress;
    case PacketOutcome::Kind::progress:
      break;
  }
  return PacketOutcome::Kind::progress;
}

PacketOutcome PacketProcessor::start_next(unsigned slot) {
  QueueSlot& queue = queues_[slot];
  hsa::Queue* aql = queues_.memory(queue);
  if (aql == nullptr) {
    return PacketOutcome::refused(LACUNA_QUEUE_ERROR_DESCRIPTOR,
                                  fmt::format("amd_queue_t at {:#x} is no longer mapped", queue.address));
  }
  if (auto outcome = scratch_.advance(queue, *aql)) return std::move(*outcome);
  const std::uint64_t end = QueueTable::end_of_packets(queue);
  if (queue.next >= end) return PacketOutcome::idle("a ring slot to be free");
  if (end - queue.retired > queue.size) {
    return PacketOutcome::refused(
        LACUNA_QUEUE_ERROR_OVERFLOW,
        fmt::format("doorbell announces packet {}, but the ring holds {} packets and {} is the oldest not retired",
                    queue.announced - 1, queue.size, queue.retired));
  }
  std::byte* raw = queues_.packet(queue, queue.next);
  if (raw == nullptr) {
    return PacketOutcome::refused(LACUNA_QUEUE_ERROR_DESCRIPTOR,
                                  fmt::format("ring slot at {:#x} is no longer mapped", queue.packet_address(queue.next)));
  }
  // A writer stores the header last, so a valid header implies a complete packet.
  const std::uint32_t first = std::atomic_ref(*reinterpret_cast<std::uint32_t*>(raw)).load(std::memory_order_acquire);
  const hsa::PacketHeader header{static_cast<std::uint16_t>(first)};
  if (header.type() == hsa::PacketType::invalid) return PacketOutcome::poll("the packet's header is still INVALID");
  if (Pm4Reader::starts(first)) return controls_.start_pm4(queue, raw);
  if (header.barrier() && !queue.in_flight.empty()) {
    return PacketOutcome::idle("barrier bit: earlier packets are still running");
  }
  switch (header.type()) {
    case hsa::PacketType::kernel_dispatch:
      return dispatches_.start(slot, raw, header);
    case hsa::PacketType::barrier_and:
    case hsa::PacketType::barrier_or:
      return controls_.start_barrier(queue, raw, header);
    case hsa::PacketType::vendor_specific:
      if (PacketEngine* const engine = engine_of(static_cast<hsa::VendorFormat>(raw[2])))
        return controls_.start_on_engine(slot, queue, raw, header, *engine);
      return controls_.start_vendor_specific(queue, raw, header);
    default:
      return PacketOutcome::refused(
          LACUNA_QUEUE_ERROR_PACKET_TYPE,
          fmt::format("packet type {} (header {:#06x}) is not supported", static_cast<unsigned>(header.type()), header.bits));
  }
}

// -- completion

void PacketProcessor::complete(unsigned slot, std::uint64_t index) {
  QueueSlot& queue = queues_[slot];
  const auto packet = std::find_if(queue.in_flight.begin(), queue.in_flight.end(),
                                   [index](const InFlightPacket& p) { return p.index == index; });
  if (packet == queue.in_flight.end()) return;  // the queue was destroyed or has failed in the meantime
  const std::uint64_t handle = packet->completion_signal;
  const Tick started = packet->started;
  const Tick ended = packet->dispatch != nullptr ? packet->dispatch->end : kernel_time();
  if (packet->dispatch != nullptr) recorder_.ended(*packet, KernelRecorder::End::done);
  packet->done = true;
  const std::uint64_t generation = queue.generation;
  fences_.release(packet->release, packet->past_l2);
  if (queue.generation != generation) return;  // destroyed during the fence: its memory belongs to the program again
  if (handle != 0) {
    if (context_.mode != TimingMode::functional) access_memory(port_, context_.vm, handle, sizeof(hsa::Signal), true);
    host_.complete_signal(handle, started, ended);
  }
  if (queue.active_since(generation) && queues_.retire(queue)) host_.read_index_changed();
}

void PacketProcessor::dispatch_done(Dispatch& dispatch) {
  if (bulk_.piece_done(dispatch)) return;
  reports_.add_completion(dispatch.queue_slot, dispatch.packet_index);
  work_.notify(sc_core::SC_ZERO_TIME);
}

void PacketProcessor::add_engine(PacketEngine& engine) {
  engine.set_listener(*this);
  engines_.push_back(&engine);
}

/// The engine that executes packets of the format; null: there is none.
PacketEngine* PacketProcessor::engine_of(hsa::VendorFormat format) const {
  const auto engine =
      std::find_if(engines_.begin(), engines_.end(), [format](const PacketEngine* e) { return e->format() == format; });
  return engine != engines_.end() ? *engine : nullptr;
}

void PacketProcessor::packet_done(const EnginePacket& packet) {
  reports_.add_completion(packet.slot, packet.index);
  work_.notify(sc_core::SC_ZERO_TIME);
}

void PacketProcessor::packet_failed(const EnginePacket& packet, PacketRefusal refusal) {
  reports_.add_failure({packet.slot, packet.index, std::move(refusal)});
  work_.notify(sc_core::SC_ZERO_TIME);
}

void PacketProcessor::report_unfinished() {
  for (unsigned slot = 0; slot < queues_.size(); ++slot) {
    for (const InFlightPacket& packet : queues_[slot].in_flight) {
      if (packet.dispatch == nullptr || packet.done) continue;
      recorder_.ended(packet, packet.dispatch->done() ? KernelRecorder::End::done : KernelRecorder::End::unfinished);
    }
  }
}

// -- faults

std::string PacketProcessor::fault_text(const Dispatch& dispatch, const WavefrontFault& fault) const {
  return fmt::format("{}: kernel {}, {}{}", fault.what, dispatch.kernel, reader_.place(dispatch, fault.pc), fault.where);
}

void PacketProcessor::dispatch_fault(Dispatch& dispatch, const WavefrontFault& fault, Tick at) {
  if (reports_.has_fault(dispatch)) return;
  reports_.add_fault(dispatch, fault, fault_text(dispatch, fault));
  work_.notify(delay_until(at));
}

void PacketProcessor::dispatch_warning(Dispatch& dispatch, const WavefrontFault& fault, Tick) {
  if (!reports_.is_new_warning(dispatch, fault.pc)) return;
  guest_warning("warnings of kernels", "{}: queue {}, packet {}: {}", name(), dispatch.queue_slot, dispatch.packet_index,
                fault_text(dispatch, fault));
}

void PacketProcessor::fail(unsigned slot, std::uint32_t error, std::uint64_t packet, const std::string& why, bool store_error) {
  if (!queues_.fail(slot, error, packet)) return;
  guest_error("stopped queues", "{}: queue {} stopped at packet {}: {}", name(), slot, packet, why);
  ++statistics_.queue_errors;
  drop_dispatches(slot);
  host_.queue_failed(slot, queues_.memory(queues_[slot]), error, store_error);
}

// -- queues

std::uint32_t PacketProcessor::destroy_queue(unsigned slot) {
  if (!queues_.in_use(slot, "destroy")) return LACUNA_QUEUE_ERROR_SLOT;
  drop_dispatches(slot);
  queues_.remove(slot);
  return LACUNA_QUEUE_ERROR_NONE;
}

std::uint32_t PacketProcessor::suspend_queue(unsigned slot) {
  const std::uint32_t error = queues_.suspend(slot, true);
  if (error != LACUNA_QUEUE_ERROR_NONE) return error;
  for (PacketEngine* const engine : engines_) engine->suspend(slot, true);
  return error;
}

std::uint32_t PacketProcessor::resume_queue(unsigned slot) {
  if (const std::uint32_t error = queues_.suspend(slot, false); error != LACUNA_QUEUE_ERROR_NONE) return error;
  for (PacketEngine* const engine : engines_) engine->suspend(slot, false);
  context_.dispatcher.reschedule();
  work_.notify(sc_core::SC_ZERO_TIME);
  return LACUNA_QUEUE_ERROR_NONE;
}

void PacketProcessor::drop_dispatches(unsigned slot) {
  QueueSlot& queue = queues_[slot];
  for (InFlightPacket& packet : queue.in_flight) {
    if (packet.dispatch == nullptr || packet.done) continue;
    bulk_.drop(*packet.dispatch);
    context_.dispatcher.abort(*packet.dispatch);
    packet.dispatch->end = kernel_time();
    recorder_.ended(packet, KernelRecorder::End::failed);
  }
  for (PacketEngine* const engine : engines_) engine->drop(slot);
  queue.in_flight.clear();
  reports_.drop(slot);
}

void PacketProcessor::reset() {
  for (unsigned slot = 0; slot < queues_.size(); ++slot) drop_dispatches(slot);
  queues_.clear();
  reports_.clear();
  bulk_.reset();
  work_.cancel();
  if (process_.valid()) process_.reset();  // restarts the loop, which finds no queues
}

void PacketProcessor::ring(unsigned slot, std::uint64_t last, Tick at) {
  ++statistics_.doorbells;
  if (!queues_.ring(slot, last)) return;
  work_.notify(delay_until(at));
}

bool PacketProcessor::poll_doorbells() {
  const unsigned rung = queues_.poll_doorbells();
  if (rung == 0) return false;
  statistics_.doorbells += rung;
  work_.notify(sc_core::SC_ZERO_TIME);
  return true;
}

PacketProcessor::Activity PacketProcessor::activity() const {
  if (working_ || !reports_.empty() || context_.dispatcher.busy()) return Activity::busy;
  return queues_.activity();
}

void PacketProcessor::diagnose(std::ostream& out) const {
  queues_.diagnose(out);
  bulk_.diagnose(out);
}

}  // namespace lacuna
