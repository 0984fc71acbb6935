// Opportunistic near-data computing (Pattnaik et al., "Opportunistic Computing in GPU Architectures", ISCA '19) as an extension
// of a device: an offload unit in each core, and service queues with ALUs at nodes of the network:
//
//   core -- OffloadUnit --+
//           L1 cache -----+-- network --+-- L2 bank -- DRAM channel
//   (omni) ServiceQueue --+             +-- ServiceQueue
//
// In mode omni, the service queues of a butterfly are at its last switches instead of its cores.
//
// Kernels are tagged when they are dispatched for the first time (models/neardata/kernel_tagger.h). Code that changes
// afterwards loses its tags at the next acquire, when a change takes effect: wavefronts that run it continue without tags, and
// the next dispatch is treated as the first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/command/kernel_record.h"
#include "models/gpu/device_extension.h"
#include "models/gpu/gpu_parameters.h"
#include "models/neardata/kernel_tagger.h"
#include "models/neardata/near_data_network.h"
#include "models/neardata/near_data_parameters.h"
#include "models/neardata/service_queue.h"
#include "models/noc/topology/butterfly.h"

namespace lacuna {

/// Parameters of near-data computing, section `ndc` of a configuration.
class NearDataParameterSet : public ExtensionParameters {
 public:
  NearDataParameters ndc;

  NearDataParameterSet();
  std::unique_ptr<ExtensionParameters> clone() const override { return std::make_unique<NearDataParameterSet>(*this); }
  void describe(ParameterSet& set) override { set.describe("ndc", ndc); }
  bool is_on() const override { return ndc.mode != NearDataMode::none; }
  void check(const GpuDeviceParameters& device, std::vector<std::string>& problems) const override;
  ExtensionNodes nodes(const GpuDeviceParameters& device) const override;
  Tick min_response_time(const GpuDeviceParameters& device) const override;
  std::unique_ptr<DeviceExtension> make(const GpuDeviceParameters& device) const override;
};

/// Meeting nodes by core and pair of last-level caches. The fabric's destinations from `first_l2` on are the L2 banks.
/// `switches`: nodes of a butterfly whose last switches compute; nullopt for other topologies and if the switches do not
/// compute.
EmnTable meeting_nodes(const Fabric& fabric, unsigned first_l2, const GpuParameters& gpu, const FabricParameters& noc,
                       const std::optional<ButterflyNodes>& switches = std::nullopt);

class NearData final : public DeviceExtension, private KernelObserver, private isa::CodeObserver {
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
  isa::CodeObserver* code_observer() override { return this; }
  void reset() override;
  void describe(StatisticsGroup& device) const override;
  void describe_energy(EnergyMeter& meter, const EnergyParameters& energy) const override;

  /// Sets the source of tags stored with the code. Without a source, all kernels are searched for chains.
  void set_tag_source(const TagSource& source) { tagger_.set_source(source); }

  const NearDataNetwork& network() const { return network_; }
  const KernelTagger& tagger() const { return tagger_; }
  /// Violated invariants when no kernel runs and nothing is in flight: queues that are not empty, and packets, loads, stores
  /// and results that were sent and not received. Empty if all hold.
  std::string violations() const;

 private:
  void kernel_started(const Dispatch& dispatch) override;
  void kernel_ended(const KernelRecord& record) override;
  void code_revalidated() override { tagger_.code_revalidated(); }
  std::uint64_t lds_of(const WorkgroupNeeds& needs) const;
  /// Power of the leakage of all queues, tables and ALUs.
  double leakage(const ComputeEnergy& energy) const;
  void note_lds();

  const GpuParameters gpu_;
  const FabricParameters noc_;
  const ComputeUnitParameters cu_;
  NearDataNetwork network_;
  KernelTagger tagger_;
  unsigned running_ = 0;                        ///< number of running kernels
  std::map<std::uint64_t, std::uint64_t> lds_;  ///< bytes of a core's LDS that running kernels may use, by dispatch index
  bool failed_ = false;                         ///< a kernel has failed and may have left packets in the network
  using Queues = std::vector<std::unique_ptr<ServiceQueue>>;
  std::array<const Queues*, 3> all_queues() const { return {&at_caches_, &at_cores_, &at_switches_}; }

  ButterflyNodes butterfly_{};
  Queues at_caches_;    ///< service queues of the last-level caches
  Queues at_cores_;     ///< service queues of a mesh's cores; empty in mode llc
  Queues at_switches_;  ///< service queues of a butterfly's last switches; empty in mode llc
};

}  // namespace lacuna
