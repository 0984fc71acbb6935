#include "models/common/math/spread.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace lacuna {
namespace {

constexpr std::size_t kMostNeeded = 1'000'000'000;

}  // namespace

double student_t(std::size_t degrees_of_freedom) {
  const boost::math::students_t distribution(static_cast<double>(degrees_of_freedom));
  return boost::math::quantile(boost::math::complement(distribution, 0.025));
}

void Spread::add(double value, double half_width) {
  min = samples == 0 ? value : std::min(min, value);
  max = samples == 0 ? value : std::max(max, value);
  ++samples;
  // Welford's method avoids cancellation if the values are large compared with their differences.
  const double distance = value - mean;
  mean += distance / static_cast<double>(samples);
  squares_ += distance * (value - mean);
  own_sum_ += half_width;
}

std::optional<double> Spread::deviation() const {
  if (samples < 2) return std::nullopt;
  return std::sqrt(squares_ / static_cast<double>(samples - 1));
}

std::optional<double> Spread::half_width() const {
  if (samples < 2) return own_sum_ > 0 ? std::optional(own_half_width()) : std::nullopt;
  const double of_samples = student_t(samples - 1) * *deviation() / std::sqrt(static_cast<double>(samples));
  return std::hypot(of_samples, own_half_width());
}

bool Spread::is_within(double share) const { return samples >= 2 && *half_width() <= share * std::fabs(mean); }

bool Spread::is_beyond(double share) const { return own_half_width() > share * std::fabs(mean); }

std::optional<std::size_t> Spread::needed(double share) const {
  if (samples < 2 || is_beyond(share)) return std::nullopt;
  const double wanted = share * std::fabs(mean);
  const double spread = *deviation();
  const double own = own_half_width();
  // As the number of samples n increases, t decreases and sqrt(n) increases: if n samples suffice, so do more.
  const auto is_enough = [&](std::size_t number) {
    return std::hypot(student_t(number - 1) * spread / std::sqrt(static_cast<double>(number)), own) <= wanted;
  };
  std::size_t enough = 2;
  while (!is_enough(enough)) {
    if (enough >= kMostNeeded) return std::nullopt;
    enough = std::min(2 * enough, kMostNeeded);
  }
  std::size_t least = std::max<std::size_t>(2, enough / 2);
  while (least < enough) {
    const std::size_t middle = least + (enough - least) / 2;
    if (is_enough(middle)) {
      enough = middle;
    } else {
      least = middle + 1;
    }
  }
  return enough;
}

bool Spread::overlaps(const Spread& other) const {
  return std::fabs(mean - other.mean) <= half_width().value_or(0) + other.half_width().value_or(0);
}

}  // namespace lacuna
