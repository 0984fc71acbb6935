// Estimate of the time of a kernel's parts that ran without timing, from the parts that were timed.
//
//   timed      untimed        timed      untimed               timed
//   |~~~~####|--------------|~~~~####|---------------------|~~~~####| ...
//    settle   sample 0       settle   sample 1               settle   sample 2
//
// A sample is a sequence of slices of about equal length, each with a time per instruction. The estimated time of an untimed
// part is its number of instructions times the mean of the samples before and after it. The error of the sum follows from the
// differences of consecutive samples, and from those of the slices within a sample.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lacuna {

/// A slice of simulated time.
struct TimedSlice {
  double cycles = 0;
  std::uint64_t instructions = 0;  ///< wavefront instructions
};

/// Time per instruction in a steady state.
struct TimeSample {
  double cycles_per_instruction = 0;
  double error = 0;  ///< standard error of the mean, from the spread of the slices
  std::uint64_t instructions = 0;
};

/// The sample that consists of `slices`; nullopt if there are fewer than four, if their rate drifts or spreads too much, or if
/// they have no instructions. `tolerance`: difference between the rates of the first and the second half, as a share, up to
/// which the rate is considered steady, unless twice the standard error is larger.
std::optional<TimeSample> steady_sample(std::span<const TimedSlice> slices, double tolerance);

struct TimeEstimate {
  double cycles = 0;
  double half_width = 0;  ///< half of the 95 % confidence interval
  double seen = 0;        ///< of these, the half-width that follows from samples alone: more or longer samples make it smaller
};

class SampledTime {
 public:
  /// `unseen`: error that samples cannot show, as a share of the untimed parts' time.
  explicit SampledTime(double unseen) : unseen_(unseen) {}

  /// `new_phase`: the rate may differ from that of the samples before it, for example because fewer wavefronts are resident.
  /// The part before it is estimated without it.
  void add(const TimeSample& sample, bool new_phase = false) {
    samples_.push_back(sample);
    untimed_.push_back(0);
    new_phase_.push_back(new_phase || samples_.size() == 1);
  }
  /// Adds instructions that ran without timing after the latest sample. Requires a sample.
  void add_untimed(std::uint64_t instructions) { untimed_.back() += instructions; }

  /// Marks untimed instructions as unlike the sample: their time may be anything from 0 to twice the estimate.
  void doubt(std::uint64_t instructions) { doubtful_ += instructions; }

  const std::vector<TimeSample>& samples() const { return samples_; }
  std::uint64_t untimed() const;
  /// Time of all untimed parts so far.
  TimeEstimate estimate() const;
  /// Whether the latest two samples agree, within `tolerance` or their errors.
  bool settled(double tolerance) const;

 private:
  double unseen_;
  std::uint64_t doubtful_ = 0;
  std::vector<TimeSample> samples_;
  std::vector<std::uint64_t> untimed_;  ///< instructions after each sample
  std::vector<bool> new_phase_;         ///< whether a sample is the first one of a phase
};

}  // namespace lacuna
