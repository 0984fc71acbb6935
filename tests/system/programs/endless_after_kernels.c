/* Runs a kernel that ends and a kernel that faults, writes a line to the console, and then loops forever. */
#include "app.h"

CODE_OBJECT(test_kernels);

int main(void) {
  lacuna_device* device = app_open_device();
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(device, NULL, &queue));
  const lacuna_kernel store_to = APP_KERNEL(device, test_kernels, "store_to");
  const lacuna_memory memory = app_allocate(device, 4096);
  uint64_t arguments[2] = {memory.gpu_address, 1};
  app_run(queue, &store_to, 1, 1, arguments, sizeof arguments);
  arguments[0] = 0x123456789abc;
  CHECK(lacuna_dispatch(queue, &(lacuna_dispatch_packet){.kernel = &store_to,
                                                         .arguments = arguments,
                                                         .argument_bytes = sizeof arguments,
                                                         .completion = app_signal(device, 1)}));
  puts("from here on without end");
  for (volatile unsigned turns = 0;; ++turns) {
  }
}
