// Tests private memory: arrays that are indexed at run time, frames of different sizes (the queue's scratch memory is enlarged
// while the queue exists), a frame so large that scratch memory is returned after the launch, recursion, and generic pointers
// to private memory.
#include "../check.h"

namespace {

template <int kWords>
__global__ void permute(const uint32_t* in, uint32_t* out, int count) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t words[kWords];
  for (int i = 0; i < kWords; ++i) words[i] = in[i % count] + static_cast<uint32_t>(thread);
  // The index is known only at run time, so the array stays in memory.
  uint32_t sum = 0, index = static_cast<uint32_t>(thread);
  for (int i = 0; i < 8; ++i) {
    index = check::scramble(index) % kWords;
    sum += words[index] * (i + 1);
    words[index] = sum;
  }
  out[thread] = sum;
}

template <int kWords>
void permuted(int threads) {
  const std::vector<uint32_t> values = check::scrambled<uint32_t>(64);
  const check::DeviceArray<uint32_t> in(values), out(threads);
  permute<kWords><<<threads / 64, 64>>>(in.data(), out.data(), 64);
  HIP_CHECK(hipGetLastError());
  EXPECT_EACH(out.download(), [&](size_t thread) {
    std::vector<uint32_t> words(kWords);
    for (int i = 0; i < kWords; ++i) words[i] = values[i % 64] + static_cast<uint32_t>(thread);
    uint32_t sum = 0, index = static_cast<uint32_t>(thread);
    for (int i = 0; i < 8; ++i) {
      index = check::scramble(index) % kWords;
      sum += words[index] * (i + 1);
      words[index] = sum;
    }
    return sum;
  });
}

__device__ __noinline__ uint32_t ackermann(uint32_t m, uint32_t n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ __noinline__ uint32_t fibonacci(uint32_t n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__global__ void recurse(uint32_t* out) {
  out[threadIdx.x] = fibonacci(threadIdx.x % 10) * 1000 + ackermann(threadIdx.x % 3, threadIdx.x % 4);
}

uint32_t host_ackermann(uint32_t m, uint32_t n) {
  return m == 0 ? n + 1 : n == 0 ? host_ackermann(m - 1, 1) : host_ackermann(m - 1, host_ackermann(m, n - 1));
}
uint32_t host_fibonacci(uint32_t n) { return n < 2 ? n : host_fibonacci(n - 1) + host_fibonacci(n - 2); }

// Is called with pointers to private memory and to LDS, which are passed as generic pointers.
__device__ __noinline__ void sort(uint32_t* values, int count) {
  for (int i = 1; i < count; ++i) {
    const uint32_t value = values[i];
    int k = i;
    for (; k > 0 && values[k - 1] > value; --k) values[k] = values[k - 1];
    values[k] = value;
  }
}

__global__ void sort_private(const uint32_t* in, uint32_t* out) {
  uint32_t values[16];
  __shared__ uint32_t shared[16];
  for (int i = 0; i < 16; ++i) values[i] = in[threadIdx.x * 16 + i];
  sort(values, 16);
  for (int i = 0; i < 16; ++i) out[threadIdx.x * 16 + i] = values[i];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 16; ++i) shared[i] = in[i * 16];
    sort(shared, 16);
    for (int i = 0; i < 16; ++i) out[64 * 16 + i] = shared[i];
  }
}

void sorted() {
  const std::vector<uint32_t> values = check::scrambled<uint32_t>(64 * 16);
  const check::DeviceArray<uint32_t> in(values), out(65 * 16);
  sort_private<<<1, 64>>>(in.data(), out.data());
  const std::vector<uint32_t> got = out.download();
  for (int row = 0; row < 65; ++row) {
    std::vector<uint32_t> expected(16), part(got.begin() + row * 16, got.begin() + row * 16 + 16);
    for (int i = 0; i < 16; ++i) expected[i] = row < 64 ? values[row * 16 + i] : values[i * 16];
    for (int i = 0; i < 16; ++i) {
      for (int k = i + 1; k < 16; ++k) {
        if (expected[k] < expected[i]) std::swap(expected[i], expected[k]);
      }
    }
    EXPECT_EACH(part, [&](size_t i) { return expected[i]; });
  }
}

}  // namespace

int main() {
  permuted<32>(256);
  permuted<8>(256);
  permuted<500>(1024);
  permuted<2000>(256);
  permuted<16000>(128);  // 64,000 bytes per thread
  permuted<100>(4096);
  const check::DeviceArray<uint32_t> out(64);
  recurse<<<1, 64>>>(out.data());
  HIP_CHECK(hipGetLastError());
  EXPECT_EACH(out.download(), [](size_t i) { return host_fibonacci(i % 10) * 1000 + host_ackermann(i % 3, i % 4); });
  sorted();
  return check::result();
}
