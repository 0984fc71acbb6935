// Opportunistic near-data computing (Pattnaik et al., "Opportunistic Computing in GPU Architectures", ISCA '19) as an extension
// of a device: an offload unit in each core, and service queues with ALUs at nodes of the network:
//
//   core -- OffloadUnit --+
//           L1 cache -----+-- network --+-- L2 bank -- DRAM channel
//   (omni) ServiceQueue --+             +-- ServiceQueue
//
// Kernels are tagged when they are dispatched for the first time (models/neardata/kernel_tagger.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/command/kernel_record.h"
#include "models/gpu/device_extension.h"
#include "models/gpu/gpu_parameters.h"
#include "models/neardata/kernel_tagger.h"
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

/// The meeting nodes of a fabric whose destinations from `first_l2` on are the L2 banks; by core and last-level cache.
EmnTable meeting_nodes(const Fabric& fabric, unsigned first_l2, const GpuParameters& gpu, const FabricParameters& noc);

class NearData final : public DeviceExtension, private KernelObserver {
 public:
  NearData(const NearDataParameters& parameters, const GpuDeviceParameters& device);
  ~NearData() override;

  void attach_code(const GpuVm& vm, isa::DecodedCode& code) override { tagger_.attach(vm, code); }
  std::unique_ptr<LoadStage> make_stage(const LoadStageContext& context) override;
  void attach_l1v(unsigned unit, FirstLevelCache& cache) override;
  void attach_l2(unsigned bank, const Cache& cache) override { at_caches_[bank]->attach(cache); }
  void attach_fabric(const Fabric& fabric, unsigned first_l2) override;
  std::vector<ExtensionUnit> units() override;
  KernelObserver* kernel_observer() override { return this; }
  void reset() override;
  void describe(StatisticsGroup& device) const override;
  void describe_energy(EnergyMeter& meter, const EnergyParameters& energy) const override;

  /// Sets the tags of code that comes with some. Without a source all kernels are searched for chains.
  void set_tag_source(const TagSource& source) { tagger_.set_source(source); }

  const NearDataNetwork& network() const { return network_; }
  const KernelTagger& tagger() const { return tagger_; }

 private:
  void kernel_started(const Dispatch& dispatch) override { tagger_.started(dispatch); }
  void kernel_ended(const KernelRecord& record) override { tagger_.ended(record.index); }

  const GpuParameters gpu_;
  const FabricParameters noc_;
  NearDataNetwork network_;
  KernelTagger tagger_;
  std::vector<std::unique_ptr<ServiceQueue>> at_caches_;  ///< by last-level cache
  std::vector<std::unique_ptr<ServiceQueue>> at_cores_;   ///< by core; empty in mode llc
};

}  // namespace lacuna
