/* Probing, registers, GPUVM commands and the interrupt handler. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/internal.h"
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

/* Notes the causes and lets the line fall; everything else happens in lacuna_signal_wait, outside the handler. */
static void handle_interrupt(void* context) {
  lacuna_device* device = context;
  const uint32_t status = driver_read(device, LACUNA_GPU_INTERRUPT_STATUS);
  driver_write(device, LACUNA_GPU_INTERRUPT_STATUS, status);
  device->pending_interrupts |= status;
}

static void read_properties(lacuna_device* device) {
  lacuna_properties* p = &device->properties;
  p->version = driver_read(device, LACUNA_GPU_VERSION);
  p->target = driver_read(device, LACUNA_GPU_TARGET);
  /* Minor and stepping are one hexadecimal digit each in the processor's name. */
  snprintf(p->target_name, sizeof p->target_name, "gfx%u%x%x", (unsigned)(p->target >> 16 & 0xff),
           (unsigned)(p->target >> 8 & 0xf), (unsigned)(p->target & 0xf));
  p->shader_arrays = driver_read(device, LACUNA_GPU_SHADER_ARRAYS);
  p->compute_units = driver_read(device, LACUNA_GPU_COMPUTE_UNITS);
  p->simds_per_compute_unit = driver_read(device, LACUNA_GPU_SIMDS_PER_CU);
  p->wavefronts_per_simd = driver_read(device, LACUNA_GPU_WAVEFRONTS_PER_SIMD);
  p->wavefront_size = driver_read(device, LACUNA_GPU_WAVEFRONT_SIZE);
  p->vgprs_per_simd = driver_read(device, LACUNA_GPU_VGPRS_PER_SIMD);
  p->sgprs_per_simd = driver_read(device, LACUNA_GPU_SGPRS_PER_SIMD);
  p->lds_bytes_per_compute_unit = driver_read(device, LACUNA_GPU_LDS_BYTES_PER_CU);
  p->queue_slots = driver_read(device, LACUNA_GPU_QUEUE_SLOTS);
  p->memory_bytes = driver_read_pair(device, LACUNA_GPU_VRAM_SIZE_LO);
  p->core_clock_hz = (uint64_t)driver_read(device, LACUNA_GPU_CORE_CLOCK_KHZ) * 1000u;
  p->timestamp_hz = driver_read(device, LACUNA_GPU_TIMESTAMP_HZ);
  device->vram_bus_address = driver_read_pair(device, LACUNA_GPU_VRAM_BASE_LO);
}

lacuna_error lacuna_device_open(uint64_t mmio_bus_address, unsigned interrupt_source, lacuna_device** device) {
  if (device == NULL) return driver_error(LACUNA_ERROR_INVALID_ARGUMENT, "lacuna_device_open: no place for the device");
  const uint32_t magic = hal_read32(mmio_bus_address + LACUNA_GPU_MAGIC);
  if (magic != LACUNA_GPU_MAGIC_VALUE) {
    return driver_error(LACUNA_ERROR_NO_DEVICE, "no Lacuna GPU at 0x%llx: its first register reads 0x%08x, not 0x%08x",
                        (unsigned long long)mmio_bus_address, (unsigned)magic, LACUNA_GPU_MAGIC_VALUE);
  }
  const uint32_t version = hal_read32(mmio_bus_address + LACUNA_GPU_VERSION);
  if (version >> 16 != LACUNA_GPU_VERSION_VALUE >> 16) {
    return driver_error(LACUNA_ERROR_VERSION, "the GPU at 0x%llx has interface version %u.%u, the driver knows %u.x",
                        (unsigned long long)mmio_bus_address, (unsigned)(version >> 16), (unsigned)(version & 0xffff),
                        LACUNA_GPU_VERSION_VALUE >> 16);
  }
  lacuna_device* made = calloc(1, sizeof *made);
  if (made == NULL) return driver_error(LACUNA_ERROR_OUT_OF_HOST_MEMORY, "no host memory for the device");
  made->mmio = mmio_bus_address;
  made->interrupt_source = interrupt_source;
  driver_write(made, LACUNA_GPU_CONTROL, 1);
  read_properties(made);
  if (!range_allocator_init(&made->vram, made->vram_bus_address, made->properties.memory_bytes & ~(DRIVER_PAGE - 1))) {
    free(made);
    return driver_error(LACUNA_ERROR_OUT_OF_HOST_MEMORY, "no host memory for the allocator");
  }
  const lacuna_error error = driver_create_signals(made);
  if (error != LACUNA_OK) {
    range_allocator_destroy(&made->vram);
    free(made->mappings);
    free(made);
    return error;
  }
  hal_register_interrupt(interrupt_source, handle_interrupt, made);
  driver_write(made, LACUNA_GPU_INTERRUPT_ENABLE,
               LACUNA_INTERRUPT_SIGNAL | LACUNA_INTERRUPT_QUEUE_ERROR | LACUNA_INTERRUPT_MEMORY_FAULT);
  *device = made;
  return LACUNA_OK;
}

void lacuna_device_close(lacuna_device* device) {
  if (device == NULL) return;
  driver_write(device, LACUNA_GPU_INTERRUPT_ENABLE, 0);
  hal_register_interrupt(device->interrupt_source, NULL, NULL);
  for (unsigned i = 0; i < DRIVER_MAX_QUEUES; ++i) lacuna_queue_destroy(device->queues[i]);
  while (device->code_objects != NULL) lacuna_code_object_unload(device->code_objects);
  driver_write(device, LACUNA_GPU_CONTROL, 1);
  driver_destroy_signals(device);
  range_allocator_destroy(&device->vram);
  free(device->mappings);
  free(device);
}

const lacuna_properties* lacuna_device_properties(const lacuna_device* device) { return &device->properties; }

uint64_t lacuna_device_timestamp(lacuna_device* device) { return driver_read_pair(device, LACUNA_GPU_TIMESTAMP_LO); }
