/* Causes races on several queues. Prints everything that could differ between runs: results, their order and times. */
#include "app.h"

CODE_OBJECT(histogram);
CODE_OBJECT(test_kernels);

#define INPUT_BYTES 65536u

int main(void) {
  lacuna_device* device = app_open_device();
  const lacuna_kernel histogram = APP_KERNEL(device, histogram, "histogram");
  const lacuna_kernel affine = APP_KERNEL(device, test_kernels, "affine");
  lacuna_memory input = app_allocate(device, INPUT_BYTES);
  lacuna_memory bins = app_allocate(device, 256 * sizeof(uint32_t));
  uint64_t seed = 11;
  uint64_t* words = input.host;
  for (size_t i = 0; i < INPUT_BYTES / 8; ++i) words[i] = app_random(&seed);
  CHECK(lacuna_fill(device, bins.gpu_address, 0, bins.bytes));
  lacuna_queue* queues[2];
  lacuna_signal* signals[8];
  /* Both queues wait for the host, so that they start together. */
  lacuna_signal* gate = app_signal(device, 1);
  for (unsigned i = 0; i < 2; ++i) {
    CHECK(lacuna_queue_create(device, NULL, &queues[i]));
    CHECK(lacuna_barrier_and(queues[i], &gate, 1, NULL, NULL));
  }
  for (unsigned i = 0; i < 8; ++i) {
    signals[i] = app_signal(device, 1);
    const struct {
      uint64_t input, bins;
      uint32_t count4;
    } counting = {input.gpu_address, bins.gpu_address, INPUT_BYTES / 4};
    /* Changes the bins while the other queue's kernel counts: the result depends on the order. */
    const struct {
      uint64_t data;
      uint32_t factor, addend;
    } changing = {bins.gpu_address, 3, i};
    CHECK(lacuna_dispatch(queues[i % 2], &(lacuna_dispatch_packet){.kernel = i % 2 ? &affine : &histogram,
                                                                   .grid = {i % 2 ? 256 : 4096},
                                                                   .workgroup = {i % 2 ? 64 : 256},
                                                                   .arguments = i % 2 ? (const void*)&changing : &counting,
                                                                   .argument_bytes = i % 2 ? sizeof changing : sizeof counting,
                                                                   .completion = signals[i]}));
  }
  lacuna_signal_store(gate, 0);
  for (unsigned i = 0; i < 8; ++i) CHECK(lacuna_signal_wait_zero(signals[i]));
  const uint32_t* counts = bins.host;
  uint64_t hash = 14695981039346656037u;
  for (unsigned i = 0; i < 256; ++i) hash = (hash ^ counts[i]) * 1099511628211u;
  printf("bins %016llx\n", (unsigned long long)hash);
  for (unsigned i = 0; i < 8; ++i) {
    uint64_t start, end;
    lacuna_signal_times(signals[i], &start, &end);
    printf("dispatch %u: %llu to %llu\n", i, (unsigned long long)start, (unsigned long long)end);
  }
  lacuna_device_close(device);
  return 0;
}
