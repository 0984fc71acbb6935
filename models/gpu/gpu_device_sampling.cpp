// Sampled timing of the device's kernels.

#include <optional>
#include <string>

#include "models/gpu/gpu_device.h"
#include "models/sampling/kernel_sampler.h"
#include "models/sampling/untimed_unit.h"

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
  sampler_ = std::make_unique<KernelSampler>(parameters_.sampling, Clock(parameters_.gpu.core_clock), windows_, dispatcher_,
                                             unit_pointers(), *untimed_unit_,
                                             CodeCheck(vm_, parameters_.gpu.target, parameters_.mfma.codes(), may_wait));
}

}  // namespace lacuna
