// An SDMA engine: executes packets from user-mode rings, which copy, fill and write memory and signal.
//
// Socket `memory` (initiator) carries timing-only requests of `request_bytes`; the data move through the GPUVM's windows.
//
// Queues: a ring of bytes in GPU-visible memory. Software writes packets at the write pointer and announces the new write
// pointer with ring(); the engine stores its position to the queue's read pointer. On gfx8, both pointers are 32-bit offsets
// into the ring, on gfx9 64-bit byte counts that only increase. Packets of a queue are executed in order; copies, fills and
// writes overlap, but a packet that other agents observe (fence, trap, atomic, timestamp, poll, conditional execution, start of
// an indirect buffer) waits until all earlier data are in memory. The engine serves its queues round robin, one packet at a
// time. An invalid packet or address stops its queue only.
//
// Packets (Linux amdgpu, iceland_sdma_pkt_open.h for gfx8, vega10_sdma_pkt_open.h for gfx9): NOP, COPY linear, broadcast and
// sub-window, WRITE linear, INDIRECT, FENCE, TRAP, POLL_REGMEM (HDP flushes do nothing), COND_EXE, ATOMIC, CONST_FILL,
// TIMESTAMP.
//
// The engine's SC_THREAD selects the queue whose packet is next; the parts do the work:
//
//   SdmaQueueTable   queues, doorbells, read pointers        SdmaDataMover    copies, fills and writes by requests
//   SdmaRingReader   packet fetch                            SdmaBulkCopies   large copies and fills in bulk
//   SdmaExecutor     execution of packets                    SdmaMemory       windows, translation, request time, faults
//   SdmaTimeline     the engine's local time                 SdmaNotifier     traps and stopped queues
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <systemc>

#include "models/common/agent.h"
#include "models/common/transport/timing_port.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/isa/target.h"
#include "models/sdma/copy_context.h"
#include "models/sdma/sdma_bulk_copies.h"
#include "models/sdma/sdma_data_mover.h"
#include "models/sdma/sdma_executor.h"
#include "models/sdma/sdma_memory.h"
#include "models/sdma/sdma_notifier.h"
#include "models/sdma/sdma_parameters.h"
#include "models/sdma/sdma_queue_table.h"
#include "models/sdma/sdma_ring_reader.h"
#include "models/sdma/sdma_timeline.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

struct SdmaEngineContext {
  unsigned index = 0;  ///< number among the device's engines
  Clock clock;         ///< clock of packet_latency and bytes_per_cycle
  Clock timestamp;     ///< clock of TIMESTAMP packets
  TimingMode mode;
  Cycles lookahead;  ///< maximum time by which a request may be ahead of SystemC time: a window
  isa::Target target;
  const GpuVm& vm;  ///< address map shared with the GPU; must outlive the engine
};

class SdmaEngine : public sc_core::sc_module, public Agent {
 public:
  tlm_utils::simple_initiator_socket<SdmaEngine> memory;

  SdmaEngine(sc_core::sc_module_name name, const SdmaParameters& parameters, const SdmaEngineContext& context);

  /// Sets the receiver of traps and faults, before any occurs. Without a receiver, traps and faults are only logged.
  void set_listener(SdmaListener& listener) { notifier_.set_listener(listener); }
  /// Sets the TLB; null: translation takes no time.
  void set_tlb(TranslationLevel* tlb) { data_.set_tlb(tlb); }
  /// Adds an observer, which is notified of every write of the engine.
  void add_write_observer(WriteObserver& observer) { data_.add_write_observer(observer); }
  /// Enables the bulk path for large copies and fills.
  void set_copy_context(CopyContext& context) { bulk_.set_copy_context(context); }

  /// Creates a queue. Returns its id, which is never 0, never reused, and unique among the engines; nullopt, with a line in the
  /// log, if the description is invalid.
  std::optional<std::uint32_t> create_queue(const SdmaQueueDescription& description) { return queues_.create(description); }
  /// Destroys a queue; the queue's memory is not accessed after the return. Returns false if the queue does not exist.
  bool destroy_queue(std::uint32_t queue) { return queues_.destroy(queue); }
  /// Suspends or resumes a queue. A suspended queue finishes its current packet and starts no further packet. Returns false if
  /// the queue does not exist.
  bool suspend_queue(std::uint32_t queue, bool suspended);
  /// Rings the doorbell: packets up to the write pointer are in the ring. Returns false if the queue does not exist.
  bool ring(std::uint32_t queue, std::uint64_t write_pointer);
  /// Destroys all queues, even in the middle of a packet; bytes written before stay written. Numbering of queue ids continues.
  void reset() override;

  bool has_queue(std::uint32_t queue) const { return queues_.contains(queue); }
  /// Whether no queue has work; work of suspended and stopped queues is ignored.
  bool idle() const override { return queues_.idle(); }
  /// Whether all pending packets wait until another agent changes memory; false if idle.
  bool polling() const { return queues_.polling(); }
  bool busy() const override { return !idle() && !polling(); }
  bool polled_after(Tick time) const override { return queues_.polled_after(time); }
  /// Number of packets and bytes so far, which also increases during a packet that copies many bytes.
  std::uint64_t progress() const override { return statistics_.packets + statistics_.bytes_read + statistics_.bytes_written; }
  const SdmaStatistics& statistics() const { return statistics_; }
  void describe_statistics(StatisticsGroup& device) const override { statistics_.describe(device.group(basename())); }
  void retire(Tick horizon) override { mover_.retire(horizon); }
  void diagnose(std::ostream& out) const override { queues_.diagnose(out); }

 private:
  void serve();
  Tick next_poll_of(const SdmaQueue& queue) const;
  SdmaStep step(SdmaQueue& queue);

  const SdmaParameters parameters_;
  const Clock clock_;
  const sdma::Format format_;
  SdmaStatistics statistics_;
  TimingPort port_;
  SdmaNotifier notifier_;
  SdmaTimeline timeline_;
  SdmaQueueTable queues_;
  SdmaMemory data_;
  SdmaDataMover mover_;
  SdmaBulkCopies bulk_;
  SdmaRingReader reader_;
  SdmaExecutor executor_;
  sc_core::sc_process_handle server_;  // handle of the SC_THREAD serve(), valid once the thread has begun
  sc_core::sc_event work_;
};

}  // namespace lacuna
