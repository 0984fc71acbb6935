// The workgroup dispatcher: places the workgroups of kernel dispatches on compute units.
//
// Workgroups start in order of their linear id; compute units are tried round robin. Several dispatches may be in flight: among
// those of the highest priority, the oldest with workgroups to start goes first, and the next one uses the remaining resources.
// A workgroup starts only while its queue has free scratch slots for all its wavefronts, and only on a unit that has free
// wavefront slots, registers and LDS for all of them and that its queue's mask allows.
#pragma once

#include <queue>
#include <span>
#include <string>
#include <systemc>
#include <vector>

#include "models/common/agent.h"
#include "models/common/config/parameters.h"
#include "models/compute/compute_unit.h"
#include "models/compute/dispatch.h"
#include "models/compute/global_wave_sync.h"

namespace lacuna {

struct DispatcherParameters {
  Cycles cycles_per_wavefront{1};
  Cycles cycles_per_workgroup{0};

  void describe(ParameterSection& s);
};

class DispatchListener {
 public:
  virtual ~DispatchListener() = default;
  /// Called when a dispatch ends, at Dispatch::end: its workgroups are done, and its estimated time has passed.
  virtual void dispatch_done(Dispatch& dispatch) = 0;
  /// Called when a wavefront has faulted, at local time `at`, which may lie ahead of SystemC time. The listener must abort the
  /// dispatch.
  virtual void dispatch_fault(Dispatch& dispatch, const WavefrontFault& fault, Tick at) = 0;
  /// Called when a wavefront has performed an operation that the hardware does not support, and continued.
  virtual void dispatch_warning(Dispatch& dispatch, const WavefrontFault& fault, Tick at) = 0;
  /// Called when a wavefront has sent MSG_INTERRUPT. `m0`: value of the wavefront's M0.
  virtual void interrupt_message(Dispatch& dispatch, std::uint32_t m0, Tick at) = 0;
  /// Position in the code for reports: "PC 0x2000 (+0x30)", and the source line if known.
  virtual std::string code_place(const Dispatch& dispatch, std::uint64_t pc) const = 0;
  /// Description of an address's mapping, for reports.
  virtual std::string memory_place(std::uint64_t address) const = 0;
};

/// Executes dispatches without timing, and estimates their time (models/sampling).
class DispatchSampler {
 public:
  virtual ~DispatchSampler() = default;
  /// Called when a dispatch of which no workgroup has started is the only one in flight. May execute it as a whole.
  virtual void about_to_start(Dispatch& dispatch) = 0;
  /// Called when a dispatch ends, at Dispatch::end.
  virtual void ended(const Dispatch& dispatch) = 0;
  /// Called instead of ended() when a dispatch is aborted: none of its wavefronts may execute afterwards.
  virtual void aborted(const Dispatch& dispatch) = 0;
};

/// As an Agent, the dispatcher also represents the compute units: progress() and reset() include theirs.
class Dispatcher : public sc_core::sc_module, public ComputeUnitListener, public Agent {
 public:
  /// `lookahead`: maximum time by which the start of a workgroup may lie ahead of SystemC time when the workgroup is placed:
  /// one window.
  Dispatcher(sc_core::sc_module_name name, const DispatcherParameters& parameters, Clock clock, Cycles lookahead);

  void attach(std::vector<ComputeUnit*> units, DispatchListener& listener);
  /// The reason why the workgroups of a dispatch can never run; empty if they can.
  std::string refusal(const Dispatch& dispatch) const;
  /// Starts a dispatch now; it must exist until dispatch_done() or abort().
  void submit(Dispatch& dispatch);
  /// Drops the wavefronts and pending workgroups of a dispatch.
  void abort(Dispatch& dispatch);
  bool idle() const override { return active_.empty(); }
  /// Number of dispatches that have been submitted and are not done.
  unsigned active() const { return static_cast<unsigned>(active_.size()); }
  /// Whether any workgroup runs or can be launched; false if only workgroups of held dispatches are left.
  bool busy() const override;
  bool polled_after(Tick) const override { return true; }
  /// Resumes the placement of workgroups: call it after Dispatch::held has been cleared.
  void reschedule() { wake_.notify(sc_core::SC_ZERO_TIME); }
  /// Sets the sampler; without one, every workgroup is timed.
  void set_sampler(DispatchSampler* sampler) { sampler_ = sampler; }
  /// Dispatches in flight, by descending priority, then in order of submission.
  const std::vector<Dispatch*>& dispatches() const { return active_; }
  /// While `untimed` is set, workgroups complete when their units report them, at the current SystemC time.
  void set_untimed(bool untimed);
  /// Counts a workgroup that has ended on a unit that is not the dispatcher's (UntimedUnits).
  void workgroup_ended_elsewhere(Dispatch& dispatch);
  /// Without timing: frees the resources of completed workgroups, and immediately launches as many workgroups as fit.
  void refill();
  /// Whether a mask of compute units (QueueSetup::cu_mask) enables at least one.
  bool mask_selects_any(std::span<const std::uint32_t> mask) const;
  /// Number of instructions that the compute units have executed.
  std::uint64_t wavefront_instructions() const;
  std::uint64_t progress() const override { return wavefront_instructions() + estimated_steps_; }
  void diagnose(std::ostream& out) const override;
  void describe_statistics(StatisticsGroup& device) const override;
  /// Adds the residence times of an unfinished dispatch's wavefronts to `activity`.
  void add_resident(const Dispatch& dispatch, KernelActivity& activity) const;
  /// Does nothing: compute units drop past bookings whenever they run.
  void retire(Tick) override {}
  /// Drops the wavefronts of all dispatches. Registers and LDS keep their contents, as they do between workgroups.
  void reset() override;

  void workgroup_done(const ComputeUnitPlace& unit, Dispatch& dispatch, std::span<const std::uint32_t> scratch_slots,
                      Tick at) override;
  void wavefront_fault(Dispatch& dispatch, const WavefrontFault& fault, Tick at) override;
  void wavefront_warning(Dispatch& dispatch, const WavefrontFault& fault, Tick at) override;
  void interrupt_message(Dispatch& dispatch, std::uint32_t m0, Tick at) override;
  bool wave_sync(const isa::WaveSyncRequest& request, const WavefrontTicket& wavefront, Tick at) override;

 private:
  struct Completion {
    Tick at;
    std::uint64_t order;  // position in the order of reports: breaks ties between equal times
    Dispatch* dispatch;
    unsigned unit;  ///< index in units_; kEnd: the dispatch ends, because its estimated time has passed
    bool operator>(const Completion& other) const { return at != other.at ? at > other.at : order > other.order; }
  };
  static constexpr unsigned kEnd = ~0U;
  void work();
  void ask_sampler();
  void expect_next(Tick now);
  void complete(Tick now);
  void all_done(Dispatch& dispatch);
  void end(Dispatch& dispatch);
  void launch(Tick now);
  bool launch_workgroup(Dispatch& dispatch, Tick at);
  /// Launches the next workgroup on the first unit of [first, end) that has room for it, with the scratch slots in taken_.
  /// Returns false if none has room.
  bool launch_on_units(Dispatch& dispatch, unsigned first, unsigned end, Tick at);
  static bool allows(std::span<const std::uint32_t> mask, unsigned bit);
  void expect_room();
  std::string why_not_started(const Dispatch& dispatch) const;
  bool take_scratch(const Dispatch& dispatch);
  void release_scratch(const Dispatch& dispatch, std::span<const std::uint32_t> slots);

  DispatcherParameters parameters_;
  Clock clock_;
  Cycles lookahead_;
  DispatchListener* listener_ = nullptr;
  DispatchSampler* sampler_ = nullptr;
  bool untimed_ = false;
  std::uint64_t estimated_steps_ = 0;  ///< part of progress(): steps counted while estimated time passes
  std::vector<ComputeUnit*> units_;
  std::vector<unsigned> numbers_;   // index in units_, by ComputeUnitPlace::index
  std::vector<unsigned> mask_bit_;  // each unit's bit in masks of compute units
  std::vector<Dispatch*> active_;   // sorted by descending priority, then in order of submission
  std::priority_queue<Completion, std::vector<Completion>, std::greater<>> completions_;
  std::uint64_t completion_order_ = 0;
  unsigned next_unit_ = 0;
  Tick next_launch_{};
  /// Free scratch slots of a queue, in the layout of its running dispatches. A dispatch with another layout (the queue's
  /// scratch memory was changed while others run) waits until all slots are released.
  struct ScratchPool {
    std::uint64_t base = 0;  ///< GPU virtual address of slot 0
    std::uint32_t slot_bytes = 0;
    std::uint32_t slots = 0;
    std::vector<std::uint32_t> free;
    bool is_laid_out_for(const ScratchSetup& setup) const {
      return base == setup.base && slot_bytes == setup.wave_bytes && slots == setup.wave_slots;
    }
  };
  std::vector<ScratchPool> scratch_;
  GlobalWaveSync sync_;
  std::vector<std::uint32_t> taken_;  // scratch slots of the workgroup that is being launched
  sc_core::sc_event wake_;
};

}  // namespace lacuna
