/* Tests private arrays in scratch memory, with enough wavefronts that scratch slots are reused; a queue without scratch memory
 * rejects the kernel. */
#include "app.h"

CODE_OBJECT(test_kernels);
CODE_OBJECT(test_kernels_v5);

#define ITEMS 8192u
#define ROUNDS 20u
#define PRIVATE_WORDS 24u

static uint32_t expected(uint32_t item) {
  uint32_t words[PRIVATE_WORDS];
  for (uint32_t i = 0; i < PRIVATE_WORDS; ++i) words[i] = item + i;
  uint32_t at = item % PRIVATE_WORDS;
  for (uint32_t i = 0; i < ROUNDS; ++i) {
    words[at] += i;
    at = (at + words[at]) % PRIVATE_WORDS;
  }
  uint32_t sum = 0;
  for (uint32_t i = 0; i < PRIVATE_WORDS; ++i) sum = sum * 31 + words[i];
  return sum;
}

static void check(lacuna_device* device, lacuna_queue* queue, lacuna_kernel kernel) {
  lacuna_memory out = app_allocate(device, ITEMS * sizeof(uint32_t));
  const struct {
    uint64_t out;
    uint32_t rounds;
  } arguments = {out.gpu_address, ROUNDS};
  app_run(queue, &kernel, ITEMS, 128, &arguments, sizeof arguments);
  const uint32_t* sums = out.host;
  for (uint32_t i = 0; i < ITEMS; ++i) EXPECT(sums[i] == expected(i));
  CHECK(lacuna_free(device, &out));
  printf("scratch, %u bytes per work-item, code object version %u: correct\n", (unsigned)kernel.private_segment_bytes,
         (unsigned)kernel.code_object_version);
}

int main(void) {
  lacuna_device* device = app_open_device();
  const lacuna_kernel kernel = APP_KERNEL(device, test_kernels, "private_array");
  EXPECT(kernel.private_segment_bytes >= PRIVATE_WORDS * sizeof(uint32_t));
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(device, NULL, &queue));
  const uint64_t arguments[2] = {0, 0};
  EXPECT_ERROR(
      lacuna_dispatch(queue, &(lacuna_dispatch_packet){.kernel = &kernel, .arguments = arguments, .argument_bytes = 12}),
      LACUNA_ERROR_SEGMENT_TOO_LARGE);
  lacuna_queue_destroy(queue);
  CHECK(lacuna_queue_create(device, &(lacuna_queue_options){.private_segment_bytes = kernel.private_segment_bytes}, &queue));
  check(device, queue, kernel);
  check(device, queue, APP_KERNEL(device, test_kernels_v5, "private_array"));
  lacuna_device_close(device);
  return 0;
}
