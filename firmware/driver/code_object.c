/* Loads code objects: one contiguous allocation with every segment at its own offset, so that relative addresses in the code
 * stay valid and the ELF header precedes the kernels, where tools search for their names. */
#include "driver/code_object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/error.h"
#include "driver/memory.h"
#include "driver/registers.h"
#include "hal/hal.h"

/* Access to a page; pages after the segments contain symbols for the reports of the device. */
static uint32_t page_access(const lacuna_code_object* object, uint64_t offset) {
  return offset < object->view.span ? code_object_page_access(&object->view, object->view.base + offset) : LACUNA_ACCESS_READ;
}

/* Maps or unmaps runs of pages with the same access; pages that no segment touches stay unmapped. Stops at the first error;
 * `done` receives the offset up to which pages have been changed. */
static lacuna_error for_each_run(lacuna_code_object* object, bool map, uint64_t end, uint64_t* done) {
  lacuna_device* device = object->device;
  const uint64_t bus_address = object->memory.gpu_address - DRIVER_VRAM_WINDOW + device->vram_bus_address;
  uint64_t start = 0;
  while (start < end) {
    const uint32_t access = page_access(object, start);
    uint64_t next = start + DRIVER_PAGE;
    while (next < end && page_access(object, next) == access) next += DRIVER_PAGE;
    if (access != 0) {
      const lacuna_error error =
          map ? driver_vm_map(device, object->memory.gpu_address + start, bus_address + start, next - start, access)
              : driver_vm_unmap(device, object->memory.gpu_address + start, next - start);
      if (error != LACUNA_OK) {
        *done = start;
        return error;
      }
    }
    start = next;
  }
  *done = end;
  return LACUNA_OK;
}

static void copy_segments(lacuna_code_object* object) {
  uint8_t* memory = object->memory.host;
  memset(memory, 0, object->memory.bytes);
  for (unsigned i = 0; i < object->view.segment_count; ++i) {
    const code_object_segment* segment = &object->view.segments[i];
    memcpy(memory + (segment->address - object->view.base), segment->bytes, segment->file_bytes);
  }
}

/* Lets the view refer to the loaded copy, so that the caller may free the image. */
static void rebase_view(lacuna_code_object* object) {
  for (unsigned i = 0; i < object->view.segment_count; ++i) {
    code_object_segment* segment = &object->view.segments[i];
    segment->bytes = (const uint8_t*)object->memory.host + (segment->address - object->view.base);
  }
}

lacuna_error lacuna_code_object_load(lacuna_device* device, const void* image, size_t bytes, lacuna_code_object** code_object) {
  if (device == NULL || image == NULL || code_object == NULL) {
    return driver_error(LACUNA_ERROR_INVALID_ARGUMENT, "lacuna_code_object_load: null argument");
  }
  lacuna_code_object* object = calloc(1, sizeof *object);
  if (object == NULL) return driver_error(LACUNA_ERROR_OUT_OF_HOST_MEMORY, "no host memory for a code object");
  object->device = device;
  lacuna_error error = code_object_parse(image, bytes, &object->view);
  if (error == LACUNA_OK && object->view.target != device->properties.target) {
    error =
        driver_error(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT, "the code object is for gfx%u%x%x, the device is %s (gpu.target)",
                     (unsigned)(object->view.target >> 16 & 0xff), (unsigned)(object->view.target >> 8 & 0xff),
                     (unsigned)(object->view.target & 0xff), device->properties.target_name);
  }
  if (error == LACUNA_OK) {
    error = driver_take_vram(device, code_object_loaded_bytes(&object->view), object->view.alignment, MAPPING_CODE,
                             &object->memory);
  }
  if (error != LACUNA_OK) {
    free(object);
    return error;
  }
  copy_segments(object);
  error = code_object_relocate(&object->view, object->memory.host, object->memory.gpu_address);
  if (error == LACUNA_OK) code_object_keep_symbols(&object->view, object->memory.host);
  hal_fence();
  uint64_t mapped = 0;
  if (error == LACUNA_OK) error = for_each_run(object, true, object->memory.bytes, &mapped);
  if (error != LACUNA_OK) {
    uint64_t unmapped;
    for_each_run(object, false, mapped, &unmapped);
    driver_give_vram(device, &object->memory);
    free(object);
    return error;
  }
  rebase_view(object);
  object->next = device->code_objects;
  device->code_objects = object;
  *code_object = object;
  return LACUNA_OK;
}

void lacuna_code_object_unload(lacuna_code_object* code_object) {
  if (code_object == NULL) return;
  lacuna_device* device = code_object->device;
  lacuna_code_object** link = &device->code_objects;
  while (*link != code_object) link = &(*link)->next;
  *link = code_object->next;
  uint64_t unmapped;
  for_each_run(code_object, false, code_object->memory.bytes, &unmapped);
  driver_give_vram(device, &code_object->memory);
  free(code_object);
}

lacuna_error lacuna_kernel_find(const lacuna_code_object* code_object, const char* name, lacuna_kernel* kernel) {
  if (code_object == NULL || name == NULL || kernel == NULL) {
    return driver_error(LACUNA_ERROR_INVALID_ARGUMENT, "lacuna_kernel_find: null argument");
  }
  lacuna_kernel found;
  const lacuna_error error = code_object_kernel(&code_object->view, name, &found);
  if (error != LACUNA_OK) return error;
  found.object += code_object->memory.gpu_address - code_object->view.base;
  *kernel = found;
  return LACUNA_OK;
}

void driver_describe_pc(const lacuna_device* device, uint64_t pc, char* text, size_t size) {
  text[0] = '\0';
  for (const lacuna_code_object* object = device->code_objects; object != NULL; object = object->next) {
    if (pc < object->memory.gpu_address || pc - object->memory.gpu_address >= object->view.span) continue;
    snprintf(text, size, " (code object + 0x%llx)", (unsigned long long)(pc - object->memory.gpu_address + object->view.base));
    return;
  }
}
