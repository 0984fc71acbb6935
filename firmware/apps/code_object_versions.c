/* Tests the same kernel from code objects of version 2, 3, 4 and 5, with a grid that is not a multiple of the workgroup; hidden
 * arguments of three-dimensional grids; data that needs relocations. */
#include <string.h>

#include "app.h"

#ifndef ON_GFX90A /* code object v2 is older than gfx90a */
CODE_OBJECT(vector_add_v2);
#endif
CODE_OBJECT(vector_add_v3);
CODE_OBJECT(vector_add);
CODE_OBJECT(vector_add_v5);
CODE_OBJECT(test_kernels);
CODE_OBJECT(test_kernels_v5);
CODE_OBJECT(program_scope);

#define COUNT 1000u

static lacuna_device* device;
static lacuna_queue* queue;

static void add(unsigned version, lacuna_kernel kernel) {
  EXPECT(kernel.code_object_version == version);
  lacuna_memory a = app_allocate(device, COUNT * sizeof(float));
  lacuna_memory b = app_allocate(device, COUNT * sizeof(float));
  lacuna_memory c = app_allocate(device, COUNT * sizeof(float));
  app_fill_random(a.host, COUNT, 1000, version);
  app_fill_random(b.host, COUNT, 1000, version + 10);
  memset(c.host, 0, COUNT * sizeof(float));
  const struct {
    uint64_t a, b, c;
    uint32_t count;
  } arguments = {a.gpu_address, b.gpu_address, c.gpu_address, COUNT - 1};
  app_run(queue, &kernel, COUNT, 64, &arguments, sizeof arguments);
  const float* x = a.host;
  const float* y = b.host;
  const float* sum = c.host;
  for (size_t i = 0; i + 1 < COUNT; ++i) EXPECT(sum[i] == x[i] + y[i]);
  EXPECT(sum[COUNT - 1] == 0);
  CHECK(lacuna_free(device, &a));
  CHECK(lacuna_free(device, &b));
  CHECK(lacuna_free(device, &c));
  printf("code object version %u: correct\n", version);
}

static void three_dimensions(lacuna_kernel kernel) {
  enum { X = 13, Y = 6, Z = 5, WX = 4, WY = 3, WZ = 2 };
  lacuna_memory out = app_allocate(device, X * Y * Z * sizeof(uint32_t));
  lacuna_signal* done = app_signal(device, 1);
  CHECK(lacuna_dispatch(queue, &(lacuna_dispatch_packet){.kernel = &kernel,
                                                         .grid = {X, Y, Z},
                                                         .workgroup = {WX, WY, WZ},
                                                         .arguments = &out.gpu_address,
                                                         .argument_bytes = sizeof out.gpu_address,
                                                         .completion = done}));
  CHECK(lacuna_signal_wait_zero(done));
  const uint32_t* id = out.host;
  for (uint32_t z = 0; z < Z; ++z) {
    for (uint32_t y = 0; y < Y; ++y) {
      for (uint32_t x = 0; x < X; ++x) {
        EXPECT(*id++ ==
               (x % WX | y % WY << 4 | z % WZ << 8 | x / WX << 12 | y / WY << 16 | z / WZ << 20 | ((X + WX - 1u) / WX) << 24));
      }
    }
  }
  lacuna_signal_destroy(done);
  CHECK(lacuna_free(device, &out));
  printf("three dimensions, version %u: correct\n", (unsigned)kernel.code_object_version);
}

static void relocated_data(void) {
  const lacuna_kernel kernel = APP_KERNEL(device, program_scope, "program_scope");
  lacuna_memory result = app_allocate(device, 2 * sizeof(uint32_t));
  app_run(queue, &kernel, 1, 1, &result.gpu_address, sizeof result.gpu_address);
  app_run(queue, &kernel, 1, 1, &result.gpu_address, sizeof result.gpu_address);
  const uint32_t* values = result.host;
  EXPECT(values[0] == 44 && values[1] == 0);
  printf("program-scope variables: correct\n");
}

int main(void) {
  device = app_open_device();
  CHECK(lacuna_queue_create(device, NULL, &queue));
#ifndef ON_GFX90A
  add(2, APP_KERNEL(device, vector_add_v2, "vector_add"));
#endif
  add(3, APP_KERNEL(device, vector_add_v3, "vector_add"));
  add(4, APP_KERNEL(device, vector_add, "vector_add"));
  add(5, APP_KERNEL(device, vector_add_v5, "vector_add"));
  three_dimensions(APP_KERNEL(device, test_kernels, "ids"));
  three_dimensions(APP_KERNEL(device, test_kernels_v5, "ids"));
  relocated_data();
  lacuna_device_close(device);
  return 0;
}
