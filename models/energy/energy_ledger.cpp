#include "models/energy/energy_ledger.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace lacuna {

EnergyShare& EnergyShare::operator+=(const EnergyShare& other) {
  if (counts.size() < other.counts.size()) counts.resize(other.counts.size());
  for (std::size_t i = 0; i < other.counts.size(); ++i) counts[i] += other.counts[i];
  picoseconds += other.picoseconds;
  return *this;
}

EnergyLedger::EnergyLedger(const EnergyMeter& meter) : meter_(meter), first_(meter.counts()), last_(first_) {
  kernels_.counts.resize(first_.size());
  idle_.counts.resize(first_.size());
}

void EnergyLedger::settle(Tick at) {
  at = later(at, until_);
  EnergyMeter::Counts now = meter_.counts();
  EnergyShare part;
  // Exact if at most one kernel runs: integers, divided by 1.
  const auto sharers = static_cast<double>(std::max<std::size_t>(running_.size(), 1));
  for (std::size_t i = 0; i < now.size(); ++i) part.counts.push_back(static_cast<double>(now[i] - last_[i]) / sharers);
  part.picoseconds = static_cast<double>((at - until_).ps) / sharers;
  if (running_.empty()) idle_ += part;
  for (Running& running : running_) running.share += part;
  last_ = std::move(now);
  until_ = at;
}

void EnergyLedger::start(std::uint64_t kernel, Tick at) {
  settle(at);
  running_.push_back({.kernel = kernel, .start = at, .share = {}});
}

std::vector<EnergyLedger::Running>::iterator EnergyLedger::find(std::uint64_t kernel) {
  const auto found = std::find_if(running_.begin(), running_.end(), [&](const Running& r) { return r.kernel == kernel; });
  if (found == running_.end()) throw std::logic_error("energy of kernel " + std::to_string(kernel) + ", which does not run");
  return found;
}

std::vector<double> EnergyLedger::counts_of(std::uint64_t kernel, Tick at) {
  settle(at);
  return find(kernel)->share.counts;
}

KernelEnergy EnergyLedger::end(std::uint64_t kernel, Tick at) {
  const auto found = find(kernel);
  settle(at);
  kernels_ += found->share;
  KernelEnergy energy{.joules = meter_.joules(found->share.counts, found->share.picoseconds),
                      .bounds = meter_.bounds(found->share.counts, found->share.picoseconds),
                      .peak_watts = found->peak_watts};
  const double seconds = at > found->start ? static_cast<double>((at - found->start).ps) * 1e-12 : 0;
  if (seconds > 0) energy.peak_watts = std::max(energy.peak_watts, energy.total() / seconds);
  running_.erase(found);
  return energy;
}

void EnergyLedger::note_power(Tick begin, double watts) {
  for (Running& running : running_) {
    if (running.start <= begin) running.peak_watts = std::max(running.peak_watts, watts);
  }
}

EnergyShare EnergyLedger::whole() const {
  EnergyShare whole;
  for (std::size_t i = 0; i < last_.size(); ++i) whole.counts.push_back(static_cast<double>(last_[i] - first_[i]));
  whole.picoseconds = static_cast<double>(until_.ps);
  return whole;
}

}  // namespace lacuna
