/* Tests several queues, completion signals, barrier-AND and -OR packets, the barrier bit, and packets that become valid out of
 * order. */
#include <string.h>

#include "app.h"
#include "driver/hsa.h"

CODE_OBJECT(test_kernels);

static lacuna_device* device;
static lacuna_queue* queues[3];
static lacuna_kernel spin;
static lacuna_kernel affine;
static lacuna_kernel count_up;
static lacuna_memory data;

typedef struct {
  uint64_t pointer;
  uint32_t first, second;
} arguments;

static void dispatch(lacuna_queue* queue, const lacuna_kernel* kernel, uint32_t items, arguments values, lacuna_signal* done,
                     bool barrier) {
  const lacuna_dispatch_options options = {barrier, LACUNA_SCOPE_SYSTEM, LACUNA_SCOPE_SYSTEM};
  CHECK(lacuna_dispatch(
      queue, &(lacuna_dispatch_packet){.kernel = kernel,
                                       .grid = {items},
                                       .workgroup = {64},
                                       .arguments = &values,
                                       .argument_bytes = kernel->kernarg_segment_bytes < sizeof values ? 8 : sizeof values,
                                       .completion = done,
                                       .options = &options}));
}

static uint64_t start_of(const lacuna_signal* signal) {
  uint64_t start, end;
  lacuna_signal_times(signal, &start, &end);
  EXPECT(start <= end);
  return start;
}

static uint64_t end_of(const lacuna_signal* signal) {
  uint64_t start, end;
  lacuna_signal_times(signal, &start, &end);
  return end;
}

/* Queue 2 starts when both other queues are done. */
static void and_over_queues(void) {
  lacuna_signal* first = app_signal(device, 1);
  lacuna_signal* second = app_signal(device, 1);
  lacuna_signal* gate = app_signal(device, 1);
  lacuna_signal* third = app_signal(device, 1);
  lacuna_signal* dependencies[] = {first, NULL, second};
  CHECK(lacuna_barrier_and(queues[2], dependencies, 3, gate, NULL));
  dispatch(queues[2], &spin, 64, (arguments){data.gpu_address, 10, 0}, third, true);
  dispatch(queues[0], &spin, 64, (arguments){data.gpu_address + 4096, 2000, 0}, first, false);
  dispatch(queues[1], &spin, 64, (arguments){data.gpu_address + 8192, 4000, 0}, second, false);
  CHECK(lacuna_signal_wait_zero(third));
  EXPECT(lacuna_signal_load(first) == 0 && lacuna_signal_load(second) == 0 && lacuna_signal_load(gate) == 0);
  EXPECT(end_of(first) <= start_of(third) && end_of(second) <= start_of(third));
  lacuna_signal_destroy(first);
  lacuna_signal_destroy(second);
  lacuna_signal_destroy(gate);
  lacuna_signal_destroy(third);
  printf("barrier-AND over queues: correct\n");
}

/* The host stores to the dependencies: a barrier-OR packet completes when one of two signals is 0, a barrier-AND packet when
 * both are. Packets without dependencies complete as well. */
static void or_with_host_signal(void) {
  lacuna_signal* never = app_signal(device, 1);
  lacuna_signal* host = app_signal(device, 1);
  lacuna_signal* either = app_signal(device, 1);
  lacuna_signal* both = app_signal(device, 1);
  lacuna_signal* dependencies[] = {never, host};
  CHECK(lacuna_barrier_or(queues[0], dependencies, 2, either, NULL));
  CHECK(lacuna_barrier_and(queues[1], dependencies, 2, both, NULL));
  EXPECT_ERROR(lacuna_signal_wait(either, LACUNA_CONDITION_EQUAL, 0, 20000), LACUNA_ERROR_TIMEOUT);
  lacuna_signal_store(host, 0);
  CHECK(lacuna_signal_wait_zero(either));
  EXPECT_ERROR(lacuna_signal_wait(both, LACUNA_CONDITION_EQUAL, 0, 20000), LACUNA_ERROR_TIMEOUT);
  lacuna_signal_store(never, 0);
  CHECK(lacuna_signal_wait_zero(both));
  CHECK(lacuna_barrier_and(queues[0], NULL, 0, NULL, NULL));
  lacuna_signal_store(both, 1);
  CHECK(lacuna_barrier_or(queues[0], NULL, 0, both, NULL));
  CHECK(lacuna_signal_wait_zero(both));
  lacuna_signal_destroy(never);
  lacuna_signal_destroy(host);
  lacuna_signal_destroy(either);
  lacuna_signal_destroy(both);
  printf("barrier-OR and host signals: correct\n");
}

/* The barrier bit orders dependent kernels; the result reveals the order. */
static void barrier_bit(void) {
  enum { ITEMS = 256, STEPS = 12 };
  uint32_t* values = data.host;
  lacuna_signal* steps[STEPS];
  for (uint32_t i = 0; i < ITEMS; ++i) values[i] = i;
  for (uint32_t step = 0; step < STEPS; ++step) {
    steps[step] = app_signal(device, 1);
    dispatch(queues[0], &affine, ITEMS, (arguments){data.gpu_address, step + 2, step + 7}, steps[step], true);
  }
  CHECK(lacuna_signal_wait_zero(steps[STEPS - 1]));
  for (uint32_t i = 0; i < ITEMS; ++i) {
    uint32_t expected = i;
    for (uint32_t step = 0; step < STEPS; ++step) expected = expected * (step + 2) + step + 7;
    EXPECT(values[i] == expected);
  }
  for (uint32_t step = 1; step < STEPS; ++step) EXPECT(end_of(steps[step - 1]) <= start_of(steps[step]));
  for (uint32_t step = 0; step < STEPS; ++step) lacuna_signal_destroy(steps[step]);
  printf("barrier bit: correct\n");
}

/* One signal counts the completions of packets on all queues. */
static void counting_signal(void) {
  enum { EACH = 8 };
  uint32_t* counter = data.host;
  *counter = 0;
  lacuna_signal* all = app_signal(device, 3 * EACH);
  for (unsigned i = 0; i < EACH; ++i) {
    for (unsigned q = 0; q < 3; ++q) dispatch(queues[q], &count_up, 128, (arguments){data.gpu_address, 0, 0}, all, false);
  }
  CHECK(lacuna_signal_wait_zero(all));
  EXPECT(*counter == 3 * EACH * 128);
  lacuna_signal_destroy(all);
  printf("one signal over all queues: correct\n");
}

/* Packets are announced before the first one is valid: the device waits for the first one's header. */
static void late_header(void) {
  lacuna_queue* queue = queues[1];
  uint32_t* counter = data.host;
  *counter = 0;
  lacuna_signal* done = app_signal(device, 1);
  hsa_barrier_packet packet = {.header = HSA_PACKET_INVALID};
  uint64_t index;
  CHECK(lacuna_queue_submit(queue, &packet, true, &index));
  dispatch(queue, &count_up, 64, (arguments){data.gpu_address, 0, 0}, done, false);
  EXPECT_ERROR(lacuna_signal_wait(done, LACUNA_CONDITION_EQUAL, 0, 20000), LACUNA_ERROR_TIMEOUT);
  EXPECT(*counter == 0);
  const hsa_queue* memory = lacuna_host_pointer(device, lacuna_queue_address(queue), sizeof *memory);
  volatile uint16_t* header =
      lacuna_host_pointer(device, memory->base_address + index % memory->size * HSA_PACKET_BYTES, HSA_PACKET_BYTES);
  *header = HSA_HEADER(HSA_PACKET_BARRIER_AND, 0, LACUNA_SCOPE_SYSTEM, LACUNA_SCOPE_SYSTEM);
  CHECK(lacuna_signal_wait_zero(done));
  EXPECT(*counter == 64);
  lacuna_signal_destroy(done);
  printf("header written after the doorbell: correct\n");
}

int main(void) {
  device = app_open_device();
  for (unsigned i = 0; i < 3; ++i) CHECK(lacuna_queue_create(device, NULL, &queues[i]));
  spin = APP_KERNEL(device, test_kernels, "spin");
  affine = APP_KERNEL(device, test_kernels, "affine");
  count_up = APP_KERNEL(device, test_kernels, "count_up");
  data = app_allocate(device, 3 * 4096);
  and_over_queues();
  or_with_host_signal();
  barrier_bit();
  counting_signal();
  late_header();
  lacuna_device_close(device);
  return 0;
}
