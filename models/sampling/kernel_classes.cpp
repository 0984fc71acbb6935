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
// Minimum number of timed launches for a family to predict: two determine the line, the others its interval.
constexpr std::size_t kFewestOfFamily = 5;
// Number of timed launches that a family's line goes through: sizes that are far from the next one may fit other caches.
constexpr std::size_t kLatestOfFamily = 10;
// Minimum half-width of a family's prediction. A launch finds other data in the caches than launches of its size would: in
// Needleman-Wunsch, diagonals that become shorter take 2 to 8 % less time than those of the same length that become longer.
constexpr double kLeastHalfWidthOfFamily = 0.05;
// Longest number of predictions of a family between checks: its launches have no size in common.
constexpr std::uint64_t kLongestPeriodOfFamily = 32;
// A family predicts launches whose instructions are known from the number of workgroups within this share (95 % interval).
constexpr double kPredictableWork = 0.1;

}  // namespace

std::uint64_t KernelClasses::find(const KernelKey& key, std::uint64_t family) {
  const auto [place, added] = numbers_.try_emplace(key, classes_.size() + 1);
  if (added) classes_.emplace_back().family = family;
  return place->second;
}

std::uint64_t KernelClasses::find_family(const KernelKey& key) {
  const std::uint64_t number = find(key);
  classes_[number - 1].is_family = true;
  return number;
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

KernelClasses::Lines KernelClasses::lines_of(const Class& family) {
  Lines lines;
  double squares = 0;
  for (const TimedLaunch& launch : family.latest) {
    const auto instructions = static_cast<double>(launch.instructions);
    lines.cycles_by_instructions.add(instructions, launch.cycles);
    lines.instructions_by_workgroups.add(static_cast<double>(launch.workgroups), instructions);
    squares += launch.half_width * launch.half_width;
  }
  if (!family.latest.empty()) lines.own_half_width = std::sqrt(squares / static_cast<double>(family.latest.size()));
  return lines;
}

// The part of the work that is less or more than that of the timed launches may take any time from 0 to twice that of the line:
// its data may fit a cache, or no longer.
KernelPrediction KernelClasses::on_line(const Lines& lines, double instructions) {
  const LinearFit& line = lines.cycles_by_instructions;
  const double cycles = line.at(instructions);
  const double known = std::max({line.half_width_of_one(instructions), lines.own_half_width, kLeastHalfWidthOfFamily * cycles});
  return {.cycles = cycles,
          .half_width = std::hypot(known, line.slope() * line.beyond(instructions)),
          .instructions = instructions,
          .of_family = true};
}

std::optional<KernelPrediction> KernelClasses::prediction_of(const Class& family, double workgroups) const {
  if (family.latest.size() < kFewestOfFamily) return std::nullopt;
  const Lines lines = lines_of(family);
  const double instructions = lines.instructions_by_workgroups.at(workgroups);
  if (lines.instructions_by_workgroups.half_width_of_one(workgroups) > kPredictableWork * instructions) return std::nullopt;
  const KernelPrediction prediction = on_line(lines, instructions);
  const LinearFit& line = lines.cycles_by_instructions;
  const double unseen = line.slope() * line.beyond(instructions);
  if (std::hypot(line.half_width(instructions), unseen / 2) > error_ * prediction.cycles) return std::nullopt;
  return prediction;
}

bool KernelClasses::predicts(std::uint64_t number) const {
  if (number == kNever) return false;
  const Class& c = classes_[number - 1];
  const auto of_family = [this](const Class& family) {
    return prediction_of(family, lines_of(family).instructions_by_workgroups.mean_x()).has_value();
  };
  if (c.is_family) return of_family(c);
  return prediction_of(c) || (c.family != 0 && of_family(classes_[c.family - 1]));
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

std::optional<KernelPrediction> KernelClasses::predict(std::uint64_t number, std::uint64_t workgroups) {
  if (checks_now()) return std::nullopt;
  std::optional<KernelPrediction> prediction = prediction_of(classes_[number - 1]);
  std::uint64_t by = number;
  if (const std::uint64_t family = classes_[number - 1].family; !prediction && family != 0) {
    prediction = prediction_of(classes_[family - 1], static_cast<double>(workgroups));
    by = family;
  }
  if (!prediction) return std::nullopt;
  prediction->number = by;
  Class& c = classes_[by - 1];
  if (c.successor != 0 && !predicts(c.successor)) return std::nullopt;
  if (c.period == 0) c.period = kFirstPeriod;
  if (c.predicted >= c.period) {
    c.checks = kChecks;
    checking_ = by;
    launches_of_check_ = 0;
    c.predicted = 0;
    c.period = std::min(c.period * 2, c.is_family ? kLongestPeriodOfFamily : kLongestPeriod);
    return std::nullopt;
  }
  ++c.predicted;
  return prediction;
}

void KernelClasses::restart(Class& c) {
  Class fresh;
  fresh.is_family = c.is_family;
  fresh.family = c.family;
  c = fresh;
}

void KernelClasses::add(std::uint64_t number, const TimedLaunch& launch) {
  Class& c = classes_[number - 1];
  if (c.checks > 0) {
    if (--c.checks > 0) return;
    checking_ = 0;
  }
  if (!launch.comparable) return;
  const auto instructions = static_cast<double>(launch.instructions);
  const auto workgroups = static_cast<double>(launch.workgroups);
  // A line says what a launch with as many instructions takes, a class knows launches with the same ones only.
  std::optional<KernelPrediction> prediction = c.is_family ? prediction_of(c, workgroups) : prediction_of(c);
  if (prediction && c.is_family) prediction = on_line(lines_of(c), instructions);
  if (prediction) {
    const double difference = std::abs(launch.cycles - prediction->cycles);
    if (difference > std::max(prediction->half_width, kCheckedDifference * prediction->cycles) + launch.half_width) restart(c);
  }
  // The first launch may have found cold caches. That of a family cannot be compared with the second, which has other work.
  const bool is_cold = c.is_family ? c.latest.empty()
                                   : c.cycles.samples == 1 && std::abs(launch.cycles - c.cycles.mean) > error_ * launch.cycles;
  if (is_cold && !c.restarted) {
    restart(c);
    c.restarted = true;
    if (c.is_family) return;
  }
  if (c.is_family) {
    if (c.latest.size() == kLatestOfFamily) c.latest.erase(c.latest.begin());
    c.latest.push_back(launch);
    return;
  }
  c.cycles.add(launch.cycles);
  c.instructions.add(instructions);
  c.own_half_widths += launch.half_width * launch.half_width;
}

KernelPrediction KernelClasses::executed(const KernelPrediction& prediction, std::uint64_t instructions) {
  Class& c = classes_[prediction.number - 1];
  const double ratio = static_cast<double>(instructions) / prediction.instructions;
  const double difference = std::abs(ratio - 1);
  KernelPrediction final = prediction;
  final.instructions = static_cast<double>(instructions);
  if (prediction.of_family) {
    final = on_line(lines_of(c), static_cast<double>(instructions));
    final.number = prediction.number;
    if (final.cycles > 0) return final;
  } else {
    if (difference <= kSameWork) return prediction;
    restart(c);
  }
  final.cycles = prediction.cycles * ratio;
  final.half_width = prediction.half_width * ratio + difference * final.cycles;
  return final;
}

}  // namespace lacuna
