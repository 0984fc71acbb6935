/* Allocations and mappings of a device. */
#ifndef FIRMWARE_DRIVER_MEMORY_H
#define FIRMWARE_DRIVER_MEMORY_H

#include "driver/device_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* GPU virtual addresses: GPU memory and host RAM appear in two windows, each at a constant distance from its bus address. High
 * bits are set, so that an address without its upper half is never mapped by chance. */
#define DRIVER_VRAM_WINDOW 0x710000000000ull
#define DRIVER_HOST_WINDOW 0x720000000000ull

typedef enum mapping_kind { MAPPING_VRAM, MAPPING_HOST, MAPPING_CODE } mapping_kind;

/* An existing allocation or mapping. */
typedef struct mapping {
  uint64_t gpu_address;
  uint64_t bytes; /* whole pages */
  uint8_t* host;
  mapping_kind kind;
} mapping;

/* Allocates GPU memory without mapping it in GPUVM. `alignment`: a power of two. */
lacuna_error driver_take_vram(lacuna_device* device, uint64_t bytes, uint64_t alignment, mapping_kind kind,
                              lacuna_memory* memory);
/* Frees memory of driver_take_vram(). */
void driver_give_vram(lacuna_device* device, const lacuna_memory* memory);
/* The allocation or mapping that contains [gpu_address, +bytes), or null. */
const mapping* driver_find_mapping(const lacuna_device* device, uint64_t gpu_address, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
