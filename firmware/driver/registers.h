/* Registers of the device, and the commands to GPUVM. */
#ifndef FIRMWARE_DRIVER_REGISTERS_H
#define FIRMWARE_DRIVER_REGISTERS_H

#include "driver/device_state.h"
#include "include/lacuna/abi/gpu_registers.h"

#ifdef __cplusplus
extern "C" {
#endif

uint32_t driver_read(const lacuna_device* device, uint32_t offset);
uint64_t driver_read_pair(const lacuna_device* device, uint32_t offset_low);
void driver_write(const lacuna_device* device, uint32_t offset, uint32_t value);
void driver_write_pair(const lacuna_device* device, uint32_t offset_low, uint64_t value);

/* Maps or unmaps whole pages in GPUVM. `flags`: LACUNA_ACCESS_*. */
lacuna_error driver_vm_map(lacuna_device* device, uint64_t gpu_address, uint64_t bus_address, uint64_t bytes, uint32_t flags);
lacuna_error driver_vm_unmap(lacuna_device* device, uint64_t gpu_address, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
