/* A program that does not handle errors and submits a packet of unknown type. */
#include "app.h"
#include "driver/hsa.h"

int main(void) {
  lacuna_device* device = app_open_device();
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(device, NULL, &queue));
  lacuna_signal* done = app_signal(device, 1);
  const hsa_dispatch_packet packet = {.header = 0xff};
  CHECK(lacuna_queue_submit(queue, &packet, true, NULL));
  CHECK(lacuna_signal_wait_zero(done));
  return 0;
}
