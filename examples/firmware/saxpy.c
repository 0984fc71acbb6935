/* Computes y = a * x + y on the GPU, in a firmware program outside of Lacuna's source tree. */
#include "apps/app.h"

CODE_OBJECT(saxpy);
enum { N = 4096 };

int main(void) {
  lacuna_device* device = app_open_device();
  const lacuna_kernel kernel = APP_KERNEL(device, saxpy, "saxpy");
  const lacuna_memory x = app_allocate(device, N * sizeof(float)), y = app_allocate(device, N * sizeof(float));
  float *const xs = x.host, *const ys = y.host;
  for (int i = 0; i < N; ++i) xs[i] = (float)i, ys[i] = 1;
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(device, NULL, &queue));
  const struct {
    float a;
    uint64_t x, y;
    uint32_t n;
  } arguments = {2, x.gpu_address, y.gpu_address, N};
  const uint64_t nanoseconds = app_run(queue, &kernel, N, 256, &arguments, sizeof arguments);
  for (int i = 0; i < N; ++i) EXPECT(ys[i] == 2 * (float)i + 1);
  printf("saxpy of %d elements: correct, %u ns\n", N, (unsigned)nanoseconds);
  lacuna_device_close(device);
  return 0;
}
