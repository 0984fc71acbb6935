// Sampled timing of the device's kernels.

#include <algorithm>
#include <optional>
#include <string>

#include "models/gpu/gpu_device.h"
#include "models/sampling/kernel_sampler.h"
#include "models/sampling/skipped_results.h"
#include "models/sampling/untimed_units.h"

namespace lacuna {

namespace {

// Returns why an instruction may wait for other workgroups, which a sampled kernel must not do: it sleeps, or reads data from
// beyond the L1.
std::optional<std::string> may_wait(const isa::Instruction& instruction) {
  if (instruction.latency == isa::LatencyClass::sleep) return "sleeps";
  if (instruction.unit == isa::Unit::vmem && instruction.mem.glc && instruction.destinations != 0) return "bypasses the L1";
  return std::nullopt;
}

}  // namespace

void GpuDevice::build_sampler() {
  constexpr Cycles kMany{1'000'000};
  const std::uint64_t bytes = parameters_.l2.size.n * l2_.size();
  const Cycles l2_refill{bytes * kMany.n / std::max<std::uint64_t>(1, reachable_dram_bytes(kMany))};
  skipped_results_ = std::make_unique<SkippedResults>(vm_, parameters_.gpu.target);
  cp_->packets.add_dispatch_check(*skipped_results_);
  sampler_ = std::make_unique<KernelSampler>(
      parameters_.sampling, Clock(parameters_.gpu.core_clock), windows_, dispatcher_, unit_pointers(), *untimed_units_,
      *skipped_results_, vm_, CodeCheck(vm_, parameters_.gpu.target, parameters_.mfma.codes(), may_wait), l2_refill);
  if (energy_ == nullptr) return;
  sampler_->set_untimed_listener([this](bool untimed) {
    EnergyMeter& meter = energy_->meter();
    untimed ? meter.begin_discarding() : meter.end_discarding();
  });
}

}  // namespace lacuna
