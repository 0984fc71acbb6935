// The packet processor: fetches AQL packets from user-mode queues in memory and executes them.
//
// Socket `memory` (initiator): packet fetches, descriptor fetches and signal writes as timing-only transactions.
//
// Rules (HSA Platform System Architecture 1.2, sections 2.8 to 2.9): packets of a queue start in order; a packet with the
// barrier bit waits until all earlier packets are complete; a barrier-AND (barrier-OR) packet delays all later packets until
// all (any) of its dependencies are zero; packets retire in order, which frees their ring slot. Queues are independent of each
// other. A bad packet or a fault puts its queue, and no other, into the failed state.
//
// In addition to AQL packets it accepts the vendor-specific packets of AMD's runtime: PM4 commands that maintain caches, and
// barrier-value packets; and those of the device's engines (models/command/packet_engine.h). Rings, signals and indices are
// memory that other threads of the process may read and write at the same time.
//
// Its SC_THREAD decides which queue's packet is next; the parts do the work:
//
//   QueueTable       queues, doorbells, ring slots                   Fences           cache maintenance
//   DispatchStarter  kernel dispatch packets                         HostNotifier     signals, interrupts, driver events
//   ControlPackets   barrier, vendor-specific and PM4 packets        KernelRecorder   records of kernels
//   ScratchRequests  scratch memory from the runtime                 DispatchReports  pending completions and faults
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <functional>
#include <string>
#include <systemc>
#include <vector>

#include "models/command/blits.h"
#include "models/command/bulk_blits.h"
#include "models/command/control_packets.h"
#include "models/command/dispatch_packet.h"
#include "models/command/dispatch_reports.h"
#include "models/command/dispatch_starter.h"
#include "models/command/dispatcher.h"
#include "models/command/driver_events.h"
#include "models/command/fences.h"
#include "models/command/host_notifier.h"
#include "models/command/kernel_recorder.h"
#include "models/command/packet_engine.h"
#include "models/command/packet_processor_parameters.h"
#include "models/command/queue_table.h"
#include "models/command/scratch_requests.h"
#include "models/command/signals.h"
#include "models/common/agent.h"
#include "models/common/transport/cache_maintenance.h"
#include "models/common/transport/timing_port.h"
#include "models/isa/decode/decoded_code.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

/// Environment of the packet processor; all referenced objects outlive it.
struct PacketProcessorContext {
  Clock clock;      ///< clock of cp.* latencies and KernelRecord::cycles
  Clock timestamp;  ///< clock of the time stamps in completion signals
  TimingMode mode;
  isa::Target target;
  GpuVm& vm;
  isa::DecodedCode& code;
  Dispatcher& dispatcher;
  InterruptSink& interrupts;
};

class PacketProcessor : public sc_core::sc_module, public DispatchListener, private PacketEngineListener, public Agent {
 public:
  tlm_utils::simple_initiator_socket<PacketProcessor> memory;

  PacketProcessor(sc_core::sc_module_name name, const PacketProcessorParameters& parameters,
                  const PacketProcessorContext& context);

  // Optional collaborators, set before the first packet. They outlive the packet processor.

  /// Sets the caches to invalidate at acquire and to write back at release.
  void set_caches(std::vector<CacheMaintenance*> l1, std::vector<CacheMaintenance*> l2) {
    fences_.set_caches(std::move(l1), std::move(l2));
  }
  void add_observer(KernelObserver& observer) { recorder_.add_observer(observer); }
  /// Sets the resource meter of kernel records. Without it records have no resources.
  void set_resource_meter(const ResourceMeter& resources) { recorder_.set_resource_meter(resources); }
  /// Sets the energy meter of kernel records. Without it records have no energy.
  void set_energy_meter(KernelEnergyMeter& energy) { recorder_.set_energy_meter(energy); }
  /// Sets the recogniser of the runtime's copy and fill kernels. Without it all kernels are executed.
  void set_blit_recogniser(const BlitRecogniser& recogniser) { blits_.set_recogniser(recogniser); }
  /// Enables the bulk path for large copy and fill kernels of the runtime.
  void set_copy_context(CopyContext& context) { bulk_.set_copy_context(context); }
  /// Sets the lookup of source lines for fault reports, which otherwise contain none.
  void set_source_lines(const SourceLines& lines) { reader_.set_source_lines(lines); }
  /// Adds an engine, which executes the vendor-specific packets of its format.
  void add_engine(PacketEngine& engine);
  const std::vector<PacketEngine*>& engines() const { return engines_; }
  void add_dispatch_check(DispatchCheck& check) { reader_.add_check(check); }
  /// Sets a driver in this process, which receives events in addition to registers and interrupts.
  void set_driver_events(DriverEvents& driver);

  BulkBlits& bulk_blits() { return bulk_; }
  const BulkBlits& bulk_blits() const { return bulk_; }
  /// Registers the events of block "cp". `dispatch`: energy of one dispatch, in the meter's unit.
  void describe_energy(EnergyMeter& meter, double dispatch) const {
    meter.add("cp", "dispatch", statistics_.dispatches, dispatch);
  }

  /// A slot that is not in use. Slots numbered queue_slots() or higher have no registers and no doorbell; they are added on
  /// demand.
  unsigned free_slot() { return queues_.free_slot(); }
  /// Creates a queue. Returns LACUNA_QUEUE_ERROR_*; 0 if the slot is now active.
  std::uint32_t create_queue(unsigned slot, std::uint64_t aql_queue, const QueueSetup& setup = QueueSetup()) {
    return queues_.create(slot, aql_queue, setup);
  }
  /// Drops the queue's packets and dispatches. After the return the queue's memory is no longer accessed.
  std::uint32_t destroy_queue(unsigned slot);
  /// Suspends a queue: no packet and no workgroup starts until resume_queue(); running wavefronts continue to their end. Failed
  /// queues stay failed.
  std::uint32_t suspend_queue(unsigned slot);
  std::uint32_t resume_queue(unsigned slot);
  std::uint32_t set_priority(unsigned slot, int priority) { return queues_.set_priority(slot, priority); }
  /// Sets the mask of compute units (QueueSetup::cu_mask). Dispatches that have started keep their mask.
  std::uint32_t set_cu_mask(unsigned slot, std::vector<std::uint32_t> mask) {
    return queues_.set_cu_mask(slot, std::move(mask));
  }
  /// Lets the queue's kernels use global wave sync. Returns LACUNA_QUEUE_ERROR_SLOT if another queue has it or the slot is not
  /// in use.
  std::uint32_t allocate_gws(unsigned slot) { return queues_.allocate_gws(slot); }

  /// Reads the write index of every queue with a doorbell in memory (DoorbellKind). True if it has found new packets.
  bool poll_doorbells();
  /// Whether poll_doorbells() would find new packets.
  bool has_doorbells() const { return queues_.has_doorbells(); }
  /// Calls `visit` for each announced packet that is not retired, in queues whose doorbell is in memory.
  void visit_packets(const std::function<void(const std::byte*)>& visit) const { queues_.visit_packets(visit); }
  /// Rings the doorbell: packets up to index `last` are in the ring. `at` may lie ahead of SystemC time.
  void ring(unsigned slot, std::uint64_t last, Tick at);
  /// Deactivates all queues, even in the middle of a packet, and reports their dispatches as failed. No signal is written and
  /// no interrupt is raised. The numbering of dispatches continues.
  void reset() override;

  const QueueSlot& queue(unsigned slot) const { return queues_[slot]; }
  /// Number of slots that have registers and a doorbell.
  unsigned queue_slots() const { return parameters_.queue_slots; }
  using Activity = QueueActivity;
  Activity activity() const;
  bool idle() const override { return queues_.idle(); }
  bool busy() const override { return activity() == Activity::busy; }
  bool polled_after(Tick time) const override { return activity() != Activity::waits_for_memory || visited_ > time; }
  /// Number of dispatch, barrier and PM4 packets started so far, plus bytes that copies have moved in bulk.
  std::uint64_t progress() const override {
    return statistics_.dispatches + statistics_.barriers + statistics_.pm4_packets + bulk_.bytes();
  }
  const PacketProcessorStatistics& statistics() const { return statistics_; }
  void diagnose(std::ostream& out) const override;
  void describe_statistics(StatisticsGroup& device) const override { statistics_.describe(device.group("cp")); }
  /// Does nothing: the packet processor has no calendar.
  void retire(Tick) override {}

  void dispatch_done(Dispatch& dispatch) override;
  void dispatch_fault(Dispatch& dispatch, const WavefrontFault& fault, Tick at) override;
  void dispatch_warning(Dispatch& dispatch, const WavefrontFault& fault, Tick at) override;
  void interrupt_message(Dispatch&, std::uint32_t m0, Tick at) override { host_.message_interrupt(m0, at); }
  std::string code_place(const Dispatch& dispatch, std::uint64_t pc) const override { return reader_.place(dispatch, pc); }
  std::string memory_place(std::uint64_t address) const override { return context_.vm.nearest(address); }

  /// Call it at the end of the run: passes records of the kernels that have not ended to the observers.
  void report_unfinished();

 private:
  void packet_done(const EnginePacket& packet) override;
  void packet_failed(const EnginePacket& packet, PacketRefusal refusal) override;
  void process();
  bool complete_packets();
  bool report_faults();
  PacketOutcome::Kind visit(unsigned slot);
  PacketOutcome start_next(unsigned slot);
  PacketEngine* engine_of(hsa::VendorFormat format) const;
  void complete(unsigned slot, std::uint64_t packet);
  void fail(unsigned slot, std::uint32_t error, std::uint64_t packet, const std::string& why, bool store_error = true);
  void drop_dispatches(unsigned slot);
  std::string fault_text(const Dispatch& dispatch, const WavefrontFault& fault) const;

  const PacketProcessorParameters parameters_;
  const PacketProcessorContext context_;
  PacketProcessorStatistics statistics_;
  TimingPort port_;
  Signals signals_;
  Blits blits_;
  BulkBlits bulk_;
  DispatchPacketReader reader_;
  QueueTable queues_;
  HostNotifier host_;
  Fences fences_;
  ScratchRequests scratch_;
  KernelRecorder recorder_;
  DispatchReports reports_;
  DispatchStarter dispatches_;
  ControlPackets controls_;
  std::vector<PacketEngine*> engines_;

  Tick visited_{};                      // time at which the last visit of all queues began
  bool working_ = false;                // process() waits in the middle of a packet
  sc_core::sc_process_handle process_;  // handle of process(), once it has begun
  sc_core::sc_event work_;
};

}  // namespace lacuna
