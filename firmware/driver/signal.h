/* The signals of a device. */
#ifndef FIRMWARE_DRIVER_SIGNAL_H
#define FIRMWARE_DRIVER_SIGNAL_H

#include "driver/device_state.h"
#include "driver/hsa.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lacuna_signal {
  lacuna_device* device;
  volatile hsa_signal* memory;
  uint64_t gpu_address;
  unsigned index;
  lacuna_signal* next_free;
  lacuna_queue* queue; /* queue of the latest packet with this completion signal; null = none */
};

lacuna_error driver_create_signals(lacuna_device* device);
void driver_destroy_signals(lacuna_device* device);
/* Clears `queue` in all signals that refer to the queue. */
void driver_detach_queue(const lacuna_queue* queue);

#ifdef __cplusplus
}
#endif

#endif
