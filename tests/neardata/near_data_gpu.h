// Helpers for devices with near-data computing.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "models/neardata/near_data.h"
#include "models/neardata/offload_unit.h"
#include "models/neardata/service_queue.h"
#include "tests/gpu/test_gpu.h"

namespace lacuna::test {

inline NearDataParameters& ndc_of(GpuDeviceParameters& p) { return p.extensions.get<NearDataParameterSet>().ndc; }

inline GpuDeviceParameters small_machine() {
  GpuDeviceParameters p = small_gpu();
  p.extensions.add(std::make_unique<NearDataParameterSet>());
  return p;
}

/// A mesh of 4 x 4 nodes, with last-level caches between the cores.
inline GpuDeviceParameters small_mesh(RouterModel routers = RouterModel::booked) {
  GpuDeviceParameters p = small_machine();
  p.noc.topology = FabricTopology::mesh;
  p.noc.columns = p.noc.rows = 4;
  p.noc.placement = "2,0 0,1 3,2 1,3 3,3";  // nodes of the four caches and of host memory
  p.noc.routers = routers;
  return p;
}

class NearDataGpu : public TestGpu {
 public:
  NearDataGpu(sc_core::sc_module_name module_name, const GpuDeviceParameters& parameters, WorkerThreads* threads = nullptr)
      : TestGpu(module_name, parameters, threads) {}

  NearData* near_data() { return device.extension<NearData>(); }
  /// Checks that no chain has left anything in queues or in the network.
  void expect_no_chains() {
    if (near_data() == nullptr) return;
    EXPECT_EQ(near_data()->violations(), "");
    const NearDataNetwork& network = near_data()->network();
    for (const OffloadUnit* const unit : network.cores) EXPECT_TRUE(unit->idle()) << "core " << unit->core();
    for (std::size_t node = 0; node < network.queues.size(); ++node) {
      const ServiceQueue* const queue = network.queues[node];
      EXPECT_TRUE(queue == nullptr || queue->idle()) << "node " << node;
    }
  }
  /// The sum of a counter over all cores.
  std::uint64_t sum(NearDataCount what) {
    std::uint64_t all = 0;
    for (const OffloadUnit* const unit : near_data()->network().cores)
      all += unit->statistics().counts[static_cast<std::size_t>(what)];
    return all;
  }
  /// The sum of a counter over all service queues.
  template <typename Value>
  Value sum(Value ServiceQueueStatistics::*what) {
    Value all{};
    for (const ServiceQueue* const queue : near_data()->network().queues) {
      if (queue != nullptr) all += queue->statistics().*what;
    }
    return all;
  }
};

}  // namespace lacuna::test
