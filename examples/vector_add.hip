// Adds two vectors on the GPU and compares the sum with the host's.
#include <hip/hip_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Exits with a message if a call of the HIP runtime failed.
static void check(hipError_t status, const char* call) {
  if (status == hipSuccess) return;
  std::fprintf(stderr, "%s: %s\n", call, hipGetErrorString(status));
  std::exit(1);
}
#define CHECK(call) check(call, #call)

__global__ void vector_add(const float* a, const float* b, float* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = a[i] + b[i];
}

int main() {
  const int count = 1000000;
  const std::size_t bytes = count * sizeof(float);
  std::vector<float> a(count), b(count), sum(count);
  for (int i = 0; i < count; ++i) {
    a[i] = 0.5f * i;
    b[i] = 1.0f * (count - i);
  }

  float *device_a, *device_b, *device_sum;
  CHECK(hipMalloc(&device_a, bytes));
  CHECK(hipMalloc(&device_b, bytes));
  CHECK(hipMalloc(&device_sum, bytes));
  CHECK(hipMemcpy(device_a, a.data(), bytes, hipMemcpyHostToDevice));
  CHECK(hipMemcpy(device_b, b.data(), bytes, hipMemcpyHostToDevice));
  vector_add<<<(count + 255) / 256, 256>>>(device_a, device_b, device_sum, count);
  CHECK(hipGetLastError());
  CHECK(hipMemcpy(sum.data(), device_sum, bytes, hipMemcpyDeviceToHost));
  CHECK(hipFree(device_a));
  CHECK(hipFree(device_b));
  CHECK(hipFree(device_sum));

  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += sum[i] != a[i] + b[i];
  std::printf("%d sums, %d wrong\n", count, wrong);
  return wrong != 0;
}
