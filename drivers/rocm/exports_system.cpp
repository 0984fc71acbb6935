// Exported functions: opening, topology, clocks.
#include <algorithm>
#include <span>

#include "drivers/rocm/exports.h"

using lacuna::rocm::AfterTheEnd;
using lacuna::rocm::Driver;
using lacuna::rocm::with_driver;

namespace {

/// Version of the Linux driver's interface that is reported to the runtime: the version that runtime 5.2 requires, which has no
/// debugger support.
constexpr HsaVersionInfo kVersion{1, 8};

template <class Item>
HSAKMT_STATUS give(const std::vector<Item>& items, HSAuint32 room, Item* out) {
  if (out == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  if (room < items.size()) return HSAKMT_STATUS_BUFFER_TOO_SMALL;
  std::copy(items.begin(), items.end(), out);
  return HSAKMT_STATUS_SUCCESS;
}

/// Runs `function` and returns its result, or INVALID_NODE_UNIT if the node does not exist.
template <AfterTheEnd kAfterTheEnd = AfterTheEnd::no, class Function>
HSAKMT_STATUS on_node(HSAuint32 node, Function function) {
  return with_driver<kAfterTheEnd>(
      [&](Driver& driver) { return driver.topology().has(node) ? function(driver) : HSAKMT_STATUS_INVALID_NODE_UNIT; });
}

}  // namespace

extern "C" {

HSAKMT_STATUS hsaKmtOpenKFD() { return Driver::open(); }

HSAKMT_STATUS hsaKmtCloseKFD() { return Driver::close(); }

HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo* version) {
  if (version == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  *version = kVersion;
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtAcquireSystemProperties(HsaSystemProperties* properties) {
  return with_driver([&](Driver& driver) {
    if (properties == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
    *properties = HsaSystemProperties{};
    properties->NumNodes = driver.topology().nodes();
    return HSAKMT_STATUS_SUCCESS;
  });
}

HSAKMT_STATUS hsaKmtReleaseSystemProperties() { return HSAKMT_STATUS_SUCCESS; }

HSAKMT_STATUS hsaKmtGetNodeProperties(HSAuint32 node, HsaNodeProperties* properties) {
  return on_node(node, [&](Driver& driver) {
    if (properties == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
    *properties = driver.topology().properties(node);
    return HSAKMT_STATUS_SUCCESS;
  });
}

HSAKMT_STATUS hsaKmtGetNodeMemoryProperties(HSAuint32 node, HSAuint32 count, HsaMemoryProperties* properties) {
  return on_node(node, [&](Driver& driver) { return give(driver.topology().memory(node), count, properties); });
}

HSAKMT_STATUS hsaKmtGetNodeCacheProperties(HSAuint32 node, HSAuint32 /*processor*/, HSAuint32 count,
                                           HsaCacheProperties* properties) {
  return on_node(node, [&](Driver& driver) { return give(driver.topology().caches(node), count, properties); });
}

HSAKMT_STATUS hsaKmtGetNodeIoLinkProperties(HSAuint32 node, HSAuint32 count, HsaIoLinkProperties* properties) {
  return on_node(node, [&](Driver& driver) { return give(driver.topology().links(node), count, properties); });
}

HSAKMT_STATUS hsaKmtGetTileConfig(HSAuint32 node, HsaGpuTileConfig* config) {
  return on_node(node, [&](Driver& driver) {
    if (node == 0) return HSAKMT_STATUS_INVALID_NODE_UNIT;
    if (config == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
    return lacuna::rocm::tile_configuration(driver.topology().targets()[node - 1], *config) ? HSAKMT_STATUS_SUCCESS
                                                                                            : HSAKMT_STATUS_BUFFER_TOO_SMALL;
  });
}

// Both counters are derived from simulated time, so that durations computed by the runtime are simulated durations. The
// function also works after the end of the simulation: the runtime's thread for asynchronous signals calls it while the process
// ends, and aborts the process if it fails.
HSAKMT_STATUS hsaKmtGetClockCounters(HSAuint32 node, HsaClockCounters* counters) {
  return on_node<AfterTheEnd::yes>(node, [&](Driver& driver) {
    if (counters == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
    const lacuna::Tick now = driver.simulation().sample_time();
    constexpr lacuna::Frequency kSystemClock{1'000'000'000};
    *counters = HsaClockCounters{};
    counters->GPUClockCounter = lacuna::Clock(driver.parameters().gpu.gpu.timestamp_clock).floor(now).n;
    counters->SystemClockCounter = counters->CPUClockCounter = lacuna::Clock(kSystemClock).floor(now).n;
    counters->SystemClockFrequencyHz = kSystemClock.hz;
    return HSAKMT_STATUS_SUCCESS;
  });
}

// If this function is not supported, the runtime reads errors from the queues' inactive signals.
HSAKMT_STATUS hsaKmtRuntimeEnable(void* /*debugger*/, bool /*set_up_ttmp*/) { return HSAKMT_STATUS_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtRuntimeDisable() { return HSAKMT_STATUS_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtGetXNACKMode(HSAint32* enabled) {
  if (enabled == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  *enabled = 0;
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtSetXNACKMode(HSAint32 enabled) { return enabled == 0 ? HSAKMT_STATUS_SUCCESS : LACUNA_NOT_SUPPORTED; }
}
