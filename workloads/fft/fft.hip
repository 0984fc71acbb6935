// Complex Fourier transforms of 512 points in single precision, in place, one wavefront per transform: three passes of radix 8
// in registers, with two exchanges through LDS (Volkov and Kazian, Fitting FFT onto the G80 architecture, 2008). SHOC's FFT;
// 2048 transforms are 8 MiB, MGPUSim's default. MGPUSim runs two passes; here, they are a forward and an inverse transform.
//
//   tuned   roots of unity are loaded from a table
//   suite   as in SHOC, roots of unity are computed by each work-item
#include <hip/hip_runtime.h>

#include <complex>
#include <utility>

#include "workloads/common/program.h"

constexpr unsigned points = 512, lanes = 64;
constexpr double pi = 3.14159265358979323846;

struct Complex {
  float re, im;
};

__device__ inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
__device__ inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
__device__ inline Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
// Multiplies by -i, or by i for the inverse.
template <bool inverse>
__device__ inline Complex quarter(Complex a) {
  return inverse ? Complex{-a.im, a.re} : Complex{a.im, -a.re};
}

// x[k] = sum over j of x[j] exp(-2 pi i j k / 8); the inverse has the opposite sign in the exponent.
template <bool inverse>
__device__ inline void transform_8(Complex x[8]) {
  constexpr float half = 0.70710678118654752f;
  Complex even[4], odd[4];
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) even[i] = x[i] + x[i + 4], odd[i] = x[i] - x[i + 4];
  constexpr float sign = inverse ? 1 : -1;
  odd[1] = odd[1] * Complex{half, sign * half};
  odd[2] = quarter<inverse>(odd[2]);
  odd[3] = odd[3] * Complex{-half, sign * half};
  const auto transform_4 = [](const Complex* in, Complex* out) {
    const Complex a = in[0] + in[2], b = in[0] - in[2], c = in[1] + in[3], d = quarter<inverse>(in[1] - in[3]);
    out[0] = a + c, out[2] = b + d, out[4] = a - c, out[6] = b - d;
  };
  transform_4(even, x);
  transform_4(odd, x + 1);
}

// Point n = 64 j + 8 a + b, frequency k = k0 + 8 k1 + 64 k2. The passes sum over j, a and b. roots[i] = exp(-2 pi i i / 512).
template <bool inverse, bool computed_roots>
__global__ void __launch_bounds__(lanes) transform(Complex* __restrict__ data, const Complex* __restrict__ roots) {
  // Pitches in words that spread each access over all banks: 72 between values of k0 and, in the second exchange, 9 between
  // values of k1.
  constexpr unsigned pitch = 72, second_pitch = 9;
  __shared__ float re[8 * pitch], im[8 * pitch];
  Complex* const own = data + size_t{blockIdx.x} * points;
  const unsigned lane = threadIdx.x, high = lane / 8, low = lane % 8;
  Complex x[8];
  const auto turn = [&](unsigned position, unsigned step) {
#pragma unroll
    for (unsigned i = 1; i < 8; ++i) {
      const unsigned index = position * i * step % points;
      Complex root;
      if (computed_roots) {
        sincospif(static_cast<float>(index) * (-2.0f / points), &root.im, &root.re);
      } else {
        root = roots[index];
      }
      if (inverse) root.im = -root.im;
      x[i] = x[i] * root;
    }
  };
  // x[i] is stored at to(i) and read from from(i).
  const auto exchange = [&](auto to, auto from) {
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) re[to(i)] = x[i].re, im[to(i)] = x[i].im;
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) x[i] = {re[from(i)], im[from(i)]};
  };
#pragma unroll
  for (unsigned j = 0; j < 8; ++j) x[j] = own[j * lanes + lane];
  transform_8<inverse>(x);
  turn(lane, 1);
  // Before: lane 8 a + b holds the values of all k0. After: lane 8 k0 + b holds those of all a.
  exchange([&](unsigned k0) { return k0 * pitch + lane; }, [&](unsigned a) { return high * pitch + a * 8 + low; });
  transform_8<inverse>(x);
  turn(low, 8);
  // After: lane k0 + 8 k1 holds the values of all b.
  exchange([&](unsigned k1) { return high * pitch + k1 * second_pitch + low; },
           [&](unsigned b) { return low * pitch + high * second_pitch + b; });
  transform_8<inverse>(x);
  constexpr float scale = inverse ? 1.0f / points : 1.0f;
#pragma unroll
  for (unsigned k2 = 0; k2 < 8; ++k2) own[k2 * lanes + lane] = {x[k2].re * scale, x[k2].im * scale};
}

// Recursion on the even and odd halves, in double precision.
static void reference(std::complex<double>* data, size_t count, double sign) {
  if (count == 1) return;
  std::vector<std::complex<double>> halves(count);
  for (size_t i = 0; i < count; ++i) halves[i % 2 * (count / 2) + i / 2] = data[i];
  reference(halves.data(), count / 2, sign);
  reference(halves.data() + count / 2, count / 2, sign);
  for (size_t k = 0; k < count; ++k) {
    data[k] = halves[k % (count / 2)] + std::polar(1.0, sign * 2 * pi * k / count) * halves[count / 2 + k % (count / 2)];
  }
}

int main(int argc, char** argv) {
  workload::Program program("fft", "Fourier transforms of 512 points", "LazyGPU (ISCA '25), Table 3: FFT of SHOC");
  int transforms = 0, passes = 0;
  program.size(transforms, "transforms", "transforms of 512 points", {100, 2048, 2560}, 1, 1 << 20);
  program.size(passes, "passes", "passes over all, forward and back in turn", {1, 2, 2});
  std::string form;
  program.choice(form, "form", "the kernels", {"tuned", "suite"}, std::string("tuned"));
  program.takes_sparsity("the numbers");
  return program.run(argc, argv, [&] {
    const std::vector<float> input =
        program.sparsified(program.random().uniform_values(size_t(transforms) * points * 2, -1, 1));
    std::vector<float> roots;
    for (unsigned i = 0; i < points; ++i) {
      roots.push_back(static_cast<float>(std::cos(2 * pi * i / points)));
      roots.push_back(static_cast<float>(-std::sin(2 * pi * i / points)));
    }
    const workload::DeviceArray<float> data("the numbers", input.size()), device_roots("the roots of unity", roots);
    const bool suite = form == "suite";
    program.measure([&] { data.upload(input); },
                    [&] {
                      for (int pass = 0; pass < passes; ++pass) {
                        const bool inverse = pass % 2 != 0;
                        const auto kernel = suite ? (inverse ? transform<true, true> : transform<false, true>)
                                                  : (inverse ? transform<true, false> : transform<false, false>);
                        kernel<<<transforms, lanes>>>(reinterpret_cast<Complex*>(data.data()),
                                                      reinterpret_cast<const Complex*>(device_roots.data()));
                      }
                    });
    if (!program.checks()) return;
    std::vector<double> expected(input.size()), norms(transforms);
    for (size_t transform = 0; transform < size_t(transforms); ++transform) {
      std::complex<double> numbers[points];
      const size_t first = transform * points * 2;
      for (unsigned i = 0; i < points; ++i) numbers[i] = {input[first + i * 2], input[first + i * 2 + 1]};
      for (int pass = 0; pass < passes; ++pass) {
        reference(numbers, points, pass % 2 == 0 ? -1 : 1);
        if (pass % 2 != 0) {
          for (auto& number : numbers) number /= points;
        }
      }
      for (unsigned i = 0; i < points; ++i) {
        expected[first + i * 2] = numbers[i].real(), expected[first + i * 2 + 1] = numbers[i].imag();
        norms[transform] += std::norm(numbers[i]);
      }
    }
    // The 2-norm of the error bounds each element's error. In each pass, this norm is at most log2(n) (u + gamma_4 (sqrt 2 +
    // u)) of the result's 2-norm (Higham, Accuracy and Stability of Numerical Algorithms, theorem 24.2), about 7 u for each of
    // the 9 steps. The first u is the error of a root of the table; that of a computed root is 6 u, because each part is within
    // 4 units in the last place (OpenCL C, accuracy of sinpi and cospi).
    const double error = passes * 9 * (suite ? 12 : 7) * 0x1p-24;
    program.check_near("the result", data.download(), expected,
                       [&](size_t i) { return error * std::sqrt(norms[i / (points * 2)]); });
  });
}
