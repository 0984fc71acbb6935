/* Tests recursive functions, compiled with and without optimisation: calls by s_swappc, and the stack in scratch memory. */
#include "app.h"

CODE_OBJECT(calls_o0);
CODE_OBJECT(calls_o3);

#define ITEMS 512u
/* Stack for the recursion, whose depth the compiler cannot determine: enough for ackermann(2, 3) at -O0. */
#define STACK_BYTES 8192u

static uint32_t fibonacci(uint32_t n) {
  uint32_t a = 0;
  uint32_t b = 1;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t next = a + b;
    a = b;
    b = next;
  }
  return a;
}

/* Closed forms of Ackermann's function for m = 0, 1, 2. */
static uint32_t ackermann(uint32_t m, uint32_t n) { return m == 0 ? n + 1 : m == 1 ? n + 2 : 2 * n + 3; }

static void check(lacuna_device* device, const char* what, lacuna_kernel kernel) {
  if (kernel.private_segment_bytes < STACK_BYTES) kernel.private_segment_bytes = STACK_BYTES;
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(device, &(lacuna_queue_options){.private_segment_bytes = kernel.private_segment_bytes}, &queue));
  lacuna_memory out = app_allocate(device, 2 * ITEMS * sizeof(uint32_t));
  app_run(queue, &kernel, ITEMS, 128, &out.gpu_address, sizeof out.gpu_address);
  const uint32_t* values = out.host;
  for (uint32_t i = 0; i < ITEMS; ++i) {
    EXPECT(values[2 * i] == fibonacci(i % 11));
    EXPECT(values[2 * i + 1] == ackermann(i % 3, i / 3 % 4));
  }
  CHECK(lacuna_free(device, &out));
  lacuna_queue_destroy(queue);
  printf("recursion, %s, %u bytes of stack: correct\n", what, (unsigned)kernel.private_segment_bytes);
}

int main(void) {
  lacuna_device* device = app_open_device();
  check(device, "-O0", APP_KERNEL(device, calls_o0, "recursion"));
  check(device, "-O3", APP_KERNEL(device, calls_o3, "recursion"));
  lacuna_device_close(device);
  return 0;
}
