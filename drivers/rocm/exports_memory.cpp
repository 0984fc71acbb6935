// Exported functions: memory.
#include <span>

#include "drivers/rocm/exports.h"

using lacuna::rocm::Driver;
using lacuna::rocm::with_driver;

extern "C" {

HSAKMT_STATUS hsaKmtAllocMemory(HSAuint32 node, HSAuint64 bytes, HsaMemFlags flags, void** address) {
  return with_driver([&](Driver& driver) {
    return address == nullptr ? HSAKMT_STATUS_INVALID_PARAMETER : driver.memory().allocate(node, bytes, flags, *address);
  });
}

HSAKMT_STATUS hsaKmtFreeMemory(void* address, HSAuint64 /*bytes*/) {
  return with_driver([&](Driver& driver) { return driver.memory().free(address); });
}

HSAKMT_STATUS hsaKmtRegisterMemoryWithFlags(void* address, HSAuint64 bytes, HsaMemFlags flags) {
  return with_driver([&](Driver& driver) { return driver.memory().register_memory(address, bytes, flags); });
}

HSAKMT_STATUS hsaKmtDeregisterMemory(void* address) {
  return with_driver([&](Driver& driver) { return driver.memory().deregister(address); });
}

HSAKMT_STATUS hsaKmtMapMemoryToGPU(void* address, HSAuint64 bytes, HSAuint64* gpu_address) {
  return with_driver([&](Driver& driver) {
    HSAuint64 seen_at = 0;
    const HSAKMT_STATUS status = driver.memory().map_to_all(address, bytes, seen_at);
    if (gpu_address != nullptr) *gpu_address = seen_at;
    return status;
  });
}

HSAKMT_STATUS hsaKmtMapMemoryToGPUNodes(void* address, HSAuint64 bytes, HSAuint64* gpu_address, HsaMemMapFlags /*flags*/,
                                        HSAuint64 count, HSAuint32* nodes) {
  return with_driver([&](Driver& driver) {
    if (nodes == nullptr || count == 0) return HSAKMT_STATUS_INVALID_PARAMETER;
    HSAuint64 seen_at = 0;
    const HSAKMT_STATUS status = driver.memory().map(address, bytes, std::span<const HSAuint32>(nodes, count), seen_at);
    if (gpu_address != nullptr) *gpu_address = seen_at;
    return status;
  });
}

HSAKMT_STATUS hsaKmtUnmapMemoryToGPU(void* address) {
  return with_driver([&](Driver& driver) { return driver.memory().unmap(address); });
}

HSAKMT_STATUS hsaKmtQueryPointerInfo(const void* pointer, HsaPointerInfo* info) {
  return with_driver([&](Driver& driver) {
    return info == nullptr ? HSAKMT_STATUS_INVALID_PARAMETER : driver.memory().query(pointer, *info);
  });
}

HSAKMT_STATUS hsaKmtSetMemoryUserData(const void* pointer, void* data) {
  return with_driver([&](Driver& driver) { return driver.memory().set_user_data(pointer, data); });
}
}
