/* GPU memory, mapped host memory, address translation and copies by the host. */
#include "driver/memory.h"

#include <stdlib.h>
#include <string.h>

#include "driver/error.h"
#include "driver/registers.h"
#include "hal/hal.h"

static uint64_t whole_pages(uint64_t bytes) { return (bytes + DRIVER_PAGE - 1) & ~(DRIVER_PAGE - 1); }

/* Index of the first mapping that starts above `gpu_address`. */
static size_t upper_bound(const lacuna_device* device, uint64_t gpu_address) {
  size_t low = 0;
  size_t high = device->mapping_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (device->mappings[middle].gpu_address <= gpu_address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static bool add_mapping(lacuna_device* device, mapping added) {
  if (device->mapping_count == device->mapping_capacity) {
    const size_t capacity = device->mapping_capacity != 0 ? 2 * device->mapping_capacity : 16;
    mapping* grown = realloc(device->mappings, capacity * sizeof *grown);
    if (grown == NULL) return false;
    device->mappings = grown;
    device->mapping_capacity = capacity;
  }
  const size_t at = upper_bound(device, added.gpu_address);
  memmove(&device->mappings[at + 1], &device->mappings[at], (device->mapping_count - at) * sizeof *device->mappings);
  device->mappings[at] = added;
  ++device->mapping_count;
  return true;
}

static void remove_mapping(lacuna_device* device, uint64_t gpu_address) {
  const size_t above = upper_bound(device, gpu_address);
  if (above == 0 || device->mappings[above - 1].gpu_address != gpu_address) return;
  memmove(&device->mappings[above - 1], &device->mappings[above], (device->mapping_count - above) * sizeof *device->mappings);
  --device->mapping_count;
}

const mapping* driver_find_mapping(const lacuna_device* device, uint64_t gpu_address, uint64_t bytes) {
  const size_t above = upper_bound(device, gpu_address);
  if (above == 0) return NULL;
  const mapping* found = &device->mappings[above - 1];
  const uint64_t offset = gpu_address - found->gpu_address;
  return offset <= found->bytes && bytes <= found->bytes - offset ? found : NULL;
}

lacuna_error driver_take_vram(lacuna_device* device, uint64_t bytes, uint64_t alignment, mapping_kind kind,
                              lacuna_memory* memory) {
  if (bytes == 0 || bytes > device->properties.memory_bytes) {
    return driver_error(bytes == 0 ? LACUNA_ERROR_INVALID_ARGUMENT : LACUNA_ERROR_OUT_OF_DEVICE_MEMORY,
                        "allocation of %llu bytes of GPU memory, which has %llu", (unsigned long long)bytes,
                        (unsigned long long)device->properties.memory_bytes);
  }
  /* Allocates one page more than it maps, so that an access past the end faults. */
  const uint64_t mapped = whole_pages(bytes);
  uint64_t bus_address;
  if (!range_allocator_take(&device->vram, mapped + DRIVER_PAGE, alignment, &bus_address)) {
    return driver_error(LACUNA_ERROR_OUT_OF_DEVICE_MEMORY,
                        "no free range of %llu bytes: %llu of %llu bytes of GPU memory are free", (unsigned long long)bytes,
                        (unsigned long long)range_allocator_free_bytes(&device->vram),
                        (unsigned long long)device->properties.memory_bytes);
  }
  const lacuna_memory taken = {.gpu_address = bus_address - device->vram_bus_address + DRIVER_VRAM_WINDOW,
                               .host = hal_map(bus_address, mapped),
                               .bytes = bytes};
  if (!add_mapping(device, (mapping){taken.gpu_address, mapped, taken.host, kind})) {
    range_allocator_give(&device->vram, bus_address, mapped + DRIVER_PAGE);
    return driver_error(LACUNA_ERROR_OUT_OF_HOST_MEMORY, "no host memory for the table of allocations");
  }
  *memory = taken;
  return LACUNA_OK;
}

void driver_give_vram(lacuna_device* device, const lacuna_memory* memory) {
  remove_mapping(device, memory->gpu_address);
  range_allocator_give(&device->vram, memory->gpu_address - DRIVER_VRAM_WINDOW + device->vram_bus_address,
                       whole_pages(memory->bytes) + DRIVER_PAGE);
}

lacuna_error lacuna_allocate(lacuna_device* device, uint64_t bytes, lacuna_memory* memory) {
  if (device == NULL || memory == NULL) return driver_error(LACUNA_ERROR_INVALID_ARGUMENT, "lacuna_allocate: null argument");
  lacuna_memory taken;
  lacuna_error error = driver_take_vram(device, bytes, DRIVER_PAGE, MAPPING_VRAM, &taken);
  if (error != LACUNA_OK) return error;
  error = driver_vm_map(device, taken.gpu_address, taken.gpu_address - DRIVER_VRAM_WINDOW + device->vram_bus_address,
                        whole_pages(bytes), LACUNA_ACCESS_READ | LACUNA_ACCESS_WRITE);
  if (error != LACUNA_OK) {
    driver_give_vram(device, &taken);
    return error;
  }
  *memory = taken;
  return LACUNA_OK;
}

/* Finds the mapping of kind `kind` that starts at the memory's address and has its size. */
static lacuna_error find_exact(const lacuna_device* device, const lacuna_memory* memory, mapping_kind kind, mapping* found) {
  const mapping* hit = driver_find_mapping(device, memory->gpu_address, 1);
  if (hit == NULL || hit->gpu_address != memory->gpu_address || hit->kind != kind || hit->bytes != whole_pages(memory->bytes)) {
    return driver_error(LACUNA_ERROR_NOT_ALLOCATED, "0x%llx bytes at GPU address 0x%llx are not one %s",
                        (unsigned long long)memory->bytes, (unsigned long long)memory->gpu_address,
                        kind == MAPPING_HOST ? "mapping of host memory" : "allocation");
  }
  *found = *hit;
  return LACUNA_OK;
}

lacuna_error lacuna_free(lacuna_device* device, lacuna_memory* memory) {
  if (device == NULL || memory == NULL) return driver_error(LACUNA_ERROR_INVALID_ARGUMENT, "lacuna_free: null argument");
  mapping found;
  lacuna_error error = find_exact(device, memory, MAPPING_VRAM, &found);
  if (error != LACUNA_OK) return error;
  error = driver_vm_unmap(device, found.gpu_address, found.bytes);
  if (error != LACUNA_OK) return error;
  driver_give_vram(device, memory);
  *memory = (lacuna_memory){0};
  return LACUNA_OK;
}

lacuna_error lacuna_map_host(lacuna_device* device, void* host, uint64_t bytes, uint32_t access, lacuna_memory* memory) {
  if (device == NULL || host == NULL || memory == NULL || bytes == 0) {
    return driver_error(LACUNA_ERROR_INVALID_ARGUMENT, "lacuna_map_host: null argument or no bytes");
  }
  const uint64_t bus_address = hal_bus_address(host);
  const uint32_t all = LACUNA_ACCESS_READ | LACUNA_ACCESS_WRITE | LACUNA_ACCESS_EXECUTE;
  if (bus_address % DRIVER_PAGE != 0 || bytes % DRIVER_PAGE != 0 || access == 0 || (access & ~all) != 0) {
    return driver_error(LACUNA_ERROR_INVALID_ARGUMENT,
                        "lacuna_map_host: %llu bytes at bus address 0x%llx, access %u: not whole 4 KiB pages or no such access",
                        (unsigned long long)bytes, (unsigned long long)bus_address, (unsigned)access);
  }
  const lacuna_memory mapped = {.gpu_address = bus_address + DRIVER_HOST_WINDOW, .host = host, .bytes = bytes};
  if (!add_mapping(device, (mapping){mapped.gpu_address, bytes, host, MAPPING_HOST})) {
    return driver_error(LACUNA_ERROR_OUT_OF_HOST_MEMORY, "no host memory for the table of mappings");
  }
  const lacuna_error error = driver_vm_map(device, mapped.gpu_address, bus_address, bytes, access);
  if (error != LACUNA_OK) {
    remove_mapping(device, mapped.gpu_address);
    return error;
  }
  *memory = mapped;
  return LACUNA_OK;
}

lacuna_error lacuna_unmap_host(lacuna_device* device, lacuna_memory* memory) {
  if (device == NULL || memory == NULL) return driver_error(LACUNA_ERROR_INVALID_ARGUMENT, "lacuna_unmap_host: null argument");
  mapping found;
  lacuna_error error = find_exact(device, memory, MAPPING_HOST, &found);
  if (error != LACUNA_OK) return error;
  error = driver_vm_unmap(device, found.gpu_address, found.bytes);
  if (error != LACUNA_OK) return error;
  remove_mapping(device, found.gpu_address);
  *memory = (lacuna_memory){0};
  return LACUNA_OK;
}

void* lacuna_host_pointer(lacuna_device* device, uint64_t gpu_address, uint64_t bytes) {
  const mapping* found = driver_find_mapping(device, gpu_address, bytes);
  return found != NULL ? found->host + (gpu_address - found->gpu_address) : NULL;
}

uint64_t lacuna_gpu_address(lacuna_device* device, const void* host) {
  const uint8_t* pointer = host;
  for (size_t i = 0; i < device->mapping_count; ++i) {
    const mapping* candidate = &device->mappings[i];
    if (pointer >= candidate->host && pointer < candidate->host + candidate->bytes) {
      return candidate->gpu_address + (uint64_t)(pointer - candidate->host);
    }
  }
  return 0;
}

static lacuna_error find_copy_range(lacuna_device* device, uint64_t gpu_address, uint64_t bytes, void** host) {
  *host = lacuna_host_pointer(device, gpu_address, bytes);
  if (*host != NULL) return LACUNA_OK;
  return driver_error(LACUNA_ERROR_NOT_ALLOCATED, "copy of 0x%llx bytes at GPU address 0x%llx: not inside one allocation",
                      (unsigned long long)bytes, (unsigned long long)gpu_address);
}

lacuna_error lacuna_copy_to_device(lacuna_device* device, uint64_t gpu_address, const void* source, uint64_t bytes) {
  void* host;
  const lacuna_error error = find_copy_range(device, gpu_address, bytes, &host);
  if (error != LACUNA_OK) return error;
  memcpy(host, source, bytes);
  hal_fence();
  return LACUNA_OK;
}

lacuna_error lacuna_copy_from_device(lacuna_device* device, void* destination, uint64_t gpu_address, uint64_t bytes) {
  void* host;
  const lacuna_error error = find_copy_range(device, gpu_address, bytes, &host);
  if (error != LACUNA_OK) return error;
  hal_fence();
  memcpy(destination, host, bytes);
  return LACUNA_OK;
}

lacuna_error lacuna_fill(lacuna_device* device, uint64_t gpu_address, uint8_t value, uint64_t bytes) {
  void* host;
  const lacuna_error error = find_copy_range(device, gpu_address, bytes, &host);
  if (error != LACUNA_OK) return error;
  memset(host, value, bytes);
  hal_fence();
  return LACUNA_OK;
}
