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
/// Error of a part that no sample follows, as a share of its time.
constexpr double kUnconfirmed = 0.05;

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
  double variance = 0;   // variance of a sample, from differences of consecutive samples
  double squares = 0;    // sum of the squares of the samples' weights
  double own_error = 0;  // squared error of a sample, from its slices
  const std::size_t count = samples_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    const double here = samples_[i].cycles_per_instruction;
    const double next = last ? here : samples_[i + 1].cycles_per_instruction;
    result.cycles += static_cast<double>(untimed_[i]) * (here + next) / 2;
    if (!last) variance += (next - here) * (next - here) / 2;
    const double before = i == 0 ? 0 : static_cast<double>(untimed_[i - 1]) / 2;
    const double after = static_cast<double>(untimed_[i]) / (last ? 1 : 2);
    squares += (before + after) * (before + after);
    own_error += samples_[i].error * samples_[i].error;
  }
  if (count == 0) return result;
  own_error /= static_cast<double>(count);
  if (count > 1) variance /= static_cast<double>(count - 1);
  const double t = student_t(std::max<std::size_t>(count - 1, 3));
  const double unconfirmed = kUnconfirmed * static_cast<double>(untimed_.back()) * samples_.back().cycles_per_instruction;
  const double doubt = static_cast<double>(doubtful_) * samples_.back().cycles_per_instruction;
  const double unseen = unseen_ * result.cycles + unconfirmed + doubt;
  const double seen = t * std::sqrt(squares * std::max(variance, own_error));
  result.half_width = std::sqrt(seen * seen + unseen * unseen);
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
