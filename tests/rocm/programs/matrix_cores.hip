// Tests gfx90a's matrix instructions, packed single precision, and hardware floating-point atomics in double precision.
#include "../check.h"

namespace {

using float4x = float __attribute__((ext_vector_type(4)));
using float2x = float __attribute__((ext_vector_type(2)));
using double4x = double __attribute__((ext_vector_type(4)));

#if defined(__gfx90a__)
// D = A B + C for 16 x 16 single precision with k = 4: lane l holds A[l % 16][l / 16] and B[l / 16][l % 16], and in register i,
// D[4 (l / 16) + i][l % 16].
__global__ void multiply(const float* a, const float* b, float* d) {
  const int lane = threadIdx.x;
  float4x sum = {0, 0, 0, 0};
  sum = __builtin_amdgcn_mfma_f32_16x16x4f32(a[lane % 16 * 4 + lane / 16], b[lane / 16 * 16 + lane % 16], sum, 0, 0, 0);
  for (int i = 0; i < 4; ++i) d[(lane / 16 * 4 + i) * 16 + lane % 16] = sum[i];
}

__global__ void multiply_double(const double* a, const double* b, double* d) {
  const int lane = threadIdx.x;
  double4x sum = {0, 0, 0, 0};
  sum = __builtin_amdgcn_mfma_f64_16x16x4f64(a[lane % 16 * 4 + lane / 16], b[lane / 16 * 16 + lane % 16], sum, 0, 0, 0);
  for (int i = 0; i < 4; ++i) d[(lane / 16 + 4 * i) * 16 + lane % 16] = sum[i];
}

__global__ void packed(const float2x* a, const float2x* b, float2x* out) {
  out[threadIdx.x] = a[threadIdx.x] * b[threadIdx.x] + a[threadIdx.x];
}

__global__ void add_double(double* sum) { unsafeAtomicAdd(sum, 0.125); }
#else
__global__ void multiply(const float*, const float*, float*) {}
__global__ void multiply_double(const double*, const double*, double*) {}
__global__ void packed(const float2x*, const float2x*, float2x*) {}
__global__ void add_double(double*) {}
#endif

template <typename T>
void products(void (*kernel)(const T*, const T*, T*)) {
  std::vector<T> a(64), b(64);
  for (int i = 0; i < 64; ++i)
    a[i] = static_cast<T>(check::scramble(i) % 100) / 4, b[i] = static_cast<T>(check::scramble(i + 500) % 100) / 8;
  const check::DeviceArray<T> device_a(a), device_b(b), d(256);
  kernel<<<1, 64>>>(device_a.data(), device_b.data(), d.data());
  HIP_CHECK(hipGetLastError());
  EXPECT_EACH(d.download(), [&](size_t i) {
    T sum = 0;
    for (int k = 0; k < 4; ++k) sum += a[i / 16 * 4 + k] * b[k * 16 + i % 16];
    return sum;
  });
}

}  // namespace

int main() {
  products<float>(multiply);
  products<double>(multiply_double);

  std::vector<float2x> a(64), b(64);
  for (int i = 0; i < 64; ++i)
    a[i] = {static_cast<float>(i), 0.5f * static_cast<float>(i)}, b[i] = {2.0f, static_cast<float>(i)};
  const check::DeviceArray<float2x> device_a(a), device_b(b), out(64);
  packed<<<1, 64>>>(device_a.data(), device_b.data(), out.data());
  const std::vector<float2x> got = out.download();
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(got[i].x, 3.0f * static_cast<float>(i));
    EXPECT_EQ(got[i].y, 0.5f * static_cast<float>(i * i) + 0.5f * static_cast<float>(i));
  }

  const check::DeviceArray<double> sum(std::vector<double>{1.0});
  add_double<<<4, 256>>>(sum.data());
  EXPECT_EQ(sum.download()[0], 129.0);
  return check::result();
}
