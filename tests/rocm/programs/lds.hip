// Tests shared memory (LDS): static, dynamic, and both; a padded tile, atomics, and workgroups that use all 64 KiB.
#include "../check.h"

namespace {

__global__ void reverse(const int* in, int* out) {
  __shared__ int tile[256];
  tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

__global__ void sum(const int* in, int* out) {
  extern __shared__ int partial[];
  partial[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

__global__ void transpose(const float* in, float* out, int size) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int row = 0; row < 32; row += 8) tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * size + x];
  __syncthreads();
  const int tx = blockIdx.y * 32 + threadIdx.x, ty = blockIdx.x * 32 + threadIdx.y;
  for (int row = 0; row < 32; row += 8) out[(ty + row) * size + tx] = tile[threadIdx.x][threadIdx.y + row];
}

// A histogram of bytes: the counters are in dynamic shared memory; their total and the threads' maxima (doubles) are in static
// shared memory. Atomics change the counters and the total.
__global__ void histogram(const uint8_t* in, int count, int* out, double* maximum) {
  __shared__ unsigned long long total;
  __shared__ double largest[256];
  extern __shared__ int bins[];
  bins[threadIdx.x] = 0;
  largest[threadIdx.x] = 0;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += 256) {
    atomicAdd(&bins[in[i]], 1);
    atomicAdd(&total, 1ull);
    largest[threadIdx.x] = fmax(largest[threadIdx.x], static_cast<double>(in[i]) * 1.25);
  }
  __syncthreads();
  out[threadIdx.x] = bins[threadIdx.x];
  if (threadIdx.x == 0) {
    out[256] = static_cast<int>(total);
    double all = 0;
    for (const double value : largest) all = fmax(all, value);
    *maximum = all;
  }
}

__global__ void fill_all(uint32_t* errors, int words) {
  extern __shared__ uint32_t memory[];
  for (int i = threadIdx.x; i < words; i += blockDim.x) memory[i] = check::scramble(i + blockIdx.x);
  __syncthreads();
  uint32_t wrong = 0;
  for (int i = threadIdx.x; i < words; i += blockDim.x)
    wrong += memory[words - 1 - i] != check::scramble(words - 1 - i + blockIdx.x);
  if (wrong != 0) atomicAdd(errors, wrong);
}

}  // namespace

int main() {
  const std::vector<int> values = check::scrambled<int>(4096);
  const check::DeviceArray<int> in(values), out(4096);
  reverse<<<16, 256>>>(in.data(), out.data());
  EXPECT_EACH(out.download(), [&](size_t i) { return values[i / 256 * 256 + 255 - i % 256]; });

  for (const int block : {64, 128, 256, 1024}) {
    const check::DeviceArray<int> sums(4096 / block);
    sum<<<4096 / block, block, block * sizeof(int)>>>(in.data(), sums.data());
    EXPECT_EACH(sums.download(), [&](size_t i) {
      uint32_t expected = 0;
      for (int k = 0; k < block; ++k) expected += static_cast<uint32_t>(values[i * block + k]);
      return static_cast<int>(expected);
    });
  }

  constexpr int kSize = 64;
  const std::vector<float> matrix = check::scrambled<float>(kSize * kSize);
  const check::DeviceArray<float> matrix_in(matrix), matrix_out(kSize * kSize);
  transpose<<<dim3(kSize / 32, kSize / 32), dim3(32, 8)>>>(matrix_in.data(), matrix_out.data(), kSize);
  EXPECT_EACH(matrix_out.download(), [&](size_t i) { return matrix[i % kSize * kSize + i / kSize]; });

  const std::vector<uint8_t> bytes = check::scrambled<uint8_t>(20000);
  std::vector<int> expected(257, 0);
  uint8_t largest = 0;
  for (const uint8_t byte : bytes) ++expected[byte], ++expected[256], largest = std::max(largest, byte);
  const check::DeviceArray<uint8_t> device_bytes(bytes);
  const check::DeviceArray<int> bins(257);
  const check::DeviceArray<double> maximum(1);
  histogram<<<1, 256, 256 * sizeof(int)>>>(device_bytes.data(), 20000, bins.data(), maximum.data());
  EXPECT_EACH(bins.download(), [&](size_t i) { return expected[i]; });
  EXPECT_EQ(maximum.download()[0], largest * 1.25);

  check::DeviceArray<uint32_t> errors(1);
  errors.clear();
  fill_all<<<3, 256, 65536>>>(errors.data(), 65536 / 4);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  EXPECT_EQ(errors.download()[0], 0u);
  return check::result();
}
