/* What the driver's files share. */
#ifndef FIRMWARE_DRIVER_INTERNAL_H
#define FIRMWARE_DRIVER_INTERNAL_H

#include "driver/code_object_elf.h"
#include "driver/error.h"
#include "driver/hsa.h"
#include "driver/range_allocator.h"
#include "include/lacuna/abi/gpu_registers.h"
#include "lacuna.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DRIVER_PAGE 4096ull
#define DRIVER_MAX_QUEUES 512u

/* GPU virtual addresses: GPU memory and host RAM appear in two windows, each at a constant distance from its bus address. High
 * bits are set so that an address that lost its upper half cannot be mapped by chance. */
#define DRIVER_VRAM_WINDOW 0x710000000000ull
#define DRIVER_HOST_WINDOW 0x720000000000ull

typedef enum mapping_kind { MAPPING_VRAM, MAPPING_HOST, MAPPING_CODE } mapping_kind;

/* One live allocation or mapping. */
typedef struct mapping {
  uint64_t gpu_address;
  uint64_t bytes; /* whole pages */
  uint8_t* host;
  mapping_kind kind;
} mapping;

struct lacuna_signal {
  lacuna_device* device;
  volatile hsa_signal* memory;
  uint64_t gpu_address;
  unsigned index;
  lacuna_signal* next_free;
  lacuna_queue* queue; /* the last one it was given to as completion signal */
};

struct lacuna_queue {
  lacuna_device* device;
  uint32_t slot;
  uint32_t packets;
  uint32_t kernarg_bytes; /* of one dispatch */
  uint32_t private_segment_bytes;
  volatile hsa_queue* memory;
  uint8_t* ring;
  uint8_t* kernargs;
  uint64_t* staging; /* where the arguments of a dispatch are laid out, in host memory */
  uint64_t gpu_address;
  uint64_t kernarg_address;
  uint64_t write_index;
  lacuna_memory block; /* amd_queue_t, ring and kernel arguments */
  lacuna_memory scratch;
  /* Failure, as found by driver_check_queues. */
  bool failed;
  bool reported;
  lacuna_queue_state failure;
};

struct lacuna_code_object {
  lacuna_device* device;
  lacuna_memory memory;
  code_object_view view; /* segments point into `memory` */
  lacuna_code_object* next;
};

struct lacuna_device {
  uint64_t mmio;
  unsigned interrupt_source;
  lacuna_properties properties;
  uint64_t vram_bus_address;
  range_allocator vram;
  mapping* mappings; /* ascending by gpu_address */
  size_t mapping_count;
  size_t mapping_capacity;
  lacuna_code_object* code_objects;
  lacuna_queue* queues[DRIVER_MAX_QUEUES];
  lacuna_signal* signals; /* array of SIGNALS_PER_DEVICE */
  lacuna_signal* free_signals;
  lacuna_memory signal_memory; /* signals, then their event mailboxes */
  /* Written by the interrupt handler. */
  volatile uint32_t pending_interrupts;
};

uint32_t driver_read(const lacuna_device* device, uint32_t offset);
uint64_t driver_read_pair(const lacuna_device* device, uint32_t offset_low);
void driver_write(const lacuna_device* device, uint32_t offset, uint32_t value);
void driver_write_pair(const lacuna_device* device, uint32_t offset_low, uint64_t value);

/* GPUVM commands; `flags` LACUNA_ACCESS_*. */
lacuna_error driver_vm_map(lacuna_device* device, uint64_t gpu_address, uint64_t bus_address, uint64_t bytes, uint32_t flags);
lacuna_error driver_vm_unmap(lacuna_device* device, uint64_t gpu_address, uint64_t bytes);

/* GPU memory of a kind without a mapping in GPUVM, and back. `alignment` a power of two. */
lacuna_error driver_take_vram(lacuna_device* device, uint64_t bytes, uint64_t alignment, mapping_kind kind,
                              lacuna_memory* memory);
void driver_give_vram(lacuna_device* device, const lacuna_memory* memory);
/* The allocation or mapping that holds [gpu_address, +bytes), or null. */
const mapping* driver_find_mapping(const lacuna_device* device, uint64_t gpu_address, uint64_t bytes);

lacuna_error driver_create_signals(lacuna_device* device);
void driver_destroy_signals(lacuna_device* device);
/* Signals that were given to the queue no longer are. */
void driver_forget_queue(const lacuna_queue* queue);

/* Serves what the interrupt handler noted: fetches the state of queues that failed. */
void driver_check_queues(lacuna_device* device);
/* The error of a failed queue, with its sentence. */
lacuna_error driver_report_failure(lacuna_queue* queue);
/* Where in a code object a GPU address lies, for reports; "" when in none. */
void driver_describe_pc(const lacuna_device* device, uint64_t pc, char* text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
