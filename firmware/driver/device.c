/* Opens and closes a device. The top layer of the driver; it reads registers through the HAL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/code_object.h"
#include "driver/device_state.h"
#include "driver/error.h"
#include "driver/signal.h"
#include "hal/hal.h"
#include "include/lacuna/abi/gpu_registers.h"

/* Records the causes and clears the interrupt line; driver_check_queues() serves the causes outside the handler. */
static void handle_interrupt(void* context) {
  lacuna_device* device = context;
  const uint32_t status = hal_read32(device->mmio + LACUNA_GPU_INTERRUPT_STATUS);
  hal_write32(device->mmio + LACUNA_GPU_INTERRUPT_STATUS, status);
  device->pending_interrupts |= status;
}

static void read_properties(lacuna_device* device) {
  lacuna_properties* p = &device->properties;
  p->version = hal_read32(device->mmio + LACUNA_GPU_VERSION);
  p->target = hal_read32(device->mmio + LACUNA_GPU_TARGET);
  /* Minor and stepping are one hexadecimal digit each in the processor's name. */
  snprintf(p->target_name, sizeof p->target_name, "gfx%u%x%x", (unsigned)(p->target >> 16 & 0xff),
           (unsigned)(p->target >> 8 & 0xf), (unsigned)(p->target & 0xf));
  p->shader_arrays = hal_read32(device->mmio + LACUNA_GPU_SHADER_ARRAYS);
  p->compute_units = hal_read32(device->mmio + LACUNA_GPU_COMPUTE_UNITS);
  p->simds_per_compute_unit = hal_read32(device->mmio + LACUNA_GPU_SIMDS_PER_CU);
  p->wavefronts_per_simd = hal_read32(device->mmio + LACUNA_GPU_WAVEFRONTS_PER_SIMD);
  p->wavefront_size = hal_read32(device->mmio + LACUNA_GPU_WAVEFRONT_SIZE);
  p->vgprs_per_simd = hal_read32(device->mmio + LACUNA_GPU_VGPRS_PER_SIMD);
  p->sgprs_per_simd = hal_read32(device->mmio + LACUNA_GPU_SGPRS_PER_SIMD);
  p->lds_bytes_per_compute_unit = hal_read32(device->mmio + LACUNA_GPU_LDS_BYTES_PER_CU);
  p->queue_slots = hal_read32(device->mmio + LACUNA_GPU_QUEUE_SLOTS);
  const uint64_t size_low = hal_read32(device->mmio + LACUNA_GPU_VRAM_SIZE_LO);
  p->memory_bytes = size_low | (uint64_t)hal_read32(device->mmio + LACUNA_GPU_VRAM_SIZE_LO + 4) << 32;
  p->core_clock_hz = (uint64_t)hal_read32(device->mmio + LACUNA_GPU_CORE_CLOCK_KHZ) * 1000u;
  p->timestamp_hz = hal_read32(device->mmio + LACUNA_GPU_TIMESTAMP_HZ);
  const uint64_t base_low = hal_read32(device->mmio + LACUNA_GPU_VRAM_BASE_LO);
  device->vram_bus_address = base_low | (uint64_t)hal_read32(device->mmio + LACUNA_GPU_VRAM_BASE_LO + 4) << 32;
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
  hal_write32(made->mmio + LACUNA_GPU_CONTROL, 1);
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
  hal_write32(made->mmio + LACUNA_GPU_INTERRUPT_ENABLE,
              LACUNA_INTERRUPT_SIGNAL | LACUNA_INTERRUPT_QUEUE_ERROR | LACUNA_INTERRUPT_MEMORY_FAULT);
  *device = made;
  return LACUNA_OK;
}

void lacuna_device_close(lacuna_device* device) {
  if (device == NULL) return;
  hal_write32(device->mmio + LACUNA_GPU_INTERRUPT_ENABLE, 0);
  hal_register_interrupt(device->interrupt_source, NULL, NULL);
  for (unsigned i = 0; i < DRIVER_MAX_QUEUES; ++i) lacuna_queue_destroy(device->queues[i]);
  while (device->code_objects != NULL) lacuna_code_object_unload(device->code_objects);
  hal_write32(device->mmio + LACUNA_GPU_CONTROL, 1);
  driver_destroy_signals(device);
  range_allocator_destroy(&device->vram);
  free(device->mappings);
  free(device);
}

const lacuna_properties* lacuna_device_properties(const lacuna_device* device) { return &device->properties; }

void lacuna_accelerator_get_state(lacuna_device* device, lacuna_accelerator_state* state) {
  state->pes = hal_read32(device->mmio + LACUNA_GPU_SIDA_PES);
  const uint64_t buffer_low = hal_read32(device->mmio + LACUNA_GPU_SIDA_BUFFER_LO);
  state->buffer_bytes = buffer_low | (uint64_t)hal_read32(device->mmio + LACUNA_GPU_SIDA_BUFFER_HI) << 32;
  state->busy = hal_read32(device->mmio + LACUNA_GPU_SIDA_STATE) == LACUNA_SIDA_BUSY;
  state->pass = hal_read32(device->mmio + LACUNA_GPU_SIDA_PASS);
  state->step = hal_read32(device->mmio + LACUNA_GPU_SIDA_STEP);
  state->jobs = hal_read32(device->mmio + LACUNA_GPU_SIDA_JOBS);
  state->error = hal_read32(device->mmio + LACUNA_GPU_SIDA_ERROR);
  const uint64_t low = hal_read32(device->mmio + LACUNA_GPU_SIDA_ERROR_ADDRESS_LO);
  state->error_address = low | (uint64_t)hal_read32(device->mmio + LACUNA_GPU_SIDA_ERROR_ADDRESS_HI) << 32;
}
