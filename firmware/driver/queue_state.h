/* Queues of a device, and the detection of those that failed. */
#ifndef FIRMWARE_DRIVER_QUEUE_STATE_H
#define FIRMWARE_DRIVER_QUEUE_STATE_H

#include "driver/device_state.h"
#include "driver/hsa.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lacuna_queue {
  lacuna_device* device;
  uint32_t slot;
  uint32_t packets;
  uint32_t kernarg_bytes; /* size of the arguments of a dispatch */
  uint32_t private_segment_bytes;
  volatile hsa_queue* memory;
  uint8_t* ring;
  uint8_t* kernargs;
  uint64_t* staging; /* host memory where the arguments of a dispatch are laid out */
  uint64_t gpu_address;
  uint64_t kernarg_address;
  uint64_t write_index;
  lacuna_memory block; /* amd_queue_t, ring and kernel arguments */
  lacuna_memory scratch;
  /* Failure, as found by driver_check_queues(). */
  bool failed;
  bool reported;
  lacuna_queue_state failure;
};

/* Serves the interrupts that the handler has recorded: reads the state of queues that failed. */
void driver_check_queues(lacuna_device* device);

#ifdef __cplusplus
}
#endif

#endif
