// LazyGPU (ISCA '25) as an extension of a device: a lazy unit in each compute unit, and with zero caches an L1Z for each shader
// array and an L2Z for each partition, above the DRAM channel of the partition's L2 bank:
//
//   CU x n -- L1Z x shader arrays -- NoC -- L2Z x partitions -- DRAM channel x partitions
//
// The zero caches have an eighth of the size of the L1 vector cache and of the L2 bank (Table 2) and the same speed; a line
// holds a mask transaction.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/cache/cache.h"
#include "models/gpu/device_extension.h"
#include "models/gpu/gpu_parameters.h"
#include "models/lazy/lazy_parameters.h"
#include "models/lazy/zero_masks.h"

namespace lacuna {

/// Parameter sections lazy, l1z and l2z.
class LazyGpuParameters : public ExtensionParameters {
 public:
  LazyParameters lazy;
  CacheParameters l1z;
  CacheParameters l2z;

  LazyGpuParameters();
  std::unique_ptr<ExtensionParameters> clone() const override { return std::make_unique<LazyGpuParameters>(*this); }
  void describe(ParameterSet& set) override;
  bool is_on() const override { return lazy.mode != LazyMode::eager; }
  void check(const GpuDeviceParameters& device, std::vector<std::string>& problems) const override;
  ExtensionNodes nodes(const GpuDeviceParameters& device) const override;
  Tick min_response_time(const GpuDeviceParameters& device) const override;
  std::unique_ptr<DeviceExtension> make(const GpuDeviceParameters& device) const override;

  /// Addresses of zero masks. Throws std::invalid_argument if the parameters allow no map.
  ZeroMaskMap mask_map(const GpuDeviceParameters& device) const;
};

/// Caches of zero masks, and the state that they share. LazyGPU, section 4.2.
struct ZeroCaches {
  ZeroCaches(const LazyGpuParameters& parameters, const GpuDeviceParameters& device);

  ZeroMaskMap map;
  std::unique_ptr<ZeroMasks> known;                   ///< null: every mask is known
  std::vector<std::unique_ptr<FirstLevelCache>> l1z;  ///< indexed by shader array
  std::vector<std::unique_ptr<LastLevelCache>> l2z;   ///< indexed by memory partition
};

class LazyGpu : public DeviceExtension {
 public:
  LazyGpu(const LazyGpuParameters& parameters, const GpuDeviceParameters& device);

  /// The compute units' path to the zero caches of a shader array. All its pointers are null if the mode has no zero caches.
  ZeroPath zero_path(unsigned shader_array) const;

  std::unique_ptr<LoadStage> make_stage(const LoadStageContext& context) override;
  CacheMaintenance* invalidated_with_l1v(unsigned unit) override;
  std::vector<ExtensionRequester> requesters() override;
  std::optional<ExtensionMemory> memory() override;
  WindowObserver* window_observer() override { return zero_ ? zero_->known.get() : nullptr; }
  WriteObserver* write_observer() override { return zero_ ? zero_->known.get() : nullptr; }
  void describe(StatisticsGroup& device) const override;
  void describe_energy(EnergyMeter& meter, const EnergyParameters& energy) const override;

 private:
  const LazyGpuParameters parameters_;
  const GpuParameters gpu_;
  const ComputeUnitParameters unit_;
  const ExtensionNodes nodes_;
  std::unique_ptr<ZeroCaches> zero_;  ///< null: the mode has no zero caches
};

}  // namespace lacuna
