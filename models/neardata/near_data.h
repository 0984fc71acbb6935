// Opportunistic near-data computing (Pattnaik et al., "Opportunistic Computing in GPU Architectures", ISCA '19) as an extension
// of a device: an offload unit in each core, and service queues with ALUs at nodes of the network:
//
//   core -- OffloadUnit --+
//           L1 cache -----+-- network --+-- L2 bank -- DRAM channel
//   (omni) ServiceQueue --+             +-- ServiceQueue
//
// Kernels are tagged when they are dispatched for the first time, before their first wavefront (models/neardata/finalizer.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/command/kernel_record.h"
#include "models/gpu/device_extension.h"
#include "models/gpu/gpu_parameters.h"
#include "models/neardata/near_data_network.h"
#include "models/neardata/near_data_parameters.h"
#include "models/neardata/service_queue.h"

namespace lacuna {

/// Section ndc.
class NearDataParameterSet : public ExtensionParameters {
 public:
  NearDataParameters ndc;

  NearDataParameterSet();
  std::unique_ptr<ExtensionParameters> clone() const override { return std::make_unique<NearDataParameterSet>(*this); }
  void describe(ParameterSet& set) override { set.describe("ndc", ndc); }
  bool is_on() const override { return ndc.mode != NearDataMode::none; }
  void check(const GpuDeviceParameters& device, std::vector<std::string>& problems) const override;
  Tick min_response_time(const GpuDeviceParameters& device) const override;
  std::unique_ptr<DeviceExtension> make(const GpuDeviceParameters& device) const override;
};

class NearData final : public DeviceExtension, private KernelObserver {
 public:
  NearData(const NearDataParameters& parameters, const GpuDeviceParameters& device);
  ~NearData() override;

  std::unique_ptr<LoadStage> make_stage(const LoadStageContext& context) override;
  void attach_l1v(unsigned unit, FirstLevelCache& cache) override;
  void attach_l2(unsigned bank, const Cache& cache) override { at_caches_[bank]->attach(cache); }
  void attach_fabric(const Fabric& fabric, unsigned first_l2) override;
  std::vector<ExtensionUnit> units() override;
  KernelObserver* kernel_observer() override { return this; }
  void reset() override;
  void describe(StatisticsGroup& device) const override;
  void describe_energy(EnergyMeter& meter, const EnergyParameters& energy) const override;

  const NearDataNetwork& network() const { return network_; }

 private:
  void kernel_started(const Dispatch& dispatch) override;
  void kernel_ended(const KernelRecord&) override {}

  const GpuParameters gpu_;
  const FabricParameters noc_;
  const GpuVm* vm_ = nullptr;
  NearDataNetwork network_;
  std::vector<std::unique_ptr<ServiceQueue>> at_caches_;  ///< by last-level cache
  std::vector<std::unique_ptr<ServiceQueue>> at_cores_;   ///< by core; empty in mode llc
};

}  // namespace lacuna
