#include "models/gpu/device_energy.h"

#include <cmath>
#include <numeric>

namespace lacuna {

void DeviceEnergy::set_energies(const EnergyParameters& configured,
                                const std::function<EnergyParameters(const EnergyParameters&)>& of_machine) {
  energies_ = of_machine(configured.at_operating_point());
  low_energies_ = of_machine(configured.bound(EnergyBound::low).at_operating_point());
  high_energies_ = of_machine(configured.bound(EnergyBound::high).at_operating_point());
}

void DeviceEnergy::describe(const Describe& blocks) {
  blocks(meter_, energies_);
  blocks(low_, low_energies_);
  blocks(high_, high_energies_);
}

void DeviceEnergy::begin() {
  if (!low_.blocks().empty()) meter_.set_bounds(low_, high_);
  ledger_.emplace(meter_);
  trace_.emplace(meter_, interval_, [this](const PowerSample& sample) { sampled(sample); });
}

void DeviceEnergy::sampled(const PowerSample& sample) {
  ledger_->note_power(sample.begin, sample.total());
  if (sink_) sink_(sample);
}

void DeviceEnergy::finish(Tick at) {
  trace_->finish(at);
  ledger_->settle(at);
}

void DeviceEnergy::kernel_started(std::uint64_t kernel, Tick at) { ledger_->start(kernel, at); }

// An interval of the power trace that ends with the kernel belongs to the kernel.
KernelEnergy DeviceEnergy::kernel_ended(std::uint64_t kernel, Tick at, const UntimedWork& work) {
  const double half_width = work.kind != 0 ? add_untimed(kernel, at, work) : 0;
  trace_->advance(at);
  KernelEnergy energy = ledger_->end(kernel, at);
  energy.half_width = half_width;
  return energy;
}

// Adds the events of untimed instructions, in proportion to the work. Returns half the width of the confidence interval of the
// kernel's energy: the static energy of the time's half-width, and the untimed part's dynamic energy times the relative
// half-width of its time.
double DeviceEnergy::add_untimed(std::uint64_t kernel, Tick at, const UntimedWork& work) {
  const std::vector<double> counts = ledger_->counts_of(kernel, at);
  const auto all = static_cast<double>(work.instructions);
  const auto timed = static_cast<double>(work.instructions - work.untimed);
  LikeLaunch& like = launches_[work.kind];
  if (timed > 0) {
    like = {.counts = counts, .instructions = timed};
  } else if (like.instructions == 0) {
    return 0;
  }
  const double factor = timed > 0 ? all / timed - 1 : all / like.instructions;
  std::vector<std::uint64_t> estimated(counts.size());
  for (std::size_t i = 0; i < estimated.size(); ++i)
    estimated[i] = static_cast<std::uint64_t>(std::llround(like.counts[i] * factor));
  meter_.add_estimated(estimated);
  const std::vector<double> untimed(estimated.begin(), estimated.end());
  const std::vector<double> dynamic = meter_.joules(untimed, 0);
  const std::vector<double> constant = meter_.joules(std::vector<double>(counts.size()), work.half_width);
  return std::accumulate(dynamic.begin(), dynamic.end(), 0.0) * work.half_width_share +
         std::accumulate(constant.begin(), constant.end(), 0.0);
}

void DeviceEnergy::resolve(Tick end) {
  barrier_.resolve(end);
  trace_->advance(end);
}

}  // namespace lacuna
