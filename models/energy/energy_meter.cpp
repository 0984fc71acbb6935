#include "models/energy/energy_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace lacuna {

std::size_t EnergyMeter::block(std::string_view name) {
  const auto found = std::find(blocks_.begin(), blocks_.end(), name);
  if (found != blocks_.end()) return static_cast<std::size_t>(found - blocks_.begin());
  blocks_.emplace_back(name);
  watts_.push_back(0);
  for (std::vector<double>& watts : kinds_) watts.push_back(0);
  return blocks_.size() - 1;
}

void EnergyMeter::add(std::string_view block_name, std::string_view event, const std::uint64_t& counter, double picojoules,
                      DataKind data) {
  // Written such that it also rejects NaN.
  if (!(picojoules >= 0))
    throw std::invalid_argument(fmt::format("{}.{}: {} pJ is not a valid energy", block_name, event, picojoules));
  const std::size_t of = block(block_name);
  const Measured& measured = measured_[static_cast<std::size_t>(data)];
  const double of_data = measured.toggles ? picojoules * measured.share : 0;
  picojoules -= of_data;
  auto known = std::find_if(events_.begin(), events_.end(), [&](const Event& e) { return e.block == of && e.name == event; });
  if (known == events_.end()) {
    const std::size_t base = events_.size();
    events_.push_back({of, std::string(event), picojoules});
    if (measured.toggles) {
      events_.push_back({of, std::string(event) + "_data", of_data});
      weighted_.push_back({.event = base + 1, .base = base, .data = data});
    }
    known = events_.begin() + static_cast<std::ptrdiff_t>(base);
  } else if (known->picojoules != picojoules) {
    throw std::logic_error(fmt::format("{}.{} costs both {} and {} pJ", block_name, event, known->picojoules, picojoules));
  }
  sources_.push_back({&counter, static_cast<std::size_t>(known - events_.begin())});
}

void EnergyMeter::measure(DataKind kind, double share, std::function<ToggleCount()> toggles) {
  Measured& measured = measured_[static_cast<std::size_t>(kind)];
  measured.share = share;
  measured.toggles = std::move(toggles);
}

// Counts of data events never decrease, nor do the counts of the events to which they belong.
void EnergyMeter::weigh(Counts& counts) const {
  if (weighted_.empty()) return;
  constexpr double kRandomBits = 16;  // mean number of changed bits per word of 32 bits in random data
  for (Measured& measured : measured_) {
    if (!measured.toggles) continue;
    const ToggleCount now = measured.toggles();
    if (now.words != measured.last.words)
      measured.ratio = static_cast<double>(now.bits - measured.last.bits) /
                       (static_cast<double>(now.words - measured.last.words) * kRandomBits);
    measured.last = now;
  }
  for (Weighted& weighted : weighted_) {
    const std::uint64_t now = counts[weighted.base];
    if (now > weighted.last) {
      weighted.count += static_cast<double>(now - weighted.last) * measured_[static_cast<std::size_t>(weighted.data)].ratio;
      weighted.last = now;
    }
    counts[weighted.event] += static_cast<std::uint64_t>(weighted.count);
  }
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
  static_bounds_.clear();
  for (std::size_t i = 0; i < blocks_.size(); ++i) static_bounds_.push_back({low.watts_[i], high.watts_[i]});
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

void EnergyMeter::begin_discarding() { before_discarding_ = counts(); }

void EnergyMeter::end_discarding() {
  const Counts after = counts();
  discarded_.resize(after.size());
  for (std::size_t i = 0; i < after.size(); ++i) discarded_[i] += after[i] - before_discarding_[i];
}

EnergyMeter::Counts EnergyMeter::counts() const {
  for (const auto& update : updates_) update();
  Counts counts(events_.size());
  for (const Source& source : sources_) {
    if (source.spared) {
      counts[source.event] -= *source.counter;
    } else {
      counts[source.event] += *source.counter;
    }
  }
  weigh(counts);
  for (std::size_t i = 0; i < estimated_.size(); ++i) counts[i] += estimated_[i];
  for (std::size_t i = 0; i < discarded_.size(); ++i) counts[i] -= discarded_[i];
  return counts;
}

std::vector<double> EnergyMeter::joules(std::span<const double> counts, double picoseconds) const {
  std::vector<double> sum(blocks_.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i) sum[i] = watts_[i] * picoseconds * 1e-12;
  for (std::size_t i = 0; i < events_.size(); ++i) sum[events_[i].block] += counts[i] * events_[i].picojoules * 1e-12;
  return sum;
}

std::vector<EnergyBounds> EnergyMeter::bounds(std::span<const double> counts, double picoseconds) const {
  std::vector<EnergyBounds> blocks;
  blocks.reserve(blocks_.size());
  if (static_bounds_.empty()) {
    for (const double exact : joules(counts, picoseconds)) blocks.push_back({exact, exact});
    return blocks;
  }
  for (const EnergyBounds& watts : static_bounds_)
    blocks.push_back({watts.low * picoseconds * 1e-12, watts.high * picoseconds * 1e-12});
  for (std::size_t i = 0; i < events_.size(); ++i)
    blocks[events_[i].block] += {counts[i] * event_bounds_[i].low * 1e-12, counts[i] * event_bounds_[i].high * 1e-12};
  return blocks;
}

}  // namespace lacuna
