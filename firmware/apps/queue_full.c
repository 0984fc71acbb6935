/* Tests a ring that fills up while its first packet waits: further packets are rejected without blocking. Then the ring is
 * drained and reused many times. */
#include "app.h"

CODE_OBJECT(test_kernels);

#define PACKETS 8u
#define MANY 100u

int main(void) {
  lacuna_device* device = app_open_device();
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(device, &(lacuna_queue_options){.packets = PACKETS}, &queue));
  const lacuna_kernel count_up = APP_KERNEL(device, test_kernels, "count_up");
  lacuna_memory counter = app_allocate(device, 4);
  volatile uint32_t* value = counter.host;
  *value = 0;
  lacuna_signal* gate = app_signal(device, 1);
  lacuna_signal* done = app_signal(device, PACKETS - 1);
  lacuna_dispatch_packet dispatch = {.kernel = &count_up,
                                     .grid = {64},
                                     .workgroup = {64},
                                     .arguments = &counter.gpu_address,
                                     .argument_bytes = sizeof counter.gpu_address,
                                     .completion = done};
  CHECK(lacuna_barrier_and(queue, &gate, 1, NULL, NULL));
  for (unsigned i = 1; i < PACKETS; ++i) CHECK(lacuna_dispatch(queue, &dispatch));
  EXPECT_ERROR(lacuna_dispatch(queue, &dispatch), LACUNA_ERROR_QUEUE_FULL);
  EXPECT_ERROR(lacuna_dispatch(queue, &dispatch), LACUNA_ERROR_QUEUE_FULL);
  EXPECT(*value == 0);
  lacuna_signal_store(gate, 0);
  CHECK(lacuna_signal_wait_zero(done));
  EXPECT(*value == (PACKETS - 1) * 64);

  lacuna_signal_store(done, MANY);
  for (unsigned i = 0; i < MANY; ++i) CHECK(lacuna_dispatch_blocking(queue, &dispatch));
  CHECK(lacuna_signal_wait_zero(done));
  EXPECT(*value == (PACKETS - 1 + MANY) * 64);
  lacuna_queue_state state;
  lacuna_queue_get_state(queue, &state);
  EXPECT(state.write_index == PACKETS + MANY);
  printf("%u packets through a ring of %u\n", (unsigned)state.write_index, PACKETS);
  lacuna_device_close(device);
  return 0;
}
