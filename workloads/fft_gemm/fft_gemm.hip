// Batches of complex Fourier transforms of 256 to 65536 points in single precision, by steps of radix 16.
//
//   simt       steps on vector ALUs: a Stockham FFT as in libraries
//   m3xu       a step is the product of the transform's 16 x 16 matrix and columns of points, in M3XU's FP32C
//   m3xu_fp32  like m3xu, but in FP32 with half of the unit's passes: operands are sums and differences of pairs of rows
//   tf32       like m3xu, but in four real products of TF32; tcFFT does this in half precision
//
// If the length is not a power of 16, the last step has radix 2, 4 or 8 and runs on vector ALUs. Transforms of up to 4096
// points take one pass over memory. Longer transforms take two passes: first over 256 points at equal distances, then over the
// remaining factor.
#include <complex>

#include "workloads/common/gemm_host.h"
#include "workloads/common/program.h"
#include "workloads/fft_gemm/pass.h"

using fft::Complex;

#define TRANSFORM(wavefronts, name, ...)                                                                            \
  extern "C" __global__ void __launch_bounds__(fft::kWorkgroup, wavefronts) name([[maybe_unused]] fft::Pass pass) { \
    __VA_ARGS__;                                                                                                    \
  }
#define TRANSFORMS(name, Policy, wavefronts)                                                     \
  TRANSFORM(wavefronts, name##_256, fft::transform<Policy, 8, fft::Lines>(pass))                 \
  TRANSFORM(wavefronts, name##_512, fft::transform<Policy, 9, fft::Lines>(pass))                 \
  TRANSFORM(wavefronts, name##_1024, fft::transform<Policy, 10, fft::Lines>(pass))               \
  TRANSFORM(wavefronts, name##_2048, fft::transform<Policy, 11, fft::Lines>(pass))               \
  TRANSFORM(wavefronts, name##_4096, fft::transform<Policy, 12, fft::Lines>(pass))               \
  TRANSFORM(wavefronts, name##_256_columns, fft::transform<Policy, 8, fft::Columns>(pass))       \
  TRANSFORM(wavefronts, name##_32_transposed, fft::transform<Policy, 5, fft::Transposed>(pass))  \
  TRANSFORM(wavefronts, name##_64_transposed, fft::transform<Policy, 6, fft::Transposed>(pass))  \
  TRANSFORM(wavefronts, name##_128_transposed, fft::transform<Policy, 7, fft::Transposed>(pass)) \
  TRANSFORM(wavefronts, name##_256_transposed, fft::transform<Policy, 8, fft::Transposed>(pass)) \
  constexpr Kernels name{{name##_256, name##_512, name##_1024, name##_2048, name##_4096},        \
                         name##_256_columns,                                                     \
                         {name##_32_transposed, name##_64_transposed, name##_128_transposed, name##_256_transposed}};

using Kernel = void (*)(fft::Pass);
struct Kernels {
  Kernel lines[5], columns, transposed[4];  ///< one kernel per length: `lines` from 256 points on, `transposed` from 32 on
};

// Compiled for as many wavefronts per SIMD as registers allow without spilling; gfx803 has half of gfx90a's registers.
#if defined(__gfx803__)
TRANSFORMS(fft_simt, fft::Simt, 3)
#else
TRANSFORMS(fft_simt, fft::Simt, 7)
#endif
#if !defined(__gfx90a__)
namespace fft {
/// Placeholders for implementations that require gfx90a; main() prevents their use on other GPUs.
using Folded = void;
using M3xu = void;
using Tf32 = void;
}  // namespace fft
#endif
TRANSFORMS(fft_m3xu, fft::M3xu, 6)
TRANSFORMS(fft_m3xu_fp32, fft::Folded, 5)
TRANSFORMS(fft_tf32, fft::Tf32, 5)

namespace {

constexpr double pi = 3.14159265358979323846;

/// Maximum number of points of a batch.
constexpr size_t kMostPoints = size_t(1) << 28;

std::complex<double> root(size_t i, size_t points) {
  return std::polar(1.0, -2 * pi * static_cast<double>(i) / static_cast<double>(points));
}

std::vector<Complex> table_of_roots(unsigned count, unsigned points) {
  std::vector<Complex> roots;
  for (unsigned i = 0; i < count; ++i) {
    const std::complex<double> exact = root(i, points);
    roots.push_back({static_cast<float>(exact.real()), static_cast<float>(exact.imag())});
  }
  return roots;
}

unsigned log2_of(unsigned points) {
  unsigned log = 0;
  while (1u << log < points) ++log;
  return log;
}

/// The passes of a batch of transforms.
class Plan {
 public:
  Plan(unsigned log_points, unsigned batch)
      : log_points_(log_points),
        batch_(batch),
        log_rest_(log_points > fft::kLogPoints ? log_points - 8 : log_points),
        rest_("the roots of unity", table_of_roots(1u << log_rest_, 1u << log_rest_)),
        first_("the roots of unity", table_of_roots(256, 256)),
        fine_("the roots of unity", table_of_roots(256, 1u << log_points)) {}
  void launch(const Kernels& kernels, const Complex* in, Complex* between, Complex* out) const {
    const unsigned points = 1u << log_points_, rest = 1u << log_rest_;
    if (points == rest) {
      const fft::Side side{0, points, 0, 1};
      return launch(kernels.lines[log_rest_ - 8], log_rest_, {in, out, side, side, batch_, rest_.data(), nullptr, nullptr});
    }
    // Point n1 rest + n2 becomes k1 + 256 k2; the sum over n1 is computed first.
    const fft::Side columns{log_rest_, points, 1, rest}, lines{8, points, rest, 1}, transposed{8, points, 1, 256};
    launch(kernels.columns, 8, {in, between, columns, columns, batch_ * rest, first_.data(), rest_.data(), fine_.data()});
    launch(kernels.transposed[log_rest_ - 5], log_rest_,
           {between, out, lines, transposed, batch_ * 256, rest_.data(), nullptr, nullptr});
  }

 private:
  static void launch(Kernel kernel, unsigned log_length, const fft::Pass& pass) {
    kernel<<<workload::groups(pass.columns, 1u << (fft::kLogPoints - log_length)), fft::kWorkgroup>>>(pass);
    workload::require(hipGetLastError(), "launching the transform");
  }

  unsigned log_points_, batch_, log_rest_;
  workload::DeviceArray<Complex> rest_, first_, fine_;
};

/// Transforms in place, in double precision; `buffer` has the same length as `data`.
void reference(std::complex<double>* data, std::complex<double>* buffer, size_t count) {
  if (count == 1) return;
  for (size_t i = 0; i < count; ++i) buffer[i % 2 * (count / 2) + i / 2] = data[i];
  reference(buffer, data, count / 2);
  reference(buffer + count / 2, data, count / 2);
  for (size_t k = 0; k < count / 2; ++k) {
    const std::complex<double> odd = root(k, count) * buffer[count / 2 + k];
    data[k] = buffer[k] + odd;
    data[k + count / 2] = buffer[k] - odd;
  }
}

/// Bound of the 2-norm of the result's error, relative to the result's 2-norm.
///
/// A step of radix 2 on vector ALUs: mu + gamma_4 (sqrt 2 + mu), where mu is the error of the roots by which rows are
/// multiplied (Higham, Accuracy and Stability of Numerical Algorithms, theorem 24.2). Powers of a root are products of at most
/// 16 roots: each root has an error of u, and each of the 15 complex multiplications adds sqrt 5 u, so that mu < 50 u in a step
/// of radix 16, and again in the multiplication between the passes.
/// A product with the 16 x 16 matrix: each part is a chain of 32 fused multiply-adds of rounded roots, and the 2-norm of the
/// matrix of magnitudes is 16, where that of the transform is 4; rounding of factors to 11 bits adds 2^-11 for each factor.
/// m3xu_fp32 has chains of 16 after one rounded sum or difference, whose errors are smaller.
double error_bound(const std::string& implementation, unsigned log_points) {
  constexpr double u = 0x1p-24;
  const unsigned steps = log_points / 4 + 1;  // steps of radix 16, the remaining step, and the multiplication between passes
  const double turning = steps * 50 * u + log_points * 6 * u;
  if (implementation == "simt") return turning;
  const double factors = implementation == "tf32" ? 2.01 * 0x1p-11 : 0;
  return turning + log_points / 4 * 4 * std::sqrt(2.0) * (factors + 34 * u);
}

}  // namespace

int main(int argc, char** argv) {
  workload::Program program("fft_gemm", "Fourier transforms of 256 to 65536 points, on vector ALUs or matrix units",
                            "M3XU (thesis, section 2.6.3): cuFFT and tcFFT");
  int points = 0, batch = 0;
  program.size(points, "points", "points of a transform, a power of two", {512, 4096, 65536}, 256, 1 << 16);
  program.size(batch, "batch", "transforms", {11, 256, 64}, 1, 1 << 20);
  std::string implementation;
  program.choice(implementation, "implementation", "implementation of radix-16 steps", {"simt", "m3xu", "m3xu_fp32", "tf32"},
                 std::string("simt"));
  return program.run(argc, argv, [&] {
    const unsigned log_points = log2_of(points);
    if (1 << log_points != points) throw workload::UsageError("--points has to be a power of two");
    if (size_t(points) * batch > kMostPoints) {
      throw workload::UsageError("--points times --batch has to be at most " + std::to_string(kMostPoints));
    }
    if (implementation != "simt" && !tiled::has_matrix_units()) {
      throw workload::UsageError("--implementation " + implementation + " needs matrix units, which gfx90a has");
    }
    std::vector<Complex> input(size_t(points) * batch);
    for (Complex& value : input) tiled::random_value(program.random(), value);
    const workload::DeviceArray<Complex> in("the input", input), out("the result", input.size());
    const workload::DeviceArray<Complex> between("the points between passes", log_points > fft::kLogPoints ? input.size() : 1);
    const Plan plan(log_points, batch);
    const Kernels& kernels = implementation == "simt"   ? fft_simt
                             : implementation == "m3xu" ? fft_m3xu
                             : implementation == "tf32" ? fft_tf32
                                                        : fft_m3xu_fp32;
    program.measure([&] { plan.launch(kernels, in.data(), between.data(), out.data()); });
    if (!program.checks()) return;
    const std::vector<Complex> result = out.download();
    std::vector<double> errors(batch), norms(batch);
    double largest = 0;
    for (size_t transform = 0; transform < errors.size(); ++transform) {
      std::vector<std::complex<double>> expected(points), buffer(points);
      const size_t first = transform * points;
      for (size_t i = 0; i < expected.size(); ++i) expected[i] = {input[first + i].re, input[first + i].im};
      reference(expected.data(), buffer.data(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        norms[transform] += std::norm(expected[i]);
        errors[transform] += std::norm(expected[i] - std::complex<double>(result[first + i].re, result[first + i].im));
      }
      norms[transform] = std::sqrt(norms[transform]);
      errors[transform] = std::sqrt(errors[transform]);
      largest = std::max(largest, errors[transform] / norms[transform]);
    }
    program.report("error", largest);
    const double bound = error_bound(implementation, log_points);
    program.check_near("the error's norm", errors, std::vector<double>(batch), [&](size_t i) { return bound * norms[i]; });
  });
}
