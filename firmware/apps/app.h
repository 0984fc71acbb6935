/* Common functions of the programs in this folder: error exits, embedded code objects, test data. */
#ifndef FIRMWARE_APPS_APP_H
#define FIRMWARE_APPS_APP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "include/lacuna/abi/memory_map.h"
#include "lacuna.h"
#include "random_numbers.h"

/* The code object that lacuna_firmware(... KERNELS name) embeds. */
#define CODE_OBJECT(name)                    \
  extern const uint8_t code_object_##name[]; \
  extern const uint8_t code_object_##name##_end[]
#define CODE_OBJECT_BYTES(name) ((size_t)(code_object_##name##_end - code_object_##name))

/* Ends the program with exit code 1 and the driver's error message if a call fails. */
#define CHECK(call) app_check((call), #call, __FILE__, __LINE__)
/* Ends the program with exit code 1 if a condition does not hold. */
#define EXPECT(condition)                                       \
  do {                                                          \
    if (!(condition)) app_fail(#condition, __FILE__, __LINE__); \
  } while (0)
/* Expects a driver call to fail with a certain error. */
#define EXPECT_ERROR(call, error) app_expect_error((call), (error), #call, __FILE__, __LINE__)

void app_check(lacuna_error error, const char* call, const char* file, int line);
_Noreturn void app_fail(const char* what, const char* file, int line);
void app_expect_error(lacuna_error actual, lacuna_error expected, const char* call, const char* file, int line);

/* Opens the platform's GPU; ends the program on failure. */
lacuna_device* app_open_device(void);
/* Loads an embedded code object and finds a kernel in it; ends the program on failure. The code object stays loaded until the
 * device is closed. */
lacuna_kernel app_kernel(lacuna_device* device, const uint8_t* begin, const uint8_t* end, const char* name);
#define APP_KERNEL(device, code_object, name) \
  app_kernel((device), code_object_##code_object, code_object_##code_object##_end, (name))
lacuna_memory app_allocate(lacuna_device* device, uint64_t bytes);
lacuna_signal* app_signal(lacuna_device* device, int64_t value);

/* Dispatches a one-dimensional grid and waits for it; returns its duration in nanoseconds. */
uint64_t app_run(lacuna_queue* queue, const lacuna_kernel* kernel, uint32_t grid, uint16_t workgroup, const void* arguments,
                 size_t argument_bytes);

/* Fills `values` with pseudorandom integers from -range to range - 1, as floats. */
void app_fill_random(float* values, size_t count, int range, uint64_t seed);

#endif
