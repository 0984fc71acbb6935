#include "models/sampling/sampled_time.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/common/math/spread.h"

namespace lacuna {

namespace {

/// Factor of a sample's standard error: its slices are not independent, since queues carry over from one slice to the next.
constexpr double kCorrelation = 1.5;
/// Largest standard error of a sample, as a share of its rate.
constexpr double kLargestError = 0.1;
/// Error of a part that no sample of its phase follows, as a share of its time.
constexpr double kUnconfirmed = 0.05;
/// Number of pairs of consecutive samples from which on their differences alone determine the error of a sample.
constexpr std::size_t kManyPairs = 4;

double rate(std::span<const TimedSlice> slices) {
  double cycles = 0;
  std::uint64_t instructions = 0;
  for (const TimedSlice& slice : slices) {
    cycles += slice.cycles;
    instructions += slice.instructions;
  }
  return static_cast<double>(instructions) / cycles;
}

}  // namespace

std::optional<TimeSample> steady_sample(std::span<const TimedSlice> slices, double tolerance) {
  Spread rates;
  std::uint64_t instructions = 0;
  for (const TimedSlice& slice : slices) {
    rates.add(static_cast<double>(slice.instructions) / slice.cycles);
    instructions += slice.instructions;
  }
  if (slices.size() < 4 || instructions == 0) return std::nullopt;
  const double mean = rate(slices);
  const std::size_t half = slices.size() / 2;
  const double drift = std::abs(rate(slices.last(half)) - rate(slices.first(half)));
  const double error = kCorrelation * *rates.deviation() / std::sqrt(static_cast<double>(slices.size()));
  // The difference of two halves has twice the error of the whole.
  if (error > kLargestError * mean || drift > std::max(tolerance * mean, 2 * error)) return std::nullopt;
  return TimeSample{.cycles_per_instruction = 1 / mean, .error = error / (mean * mean), .instructions = instructions};
}

std::uint64_t SampledTime::untimed() const { return std::accumulate(untimed_.begin(), untimed_.end(), std::uint64_t{0}); }

TimeEstimate SampledTime::estimate() const {
  TimeEstimate result;
  double variance = 0;     // variance of a sample, from differences of consecutive samples, times their number
  double squares = 0;      // sum of the squares of the samples' weights
  double own_errors = 0;   // sum of the squares of the samples' errors, from their slices, times their weights
  double unconfirmed = 0;  // time of the parts that no sample of their phase follows
  std::size_t pairs = 0;   // consecutive samples of a phase with an untimed part between them
  const std::size_t count = samples_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count || new_phase_[i + 1];
    const auto untimed = static_cast<double>(untimed_[i]);
    const double here = samples_[i].cycles_per_instruction;
    const double next = last ? here : samples_[i + 1].cycles_per_instruction;
    result.cycles += untimed * (here + next) / 2;
    if (last) {
      unconfirmed += untimed * here;
    } else if (untimed > 0) {
      variance += (next - here) * (next - here) / 2;
      ++pairs;
    }
    const double before = new_phase_[i] ? 0 : static_cast<double>(untimed_[i - 1]) / 2;
    const double after = last ? untimed : untimed / 2;
    const double square = (before + after) * (before + after);
    squares += square;
    own_errors += square * samples_[i].error * samples_[i].error;
  }
  if (count == 0) return result;
  double of_samples = pairs > 0 ? squares * variance / static_cast<double>(pairs) : 0;
  // Differences of few samples may be small by chance.
  if (pairs < kManyPairs) of_samples = std::max(of_samples, own_errors);
  const double t = student_t(std::max<std::size_t>(pairs, 3));
  const double doubt = static_cast<double>(doubtful_) * samples_.back().cycles_per_instruction;
  const double unseen = unseen_ * result.cycles + kUnconfirmed * unconfirmed + doubt;
  result.seen = t * std::sqrt(of_samples);
  result.half_width = std::hypot(result.seen, unseen);
  return result;
}

bool SampledTime::settled(double tolerance) const {
  if (samples_.size() < 2) return false;
  const TimeSample& a = samples_[samples_.size() - 2];
  const TimeSample& b = samples_.back();
  const double difference = std::abs(a.cycles_per_instruction - b.cycles_per_instruction);
  return difference <= std::max(tolerance * b.cycles_per_instruction, 2 * (a.error + b.error));
}

}  // namespace lacuna
