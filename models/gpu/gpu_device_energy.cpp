// Registers the blocks of a GPU with its energy meter, in the order of the output files.

#include "models/gpu/gpu_device.h"

namespace lacuna {
namespace {

/// Energies of the reference machine, converted to this machine's clocks and array sizes.
EnergyParameters energies_of(const EnergyParameters& reference, const GpuDeviceParameters& p) {
  EnergyParameters e = reference;
  const Bytes vgprs{std::uint64_t{p.cu.vgprs_per_simd} * isa::kLanes * sizeof(std::uint32_t)};
  e.compute = reference.compute.of(vgprs, p.cu.lds, p.gpu.core_clock);
  e.l1v = reference.l1v.of(p.l1v.size, p.l1v.clock);
  e.l1s = reference.l1s.of(p.l1s.size, p.l1s.clock);
  e.l1i = reference.l1i.of(p.l1i.size, p.l1i.clock);
  e.l2 = reference.l2.of(p.l2.size, p.l2.clock);
  e.l1_tlb = reference.l1_tlb.of(p.l1_tlb.entries, p.l1_tlb.clock);
  e.l2_tlb = reference.l2_tlb.of(p.l2_tlb.entries, p.l2_tlb.clock);
  e.noc = reference.noc.of(p.noc.clock);
  e.cp_clock *= reference.compute.law.clocked(p.gpu.core_clock);
  return e;
}

}  // namespace

void GpuDevice::build_energy() {
  WindowBarrier& edge = requests_ != nullptr ? static_cast<WindowBarrier&>(*requests_) : *memory_phase_;
  energy_ = std::make_unique<DeviceEnergy>(parameters_.energy.interval, edge);
  energy_->set_energies(parameters_.energy, [this](const EnergyParameters& e) { return energies_of(e, parameters_); });
  energy_->describe([this](EnergyMeter& meter, const EnergyParameters& e) { describe_energy(meter, e); });
  windows_.attach(energy_.get());
  cp_->packets.set_energy_meter(*energy_);
}

// The kinds of data whose switching is measured must be known before blocks register their events.
void GpuDevice::measure_toggles(EnergyMeter& meter, const EnergyParameters& e) {
  if (e.toggles != ToggleSource::measured) return;
  const auto sum = [this](const ToggleCount& (ToggleSamples::*samples)() const) {
    return [this, samples] {
      ToggleCount count;
      for (const auto& unit : units_) count += (unit->toggles()->*samples)();
      return count;
    };
  };
  const auto operands = sum(&ToggleSamples::operands);
  const auto memory = sum(&ToggleSamples::memory);
  meter.measure(DataKind::alu, e.alu.share, operands);
  meter.measure(DataKind::arrays, e.arrays.share, operands);
  meter.measure(DataKind::links, e.links.share, memory);
  meter.measure(DataKind::dram, e.dram_data.share, memory);
}

void GpuDevice::describe_energy(EnergyMeter& meter, const EnergyParameters& e) {
  measure_toggles(meter, e);
  for (const auto& unit : units_) {
    unit->describe_energy(meter, e.compute);
    if (e.toggles == ToggleSource::measured) unit->toggles()->enable(parameters_.cu.lanes_per_simd);
  }
  for (const auto& cache : l1v_) cache->describe_energy(meter, "l1v", e.l1v);
  for (const ShaderArray& array : arrays_) {
    array.l1s->describe_energy(meter, "l1s", e.l1s);
    array.l1i->describe_energy(meter, "l1i", e.l1i);
  }
  for (const auto& bank : l2_) bank->describe_energy(meter, "l2", e.l2);
  for (const auto& extension : extensions_) extension->describe_energy(meter, e);
  for (const FirstLevelTlb* tlb : l1_tlbs()) tlb->describe_energy(meter, "l1_tlb", e.l1_tlb);
  if (page_walker_) {
    l2_tlb_->describe_energy(meter, "l2_tlb", e.l2_tlb);
    page_walker_->describe_energy(meter, e.page_walk);
  }
  noc_->describe_energy(meter, e.noc);
  for (const auto& channel : dram_) channel->describe_energy(meter, e.dram);
  cp_->packets.describe_energy(meter, e.cp_dispatch);
  for (const auto& unit : units_) meter.add("cp", "workgroup", unit->workgroups(), e.cp_workgroup);
  meter.add_static("cp", e.cp_static, StaticPower::leakage);
  meter.add_static("cp", e.cp_clock, StaticPower::clock);
  meter.add_static("host_link", e.host_link.link_static, StaticPower::constant);
  meter.add_static("board", e.board_static, StaticPower::constant);
}

// All counters that bulk copies increment are registered by now.
void GpuDevice::start_of_simulation() {
  if (energy_ == nullptr) return;
  copies_->add_to(energy_->meter());
  energy_->begin();
}

}  // namespace lacuna
