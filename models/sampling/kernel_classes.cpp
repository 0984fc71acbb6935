#include "models/sampling/kernel_classes.h"

#include <algorithm>
#include <cmath>

namespace lacuna {

namespace {

constexpr std::uint64_t kFirstPeriod = 16;  // number of predictions before the first check
constexpr std::uint64_t kLongestPeriod = 4096;
// Launches of the class that are timed for a check. The first one starts with the caches as an untimed launch has left them,
// and is not compared. Until the second launch, all launches of other classes are timed as well.
constexpr unsigned kChecks = 2;
// A check ends without a result after this number of launches of any class.
constexpr unsigned kLongestCheck = 256;
// Minimum half-width of a prediction's interval, relative to the predicted time. Times depend on the phases of DRAM refresh and
// of SIMD turns in which launches start (docs/guide/timing.md): by 0.3 to 3.8 % over 16 starts of ten workloads. Three launches
// may by chance start in the same phases.
constexpr double kLeastHalfWidth = 0.03;
// Minimum difference, relative to the predicted time, at which a timed launch restarts its class.
constexpr double kCheckedDifference = 0.04;
constexpr double kSameWork = 0.01;  // maximum difference of instruction counts, relative

}  // namespace

std::uint64_t KernelClasses::find(const KernelKey& key) {
  const auto [place, added] = numbers_.try_emplace(key, classes_.size() + 1);
  if (added) classes_.emplace_back();
  return place->second;
}

std::optional<KernelPrediction> KernelClasses::prediction_of(const Class& c) const {
  if (c.cycles.samples < kFewest || c.cycles.mean <= 0) return std::nullopt;
  if (c.instructions.max - c.instructions.min > kSameWork * c.instructions.mean) return std::nullopt;
  const auto n = static_cast<double>(c.cycles.samples);
  const double own = std::sqrt(c.own_half_widths / n);
  const double of_mean = *c.cycles.half_width();
  if (std::max(of_mean, own / std::sqrt(n)) > error_ * c.cycles.mean) return std::nullopt;
  const double of_one = of_mean * std::sqrt(n + 1);
  return KernelPrediction{.cycles = c.cycles.mean,
                          .half_width = std::max({of_one, own, kLeastHalfWidth * c.cycles.mean}),
                          .instructions = c.instructions.mean};
}

bool KernelClasses::checks_now() {
  if (checking_ == 0) return false;
  if (++launches_of_check_ <= kLongestCheck) return true;
  classes_[checking_ - 1].checks = 0;
  checking_ = 0;
  return false;
}

void KernelClasses::follows(std::uint64_t number, std::uint64_t before) {
  if (number != before && !predicts(number)) classes_[before - 1].successor = number;
}

std::optional<KernelPrediction> KernelClasses::predict(std::uint64_t number) {
  if (checks_now()) return std::nullopt;
  Class& c = classes_[number - 1];
  const std::optional<KernelPrediction> prediction = prediction_of(c);
  if (!prediction) return std::nullopt;
  if (c.successor != 0 && !predicts(c.successor)) return std::nullopt;
  if (c.period == 0) c.period = kFirstPeriod;
  if (c.predicted >= c.period) {
    c.checks = kChecks;
    checking_ = number;
    launches_of_check_ = 0;
    c.predicted = 0;
    c.period = std::min(c.period * 2, kLongestPeriod);
    return std::nullopt;
  }
  ++c.predicted;
  return prediction;
}

void KernelClasses::add(std::uint64_t number, double cycles, double half_width, std::uint64_t instructions, bool comparable) {
  Class& c = classes_[number - 1];
  if (c.checks > 0) {
    if (--c.checks > 0) return;
    checking_ = 0;
  }
  if (!comparable) return;
  if (const auto prediction = prediction_of(c)) {
    const double difference = std::abs(cycles - prediction->cycles);
    if (difference > std::max(prediction->half_width, kCheckedDifference * prediction->cycles) + half_width) c = {};
  }
  // The first launch may have found cold caches.
  if (c.cycles.samples == 1 && !c.restarted && std::abs(cycles - c.cycles.mean) > error_ * cycles) {
    c = {};
    c.restarted = true;
  }
  c.cycles.add(cycles);
  c.instructions.add(static_cast<double>(instructions));
  c.own_half_widths += half_width * half_width;
}

KernelPrediction KernelClasses::executed(std::uint64_t number, const KernelPrediction& prediction, std::uint64_t instructions) {
  const double ratio = static_cast<double>(instructions) / prediction.instructions;
  const double difference = std::abs(ratio - 1);
  if (difference <= kSameWork) return prediction;
  classes_[number - 1] = {};
  const double cycles = prediction.cycles * ratio;
  return {.cycles = cycles,
          .half_width = prediction.half_width * ratio + difference * cycles,
          .instructions = prediction.instructions};
}

}  // namespace lacuna
