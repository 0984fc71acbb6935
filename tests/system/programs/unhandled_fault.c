/* A program that does not handle errors; its kernel stores to an unmapped address. */
#include "app.h"

CODE_OBJECT(test_kernels);

int main(void) {
  lacuna_device* device = app_open_device();
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(device, NULL, &queue));
  const lacuna_kernel store_to = APP_KERNEL(device, test_kernels, "store_to");
  const uint64_t arguments[2] = {0x123456789abc, 1};
  app_run(queue, &store_to, 1, 1, arguments, sizeof arguments);
  return 0;
}
