/* Loaded code objects of a device. */
#ifndef FIRMWARE_DRIVER_CODE_OBJECT_H
#define FIRMWARE_DRIVER_CODE_OBJECT_H

#include "driver/code_object_elf.h"
#include "driver/device_state.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lacuna_code_object {
  lacuna_device* device;
  lacuna_memory memory;
  code_object_view view; /* segments point into `memory` */
  lacuna_code_object* next;
};

/* Writes to `text` the location of `pc` in its code object, for reports; "" if it is in none. */
void driver_describe_pc(const lacuna_device* device, uint64_t pc, char* text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
