// The packet processor: takes AQL packets from user-mode queues in memory and carries them out.
//
// Socket `memory` (initiator): packet fetches, descriptor fetches and signal writes as timing-only transactions.
//
// Rules (HSA Platform System Architecture 1.2, sections 2.8 to 2.9): packets of a queue start in order; a packet with the
// barrier bit waits until all before it are complete; a barrier-AND / barrier-OR packet holds back all that follow until its
// dependencies are zero; packets retire in order, which frees their ring slot. Queues are independent of each other. A bad
// packet or a fault puts its queue, and only it, into the failed state.
//
// Beside these it knows the vendor-specific packets of AMD's runtime: PM4 commands that maintain caches, and barrier-value
// packets. Rings, signals and indices are memory that other threads of the process may read and write at the same time.
//
// Scratch memory grows on demand: a dispatch that needs more than the queue has stalls the queue, and the runtime is asked
// through the queue's inactive signal; memory that it lends for one dispatch is given back after it in the same way.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "models/command/blits.h"
#include "models/command/bulk_blits.h"
#include "models/command/dispatch_packet.h"
#include "models/command/dispatcher.h"
#include "models/command/driver_events.h"
#include "models/command/kernel_record.h"
#include "models/command/pm4.h"
#include "models/command/queue.h"
#include "models/command/signals.h"
#include "models/common/agent.h"
#include "models/common/config/statistics.h"
#include "models/common/transport/cache_maintenance.h"
#include "models/common/transport/payload_pool.h"
#include "models/isa/decode/decoded_code.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

struct PacketProcessorParameters {
  unsigned queue_slots = 8;
  unsigned dispatches_in_flight = 8;
  Cycles packet_latency{100};
  Cycles launch_latency{0};
  bool cold_dispatch = false;
  Tick poll_interval{1'000'000};
  bool instant_blits = false;
  Cycles start_phase{0};  ///< of a dispatch, added to packet_latency (described as gpu.start_phase)

  void describe(ParameterSection& s);
};

struct PacketProcessorStatistics {
  std::uint64_t dispatches = 0;
  std::uint64_t blits = 0;
  std::uint64_t bulk_blits = 0;
  std::uint64_t barriers = 0;
  std::uint64_t pm4_packets = 0;
  std::uint64_t scratch_requests = 0;
  std::uint64_t queue_errors = 0;
  std::uint64_t doorbells = 0;
  std::uint64_t signals = 0;
  std::uint64_t events = 0;
  std::uint64_t acquires = 0;
  std::uint64_t releases = 0;
  void describe(StatisticsGroup& g) const;
};

/// The device's side of interrupts and fault registers.
class InterruptSink {
 public:
  virtual ~InterruptSink() = default;
  virtual void raise(std::uint32_t interrupts, Tick at) = 0;
  virtual void record_fault(std::uint32_t queue_slot, const WavefrontFault& fault) = 0;
};

class PacketProcessor : public sc_core::sc_module, public DispatchListener, public Agent {
 public:
  tlm_utils::simple_initiator_socket<PacketProcessor> memory;

  PacketProcessor(sc_core::sc_module_name name, const PacketProcessorParameters& parameters, Clock clock, Clock timestamp,
                  TimingMode mode, isa::Target target, GpuVm& vm, isa::DecodedCode& code, Dispatcher& dispatcher,
                  InterruptSink& interrupts);

  /// Caches to invalidate at acquire and to write back at release.
  void attach_caches(std::vector<CacheMaintenance*> l1, std::vector<CacheMaintenance*> l2);
  void add_observer(KernelObserver& observer) { observers_.push_back(&observer); }
  /// What kernel records say of the device's resources; without, they say nothing.
  void attach(const ResourceMeter& resources) { resources_ = &resources; }
  /// What is told of kernels for their energy; none: it is not accounted for.
  void attach(KernelEnergyMeter& energy) { energy_ = &energy; }
  void describe_energy(EnergyMeter& meter, double dispatch) const {
    meter.add("cp", "dispatch", statistics_.dispatches, dispatch);
  }

  /// Knows the runtime's own kernels: without, none is done at once or in bulk. Outlives the packet processor.
  void attach(const BlitRecogniser& recogniser) { blits_.attach(recogniser); }
  /// From now on copy and fill kernels of the runtime go in bulk when they are large.
  void attach(CopyContext& context) { bulk_.attach(context); }
  BulkBlits& bulk_blits() { return bulk_; }
  const BulkBlits& bulk_blits() const { return bulk_; }

  /// Knows the source lines of code, for reports; none: they are left out.
  void attach(const SourceLines& lines) { dispatch_packets_.attach(lines); }
  /// Tells a driver in this process of events, in addition to registers and interrupts.
  void attach(DriverEvents& driver) {
    driver_ = &driver;
    dispatch_packets_.attach(driver);
  }

  /// A slot that is not in use. Slots from queue_slots() on have no registers and no doorbell: they are made when wanted.
  unsigned free_slot();
  /// LACUNA_QUEUE_ERROR_*; 0 when the slot is now active.
  std::uint32_t create_queue(unsigned slot, std::uint64_t aql_queue, const QueueSetup& setup = QueueSetup());
  /// What runs is dropped; when it returns nothing touches the queue any more.
  std::uint32_t destroy_queue(unsigned slot);
  /// No packet and no workgroup starts until resume_queue(); wavefronts that run go on to their end. Failed queues stay failed.
  std::uint32_t suspend_queue(unsigned slot);
  std::uint32_t resume_queue(unsigned slot);
  std::uint32_t set_priority(unsigned slot, int priority);
  /// As QueueSetup::cu_mask. Dispatches that have started keep the mask they started with.
  std::uint32_t set_cu_mask(unsigned slot, std::vector<std::uint32_t> mask);
  /// Lets the queue's kernels use global wave sync. One queue at a time has it; LACUNA_QUEUE_ERROR_SLOT when another does.
  std::uint32_t allocate_gws(unsigned slot);

  /// Reads the write index of every queue whose DoorbellKind says so; true when there is something new.
  bool look_at_doorbells();
  /// Whether look_at_doorbells() would find something new.
  bool has_doorbells() const;
  /// Calls `visit` with each packet that has been announced, of queues whose DoorbellKind says where, and is not retired.
  void visit_packets(const std::function<void(const std::byte*)>& visit) const;
  enum class Activity : std::uint8_t {
    idle,              ///< nothing is asked of the device
    waits_for_memory,  ///< all that is left are looks at signals and packet headers that only the host can change
    busy
  };
  Activity activity() const;
  /// Doorbell: packets up to index `last` are in the ring. `at` may lie ahead of the kernel's time.
  void ring(unsigned slot, std::uint64_t last, Tick at);
  /// Queues become inactive and their dispatches are reported as failed, in the middle of a packet as between two. No signal is
  /// written and no interrupt raised. Numbers of dispatches go on.
  void reset() override;

  const QueueSlot& queue(unsigned slot) const { return slots_[slot]; }
  /// Slots with registers and a doorbell.
  unsigned queue_slots() const { return parameters_.queue_slots; }
  bool idle() const override;
  bool busy() const override { return activity() == Activity::busy; }
  /// Packets started so far, and bytes that their copies have moved in bulk.
  std::uint64_t progress() const override {
    return statistics_.dispatches + statistics_.barriers + statistics_.pm4_packets + bulk_.bytes();
  }
  const PacketProcessorStatistics& statistics() const { return statistics_; }
  void diagnose(std::ostream& out) const override;
  void describe_statistics(StatisticsGroup& device) const override { statistics_.describe(device.group("cp")); }
  /// Nothing: it books nothing of its own.
  void retire(Tick) override {}

  void dispatch_done(Dispatch& dispatch) override;
  void dispatch_fault(Dispatch& dispatch, const WavefrontFault& fault, Tick at) override;
  void dispatch_warning(Dispatch& dispatch, const WavefrontFault& fault, Tick at) override;
  void interrupt_message(Dispatch& dispatch, std::uint32_t m0, Tick at) override;
  std::string code_place(const Dispatch& dispatch, std::uint64_t pc) const override {
    return dispatch_packets_.place(dispatch, pc);
  }
  std::string memory_place(std::uint64_t address) const override { return vm_.nearest(address); }

  /// The run has ended: observers get records of the kernels that have not, as far as they are.
  void report_unfinished();

 private:
  struct CompletedPacket {
    unsigned slot;
    std::uint64_t packet;
  };
  struct PendingFault {
    unsigned slot;
    std::uint64_t packet;
    WavefrontFault fault;
    std::string report;
  };
  enum class Step : std::uint8_t { idle, progress, poll };

  // packet_processor.cpp
  void process();
  bool complete_packets();
  bool report_faults();
  Step step(unsigned slot);
  Step step_scratch(unsigned slot, hsa::Queue& aql);
  // packet_processor_queues.cpp
  hsa::Queue* queue_memory(const QueueSlot& queue) const;
  std::uint64_t written_packets(const QueueSlot& queue, hsa::Queue& aql) const;
  static std::uint64_t announced(const QueueSlot& queue);
  std::uint64_t doorbell(const QueueSlot& queue) const;
  QueueSlot* used(unsigned slot, const char* what);
  void order_queues();
  void drop_dispatches(unsigned slot);
  // packet_processor_packets.cpp
  Step start_dispatch(unsigned slot, const std::byte* raw, hsa::PacketHeader header);
  /// What to do first when a dispatch needs more scratch memory than the queue has; nothing when nobody can help.
  std::optional<Step> request_scratch(unsigned slot, const hsa::Queue& aql);
  Step start_barrier(unsigned slot, const std::byte* raw, hsa::PacketHeader header);
  Step start_vendor(unsigned slot, const std::byte* raw, hsa::PacketHeader header);
  Step start_barrier_value(unsigned slot, const std::byte* raw, hsa::PacketHeader header);
  Step start_pm4(unsigned slot, const Pm4Actions& actions, hsa::PacketHeader header, std::uint64_t completion_signal);
  static Step retry_later(QueueSlot& queue, const char* what);
  /// Takes the time of a packet that needs no compute unit, then retires it.
  Step execute(unsigned slot, hsa::PacketHeader header, std::uint64_t completion_signal);
  bool check_signal(unsigned slot, std::uint64_t handle);
  // packet_processor_completion.cpp
  void complete(unsigned slot, std::uint64_t packet);
  void signal(std::uint64_t handle, Tick start, Tick end);
  void notify(const std::optional<SignalEvent>& event);
  void retire(QueueSlot& queue);
  void acquire(hsa::FenceScope scope);
  void invalidate_l1();
  void release(hsa::FenceScope scope);
  /// What a launch has put into memory is not in L2 (cp.cold_dispatch).
  void renew_pages(Dispatch& dispatch);
  void maintain_l2(Tick (CacheMaintenance::*operation)(Tick));
  void fail(unsigned slot, std::uint32_t error, std::uint64_t packet, const std::string& why, bool tell_runtime = true);
  bool store_inactive_signal(const QueueSlot& queue, std::int64_t value);
  enum class KernelEnd : std::uint8_t { done, failed, unfinished };
  void report(const InFlightPacket& packet, KernelEnd how);
  void access(std::uint64_t address, unsigned bytes, bool write);
  Tick now() const;

  PacketProcessorParameters parameters_;
  Clock clock_;
  Clock timestamp_;
  TimingMode mode_;
  GpuVm& vm_;
  isa::DecodedCode& code_;
  Dispatcher& dispatcher_;
  InterruptSink& interrupts_;
  DriverEvents* driver_ = nullptr;
  Signals signals_;
  Pm4Reader pm4_;
  Blits blits_;
  DispatchPacketReader dispatch_packets_;
  BulkBlits bulk_;
  std::vector<CacheMaintenance*> l1_;
  std::vector<CacheMaintenance*> l2_;
  std::vector<KernelObserver*> observers_;
  const ResourceMeter* resources_ = nullptr;
  KernelEnergyMeter* energy_ = nullptr;

  std::deque<QueueSlot> slots_;     // references stay valid while more are made
  std::vector<unsigned> order_;     // slots in use, by descending priority
  std::optional<unsigned> synced_;  // the slot whose kernels may use global wave sync
  /// Completions and faults to be carried out by process(): slot and packet index identify them even when the queue is gone.
  std::deque<CompletedPacket> completed_;
  std::deque<PendingFault> faults_;
  std::set<std::pair<std::string, std::uint64_t>> warned_;  ///< kernel and PC of warnings
  bool working_ = false;                                    // process() is in the middle of something that takes time
  std::uint64_t next_dispatch_ = 0;
  std::uint64_t generations_ = 0;
  PayloadPool payloads_;
  sc_core::sc_process_handle process_;  // of process(), once it has begun
  sc_core::sc_event work_;
  PacketProcessorStatistics statistics_;
};

}  // namespace lacuna
