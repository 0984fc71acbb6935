// The sparse dataflow accelerator as an engine of a device. It executes jobs from user-mode queues sequentially.
//
// A job is a vendor-specific AQL packet (lacuna_sida_packet in lacuna/abi/sida.h) that names a program in GPU memory. Queues
// are served in the order in which their packets start. A job reads its program from memory, executes the program's passes in
// sequence and writes its results to memory.
//
// Function and time are separate: at its start a pass is computed completely and its results are written to memory; the
// pipeline (models/sida/pipeline) then simulates its duration. A pass that is dropped by a reset or by the destruction of its
// queue has therefore written its vectors; nothing is written afterwards. In functional timing a job takes no time.
//
// The pipeline runs in memory phases, in which its requests are served together with those of the compute units
// (memory_ports.h). A pass begins no earlier than the end of the last window.
//
// Passes in bulk (pass_costs.h): a repeated pass makes no requests while nothing else uses the memory; it takes as long as its
// first execution. If a kernel or a copy begins during the pass, the pass continues in detail from the beginning of its
// current step, so that contention is always simulated in detail.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <utility>

#include "models/command/packet_engine.h"
#include "models/common/agent.h"
#include "models/compute/window_observer.h"
#include "models/compute/windows.h"
#include "models/sida/device/accelerator_parameters.h"
#include "models/sida/device/job_record.h"
#include "models/sida/device/memory_ports.h"
#include "models/sida/device/pass_costs.h"
#include "models/sida/device/vm_memory.h"
#include "models/sida/function/job.h"
#include "models/sida/machine/energy_counts.h"
#include "models/sida/machine/stored_orders.h"
#include "models/sida/pipeline/pass_pipeline.h"

namespace lacuna {

struct SidaStatistics {
  std::uint64_t jobs = 0, failed = 0, dropped = 0, iterations = 0, passes = 0, passes_in_bulk = 0;
  Tick busy{};
  sida::PassCounts sums;         ///< sums over all passes; times in cycles of the accelerator's clock
  std::uint64_t sub_tensor = 0;  ///< columns of a sub-tensor in the last pass with a product
  sida::EnergyCounts energy;     ///< energy events, except those of memory, which the DRAM channels count

  void describe(StatisticsGroup& group) const;
};

class Accelerator : public sc_core::sc_module,
                    public PacketEngine,
                    public Agent,
                    public WindowObserver,
                    private MemoryPorts::Client,
                    private BulkUser {
 public:
  struct Context {
    Clock core_clock;  ///< clock of the windows
    TimingMode mode;
    unsigned ports;
    unsigned line_bytes;  ///< bytes of a request
    std::uint64_t page_bytes;
    RequestKind request;  ///< kind of requests to GPU memory
  };
  Accelerator(sc_core::sc_module_name name, const AcceleratorParameters& parameters, const Context& context);
  ~Accelerator() override;

  MemoryPorts& ports() { return ports_; }
  void attach(const GpuVm& vm);
  void attach(Windows& windows) { windows_ = &windows; }
  void attach(CopyContext& copies);
  /// Sets the threads among which the computation of a pass is divided.
  void attach(WorkerThreads& threads) { threads_ = &threads; }
  void attach(WriteObserver& observer) { memory_->add(observer); }
  /// Sets the function called at the end of each job that has begun, except jobs dropped by a reset.
  void observe_jobs(std::function<void(const SidaJobRecord&)> observer) { observer_ = std::move(observer); }
  /// Sets the function called at the end of each pass, except passes that are dropped.
  void observe_passes(std::function<void(const SidaPassRecord&)> observer) { pass_observer_ = std::move(observer); }
  /// Drops requests in flight. Called after a reset of the memory phase, which loses their responses.
  void forget_requests() { ports_.reset(); }
  const SidaStatistics& statistics() const { return statistics_; }
  const AcceleratorParameters& parameters() const { return parameters_; }

  hsa::VendorFormat format() const override { return hsa::VendorFormat::sida_job; }
  void set_listener(PacketEngineListener& listener) override { listener_ = &listener; }
  bool bypasses_l2() const override { return context_.request == RequestKind::direct; }
  Tick start_phase() const override { return context_.core_clock.ticks(parameters_.start_phase); }
  std::optional<PacketRefusal> check(const std::byte* raw) const override;
  void start(const std::byte* raw, const EnginePacket& packet) override;
  void drop(unsigned slot) override;
  void suspend(unsigned slot, bool suspended) override;
  std::optional<std::uint32_t> read_register(std::uint64_t offset) const override;

  bool idle() const override { return jobs_.empty(); }
  bool busy() const override;
  bool polled_after(Tick) const override { return true; }
  std::uint64_t progress() const override;
  void diagnose(std::ostream& out) const override;
  void describe_statistics(StatisticsGroup& device) const override;
  void retire(Tick horizon) override { ports_.retire(horizon); }
  void reset() override;

  void window_ended() override;

 private:
  struct Waiting {
    EnginePacket packet;
    std::uint64_t program = 0;
    bool held = false;  ///< the job's queue is suspended
    bool begun = false;
    bool dropped = false;  ///< the job was dropped after its start
  };
  /// Thrown in the process of a job that was dropped while it ran.
  struct Dropped {};

  void serve();
  Waiting* next_job();
  bool running() const { return !jobs_.empty() && jobs_.front().begun; }
  bool dropped() const { return running() && jobs_.front().dropped; }
  void run(std::uint64_t address);
  void run_pass(sida::Job& job);
  void check_buffer(const sida::Program& program, std::uint32_t number);
  sida::PassShape shape(const sida::Program& program, const sida::Pass& pass, const sida::PassOutcome& outcome);
  sida::PassCounts take_time(const sida::PassShape& shape, PassCosts::Key key);
  sida::PassCounts rest_in_detail(const sida::PassShape& shape, const PassCost& cost, sida::Time begin);
  sida::PassCounts end_pipeline();
  bool in_bulk(const PassCost& cost, sida::Time begin);
  void abandon_bulk();
  sida::Time elapsed_in_bulk() const;
  std::uint64_t current_step() const;
  void others_begin() override;
  void read_dropped_x(const sida::Program& program, const sida::Pass& pass, SidaPassRecord& record);
  void access_and_wait(const sida::AddressRange& range, bool write);
  template <class Request>
  void await(const Request& request);
  sida::Time begin_time() const;
  void wait_for_phase();
  void go_on(Tick until) override;
  Tick next() const override;
  void begin_job();
  void end_job(const sida::ProgramError* error);

  const AcceleratorParameters parameters_;
  const sida::PipelineParameters timing_;
  const Context context_;
  const Clock clock_;
  MemoryPorts ports_;
  const GpuVm* vm_ = nullptr;
  std::unique_ptr<sida::VmMemory> memory_;
  Windows* windows_ = nullptr;
  CopyContext* copies_ = nullptr;
  WorkerThreads* threads_ = nullptr;
  PacketEngineListener* listener_ = nullptr;
  SidaStatistics statistics_;

  std::function<void(const SidaJobRecord&)> observer_;
  std::function<void(const SidaPassRecord&)> pass_observer_;
  SidaJobRecord record_;  ///< record of the running job
  std::uint64_t jobs_begun_ = 0;

  std::deque<Waiting> jobs_;                                             ///< waiting jobs; a running job is at the front
  std::map<std::uint16_t, std::unique_ptr<sida::StoredOrders>> orders_;  ///< orders of the job's matrices, by matrix number
  std::unique_ptr<sida::PassPipeline> pipeline_;                         ///< pipeline of the running pass
  std::unique_ptr<sida::Arrival> awaited_;                               ///< arrival of an access outside of passes, or null
  PassCosts costs_;                                                      ///< costs of the job's passes
  const PassCost* bulk_ = nullptr;                                       ///< cost of the pass that runs in bulk, or null
  Tick bulk_began_{};
  std::uint64_t steps_in_bulk_ = 0;
  bool alone_ = false;  ///< no other user of the memory has been active since the pass began
  bool phase_done_ = false, phase_reported_ = false;
  Tick phase_end_{};
  Tick until_{};  ///< argument of the last go_on()
  // Values of MMIO registers.
  std::uint64_t program_ = 0, error_address_ = 0;
  std::uint32_t pass_ = 0, error_ = 0;
  std::uint64_t step_ = 0, jobs_since_reset_ = 0, passes_since_reset_ = 0;

  sc_core::sc_process_handle process_;
  sc_core::sc_event work_, phase_;
};

}  // namespace lacuna
