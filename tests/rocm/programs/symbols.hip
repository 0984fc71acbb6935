// Tests __device__, __constant__ and __managed__ variables: initial values, copies by symbol, addresses, sizes, and kernels
// that share a variable.
#include "../check.h"

__device__ int counter = 40;
__device__ int table[256];
__device__ double initialised[4] = {1.5, -2.5, 3.5, -4.5};
__constant__ int coefficients[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
__constant__ float scale;
__managed__ int managed_value = 17;

__global__ void fill_table() {
  table[threadIdx.x] = static_cast<int>(threadIdx.x * threadIdx.x) + coefficients[threadIdx.x % 16];
}
__global__ void sum_table(int* sum) { atomicAdd(sum, table[threadIdx.x]); }
__global__ void increment() { atomicAdd(&counter, 1); }
__global__ void use(double* out) { out[threadIdx.x] = initialised[threadIdx.x] * static_cast<double>(scale); }
__global__ void use_managed(int* out) { *out = managed_value++; }

int main() {
  increment<<<2, 64>>>();
  int got = 0;
  HIP_CHECK(hipMemcpyFromSymbol(&got, HIP_SYMBOL(counter), sizeof got));
  EXPECT_EQ(got, 168);
  got = -5;
  HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(counter), &got, sizeof got));
  increment<<<1, 5>>>();
  HIP_CHECK(hipMemcpyFromSymbol(&got, HIP_SYMBOL(counter), sizeof got));
  EXPECT_EQ(got, 0);

  fill_table<<<1, 256>>>();
  const int coefficient[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
  std::vector<int> part(100);
  HIP_CHECK(hipMemcpyFromSymbol(part.data(), HIP_SYMBOL(table), 100 * sizeof(int), 50 * sizeof(int)));
  EXPECT_EACH(part, [&](size_t i) { return (i + 50) * (i + 50) + coefficient[(i + 50) % 16]; });
  const std::vector<int> ones(10, 1);
  HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(table), ones.data(), 10 * sizeof(int), 20 * sizeof(int)));
  check::DeviceArray<int> sum(1);
  sum.clear();
  sum_table<<<1, 256>>>(sum.data());
  int expected = 0;
  for (int i = 0; i < 256; ++i) expected += i >= 20 && i < 30 ? 1 : i * i + coefficient[i % 16];
  EXPECT_EQ(sum.download()[0], expected);

  const float half = 0.5f;
  HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(scale), &half, sizeof half));
  const check::DeviceArray<double> out(4);
  use<<<1, 4>>>(out.data());
  EXPECT_EACH(out.download(), [](size_t i) { return std::vector<double>{0.75, -1.25, 1.75, -2.25}[i]; });

  void* address = nullptr;
  size_t size = 0;
  HIP_CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(table)));
  HIP_CHECK(hipGetSymbolSize(&size, HIP_SYMBOL(table)));
  EXPECT_EQ(size, sizeof(int) * 256);
  int direct[2] = {};
  HIP_CHECK(hipMemcpy(direct, static_cast<int*>(address) + 30, sizeof direct, hipMemcpyDeviceToHost));
  EXPECT_EQ(direct[0], 30 * 30 + coefficient[30 % 16]);
  EXPECT_EQ(direct[1], 31 * 31 + coefficient[31 % 16]);

  const check::DeviceArray<int> before(1);
  use_managed<<<1, 1>>>(before.data());
  EXPECT_EQ(before.download()[0], 17);
  EXPECT_EQ(managed_value, 18);
  return check::result();
}
