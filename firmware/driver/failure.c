/* Error messages that explain why a queue has failed. */
#include "driver/failure.h"

#include <stdio.h>

#include "driver/code_object.h"
#include "driver/error.h"
#include "driver/memory.h"
#include "driver/queue_state.h"
#include "include/lacuna/abi/gpu_registers.h"

/* A fault is reported relative to an allocation if its distance past the allocation's end is less than this. */
#define NEAR_BYTES (1ull << 20)

static const char* queue_error_text(uint32_t error) {
  switch (error) {
    case LACUNA_QUEUE_ERROR_SLOT:
      return "slot does not exist or is in the wrong state";
    case LACUNA_QUEUE_ERROR_DESCRIPTOR:
      return "amd_queue_t or ring unusable";
    case LACUNA_QUEUE_ERROR_OVERFLOW:
      return "doorbell beyond the ring";
    case LACUNA_QUEUE_ERROR_PACKET_TYPE:
      return "packet type not supported";
    case LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS:
      return "bad dimensions, grid or workgroup size";
    case LACUNA_QUEUE_ERROR_PACKET_SEGMENT:
      return "more LDS or scratch than there is";
    case LACUNA_QUEUE_ERROR_KERNEL_OBJECT:
      return "unusable kernel object";
    case LACUNA_QUEUE_ERROR_MEMORY_FAULT:
      return "memory fault";
    case LACUNA_QUEUE_ERROR_ILLEGAL_INSTRUCTION:
      return "illegal instruction";
    case LACUNA_QUEUE_ERROR_TRAP:
      return "trap";
    case LACUNA_QUEUE_ERROR_SIGNAL:
      return "bad signal handle";
    case LACUNA_QUEUE_ERROR_SIDA:
      return "SIDA job failed";
    default:
      return "unknown error";
  }
}

static const char* fault_text(uint32_t fault) {
  switch (fault) {
    case LACUNA_FAULT_NOT_MAPPED:
      return "not mapped";
    case LACUNA_FAULT_NOT_PERMITTED:
      return "access not permitted";
    case LACUNA_FAULT_MISALIGNED:
      return "misaligned";
    case LACUNA_FAULT_LDS_RANGE:
      return "outside the workgroup's LDS";
    case LACUNA_FAULT_ILLEGAL_INSTRUCTION:
      return "illegal instruction";
    case LACUNA_FAULT_TRAP:
      return "trap";
    case LACUNA_FAULT_FETCH:
      return "instruction fetch";
    case LACUNA_FAULT_PRIVATE_RANGE:
      return "outside the work-item's private memory";
    default:
      return "unknown";
  }
}

/* Writes ", inside the allocation 0x...+0x..." or ", 0x40 past the end of the allocation 0x...+0x..." for the allocation below
 * the address; "" if there is none or it is too far away. */
static void describe_address(const lacuna_device* device, uint64_t address, char* text, size_t size) {
  text[0] = '\0';
  const mapping* below = NULL;
  for (size_t i = 0; i < device->mapping_count && device->mappings[i].gpu_address <= address; ++i) below = &device->mappings[i];
  if (below == NULL) return;
  const uint64_t offset = address - below->gpu_address;
  if (offset < below->bytes) {
    snprintf(text, size, ", inside the allocation 0x%llx+0x%llx", (unsigned long long)below->gpu_address,
             (unsigned long long)below->bytes);
  } else if (offset - below->bytes < NEAR_BYTES) {
    snprintf(text, size, ", 0x%llx past the end of the allocation 0x%llx+0x%llx", (unsigned long long)(offset - below->bytes),
             (unsigned long long)below->gpu_address, (unsigned long long)below->bytes);
  }
}

static lacuna_error error_of(const lacuna_queue_state* failure) {
  if (failure->error == LACUNA_QUEUE_ERROR_ILLEGAL_INSTRUCTION || failure->error == LACUNA_QUEUE_ERROR_TRAP) {
    return LACUNA_ERROR_EXCEPTION;
  }
  if (failure->error != LACUNA_QUEUE_ERROR_MEMORY_FAULT) return LACUNA_ERROR_QUEUE_FAILED;
  const bool is_exception = failure->fault == LACUNA_FAULT_MISALIGNED || failure->fault == LACUNA_FAULT_LDS_RANGE ||
                            failure->fault == LACUNA_FAULT_PRIVATE_RANGE;
  return is_exception ? LACUNA_ERROR_EXCEPTION : LACUNA_ERROR_MEMORY_FAULT;
}

lacuna_error driver_report_failure(lacuna_queue* queue) {
  const lacuna_queue_state* failure = &queue->failure;
  queue->reported = true;
  const lacuna_error error = error_of(failure);
  if (failure->fault == LACUNA_FAULT_NONE) {
    return driver_error(error, "queue %u failed at packet %llu: %s (error %u)", (unsigned)failure->slot,
                        (unsigned long long)failure->error_packet, queue_error_text(failure->error), (unsigned)failure->error);
  }
  char place[64];
  char nearest[128];
  driver_describe_pc(queue->device, failure->fault_pc, place, sizeof place);
  describe_address(queue->device, failure->fault_address, nearest, sizeof nearest);
  return driver_error(error, "queue %u failed at packet %llu: %s: %s, address 0x%llx%s, pc 0x%llx%s", (unsigned)failure->slot,
                      (unsigned long long)failure->error_packet, queue_error_text(failure->error), fault_text(failure->fault),
                      (unsigned long long)failure->fault_address, nearest, (unsigned long long)failure->fault_pc, place);
}
