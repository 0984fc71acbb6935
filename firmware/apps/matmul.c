/* Runs one tiled matrix multiply, for benchmarks: the size is the first argument of the program, or MATMUL_SIZE. */
#include <string.h>

#include "app.h"
#include "matrix_check.h"
#include "startup/runtime.h"

#ifndef MATMUL_SIZE
#define MATMUL_SIZE 512
#endif
#define TILE 16u

CODE_OBJECT(matmul_tiled);

static uint32_t wanted_size(void) {
  char line[256];
  machine_command_line(line, sizeof line);
  const char* argument = strchr(line, ' ');
  return argument != NULL ? (uint32_t)strtoul(argument, NULL, 10) : MATMUL_SIZE;
}

int main(void) {
  const uint32_t n = wanted_size();
  if (n == 0 || n % TILE != 0 || n > MATRIX_MAX_SIZE) {
    printf("matmul: size %u is not a multiple of %u from %u to %u\n", (unsigned)n, TILE, TILE, MATRIX_MAX_SIZE);
    return 2;
  }
  lacuna_device* device = app_open_device();
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(device, NULL, &queue));
  const lacuna_kernel kernel = APP_KERNEL(device, matmul_tiled, "matmul_tiled");
  lacuna_memory a = app_allocate(device, (uint64_t)n * n * sizeof(float));
  lacuna_memory b = app_allocate(device, (uint64_t)n * n * sizeof(float));
  lacuna_memory c = app_allocate(device, (uint64_t)n * n * sizeof(float));
  app_fill_random(a.host, (size_t)n * n, 8, 4);
  app_fill_random(b.host, (size_t)n * n, 8, 5);
  const struct {
    uint64_t a, b, c;
    uint32_t n, k;
  } arguments = {a.gpu_address, b.gpu_address, c.gpu_address, n, n};
  lacuna_signal* done = app_signal(device, 1);
  CHECK(lacuna_dispatch(queue, &(lacuna_dispatch_packet){.kernel = &kernel,
                                                         .grid = {n, n},
                                                         .workgroup = {TILE, TILE},
                                                         .arguments = &arguments,
                                                         .argument_bytes = sizeof arguments,
                                                         .completion = done}));
  CHECK(lacuna_signal_wait_zero(done));
  const bool correct = matrix_product_is_correct(a.host, b.host, c.host, n);
  printf("matmul %u x %u x %u: %llu ns, %s\n", (unsigned)n, (unsigned)n, (unsigned)n,
         (unsigned long long)lacuna_signal_duration(done), correct ? "correct" : "WRONG");
  return correct ? 0 : 1;
}
