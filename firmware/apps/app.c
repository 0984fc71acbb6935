#include "app.h"

void app_check(lacuna_error error, const char* call, const char* file, int line) {
  if (error == LACUNA_OK) return;
  printf("%s:%d: %s: %s\n  %s\n", file, line, call, lacuna_error_string(error), lacuna_last_error());
  exit(1);
}

_Noreturn void app_fail(const char* what, const char* file, int line) {
  printf("%s:%d: not true: %s\n", file, line, what);
  exit(1);
}

void app_expect_error(lacuna_error actual, lacuna_error expected, const char* call, const char* file, int line) {
  if (actual == expected) {
    printf("as expected: %s\n", lacuna_last_error());
    return;
  }
  printf("%s:%d: %s: \"%s\" instead of \"%s\"\n  %s\n", file, line, call, lacuna_error_string(actual),
         lacuna_error_string(expected), lacuna_last_error());
  exit(1);
}

lacuna_device* app_open_device(void) {
  lacuna_device* device;
  CHECK(lacuna_device_open(LACUNA_GPU_MMIO_BASE, LACUNA_IRQ_GPU, &device));
  return device;
}

lacuna_kernel app_kernel(lacuna_device* device, const uint8_t* begin, const uint8_t* end, const char* name) {
  lacuna_code_object* code_object;
  lacuna_kernel kernel;
  CHECK(lacuna_code_object_load(device, begin, (size_t)(end - begin), &code_object));
  CHECK(lacuna_kernel_find(code_object, name, &kernel));
  return kernel;
}

lacuna_memory app_allocate(lacuna_device* device, uint64_t bytes) {
  lacuna_memory memory;
  CHECK(lacuna_allocate(device, bytes, &memory));
  return memory;
}

lacuna_signal* app_signal(lacuna_device* device, int64_t value) {
  lacuna_signal* signal;
  CHECK(lacuna_signal_create(device, value, &signal));
  return signal;
}

uint64_t app_run(lacuna_queue* queue, const lacuna_kernel* kernel, uint32_t grid, uint16_t workgroup, const void* arguments,
                 size_t argument_bytes) {
  static lacuna_signal* signal;
  static lacuna_device* signal_device;
  lacuna_device* device = lacuna_queue_device(queue);
  if (signal == NULL || signal_device != device) {
    signal = app_signal(device, 1);
    signal_device = device;
  }
  lacuna_signal_store(signal, 1);
  CHECK(lacuna_dispatch(queue, &(lacuna_dispatch_packet){.kernel = kernel,
                                                         .grid = {grid, 1, 1},
                                                         .workgroup = {workgroup, 1, 1},
                                                         .arguments = arguments,
                                                         .argument_bytes = argument_bytes,
                                                         .completion = signal}));
  CHECK(lacuna_signal_wait_zero(signal));
  return lacuna_signal_duration(signal);
}

void app_fill_random(float* values, size_t count, int range, uint64_t seed) {
  for (size_t i = 0; i < count; ++i) values[i] = (float)((int)(app_random(&seed) % (2u * (unsigned)range)) - range);
}
