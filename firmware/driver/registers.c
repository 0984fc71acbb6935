/* Registers, GPUVM commands and the device's clock. */
#include "driver/registers.h"

#include <assert.h>

#include "driver/error.h"
#include "hal/hal.h"

uint32_t driver_read(const lacuna_device* device, uint32_t offset) { return hal_read32(device->mmio + offset); }

uint64_t driver_read_pair(const lacuna_device* device, uint32_t offset_low) {
  const uint64_t low = driver_read(device, offset_low);
  return low | (uint64_t)driver_read(device, offset_low + 4) << 32;
}

void driver_write(const lacuna_device* device, uint32_t offset, uint32_t value) { hal_write32(device->mmio + offset, value); }

void driver_write_pair(const lacuna_device* device, uint32_t offset_low, uint64_t value) {
  driver_write(device, offset_low, (uint32_t)value);
  driver_write(device, offset_low + 4, (uint32_t)(value >> 32));
}

static const char* vm_status_text(uint32_t status) {
  switch (status) {
    case LACUNA_VM_MISALIGNED:
      return "misaligned";
    case LACUNA_VM_OVERLAP:
      return "part of the range is mapped already";
    case LACUNA_VM_NOT_MAPPED:
      return "the range is not wholly mapped";
    case LACUNA_VM_BAD_ADDRESS:
      return "no memory at the bus address";
    default:
      return "unknown status";
  }
}

static lacuna_error vm_command(lacuna_device* device, uint32_t command, uint64_t gpu_address, uint64_t bytes) {
  driver_write_pair(device, LACUNA_GPU_VM_VA_LO, gpu_address);
  driver_write_pair(device, LACUNA_GPU_VM_SIZE_LO, bytes);
  driver_write(device, LACUNA_GPU_VM_COMMAND, command);
  const uint32_t status = driver_read(device, LACUNA_GPU_VM_STATUS);
  if (status == LACUNA_VM_OK) return LACUNA_OK;
  return driver_error(LACUNA_ERROR_GPUVM, "GPUVM refused to %s 0x%llx bytes at 0x%llx: %s (%u)",
                      command == LACUNA_VM_MAP ? "map" : "unmap", (unsigned long long)bytes, (unsigned long long)gpu_address,
                      vm_status_text(status), (unsigned)status);
}

lacuna_error driver_vm_map(lacuna_device* device, uint64_t gpu_address, uint64_t bus_address, uint64_t bytes, uint32_t flags) {
  static_assert(LACUNA_ACCESS_READ == LACUNA_VM_READ && LACUNA_ACCESS_WRITE == LACUNA_VM_WRITE &&
                    LACUNA_ACCESS_EXECUTE == LACUNA_VM_EXECUTE,
                "the register takes the flags as they are");
  driver_write_pair(device, LACUNA_GPU_VM_PA_LO, bus_address);
  driver_write(device, LACUNA_GPU_VM_FLAGS, flags);
  return vm_command(device, LACUNA_VM_MAP, gpu_address, bytes);
}

lacuna_error driver_vm_unmap(lacuna_device* device, uint64_t gpu_address, uint64_t bytes) {
  return vm_command(device, LACUNA_VM_UNMAP, gpu_address, bytes);
}

uint64_t lacuna_device_timestamp(lacuna_device* device) { return driver_read_pair(device, LACUNA_GPU_TIMESTAMP_LO); }
