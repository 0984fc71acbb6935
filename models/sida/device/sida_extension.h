// SIDA (thesis, chapter 4) as an extension of a device: an accelerator with its own ports to memory, in addition to the
// compute units.
//
//   command processor -- Accelerator -- port x n -- network -- L2 bank x p -- DRAM channel x p      (sida.path = fabric)
//                                       port x p ------------- L2 bank x p -- DRAM channel x p      (sida.path = l2)
//                                       port x p ---------------------------- DRAM channel x p      (sida.path = dram)
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/gpu/device_extension.h"
#include "models/gpu/gpu_parameters.h"
#include "models/sida/device/accelerator.h"
#include "models/sida/device/accelerator_parameters.h"
#include "models/sida/machine/energy.h"

namespace lacuna {

/// Parameters of section `sida`.
class SidaParameterSet : public ExtensionParameters {
 public:
  AcceleratorParameters sida;

  std::unique_ptr<ExtensionParameters> clone() const override { return std::make_unique<SidaParameterSet>(*this); }
  void describe(ParameterSet& set) override { set.describe("sida", sida); }
  bool is_on() const override { return sida.present; }
  void check(const GpuDeviceParameters& device, std::vector<std::string>& problems) const override;
  ExtensionNodes nodes(const GpuDeviceParameters& device) const override;
  std::unique_ptr<DeviceExtension> make(const GpuDeviceParameters& device) const override;
  unsigned ports(const GpuDeviceParameters& device) const {
    return sida.ports != 0 ? sida.ports : device.gpu.memory_partitions;
  }
};

class SidaExtension final : public DeviceExtension {
 public:
  SidaExtension(const SidaParameterSet& parameters, const GpuDeviceParameters& device);

  void attach_code(const GpuVm& vm, isa::DecodedCode& code) override;
  void attach_windows(Windows& windows) override { accelerator_.attach(windows); }
  Tlb* attach_translation(TranslationLevel& l2_tlb) override;
  void attach_threads(WorkerThreads& threads) override { accelerator_.attach(threads); }
  void attach_copies(CopyContext& context) override { accelerator_.attach(context); }
  void attach_writes(const std::vector<WriteObserver*>& observers) override;
  void attach_fabric(const Fabric& fabric, unsigned first_l2) override {
    accelerator_.ports().attach(fabric, first_l2, partitions_);
  }
  std::vector<ExtensionUnit> units() override;
  std::vector<Agent*> agents() override { return {&accelerator_}; }
  WindowObserver* window_observer() override { return &accelerator_; }
  PacketEngine* packet_engine() override { return &accelerator_; }
  void describe_energy(EnergyMeter& meter, const EnergyParameters& energy) const override {
    sida::describe_compute_energy(accelerator_.statistics().energy, meter, energy, "sida_pe");
    sida::describe_buffer_energy(accelerator_.statistics().energy, meter, energy, "sida_buffer");
  }
  void reset() override { accelerator_.forget_requests(); }

  Accelerator& accelerator() { return accelerator_; }
  const sida::MachineParameters& parameters() const { return accelerator_.parameters().machine; }

 private:
  const SidaPath path_;
  const unsigned partitions_;
  const TlbParameters tlb_parameters_;
  Accelerator accelerator_;
  std::unique_ptr<Tlb> tlb_;
};

}  // namespace lacuna
