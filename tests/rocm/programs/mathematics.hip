// Tests mathematical functions of the device library against those of the host, in single and double precision; half precision;
// integer intrinsics.
#include <hip/hip_fp16.h>

#include "../check.h"

namespace {

constexpr int kCount = 512, kFunctions = 14;

template <typename T>
__global__ void evaluate(const T* in, T* out) {
  const int i = threadIdx.x;
  const T x = in[i];
  const T results[kFunctions] = {sin(x),
                                 cos(x),
                                 tan(x),
                                 exp(x * T(0.1)),
                                 log(fabs(x) + T(0.1)),
                                 sqrt(fabs(x)),
                                 cbrt(x),
                                 atan(x),
                                 tanh(x),
                                 erf(x),
                                 pow(fabs(x), T(1.7)),
                                 fmod(x, T(1.3)),
                                 floor(x),
                                 static_cast<T>(rsqrt(fabs(x) + T(0.5)))};
  for (int function = 0; function < kFunctions; ++function) out[function * kCount + i] = results[function];
}

template <typename T>
T on_host(int function, T x) {
  switch (function) {
    case 0:
      return std::sin(x);
    case 1:
      return std::cos(x);
    case 2:
      return std::tan(x);
    case 3:
      return std::exp(x * T(0.1));
    case 4:
      return std::log(std::fabs(x) + T(0.1));
    case 5:
      return std::sqrt(std::fabs(x));
    case 6:
      return std::cbrt(x);
    case 7:
      return std::atan(x);
    case 8:
      return std::tanh(x);
    case 9:
      return std::erf(x);
    case 10:
      return std::pow(std::fabs(x), T(1.7));
    case 11:
      return std::fmod(x, T(1.3));
    case 12:
      return std::floor(x);
    default:
      return T(1) / std::sqrt(std::fabs(x) + T(0.5));
  }
}

template <typename T>
void functions(T epsilon) {
  std::vector<T> x(kCount);
  for (int i = 0; i < kCount; ++i) x[i] = static_cast<T>(static_cast<int>(check::scramble(i) % 200001) - 100000) / T(5000);
  const check::DeviceArray<T> in(x), out(kCount * kFunctions);
  evaluate<T><<<1, kCount>>>(in.data(), out.data());
  HIP_CHECK(hipGetLastError());
  const std::vector<T> got = out.download();
  for (int function = 0; function < kFunctions; ++function) {
    for (int i = 0; i < kCount; ++i) {
      const T expected = on_host(function, x[i]);
      // The library promises 1 to 16 ulp; near the zeros of sine and cosine, the error of the argument reduction dominates.
      EXPECT_NEAR(got[function * kCount + i], expected, 16 * epsilon * (std::fabs(expected) + (function < 3 ? T(0.01) : T(0))));
    }
  }
}

__global__ void halves(const float* in, float* out) {
  const __half x = __float2half(in[threadIdx.x]);
  const __half2 pair = __halves2half2(x, __float2half(2.0f));
  const __half2 product = __hmul2(pair, pair);
  out[threadIdx.x] = __half2float(__hfma(x, x, __float2half(1.0f))) + __low2float(product) + __high2float(product);
}

__global__ void integers(const uint32_t* in, uint32_t* out) {
  const uint32_t x = in[threadIdx.x];
  uint32_t* results = out + threadIdx.x * 10;
  results[0] = __popc(x);
  results[1] = __clz(static_cast<int>(x));
  results[2] = __ffs(static_cast<int>(x));
  results[3] = __brev(x);
  results[4] = __umulhi(x, 0x9e3779b9u);
  results[5] = __byte_perm(x, ~x, 0x3715);
  results[6] = __mul24(static_cast<int>(x), 1000);
  results[7] = __sad(static_cast<int>(x), 12345, 7u);
  results[8] = x / (threadIdx.x + 3) + x % (threadIdx.x + 3);
  results[9] = static_cast<uint32_t>((static_cast<uint64_t>(x) << 20) / (threadIdx.x * 1000003ull + 11));
}

}  // namespace

int main() {
  functions<float>(std::ldexp(1.0f, -23));
  functions<double>(std::ldexp(1.0, -52));

  std::vector<float> small(64);
  for (int i = 0; i < 64; ++i) small[i] = static_cast<float>(i % 16) * 0.25f;  // squares are exact in half precision
  const check::DeviceArray<float> in(small), out(64);
  halves<<<1, 64>>>(in.data(), out.data());
  EXPECT_EACH(out.download(), [&](size_t i) { return 2.0f * small[i] * small[i] + 5.0f; });

  const std::vector<uint32_t> words = check::scrambled<uint32_t>(256);
  const check::DeviceArray<uint32_t> words_in(words), words_out(2560);
  integers<<<1, 256>>>(words_in.data(), words_out.data());
  EXPECT_EACH(words_out.download(), [&](size_t n) {
    const auto thread = static_cast<uint32_t>(n / 10);
    const uint32_t x = words[thread];
    const auto reversed = [&] {
      uint32_t result = 0;
      for (int bit = 0; bit < 32; ++bit) result |= (x >> bit & 1) << (31 - bit);
      return result;
    };
    const auto byte = [&](uint32_t selector) {
      return static_cast<uint32_t>((static_cast<uint64_t>(~x) << 32 | x) >> (8 * selector)) & 0xff;
    };
    switch (n % 10) {
      case 0:
        return static_cast<uint32_t>(__builtin_popcount(x));
      case 1:
        return static_cast<uint32_t>(x == 0 ? 32 : __builtin_clz(x));
      case 2:
        return static_cast<uint32_t>(__builtin_ffs(static_cast<int>(x)));
      case 3:
        return reversed();
      case 4:
        return static_cast<uint32_t>((static_cast<uint64_t>(x) * 0x9e3779b9u) >> 32);
      case 5:
        return byte(3) << 24 | byte(7) << 16 | byte(1) << 8 | byte(5);
      case 6:
        return static_cast<uint32_t>((static_cast<int32_t>(x << 8) >> 8) * 1000);
      case 7: {
        const int64_t difference = static_cast<int64_t>(static_cast<int32_t>(x)) - 12345;
        return static_cast<uint32_t>(difference < 0 ? -difference : difference) + 7u;
      }
      case 8:
        return x / (thread + 3) + x % (thread + 3);
      default:
        return static_cast<uint32_t>((static_cast<uint64_t>(x) << 20) / (thread * 1000003ull + 11));
    }
  });
  return check::result();
}
