/* stuck KERNEL: launches kernel KERNEL of stuck.cl, which never ends, and waits for it. */
#include <string.h>

#include "app.h"
#include "startup/runtime.h"

CODE_OBJECT(stuck);

int main(void) {
  char line[256] = "";
  machine_command_line(line, sizeof line);
  const bool mutex = strstr(line, "mutex") != NULL;
  lacuna_device* device = app_open_device();
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(device, NULL, &queue));
  const lacuna_kernel kernel = APP_KERNEL(device, stuck, mutex ? "mutex" : "half_barrier");
  const lacuna_memory memory = app_allocate(device, 4096);
  CHECK(lacuna_fill(device, memory.gpu_address, 0, memory.bytes));
  const uint64_t arguments[2] = {memory.gpu_address, memory.gpu_address + 64};
  lacuna_signal* done = app_signal(device, 1);
  const uint16_t items = mutex ? 64 : 128;
  CHECK(lacuna_dispatch(queue, &(lacuna_dispatch_packet){.kernel = &kernel,
                                                         .grid = {items},
                                                         .workgroup = {items},
                                                         .arguments = arguments,
                                                         .argument_bytes = sizeof arguments,
                                                         .completion = done}));
  while (((const volatile uint32_t*)memory.host)[16] == 0) {
  }
  puts("the kernel runs");
  CHECK(lacuna_signal_wait_zero(done));
  return 0;
}
