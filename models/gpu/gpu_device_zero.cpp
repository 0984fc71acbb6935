// The zero caches of a GPU and where they are attached.

#include <fmt/format.h>

#include "models/gpu/gpu_device.h"

namespace lacuna {

void GpuDevice::build_zero_caches() {
  const GpuParameters& gpu = parameters_.gpu;
  zero_ = std::make_unique<ZeroCaches>(parameters_.zero_mask_map());
  if (parameters_.lazy.masks == MaskWriters::stores && gpu.timing != TimingMode::functional) {
    const AddressSlice vram = parameters_.vram_slice(0);
    zero_->known = std::make_unique<ZeroMasks>(vram.base(), vram.size(), gpu.shader_arrays);
  }
  // Compute units have no sockets for them: the requests are for times alone, and functional timing makes none.
  for (unsigned i = 0; i < gpu.shader_arrays; ++i)
    zero_->l1z.push_back(std::make_unique<FirstLevelCache>(fmt::format("l1z{}", i).c_str(), parameters_.l1z, 0));
  for (unsigned unit = 0; unit < gpu.shader_arrays * gpu.cus_per_shader_array; ++unit) {
    CacheMaintenance* const l1v = l1v_[unit / gpu.cus_per_l1v].get();
    CacheMaintenance* const l1z = zero_->l1z[unit / gpu.cus_per_shader_array].get();
    zero_->vector_caches.push_back(std::make_unique<CachesTogether>(std::vector{l1v, l1z}));
  }
}

ZeroPath GpuDevice::zero_path(unsigned shader_array) {
  if (!zero_) return {};
  return {.l1z = zero_->l1z[shader_array].get(), .map = &zero_->map, .masks = zero_->known.get(), .group = shader_array};
}

// Behind the L2 bank of the partition and its DRAM channel.
void GpuDevice::build_zero_memory(unsigned partition) {
  const unsigned destination = destinations_.first_l2z + partition;
  zero_->l2z.push_back(std::make_unique<LastLevelCache>(fmt::format("l2z{}", partition).c_str(), parameters_.l2z,
                                                        MemoryLevel::l2, 1, zero_->map.masks_of(partition)));
  Cache& l2z = *zero_->l2z.back();
  noc_->destinations[destination].bind(l2z.upstream[0]);
  noc_->attach_prefetch(destination, &l2z);
  l2z.downstream.bind(dram_[partition]->masks[0]);
}

}  // namespace lacuna
