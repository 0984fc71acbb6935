// The packet processor's loop over its queues, and how it looks at one.
#include "models/command/packet_processor.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <ostream>

#include "models/common/time/tlm_time.h"

namespace lacuna {

namespace {

std::uint32_t queue_error_of_fault(std::uint32_t fault) {
  switch (fault) {
    case LACUNA_FAULT_ILLEGAL_INSTRUCTION:
      return LACUNA_QUEUE_ERROR_ILLEGAL_INSTRUCTION;
    case LACUNA_FAULT_TRAP:
      return LACUNA_QUEUE_ERROR_TRAP;
    default:
      return LACUNA_QUEUE_ERROR_MEMORY_FAULT;
  }
}

bool is_memory_fault(std::uint32_t fault) {
  return fault == LACUNA_FAULT_NOT_MAPPED || fault == LACUNA_FAULT_NOT_PERMITTED || fault == LACUNA_FAULT_FETCH;
}

}  // namespace

void PacketProcessorParameters::describe(ParameterSection& s) {
  constexpr std::string_view kAssumed = "assumption, see docs/DEVIATIONS.md";
  s.add("queue_slots", queue_slots, "Hardware queue slots", {.range = {1, 512}, .unit = "queues", .source = kAssumed});
  s.add("dispatches_in_flight", dispatches_in_flight, "Kernel dispatches of one queue that may run at the same time",
        {.range = {1, 64}, .unit = "dispatches", .source = kAssumed});
  s.add("packet_latency", packet_latency, "Core cycles to process one packet", {.range = {0, 1'000'000}, .source = kAssumed});
  s.add("launch_latency", launch_latency,
        "Core cycles at a dispatch's start, before its first workgroup, which count as its time; other packets wait meanwhile",
        {.range = {0, 1'000'000},
         .source = "choice: a dispatch is timed from its start; MGPUSim v3.0.3 counts the way from its driver and back"});
  s.add("cold_dispatch", cold_dispatch, "Start every dispatch with cold TLB and L2 entries for its code, arguments and packet",
        {.source = "choice: as the program lays them out; MGPUSim v3.0.3 allocates and copies them for each launch"});
  s.add("poll_interval", poll_interval, "Polling interval for unsatisfied signals and incomplete packets",
        {.range = {1000, 1e9}, .source = kAssumed});
  s.add("instant_blits", instant_blits,
        "Whether copy and fill kernels of the ROCm runtime complete immediately, for the price of their packet, instead of "
        "being executed",
        {.source = "choice: as on the GPU"});
  s.renamed("fresh_pages", "cold_dispatch");
  s.renamed("blits_at_once", "instant_blits");
}

void PacketProcessorStatistics::describe(StatisticsGroup& g) const {
  g.add("dispatches", dispatches, "kernel dispatch packets started", "packets");
  g.add("blits", blits, "of these, kernels of the runtime done at once", "packets");
  g.add("bulk_blits", bulk_blits, "of these, copies and fills of the runtime that may go in bulk", "packets");
  g.add("barriers", barriers, "barrier packets carried out", "packets");
  g.add("pm4_packets", pm4_packets, "packets of PM4 commands carried out", "packets");
  g.add("scratch_requests", scratch_requests, "times the runtime was asked for scratch memory, or to take it back", "requests");
  g.add("queue_errors", queue_errors, "times a queue went to the failed state", "events");
  g.add("doorbells", doorbells, "doorbell writes, or changes of a write index that were noticed", "writes");
  g.add("signals", signals, "completion signals decremented", "signals");
  g.add("events", events, "events posted to mailboxes", "events");
  g.add("acquires", acquires, "acquire fences that invalidated L1 caches", "fences");
  g.add("releases", releases, "release fences that wrote back L2", "fences");
}

PacketProcessor::PacketProcessor(sc_core::sc_module_name name, const PacketProcessorParameters& parameters, Clock clock,
                                 Clock timestamp, TimingMode mode, isa::Target target, GpuVm& vm, isa::DecodedCode& code,
                                 Dispatcher& dispatcher, InterruptSink& interrupts)
    : sc_module(name),
      memory("memory"),
      parameters_(parameters),
      clock_(clock),
      timestamp_(timestamp),
      mode_(mode),
      vm_(vm),
      code_(code),
      dispatcher_(dispatcher),
      interrupts_(interrupts),
      signals_(vm),
      pm4_(vm),
      blits_(vm),
      dispatch_packets_(vm, target, code.matrix_codes(), blits_),
      bulk_("bulk", blits_, dispatcher, *this),
      slots_(parameters.queue_slots),
      work_("work") {
  SC_HAS_PROCESS(PacketProcessor);
  SC_THREAD(process);
}

void PacketProcessor::attach_caches(std::vector<CacheMaintenance*> l1, std::vector<CacheMaintenance*> l2) {
  l1_ = std::move(l1);
  l2_ = std::move(l2);
}

Tick PacketProcessor::now() const { return to_tick(sc_core::sc_time_stamp()); }

// -- the loop

void PacketProcessor::process() {
  process_ = sc_core::sc_get_current_process_handle();
  for (;;) {
    working_ = true;
    bool progress = complete_packets();
    progress |= report_faults();
    bool poll = false;
    bool started = false;
    int level = 0;
    // Each queue starts at most one packet in a round, so that no queue starves another of its priority.
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const unsigned slot = order_[i];
      if (started && slots_[slot].priority < level) break;
      level = slots_[slot].priority;
      const Step result = step(slot);
      started |= result == Step::progress;
      poll |= result == Step::poll;
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
  while (!completed_.empty()) {
    const CompletedPacket completed = completed_.front();
    completed_.pop_front();
    complete(completed.slot, completed.packet);
    any = true;
  }
  return any;
}

bool PacketProcessor::report_faults() {
  bool any = false;
  while (!faults_.empty()) {
    const PendingFault pending = std::move(faults_.front());
    faults_.pop_front();
    interrupts_.record_fault(pending.slot, pending.fault);
    interrupts_.raise(LACUNA_INTERRUPT_MEMORY_FAULT, now());
    const bool told =
        driver_ != nullptr && is_memory_fault(pending.fault.code) && driver_->memory_fault(pending.slot, pending.fault);
    fail(pending.slot, queue_error_of_fault(pending.fault.code), pending.packet, pending.report, !told);
    any = true;
  }
  return any;
}

PacketProcessor::Step PacketProcessor::step(unsigned slot) {
  QueueSlot& queue = slots_[slot];
  queue.polls = false;
  if (queue.state != QueueSlot::State::active || queue.suspended) return Step::idle;
  hsa::Queue* aql = queue_memory(queue);
  if (aql == nullptr) {
    fail(slot, LACUNA_QUEUE_ERROR_DESCRIPTOR, queue.next,
         fmt::format("amd_queue_t at {:#x} is no longer mapped", queue.address));
    return Step::progress;
  }
  if (queue.scratch != QueueSlot::Scratch::settled && queue.scratch != QueueSlot::Scratch::granted) {
    return step_scratch(slot, *aql);
  }
  const std::uint64_t end = announced(queue);
  if (queue.next >= end) {
    queue.waiting_for = "a ring slot to be free";
    return Step::idle;
  }
  if (end - queue.retired > queue.size) {
    fail(slot, LACUNA_QUEUE_ERROR_OVERFLOW, queue.next,
         fmt::format("doorbell announces packet {}, but the ring holds {} packets and {} is the oldest not retired",
                     queue.rung - 1, queue.size, queue.retired));
    return Step::progress;
  }
  const std::uint64_t address = queue.place(queue.next);
  std::byte* raw = vm_.pointer(address, hsa::kPacketBytes, isa::Access::read_write);
  if (raw == nullptr) {
    fail(slot, LACUNA_QUEUE_ERROR_DESCRIPTOR, queue.next, fmt::format("ring slot at {:#x} is no longer mapped", address));
    return Step::progress;
  }
  // The header is what a writer stores last.
  const std::uint32_t first = std::atomic_ref(*reinterpret_cast<std::uint32_t*>(raw)).load(std::memory_order_acquire);
  const hsa::PacketHeader header{static_cast<std::uint16_t>(first)};
  if (header.type() == hsa::PacketType::invalid) {
    queue.waiting_for = "the packet's header is still INVALID";
    queue.polls = true;
    return Step::poll;
  }
  if (Pm4Reader::starts(first)) return start_pm4(slot, pm4_.read_slot(raw), {}, 0);
  if (header.barrier() && !queue.in_flight.empty()) {
    queue.waiting_for = "barrier bit: earlier packets are still running";
    return Step::idle;
  }
  switch (header.type()) {
    case hsa::PacketType::kernel_dispatch:
      return start_dispatch(slot, raw, header);
    case hsa::PacketType::barrier_and:
    case hsa::PacketType::barrier_or:
      return start_barrier(slot, raw, header);
    case hsa::PacketType::vendor_specific:
      return start_vendor(slot, raw, header);
    default:
      fail(slot, LACUNA_QUEUE_ERROR_PACKET_TYPE, queue.next,
           fmt::format("packet type {} (header {:#06x}) is not supported", static_cast<unsigned>(header.type()), header.bits));
      return Step::progress;
  }
}

PacketProcessor::Step PacketProcessor::step_scratch(unsigned slot, hsa::Queue& aql) {
  QueueSlot& queue = slots_[slot];
  switch (queue.scratch) {
    case QueueSlot::Scratch::lent:
      if (!queue.in_flight.empty()) {
        queue.waiting_for = "scratch memory that was lent for the dispatch before";
        return Step::idle;
      }
      ++statistics_.scratch_requests;
      queue.scratch =
          store_inactive_signal(queue, hsa::kScratchReclaim) ? QueueSlot::Scratch::reclaimed : QueueSlot::Scratch::settled;
      return Step::progress;
    case QueueSlot::Scratch::requested:
      // The fields of amd_queue_t count only when the signal says that they have all been written.
      if (!signals_.valid(aql.queue_inactive_signal) || signals_.value(aql.queue_inactive_signal) == 0) {
        queue.scratch = QueueSlot::Scratch::granted;
        return Step::progress;
      }
      queue.waiting_for = "the runtime to provide scratch memory";
      break;
    default:
      if ((std::atomic_ref(aql.queue_properties).load(std::memory_order_acquire) & hsa::kUseScratchOnce) == 0) {
        queue.scratch = QueueSlot::Scratch::settled;
        return Step::progress;
      }
      queue.waiting_for = "the runtime to take back scratch memory";
      break;
  }
  queue.polls = true;
  return Step::poll;
}

void PacketProcessor::diagnose(std::ostream& out) const {
  for (unsigned i = 0; i < slots_.size(); ++i) {
    const QueueSlot& queue = slots_[i];
    if (queue.state == QueueSlot::State::inactive) continue;
    const char* state = queue.state == QueueSlot::State::failed ? "failed" : queue.suspended ? "suspended" : "active";
    out << fmt::format("  queue {}: {}, next packet {}, announced {}, retired {}", i, state, queue.next, queue.rung,
                       queue.retired);
    if (queue.state == QueueSlot::State::active && queue.next < queue.rung) out << ", waits for: " << queue.waiting_for;
    out << '\n';
  }
  bulk_.diagnose(out);
}

}  // namespace lacuna
