#include "models/gpu/device_energy.h"

namespace lacuna {

void DeviceEnergy::begin() {
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
KernelEnergy DeviceEnergy::kernel_ended(std::uint64_t kernel, Tick at) {
  trace_->advance(at);
  return ledger_->end(kernel, at);
}

void DeviceEnergy::resolve(Tick end) {
  barrier_.resolve(end);
  trace_->advance(end);
}

}  // namespace lacuna
