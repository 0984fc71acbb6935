// A minimal complete program, run at sizes near those of a wavefront, a workgroup and a grid, or at sizes given as arguments.
#include "../check.h"

__global__ void vector_add(const float* a, const float* b, float* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
  std::vector<int> counts = {1, 63, 64, 65, 255, 256, 257, 1000, 65536, 200001};
  if (argc > 1) counts.clear();
  for (int i = 1; i < argc; ++i) counts.push_back(std::atoi(argv[i]));
  for (const int count : counts) {
    std::vector<float> a(count), b(count);
    for (int i = 0; i < count; ++i) {
      a[i] = 0.5f * static_cast<float>(i);
      b[i] = static_cast<float>(count - 2 * i);
    }
    const check::DeviceArray<float> device_a(a), device_b(b);
    const check::DeviceArray<float> device_sum(std::vector<float>(count, -1.0f));
    vector_add<<<(count + 255) / 256, 256>>>(device_a.data(), device_b.data(), device_sum.data(), count);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipDeviceSynchronize());
    EXPECT_EACH(device_sum.download(), [&](size_t i) { return a[i] + b[i]; });
  }
  return check::result();
}
