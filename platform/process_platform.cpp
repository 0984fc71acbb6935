#include "platform/process_platform.h"

#include <algorithm>
#include <ostream>
#include <string>

namespace lacuna {

ProcessPlatform::ProcessPlatform(sc_core::sc_module_name module_name, const PlatformParameters& parameters)
    : sc_module(module_name), threads_(parameters.threads(), parameters.thread_sharing()) {
  for (const isa::Target target : parameters.rocm.targets(parameters.gpu.gpu.target)) {
    const std::string number = std::to_string(gpus_.size());
    GpuDeviceParameters device = parameters.gpu;
    device.gpu.target = target;
    auto gpu = std::make_unique<Gpu>();
    gpu->device = std::make_unique<GpuDevice>(("gpu" + number).c_str(), device, &threads_);
    gpu->link = std::make_unique<HostLink>(("host_link" + number).c_str(), parameters.host_link);
    gpu->interrupt = std::make_unique<sc_core::sc_signal<bool>>(("interrupt" + number).c_str());
    gpu->registers = std::make_unique<tlm_utils::simple_initiator_socket<ProcessPlatform>>(("registers" + number).c_str());
    gpu->device->host().bind(gpu->link->bus);
    gpu->device->count_with_copies(gpu->link->basename(),
                                   [&link = *gpu->link](StatisticsGroup& group) { link.statistics().describe(group); });
    if (DeviceEnergy* const energy = gpu->device->energy())
      energy->describe([&link = *gpu->link](EnergyMeter& meter, const EnergyParameters& energies) {
        link.describe_energy(meter, energies.host_link);
      });
    gpu->device->interrupt().bind(*gpu->interrupt);
    gpu->registers->bind(gpu->device->mmio());
    gpus_.push_back(std::move(gpu));
  }
}

std::uint64_t ProcessPlatform::progress() const {
  std::uint64_t sum = 0;
  for (const auto& gpu : gpus_) sum += gpu->device->progress();
  return sum;
}

std::uint64_t ProcessPlatform::wavefront_instructions() const {
  std::uint64_t sum = 0;
  for (const auto& gpu : gpus_) sum += gpu->device->wavefront_instructions();
  return sum;
}

bool ProcessPlatform::idle() const {
  return std::all_of(gpus_.begin(), gpus_.end(), [](const auto& gpu) { return gpu->device->idle(); });
}

bool ProcessPlatform::waits_for_memory() const {
  return std::none_of(gpus_.begin(), gpus_.end(), [](const auto& gpu) { return gpu->device->busy(); });
}

bool ProcessPlatform::polled_after(Tick time) const {
  return std::all_of(gpus_.begin(), gpus_.end(), [time](const auto& gpu) { return gpu->device->polled_after(time); });
}

void ProcessPlatform::diagnose(std::ostream& out) const {
  for (const auto& gpu : gpus_) {
    out << ' ' << gpu->device->basename() << ":\n";
    gpu->device->diagnose(out);
  }
}

void ProcessPlatform::describe_statistics(StatisticsGroup& root) const {
  for (const auto& gpu : gpus_) {
    gpu->device->describe_statistics(root.group(gpu->device->basename()));
    gpu->link->statistics().describe(root.group(gpu->link->basename()));
    gpu->device->add_copies_to(root);
  }
}

}  // namespace lacuna
