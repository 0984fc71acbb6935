// Exported functions that are not supported. The runtime never calls most of them; they exist because ROCm's libhsakmt exports
// them.
#include <set>
#include <string>

#include "drivers/rocm/exports.h"

namespace lacuna::rocm {

HSAKMT_STATUS not_supported(const char* function) noexcept {
  try {
    // Never destroyed: the runtime makes calls until the process ends.
    static auto* const mutex = new std::mutex;
    static auto* const told = new std::set<std::string>;
    const std::lock_guard lock(*mutex);
    if (told->insert(function).second) spdlog::warn("{} is not supported", function);
  } catch (const std::exception&) {
    // The warning is lost, but the status does not depend on it.
  }
  return HSAKMT_STATUS_NOT_SUPPORTED;
}

}  // namespace lacuna::rocm

extern "C" {

HSAKMT_STATUS hsaKmtGetQueueInfo(HSA_QUEUEID, HsaQueueInfo*) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtSetMemoryPolicy(HSAuint32, HSAuint32, HSAuint32, void*, HSAuint64) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtRegisterMemory(void*, HSAuint64) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtRegisterMemoryToNodes(void*, HSAuint64, HSAuint64, HSAuint32*) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtRegisterGraphicsHandleToNodes(HSAuint64, HsaGraphicsResourceInfo*, HSAuint64, HSAuint32*) {
  return LACUNA_NOT_SUPPORTED;
}

HSAKMT_STATUS hsaKmtShareMemory(void*, HSAuint64, HsaSharedMemoryHandle*) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtRegisterSharedHandle(const HsaSharedMemoryHandle*, void**, HSAuint64*) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtRegisterSharedHandleToNodes(const HsaSharedMemoryHandle*, void**, HSAuint64*, HSAuint64, HSAuint32*) {
  return LACUNA_NOT_SUPPORTED;
}

HSAKMT_STATUS hsaKmtProcessVMRead(HSAuint32, HsaMemoryRange*, HSAuint64, HsaMemoryRange*, HSAuint64, HSAuint64*) {
  return LACUNA_NOT_SUPPORTED;
}

HSAKMT_STATUS hsaKmtProcessVMWrite(HSAuint32, HsaMemoryRange*, HSAuint64, HsaMemoryRange*, HSAuint64, HSAuint64*) {
  return LACUNA_NOT_SUPPORTED;
}

HSAKMT_STATUS hsaKmtMapGraphicHandle(HSAuint32, HSAuint64, HSAuint64, HSAuint64, HSAuint64, HSAuint64*) {
  return LACUNA_NOT_SUPPORTED;
}

HSAKMT_STATUS hsaKmtUnmapGraphicHandle(HSAuint32, HSAuint64, HSAuint64) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtDbgRegister(HSAuint32) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtDbgUnregister(HSAuint32) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtDbgWavefrontControl(HSAuint32, HSA_DBG_WAVEOP, HSA_DBG_WAVEMODE, HSAuint32, HsaDbgWaveMessage*) {
  return LACUNA_NOT_SUPPORTED;
}

HSAKMT_STATUS hsaKmtDbgAddressWatch(HSAuint32, HSAuint32, HSA_DBG_WATCH_MODE*, void**, HSAuint64*, HsaEvent**) {
  return LACUNA_NOT_SUPPORTED;
}

HSAKMT_STATUS hsaKmtGetKernelDebugTrapVersionInfo(HSAuint32*, HSAuint32*) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtPmcGetCounterProperties(HSAuint32, HsaCounterProperties**) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtPmcRegisterTrace(HSAuint32, HSAuint32, HsaCounter*, HsaPmcTraceRoot*) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtPmcUnregisterTrace(HSAuint32, HSATraceId) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtPmcAcquireTraceAccess(HSAuint32, HSATraceId) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtPmcReleaseTraceAccess(HSAuint32, HSATraceId) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtPmcStartTrace(HSATraceId, void*, HSAuint64) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtPmcQueryTrace(HSATraceId) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtPmcStopTrace(HSATraceId) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtSPMAcquire(HSAuint32) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtSPMRelease(HSAuint32) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtSPMSetDestBuffer(HSAuint32, HSAuint32, HSAuint32*, HSAuint32*, void*, bool*) {
  return LACUNA_NOT_SUPPORTED;
}

HSAKMT_STATUS hsaKmtSVMSetAttr(void*, HSAuint64, unsigned int, HSA_SVM_ATTRIBUTE*) { return LACUNA_NOT_SUPPORTED; }

HSAKMT_STATUS hsaKmtSVMGetAttr(void*, HSAuint64, unsigned int, HSA_SVM_ATTRIBUTE*) { return LACUNA_NOT_SUPPORTED; }
}
