#include "models/sida/device/sida_extension.h"

#include <fmt/format.h>

#include <algorithm>

namespace lacuna {
namespace {

/// Size of a request in bytes: the size of an L2 line, but at most the number of bytes that a ByteMask covers.
unsigned line_bytes(const GpuDeviceParameters& device) {
  return static_cast<unsigned>(std::min<std::uint64_t>(device.l2.line.n, ByteMask::kBytes));
}

}  // namespace

void SidaParameterSet::check(const GpuDeviceParameters& device, std::vector<std::string>& problems) const {
  if (sida.path != SidaPath::fabric && ports(device) != device.gpu.memory_partitions)
    problems.push_back(fmt::format(
        "sida.ports = {}: with sida.path = l2 or dram each memory partition has one; set 0, or gpu.memory_partitions = {}",
        sida.ports, device.gpu.memory_partitions));
}

ExtensionNodes SidaParameterSet::nodes(const GpuDeviceParameters& device) const {
  ExtensionNodes nodes;
  if (sida.path == SidaPath::fabric) nodes.units = ports(device);
  return nodes;
}

std::unique_ptr<DeviceExtension> SidaParameterSet::make(const GpuDeviceParameters& device) const {
  return std::make_unique<SidaExtension>(*this, device);
}

SidaExtension::SidaExtension(const SidaParameterSet& parameters, const GpuDeviceParameters& device)
    : path_(parameters.sida.path),
      partitions_(device.gpu.memory_partitions),
      tlb_parameters_(device.l1_tlb),
      accelerator_("sida", parameters.sida,
                   {.core_clock = Clock(device.gpu.core_clock),
                    .mode = device.gpu.timing,
                    .ports = parameters.ports(device),
                    .line_bytes = line_bytes(device),
                    .page_bytes = device.l1_tlb.page.n,
                    .request = parameters.sida.path == SidaPath::dram ? RequestKind::direct : RequestKind::vector}) {}

void SidaExtension::attach_code(const GpuVm& vm, isa::DecodedCode&) { accelerator_.attach(vm); }

Tlb* SidaExtension::attach_translation(TranslationLevel& l2_tlb) {
  tlb_ = std::make_unique<Tlb>(tlb_parameters_, l2_tlb);
  accelerator_.ports().attach(*tlb_);
  return tlb_.get();
}

void SidaExtension::attach_writes(const std::vector<WriteObserver*>& observers) {
  for (WriteObserver* const observer : observers) accelerator_.attach(*observer);
}

std::vector<ExtensionUnit> SidaExtension::units() {
  std::vector<ExtensionUnit> units;
  const auto at = path_ == SidaPath::fabric ? ExtensionUnit::At::own : ExtensionUnit::At::l2_bank;
  for (unsigned i = 0; i < accelerator_.ports().ports(); ++i)
    units.push_back({.unit = accelerator_.ports().port(i), .at = at, .number = i});
  return units;
}

}  // namespace lacuna
