// Sampled timing (gpu.timing = sampled): some parts of a kernel are timed in detail; the others are executed without timing,
// and their time is estimated. docs/guide/sampling.md describes the method and its limits. There are three kinds of untimed
// parts:
//
//   launches     A launch whose class or family (kernel_classes.h) predicts its time runs without timing as a whole.
//   workgroups   When as many workgroups have ended as the machine holds at a time, their rate is a sample. Some of the next
//                workgroups run on separate units (untimed_units.h), while the state of the timed units does not change.
//   instructions Only with sampling.within_workgroups, for wavefronts much longer than a sample. When rates do not drift
//                (steady_sample()), all resident wavefronts execute a number of instructions functionally, at the rates at
//                which their workgroups advanced in the sample, until wavefronts leave the code of the samples. Workgroups that
//                end are replaced. Afterwards pipelines and queues fill again.
//
// Simulated time does not advance during untimed parts: the estimated time passes after the last workgroup's end
// (Dispatch::estimated). The end of a kernel, where workgroups that end are not replaced, is timed but for parts of long
// wavefronts.
//
// Only a kernel that runs alone is sampled. All decisions depend on simulated values at the ends of windows, so they are the
// same on any host and with any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "models/command/code_check.h"
#include "models/command/dispatcher.h"
#include "models/common/config/statistics.h"
#include "models/common/time/units.h"
#include "models/compute/address_range.h"
#include "models/compute/compute_unit.h"
#include "models/compute/windows.h"
#include "models/sampling/instruction_mix.h"
#include "models/sampling/kernel_classes.h"
#include "models/sampling/sampled_time.h"
#include "models/sampling/sampling_parameters.h"
#include "models/sampling/skipped_results.h"
#include "models/sampling/untimed_units.h"

namespace lacuna {

class KernelSampler final : public DispatchSampler, public WindowEndListener {
 public:
  /// Referenced objects outlive this one. `waits` reports code that may wait for other workgroups; `l2_refill`: time in which
  /// memory can fill the whole L2.
  KernelSampler(const SamplingParameters& parameters, Clock clock, Windows& windows, Dispatcher& dispatcher,
                std::vector<ComputeUnit*> units, UntimedUnits& untimed, SkippedResults& skipped,
                const isa::MemoryInterface& memory, CodeCheck waits, Cycles l2_refill);

  void about_to_start(Dispatch& dispatch) override;
  void ended(const Dispatch& dispatch) override;
  void aborted(const Dispatch& dispatch) override { untimed_.abort(dispatch); }
  void window_complete(Cycles end) override;
  void reset();
  /// `listener` is called with true before the timed units execute instructions without timing, and with false afterwards. What
  /// they count in between has not happened in simulated time.
  void set_untimed_listener(std::function<void(bool untimed)> listener) { untimed_listener_ = std::move(listener); }
  void describe_statistics(StatisticsGroup& device) const;

 private:
  /// State of the kernel that runs.
  struct Current {
    std::uint64_t any = 0;     ///< number of the class of launches with any arguments
    std::uint64_t same = 0;    ///< number of the class of launches with the same arguments
    std::uint64_t number = 0;  ///< `any` or `same`: class that predicts
    std::uint64_t family = 0;  ///< number of the family of launches with any grid
    bool alone = true;         ///< no other kernel has run since it was launched
    bool comparable = true;    ///< the previous launch was timed as well
    bool may_wait = false;     ///< the workgroups may wait for each other, so the whole kernel is timed
    bool whole = false;        ///< the whole kernel ran without timing
    Cycles launched{};
    Cycles settled{};                 ///< earliest start of the first slice
    std::uint64_t settled_count = 0;  ///< number of executed instructions after which slices may start
    std::vector<TimedSlice> slices{};
    std::vector<Cycles> ends{};           ///< start of the first slice, then the end of each slice; empty: no slice has started
    std::vector<AddressRange> codes{};    ///< addresses of the wavefronts at these times
    std::vector<InstructionMix> mixes{};  ///< instructions of all units at the times of `ends`
    std::uint64_t generation = 0;         ///< largest number of resident workgroups so far
    std::uint64_t finished = 0;           ///< number of ended workgroups at the start of the first slice
    std::uint64_t first_count = 0;        ///< number of instructions at the start of the first slice
    std::uint64_t counted = 0;            ///< number of instructions at the last of `ends`
    /// State at the start of a sample of workgroups.
    struct Mark {
      double elapsed;  ///< time of the kernel, in cycles, including untimed parts within workgroups
      std::uint64_t instructions;
      std::uint64_t finished;  ///< number of ended workgroups
      std::uint64_t resident;  ///< number of resident workgroups
      InstructionMix mix;
    };
    std::optional<Mark> mark{};
    Cycles mark_from{};             ///< earliest start of the next sample of workgroups
    std::uint64_t mark_after = 0;   ///< number of workgroups that had ended after the latest untimed part
    double workgroups = 1;          ///< minimum length of the next untimed part of workgroups, in samples
    double part = 0;                ///< minimum length of an untimed part, in workgroups, while samples agree; otherwise 0
    std::uint64_t skipped = 0;      ///< number of workgroups of the latest untimed part, if they were skipped
    double skipped_each = 0;        ///< estimated instructions of each skipped workgroup
    bool other_workgroups = false;  ///< the latest part's mix differed from the sample's: all further workgroups are timed
    SampledTime of_workgroups;
    SampledTime time;                   ///< estimate of untimed parts within workgroups
    double length = 2;                  ///< length of the next untimed part, in samples
    InstructionMix sampled{};           ///< instructions of the latest sample
    AddressRange code{};                ///< code of the samples of this phase: untimed parts end where wavefronts leave it
    unsigned residents = 0;             ///< resident wavefronts at the latest sample
    std::uint64_t finished_before = 0;  ///< number of ended workgroups at the latest sample
    bool other = false;                 ///< the latest untimed part ended because its mix differed from the sample's
  };

  /// Length up to which untimed parts become longer, in samples.
  static constexpr double kLongest = 256;
  /// Largest untimed part, as a share of the rest of the kernel; for parts of whole workgroups only until samples agree.
  static constexpr double kShareOfRest = 0.4;
  /// Number of generations from which on whole workgroups run without timing. A generation is the number of workgroups that the
  /// machine holds at a time.
  static constexpr std::uint64_t kManyGenerations = 6;

  static Current nothing();
  std::uint64_t hash_of_arguments(const Dispatch& dispatch) const;
  void begin(const Dispatch& dispatch, Cycles now, bool alone);
  void restart_slices(Cycles from);
  bool end_slice(const Dispatch& dispatch, Cycles end);
  void sample_taken(Dispatch& dispatch, const TimeSample& sample, Cycles end);
  /// Number of instructions of the next untimed part; 0: no part follows.
  std::uint64_t choose_length(const Dispatch& dispatch);
  /// Estimated instructions until the end of the kernel; nullopt: unknown.
  static std::optional<double> remaining(const Dispatch& dispatch);
  /// Estimated instructions per workgroup; nullopt: no workgroup has ended.
  static std::optional<double> of_workgroup(const Dispatch& dispatch);
  /// Updates the sample of workgroups. True: the sample was complete, and workgroups have been run without timing or skipped.
  bool count_workgroups(Dispatch& dispatch, Cycles end);
  std::uint64_t choose_workgroups(const Dispatch& dispatch, std::uint64_t of_sample) const;
  /// Runs workgroups without timing, or skips them. Returns their instructions.
  std::uint64_t pass_workgroups(Dispatch& dispatch, std::uint64_t count, double instructions_of_each);
  bool has_long_wavefronts(const Dispatch& dispatch) const;
  double elapsed(Cycles end) const;
  void run_untimed(Dispatch& dispatch, std::uint64_t instructions, Cycles end);
  std::uint64_t execute(Dispatch& dispatch, std::uint64_t instructions, Cycles end);
  void run_whole(Dispatch& dispatch, const KernelPrediction& prediction);
  void run_whole_on_timed_units(Dispatch& dispatch, const KernelPrediction& prediction);
  void skip_whole(Dispatch& dispatch, const KernelPrediction& prediction);
  /// Whether a dispatch is in flight and has not failed.
  bool runs(const Dispatch& dispatch) const;
  void suspend(const Dispatch& dispatch, Cycles from);
  void resume(Cycles at);
  unsigned resident() const;
  InstructionMix mix() const;
  void update_estimate(Dispatch& dispatch) const;
  Tick ticks(double cycles) const;

  const SamplingParameters parameters_;
  const Clock clock_;
  Windows& windows_;
  Dispatcher& dispatcher_;
  const std::vector<ComputeUnit*> units_;
  UntimedUnits& untimed_;
  SkippedResults& skipped_;
  const isa::MemoryInterface& memory_;
  CodeCheck waits_;
  const Cycles l2_refill_;
  std::function<void(bool)> untimed_listener_ = [](bool) {};
  KernelClasses classes_;
  Current current_ = nothing();
  std::uint64_t last_index_ = ~std::uint64_t{0};  ///< Dispatch::index of the kernel that began last
  std::uint64_t previous_class_ = 0;
  std::uint64_t previous_family_ = 0;
  std::uint64_t previous_number_ = 0;  ///< class or family that predicted the latest untimed launch
  bool previous_timed_ = true;
  // Statistics.
  std::uint64_t kernels_ = 0;
  std::uint64_t predicted_ = 0;
  std::uint64_t predicted_by_size_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t untimed_instructions_ = 0;
  std::uint64_t skipped_workgroups_ = 0;
};

}  // namespace lacuna
