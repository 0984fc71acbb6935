/* Waits for a barrier packet, which waits for a signal whose value never changes. */
#include "app.h"

int main(void) {
  lacuna_device* device = app_open_device();
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(device, NULL, &queue));
  lacuna_signal* gate = app_signal(device, 1);
  lacuna_signal* done = app_signal(device, 1);
  CHECK(lacuna_barrier_and(queue, &gate, 1, done, NULL));
  CHECK(lacuna_signal_wait_zero(done));
  return 0;
}
