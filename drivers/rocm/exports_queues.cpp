// Exported functions: events and queues.
#include <span>

#include "drivers/rocm/exports.h"

using lacuna::rocm::Driver;
using lacuna::rocm::with_driver;

extern "C" {

HSAKMT_STATUS hsaKmtCreateEvent(HsaEventDescriptor* descriptor, bool manual_reset, bool signalled, HsaEvent** event) {
  return with_driver([&](Driver& driver) {
    if (descriptor == nullptr || event == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
    return driver.events().create(*descriptor, manual_reset, signalled, *event);
  });
}

HSAKMT_STATUS hsaKmtDestroyEvent(HsaEvent* event) {
  return with_driver([&](Driver& driver) { return driver.events().destroy(event); });
}

HSAKMT_STATUS hsaKmtSetEvent(HsaEvent* event) {
  return with_driver([&](Driver& driver) {
    driver.simulation().kick();
    return driver.events().set(event);
  });
}

HSAKMT_STATUS hsaKmtResetEvent(HsaEvent* event) {
  return with_driver([&](Driver& driver) { return driver.events().reset(event); });
}

HSAKMT_STATUS hsaKmtQueryEventState(HsaEvent* event) {
  return with_driver([&](Driver& driver) { return driver.events().query(event); });
}

HSAKMT_STATUS hsaKmtWaitOnEvent(HsaEvent* event, HSAuint32 milliseconds) {
  return hsaKmtWaitOnMultipleEvents(&event, 1, true, milliseconds);
}

HSAKMT_STATUS hsaKmtWaitOnMultipleEvents(HsaEvent* events[], HSAuint32 count, bool all, HSAuint32 milliseconds) {
  return with_driver([&](Driver& driver) {
    if (events == nullptr && count != 0) return HSAKMT_STATUS_INVALID_PARAMETER;
    driver.simulation().kick();
    return driver.events().wait(std::span<HsaEvent* const>(events, count), all, milliseconds);
  });
}

HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage, HSA_QUEUE_PRIORITY priority,
                                void* ring, HSAuint64 bytes, HsaEvent* /*event*/, HsaQueueResource* resource) {
  return with_driver([&](Driver& driver) {
    if (resource == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
    return driver.queues().create(node, type, percentage, priority, ring, bytes, *resource);
  });
}

HSAKMT_STATUS hsaKmtUpdateQueue(HSA_QUEUEID queue, HSAuint32 percentage, HSA_QUEUE_PRIORITY priority, void* /*ring*/,
                                HSAuint64 /*bytes*/, HsaEvent* /*event*/) {
  return with_driver([&](Driver& driver) { return driver.queues().update(queue, percentage, priority); });
}

HSAKMT_STATUS hsaKmtDestroyQueue(HSA_QUEUEID queue) {
  return with_driver([&](Driver& driver) { return driver.queues().destroy(queue); });
}

HSAKMT_STATUS hsaKmtSetQueueCUMask(HSA_QUEUEID queue, HSAuint32 bits, HSAuint32* mask) {
  return with_driver([&](Driver& driver) {
    if (mask == nullptr || bits == 0 || bits % 32 != 0) return HSAKMT_STATUS_INVALID_PARAMETER;
    return driver.queues().set_cu_mask(queue, std::span<const HSAuint32>(mask, bits / 32));
  });
}

HSAKMT_STATUS hsaKmtAllocQueueGWS(HSA_QUEUEID queue, HSAuint32 count, HSAuint32* first) {
  return with_driver([&](Driver& driver) {
    HSAuint32 barrier = 0;
    const HSAKMT_STATUS status = driver.queues().allocate_gws(queue, count, barrier);
    if (first != nullptr) *first = barrier;
    return status;
  });
}

// Accepts the second-level trap handler, which never runs: the model reports exceptions itself.
HSAKMT_STATUS hsaKmtSetTrapHandler(HSAuint32 node, void* /*code*/, HSAuint64 /*code_bytes*/, void* /*buffer*/,
                                   HSAuint64 /*buffer_bytes*/) {
  return with_driver(
      [&](Driver& driver) { return driver.topology().has(node) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_NODE_UNIT; });
}
}
