/* The state of an open device, shared by all files of the driver. */
#ifndef FIRMWARE_DRIVER_DEVICE_STATE_H
#define FIRMWARE_DRIVER_DEVICE_STATE_H

#include "driver/range_allocator.h"
#include "lacuna.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DRIVER_PAGE 4096ull
#define DRIVER_MAX_QUEUES 512u

struct mapping;

struct lacuna_device {
  uint64_t mmio;
  unsigned interrupt_source;
  lacuna_properties properties;
  uint64_t vram_bus_address;
  range_allocator vram;
  struct mapping* mappings; /* ascending by gpu_address */
  size_t mapping_count;
  size_t mapping_capacity;
  lacuna_code_object* code_objects;
  lacuna_queue* queues[DRIVER_MAX_QUEUES];
  lacuna_signal* signals; /* array of SIGNALS_PER_DEVICE */
  lacuna_signal* free_signals;
  lacuna_memory signal_memory; /* signals, then their event mailboxes */
  /* Interrupt causes, recorded by the interrupt handler. */
  volatile uint32_t pending_interrupts;
};

#ifdef __cplusplus
}
#endif

#endif
