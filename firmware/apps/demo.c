/* Lacuna's demonstration: five kernels, each checked against a reference implementation on the hart.
 *
 * Inputs are bytes (histogram), or small integers held as floats, so that every sum below is exact (less than 2^24) in any
 * order of additions. Results are compared for equality; the matrix product is checked as in matrix_check.h. */
#include <string.h>

#include "app.h"
#include "matrix_check.h"

CODE_OBJECT(vector_add);
CODE_OBJECT(relu);
CODE_OBJECT(matmul_tiled);
CODE_OBJECT(reduce_tree);
CODE_OBJECT(histogram);

#define VECTOR_ELEMENTS (1u << 20)
#define RELU_ELEMENTS (1u << 20)
#define MATRIX 512u
#define REDUCE_ELEMENTS (1u << 20)
#define REDUCE_WORKGROUP 256u
#define HISTOGRAM_BYTES (1u << 22)
#define HISTOGRAM_BINS 256u

static lacuna_device* device;
static lacuna_queue* queue;
static lacuna_signal* done;
static unsigned failures;

static void run(const char* name, const uint8_t* begin, const uint8_t* end, lacuna_dispatch_packet packet) {
  const lacuna_kernel kernel = app_kernel(device, begin, end, name);
  packet.kernel = &kernel;
  packet.completion = done;
  lacuna_signal_store(done, 1);
  CHECK(lacuna_dispatch(queue, &packet));
  CHECK(lacuna_signal_wait_zero(done));
}
#define RUN(name, ...) run(#name, code_object_##name, code_object_##name##_end, (lacuna_dispatch_packet){__VA_ARGS__})

static void report(const char* name, const char* size, uint32_t x, uint32_t y, uint32_t workgroup_x, uint32_t workgroup_y,
                   bool correct) {
  char grid[24];
  char workgroup[16];
  snprintf(grid, sizeof grid, "%u x %u", (unsigned)x, (unsigned)y);
  snprintf(workgroup, sizeof workgroup, "%u x %u", (unsigned)workgroup_x, (unsigned)workgroup_y);
  const uint64_t nanoseconds = lacuna_signal_duration(done);
  printf("%-14s%-22s%-14s%-12s%10u.%03u us   %s\n", name, size, grid, workgroup, (unsigned)(nanoseconds / 1000),
         (unsigned)(nanoseconds % 1000), correct ? "correct" : "WRONG");
  if (!correct) ++failures;
}

static void vector_add(void) {
  lacuna_memory a = app_allocate(device, VECTOR_ELEMENTS * sizeof(float));
  lacuna_memory b = app_allocate(device, VECTOR_ELEMENTS * sizeof(float));
  lacuna_memory c = app_allocate(device, VECTOR_ELEMENTS * sizeof(float));
  const float* x = a.host;
  const float* y = b.host;
  const float* sum = c.host;
  app_fill_random(a.host, VECTOR_ELEMENTS, 1 << 20, 1);
  app_fill_random(b.host, VECTOR_ELEMENTS, 1 << 20, 2);
  const struct {
    uint64_t a, b, c;
    uint32_t count;
  } arguments = {a.gpu_address, b.gpu_address, c.gpu_address, VECTOR_ELEMENTS};
  RUN(vector_add, .grid = {VECTOR_ELEMENTS}, .workgroup = {256}, .arguments = &arguments, .argument_bytes = sizeof arguments);
  bool correct = true;
  for (size_t i = 0; i < VECTOR_ELEMENTS; ++i) correct &= sum[i] == x[i] + y[i];
  report("vector_add", "1 Mi floats", VECTOR_ELEMENTS, 1, 256, 1, correct);
  CHECK(lacuna_free(device, &a));
  CHECK(lacuna_free(device, &b));
  CHECK(lacuna_free(device, &c));
}

static void relu(void) {
  lacuna_memory x = app_allocate(device, RELU_ELEMENTS * sizeof(float));
  lacuna_memory y = app_allocate(device, RELU_ELEMENTS * sizeof(float));
  const float* input = x.host;
  const float* output = y.host;
  app_fill_random(x.host, RELU_ELEMENTS, 1 << 20, 3);
  const struct {
    uint64_t x, y;
    uint32_t count4;
  } arguments = {x.gpu_address, y.gpu_address, RELU_ELEMENTS / 4};
  RUN(relu, .grid = {RELU_ELEMENTS / 4}, .workgroup = {256}, .arguments = &arguments, .argument_bytes = sizeof arguments);
  bool correct = true;
  for (size_t i = 0; i < RELU_ELEMENTS; ++i) correct &= output[i] == (input[i] > 0 ? input[i] : 0);
  report("relu", "1 Mi floats", RELU_ELEMENTS / 4, 1, 256, 1, correct);
  CHECK(lacuna_free(device, &x));
  CHECK(lacuna_free(device, &y));
}

static void matmul_tiled(void) {
  const size_t bytes = MATRIX * MATRIX * sizeof(float);
  lacuna_memory a = app_allocate(device, bytes);
  lacuna_memory b = app_allocate(device, bytes);
  lacuna_memory c = app_allocate(device, bytes);
  app_fill_random(a.host, MATRIX * MATRIX, 8, 4);
  app_fill_random(b.host, MATRIX * MATRIX, 8, 5);
  const struct {
    uint64_t a, b, c;
    uint32_t n, k;
  } arguments = {a.gpu_address, b.gpu_address, c.gpu_address, MATRIX, MATRIX};
  RUN(matmul_tiled, .grid = {MATRIX, MATRIX}, .workgroup = {16, 16}, .arguments = &arguments,
      .argument_bytes = sizeof arguments);
  report("matmul_tiled", "512 x 512 x 512", MATRIX, MATRIX, 16, 16, matrix_product_is_correct(a.host, b.host, c.host, MATRIX));
  CHECK(lacuna_free(device, &a));
  CHECK(lacuna_free(device, &b));
  CHECK(lacuna_free(device, &c));
}

static void reduce_tree(void) {
  const uint32_t groups = REDUCE_ELEMENTS / (2 * REDUCE_WORKGROUP);
  lacuna_memory input = app_allocate(device, REDUCE_ELEMENTS * sizeof(float));
  lacuna_memory partial = app_allocate(device, groups * sizeof(float));
  const float* values = input.host;
  const float* sums = partial.host;
  app_fill_random(input.host, REDUCE_ELEMENTS, 1 << 10, 7);
  const struct { uint64_t input, partial; } arguments = {input.gpu_address, partial.gpu_address};
  RUN(reduce_tree, .grid = {REDUCE_ELEMENTS / 2}, .workgroup = {REDUCE_WORKGROUP}, .arguments = &arguments,
      .argument_bytes = sizeof arguments);
  bool correct = true;
  for (size_t group = 0; group < groups; ++group) {
    int64_t sum = 0;
    for (size_t i = 0; i < 2 * REDUCE_WORKGROUP; ++i) sum += (int64_t)values[group * 2 * REDUCE_WORKGROUP + i];
    correct &= sums[group] == (float)sum;
  }
  report("reduce_tree", "1 Mi floats", REDUCE_ELEMENTS / 2, 1, REDUCE_WORKGROUP, 1, correct);
  CHECK(lacuna_free(device, &input));
  CHECK(lacuna_free(device, &partial));
}

static void histogram(void) {
  lacuna_memory input = app_allocate(device, HISTOGRAM_BYTES);
  lacuna_memory bins = app_allocate(device, HISTOGRAM_BINS * sizeof(uint32_t));
  uint64_t* words = input.host;
  const uint32_t* counts = bins.host;
  uint64_t seed = 8;
  /* The bitwise AND of two random numbers has an uneven distribution, so that some bins are contended. */
  for (size_t i = 0; i < HISTOGRAM_BYTES / 8; ++i) words[i] = app_random(&seed) & app_random(&seed);
  CHECK(lacuna_fill(device, bins.gpu_address, 0, bins.bytes));
  const struct {
    uint64_t input, bins;
    uint32_t count4;
  } arguments = {input.gpu_address, bins.gpu_address, HISTOGRAM_BYTES / 4};
  const uint32_t items = HISTOGRAM_BYTES / 4 / 4;
  RUN(histogram, .grid = {items}, .workgroup = {256}, .arguments = &arguments, .argument_bytes = sizeof arguments);
  static uint32_t expected[HISTOGRAM_BINS];
  const uint8_t* bytes = input.host;
  for (size_t i = 0; i < HISTOGRAM_BYTES; ++i) ++expected[bytes[i]];
  report("histogram", "4 Mi bytes, 256 bins", items, 1, 256, 1, memcmp(expected, counts, sizeof expected) == 0);
  CHECK(lacuna_free(device, &input));
  CHECK(lacuna_free(device, &bins));
}

static void print_properties(const lacuna_properties* p) {
  printf("GPU: %s, %u shader arrays, %u compute units x %u SIMDs x %u wavefronts, %u KiB LDS each\n", p->target_name,
         (unsigned)p->shader_arrays, (unsigned)p->compute_units, (unsigned)p->simds_per_compute_unit,
         (unsigned)p->wavefronts_per_simd, (unsigned)(p->lds_bytes_per_compute_unit / 1024));
  printf("     %u MiB memory, core clock %u MHz, time stamps %u MHz, %u queue slots, interface %u.%u\n\n",
         (unsigned)(p->memory_bytes >> 20), (unsigned)(p->core_clock_hz / 1000000), (unsigned)(p->timestamp_hz / 1000000),
         (unsigned)p->queue_slots, (unsigned)(p->version >> 16), (unsigned)(p->version & 0xffff));
}

int main(void) {
  device = app_open_device();
  print_properties(lacuna_device_properties(device));
  CHECK(lacuna_queue_create(device, NULL, &queue));
  done = app_signal(device, 1);
  printf("%-14s%-22s%-14s%-12s%17s   %s\n", "kernel", "size", "grid", "workgroup", "GPU time", "result");
  vector_add();
  relu();
  matmul_tiled();
  reduce_tree();
  histogram();
  printf("\n%s\n", failures == 0 ? "all results are correct" : "THERE ARE WRONG RESULTS");
  lacuna_device_close(device);
  return failures == 0 ? 0 : 1;
}
