#include "models/energy/energy_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace lacuna {

std::size_t EnergyMeter::block(std::string_view name) {
  const auto found = std::find(blocks_.begin(), blocks_.end(), name);
  if (found != blocks_.end()) return static_cast<std::size_t>(found - blocks_.begin());
  blocks_.emplace_back(name);
  watts_.push_back(0);
  for (std::vector<double>& watts : kinds_) watts.push_back(0);
  return blocks_.size() - 1;
}

void EnergyMeter::add(std::string_view block_name, std::string_view event, const std::uint64_t& counter, double picojoules) {
  // Written such that it also rejects NaN.
  if (!(picojoules >= 0))
    throw std::invalid_argument(fmt::format("{}.{}: {} pJ is not a valid energy", block_name, event, picojoules));
  const std::size_t of = block(block_name);
  auto known = std::find_if(events_.begin(), events_.end(), [&](const Event& e) { return e.block == of && e.name == event; });
  if (known == events_.end()) {
    known = events_.insert(events_.end(), {of, std::string(event), picojoules});
  } else if (known->picojoules != picojoules) {
    throw std::logic_error(fmt::format("{}.{} costs both {} and {} pJ", block_name, event, known->picojoules, picojoules));
  }
  sources_.push_back({&counter, static_cast<std::size_t>(known - events_.begin())});
}

void EnergyMeter::add_static(std::string_view block_name, double watts, StaticPower kind) {
  if (!(watts >= 0)) throw std::invalid_argument(fmt::format("{}: {} W is not a valid power", block_name, watts));
  const std::size_t of = block(block_name);
  watts_[of] += watts;
  kinds_[static_cast<std::size_t>(kind)][of] += watts;
}

void EnergyMeter::set_bounds(const EnergyMeter& low, const EnergyMeter& high) {
  const auto same = [](const Event& a, const Event& b) { return a.block == b.block && a.name == b.name; };
  for (const EnergyMeter* other : {&low, &high}) {
    if (other->blocks_ != blocks_ ||
        !std::equal(events_.begin(), events_.end(), other->events_.begin(), other->events_.end(), same))
      throw std::logic_error("energy: bounds of other events");
  }
  event_bounds_.clear();
  for (std::size_t i = 0; i < events_.size(); ++i)
    event_bounds_.push_back({low.events_[i].picojoules, high.events_[i].picojoules});
  static_bounds_ = {std::accumulate(low.watts_.begin(), low.watts_.end(), 0.0),
                    std::accumulate(high.watts_.begin(), high.watts_.end(), 0.0)};
}

void EnergyMeter::count_also(const std::uint64_t& counter, const std::uint64_t& amount) {
  const std::size_t known = sources_.size();
  for (std::size_t i = 0; i < known; ++i) {
    if (sources_[i].counter == &counter) sources_.push_back({&amount, sources_[i].event});
  }
}

void EnergyMeter::spare(std::string_view block_name, std::string_view event, const std::uint64_t& amount) {
  const std::size_t of = block(block_name);
  const auto known =
      std::find_if(events_.begin(), events_.end(), [&](const Event& e) { return e.block == of && e.name == event; });
  if (known == events_.end()) throw std::logic_error(fmt::format("{}.{}: no such event", block_name, event));
  sources_.push_back({&amount, static_cast<std::size_t>(known - events_.begin()), true});
}

void EnergyMeter::add_estimated(std::span<const std::uint64_t> counts) {
  estimated_.resize(events_.size());
  for (std::size_t i = 0; i < counts.size(); ++i) estimated_[i] += counts[i];
}

EnergyMeter::Counts EnergyMeter::counts() const {
  for (const auto& update : updates_) update();
  Counts counts = estimated_;
  counts.resize(events_.size());
  for (const Source& source : sources_) {
    if (source.spared) {
      counts[source.event] -= *source.counter;
    } else {
      counts[source.event] += *source.counter;
    }
  }
  return counts;
}

std::vector<double> EnergyMeter::joules(std::span<const double> counts, double picoseconds) const {
  std::vector<double> sum(blocks_.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i) sum[i] = watts_[i] * picoseconds * 1e-12;
  for (std::size_t i = 0; i < events_.size(); ++i) sum[events_[i].block] += counts[i] * events_[i].picojoules * 1e-12;
  return sum;
}

EnergyBounds EnergyMeter::bounds(std::span<const double> counts, double picoseconds) const {
  if (event_bounds_.empty()) {
    const std::vector<double> blocks = joules(counts, picoseconds);
    const double total = std::accumulate(blocks.begin(), blocks.end(), 0.0);
    return {total, total};
  }
  EnergyBounds sum{static_bounds_.low * picoseconds * 1e-12, static_bounds_.high * picoseconds * 1e-12};
  for (std::size_t i = 0; i < events_.size(); ++i)
    sum += {counts[i] * event_bounds_[i].low * 1e-12, counts[i] * event_bounds_[i].high * 1e-12};
  return sum;
}

}  // namespace lacuna
