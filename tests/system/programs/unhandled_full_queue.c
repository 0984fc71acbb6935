/* A program that does not handle errors and fills a queue whose first packet never completes. */
#include "app.h"

int main(void) {
  lacuna_device* device = app_open_device();
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(device, &(lacuna_queue_options){.packets = 8}, &queue));
  lacuna_signal* gate = app_signal(device, 1);
  for (;;) CHECK(lacuna_barrier_and(queue, &gate, 1, NULL, NULL));
}
