// The sparse dataflow accelerator as an engine of a device: jobs from user-mode queues, one after the other.
//
// A job is a vendor-specific AQL packet (lacuna_sida_packet in lacuna/abi/sida.h) that names a program in GPU memory. Queues
// are served in the order in which their packets start. A job takes: its program, read from memory; its passes, one after the
// other; its results, written to memory.
//
// Function and time: when a pass starts, it is computed whole and its results are in memory; the pipeline then determines its
// time (models/sida/pipeline). A pass that is dropped by a reset or by the destruction of its queue has therefore written its
// vectors; nothing is written afterwards. In functional timing a job takes no time.
//
// The pipeline runs in memory phases, where its requests are served with those of the compute units (memory_ports.h). It begins
// at the end of the last window or later, as units of the window do.
//
// Passes in bulk (pass_costs.h): a pass that repeats while nothing else uses the memory makes no requests and ends after the
// time that it took before. When a kernel or a copy begins meanwhile, the pass goes on in detail from the begin of
// its current step, so that contention is always simulated in detail.
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
  sida::PassCounts sums;         ///< over all passes, in cycles of the accelerator
  std::uint64_t sub_tensor = 0;  ///< of the last pass with a product, columns
  sida::EnergyCounts energy;     ///< of it, that of memory is described by the DRAM channels

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
    Clock core_clock;  ///< of windows
    TimingMode mode;
    unsigned ports;
    unsigned line_bytes;  ///< of a request
    std::uint64_t page_bytes;
    RequestKind request;  ///< of lines in GPU memory
  };
  Accelerator(sc_core::sc_module_name name, const AcceleratorParameters& parameters, const Context& context);
  ~Accelerator() override;

  MemoryPorts& ports() { return ports_; }
  void attach(const GpuVm& vm);
  void attach(Windows& windows) { windows_ = &windows; }
  void attach(CopyContext& copies);
  /// Threads share the work of its function.
  void attach(WorkerThreads& threads) { threads_ = &threads; }
  void attach(WriteObserver& observer) { memory_->add(observer); }
  /// Calls `observer` when a job has ended. Jobs that a reset drops are not reported.
  void observe_jobs(std::function<void(const SidaJobRecord&)> observer) { observer_ = std::move(observer); }
  /// Lines in flight will not arrive: the memory phase has been reset.
  void forget_requests() { ports_.reset(); }
  const SidaStatistics& statistics() const { return statistics_; }
  const AcceleratorParameters& parameters() const { return parameters_; }

  hsa::VendorFormat format() const override { return hsa::VendorFormat::sida_job; }
  void set_listener(PacketEngineListener& listener) override { listener_ = &listener; }
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
    bool held = false;  ///< its queue is suspended
    bool begun = false;
    bool dropped = false;  ///< after it has begun
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
  void read_dropped_x(const sida::Program& program, const sida::Pass& pass);
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
  std::unique_ptr<sida::VmMemory> memory_;
  Windows* windows_ = nullptr;
  CopyContext* copies_ = nullptr;
  WorkerThreads* threads_ = nullptr;
  PacketEngineListener* listener_ = nullptr;
  SidaStatistics statistics_;

  std::function<void(const SidaJobRecord&)> observer_;
  SidaJobRecord record_;  ///< of the job that runs
  std::uint64_t jobs_begun_ = 0;

  std::deque<Waiting> jobs_;                                             ///< the one that runs, if any, is the first
  std::map<std::uint16_t, std::unique_ptr<sida::StoredOrders>> orders_;  ///< of its matrices
  std::unique_ptr<sida::PassPipeline> pipeline_;                         ///< of the pass that runs
  std::unique_ptr<sida::Arrival> awaited_;                               ///< of an access outside of passes
  PassCosts costs_;                                                      ///< of the job
  const PassCost* bulk_ = nullptr;                                       ///< of the pass that is in bulk
  Tick bulk_began_{};
  std::uint64_t steps_in_bulk_ = 0;
  bool alone_ = false;  ///< nothing else has used the memory since the pass began
  bool phase_done_ = false, phase_reported_ = false;
  Tick phase_end_{};
  Tick until_{};  ///< of the last go_on()
  // For registers.
  std::uint64_t program_ = 0, error_address_ = 0;
  std::uint32_t pass_ = 0, error_ = 0;
  std::uint64_t step_ = 0, jobs_since_reset_ = 0, passes_since_reset_ = 0;

  sc_core::sc_process_handle process_;
  sc_core::sc_event work_, phase_;
};

}  // namespace lacuna
