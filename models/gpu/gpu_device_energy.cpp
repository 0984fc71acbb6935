// Registration of a GPU's blocks with its energy meter; their order is that of the output files.

#include "models/gpu/gpu_device.h"

namespace lacuna {

void GpuDevice::build_energy() {
  const EnergyParameters& e = parameters_.energy;
  WindowBarrier& edge = requests_ != nullptr ? static_cast<WindowBarrier&>(*requests_) : *memory_phase_;
  energy_ = std::make_unique<DeviceEnergy>(e.interval, edge);
  EnergyMeter& meter = energy_->meter();
  for (const auto& unit : units_) unit->describe_energy(meter, e.compute);
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
  meter.add_static("cp", e.cp_static);
  meter.add_static("board", e.board_static);
  windows_.attach(energy_.get());
  cp_->packets.set_energy_meter(*energy_);
}

// All counters that bulk copies increment are registered by now.
void GpuDevice::start_of_simulation() {
  if (energy_ == nullptr) return;
  copies_->add_to(energy_->meter());
  energy_->begin();
}

}  // namespace lacuna
