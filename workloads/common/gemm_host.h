// Host part of gemm_tiled.h: preparation of operands, launches, and expected results.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "workloads/common/gemm_tiled.h"
#include "workloads/common/program.h"

namespace tiled {

/// A row-major matrix in host memory.
template <class Element>
struct HostMatrix {
  HostMatrix(unsigned row_count, unsigned column_count)
      : rows(row_count), columns(column_count), values(size_t{row_count} * column_count) {}
  Element& at(size_t row, size_t column) { return values[row * columns + column]; }
  const Element& at(size_t row, size_t column) const { return values[row * columns + column]; }

  unsigned rows, columns;
  std::vector<Element> values;
};

inline void random_value(workload::Random& random, float& value) { value = random.uniform(-1, 1); }
inline void random_value(workload::Random& random, Complex& value) { value = {random.uniform(-1, 1), random.uniform(-1, 1)}; }
inline void random_value(workload::Random& random, double& value) {
  value = random.uniform(-1, 1);
  value += 0x1p-25 * random.uniform(-1, 1);  // bits that do not fit into a float
}
template <class Element>
HostMatrix<Element> random_matrix(workload::Random& random, unsigned rows, unsigned columns) {
  HostMatrix<Element> matrix(rows, columns);
  for (Element& value : matrix.values) random_value(random, value);
  return matrix;
}

/// op(A) or op(B) in GPU memory, padded with zeros as kernels require. Lines are an odd multiple of 64 bytes apart: with a
/// power of two, all lines of a tile would map to a few sets of L1.
template <class Element>
class DeviceOperand {
 public:
  /// `lines` are rows of op(A) or columns of op(B); get(line, k) returns their elements.
  template <class Get>
  DeviceOperand(const std::string& name, unsigned lines, unsigned k, bool along_k, Get get)
      : size_(lines),
        ld_((rounded_up(along_k ? k : lines, kLine) / kLine | 1) * kLine),
        along_k_(along_k),
        array_(name, padded(lines, k, along_k, get)) {}
  Operand<Element> operand() const { return {array_.data(), ld_, size_, along_k_}; }

 private:
  static constexpr unsigned kLine = 64 / sizeof(Element);
  static_assert(kLine % kDepth<Element> == 0);
  static unsigned rounded_up(unsigned size, unsigned to) { return (size + to - 1) / to * to; }
  template <class Get>
  std::vector<Element> padded(unsigned lines, unsigned k, bool along_k, Get get) const {
    std::vector<Element> values(size_t{ld_} * (along_k ? lines : rounded_up(k, kDepth<Element>)));
    for (size_t line = 0; line < lines; ++line) {
      for (size_t i = 0; i < k; ++i) values[along_k ? line * ld_ + i : i * ld_ + line] = get(line, i);
    }
    return values;
  }

  unsigned size_, ld_;
  bool along_k_;
  workload::DeviceArray<Element> array_;
};
template <class Element>
DeviceOperand<Element> left_operand(const HostMatrix<Element>& a, bool along_k) {
  return {"A", a.rows, a.columns, along_k, [&](size_t row, size_t k) { return a.at(row, k); }};
}
template <class Element>
DeviceOperand<Element> right_operand(const HostMatrix<Element>& b, bool along_k) {
  return {"B", b.columns, b.rows, along_k, [&](size_t column, size_t k) { return b.at(k, column); }};
}

/// Relative error of Tf32x3: each factor has an error of 2^-22, and the omitted product of the two small terms adds 2^-22.
constexpr double kTf32x3Error = 3.01 * 0x1p-22;
/// Relative error of Bf16x3: the sum of the omitted products; each term of a factor is at most 2^-8 of the previous term.
constexpr double kBf16x3Error = 2.01 * 0x1p-24;
/// Relative error of Eehc: each factor has an error of 2^-16, and the omitted product of the two small terms adds 2^-16.
constexpr double kEehcError = 3.01 * 0x1p-16;
/// Relative error of Unsplit: each factor is rounded to 11 bits.
constexpr double kUnsplitError = 2.01 * 0x1p-10;

template <class Element>
using Function = void (*)(Result<Element>, Operand<Element>, Operand<Element>, unsigned);

/// A kernel, the tile of its workgroups, and its accuracy.
template <class KernelFunction>
struct Kernel {
  const char* implementation;
  KernelFunction function;
  unsigned rows, columns;
  /// Number of roundings of a sum (for complex numbers, of each part) per step along k; 0: bit-identical to a chain of fused
  /// multiply-adds.
  unsigned sums;
  /// Maximum relative error of a product, in addition to the rounding of sums.
  double split;
};

/// Whether the GPU has MFMA.
inline bool has_matrix_units() {
  int device = 0;
  hipDeviceProp_t properties;
  workload::require(hipGetDevice(&device), "asking for the GPU");
  workload::require(hipGetDeviceProperties(&properties, device), "asking for its properties");
  return std::string(properties.gcnArchName).rfind("gfx90a", 0) == 0;
}

inline unsigned compute_units() {
  int device = 0, units = 1;
  workload::require(hipGetDevice(&device), "asking for the GPU");
  workload::require(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device),
                    "asking for its compute units");
  return units;
}

/// Returns the kernel of an implementation with the requested tile: `large`, `small`, or `auto`, which chooses the larger tile
/// unless the smaller tile reduces the work of the busiest compute unit by more than a tenth. Throws a UsageError if the
/// implementation needs matrix units and the GPU has none.
template <class KernelFunction>
const Kernel<KernelFunction>& kernel_for(const std::vector<Kernel<KernelFunction>>& kernels, const std::string& implementation,
                                         const std::string& tile, unsigned m, unsigned n) {
  if (implementation != "simt" && !has_matrix_units()) {
    throw workload::UsageError("--implementation " + implementation + " needs matrix units, which gfx90a has");
  }
  const unsigned units = compute_units();
  const Kernel<KernelFunction>* best = nullptr;
  double least = 0;
  for (const auto& kernel : kernels) {  // larger tiles first
    if (kernel.implementation != implementation || (tile == "large" && best != nullptr)) continue;
    const auto groups = double{1} * workload::groups(m, kernel.rows) * workload::groups(n, kernel.columns);
    const double work = std::ceil(groups / units) * kernel.rows * kernel.columns;
    if (best == nullptr || tile == "small" || work < 0.9 * least) best = &kernel, least = work;
  }
  return *best;
}
template <class KernelFunction>
std::vector<std::string> implementations(const std::vector<Kernel<KernelFunction>>& kernels) {
  std::vector<std::string> names;
  for (const auto& kernel : kernels) {
    if (std::find(names.begin(), names.end(), kernel.implementation) == names.end()) names.push_back(kernel.implementation);
  }
  return names;
}

/// Returns the width of a band in tiles. Workgroups are started band by band, so that concurrent workgroups cover a roughly
/// square part of C, whose operands stay in L2. Two workgroups per compute unit are assumed.
inline unsigned band_columns(unsigned columns) {
  const auto widest = static_cast<unsigned>(std::lround(std::sqrt(2.0 * compute_units())));
  return workload::groups(columns, workload::groups(columns, widest));
}

template <class Element>
void launch(const Kernel<Function<Element>>& kernel, const Result<Element>& c, const Operand<Element>& a,
            const Operand<Element>& b, unsigned k) {
  const unsigned columns = workload::groups(c.n, kernel.columns), band = band_columns(columns);
  const dim3 grid(band, workload::groups(c.m, kernel.rows), workload::groups(columns, band));
  const unsigned depth = kDepth<Element>;
  kernel.function<<<grid, kWorkgroup>>>(c, a, b, (k + depth - 1) / depth * depth);
  workload::require(hipGetLastError(), "launching the kernel");
}

// -- expected results

/// Returns the elements as a list of real numbers, two for each complex number.
template <class Real, class Element>
std::vector<Real> parts_of(const std::vector<Element>& elements) {
  std::vector<Real> parts(elements.size() * sizeof(Element) / sizeof(Real));
  std::memcpy(parts.data(), elements.data(), elements.size() * sizeof(Element));
  return parts;
}

/// Continues the FNV-1a hash `bits` with the bytes of the values.
template <class Real>
std::uint64_t hash_of_bits(const std::vector<Real>& values, std::uint64_t bits = 0xcbf29ce484222325) {
  for (const Real value : values) {
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    for (unsigned i = 0; i < sizeof value; ++i) bits = (bits ^ (word >> 8 * i & 0xff)) * 0x100000001b3;
  }
  return bits;
}

struct Exact {
  double value = 0, magnitude = 0;
  void add(double a, double b) {
    value += a * b;
    magnitude += std::fabs(a * b);
  }
};
template <class Real>
void add_to_chain(Real& sum, Real a, Real b) {
  sum = std::fma(a, b, sum);
}
inline void add_to_chain(Complex& sum, Complex a, Complex b) {
  sum.re = std::fma(-a.im, b.im, std::fma(a.re, b.re, sum.re));
  sum.im = std::fma(a.im, b.re, std::fma(a.re, b.im, sum.im));
}
inline void add_exact(Exact* parts, double a, double b) { parts[0].add(a, b); }
inline void add_exact(Exact* parts, Complex a, Complex b) {
  parts[0].add(a.re, b.re);
  parts[0].add(-a.im, b.im);
  parts[1].add(a.re, b.im);
  parts[1].add(a.im, b.re);
}

/// Checks alpha A B + beta `before`: kernels with `sums` 0 against a chain of fused multiply-adds, others within bounds of the
/// result in double precision. Reports a hash of the result, so that implementations can be compared, and, except for f64, the
/// largest error of an element relative to the sum of its terms' magnitudes.
template <class Element, class KernelFunction>
void check(workload::Program& program, const Kernel<KernelFunction>& kernel, const HostMatrix<Element>& a,
           const HostMatrix<Element>& b, const HostMatrix<Element>& before, const std::vector<Element>& result,
           typename RealOf<Element>::Type alpha, typename RealOf<Element>::Type beta) {
  using Real = typename RealOf<Element>::Type;
  constexpr unsigned parts = sizeof(Element) / sizeof(Real);
  const unsigned m = a.rows, n = b.columns, k = a.columns;
  const std::vector<Real> got = parts_of<Real>(result), c = parts_of<Real>(before.values);
  program.report("bits", std::to_string(hash_of_bits(got)));

  std::vector<Element> chain(result.size());
  std::vector<Exact> exact(got.size());
  for (size_t row = 0; row < m; ++row) {
    for (size_t i = 0; i < k; ++i) {
      for (size_t column = 0; column < n; ++column) {
        const size_t at = row * n + column;
        if (kernel.sums == 0) add_to_chain(chain[at], a.at(row, i), b.at(i, column));
        if (parts * sizeof(float) == sizeof(Element)) add_exact(&exact[at * parts], a.at(row, i), b.at(i, column));
      }
    }
  }
  if (kernel.sums == 0) {
    std::vector<Real> expected = parts_of<Real>(chain);
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] *= alpha;
      if (beta != 0) expected[i] = std::fma(beta, c[i], expected[i]);
    }
    program.check_equal("C", got, expected);
  }
  if (parts * sizeof(float) != sizeof(Element)) return;  // there is no more accurate reference for f64
  double largest = 0;
  std::vector<double> expected(got.size()), magnitude(got.size());
  for (size_t i = 0; i < got.size(); ++i) {
    expected[i] = alpha * exact[i].value + beta * c[i];
    magnitude[i] = std::fabs(alpha) * exact[i].magnitude + std::fabs(beta * c[i]);
    if (magnitude[i] != 0) largest = std::max(largest, std::fabs(got[i] - expected[i]) / magnitude[i]);
  }
  program.report("error", largest);
  if (kernel.sums == 0) return;
  // The magnitudes of the split terms exceed that of the product by less than 1 %; alpha and beta add two roundings.
  const double share = 1.01 * (workload::sum_error(double{1} * kernel.sums * k + 2) + kernel.split);
  program.check_near("C", got, expected, [&](size_t i) { return share * magnitude[i]; });
}

/// Defines the options common to all products and runs the program.
template <class Element>
int run_gemm(workload::Program& program, int argc, char** argv, const std::vector<Kernel<Function<Element>>>& kernels) {
  using Real = typename RealOf<Element>::Type;
  int m = 0, n = 0, k = 0;
  program.size(m, "m", "rows of A and C", {192, 256, 1024}, 1, 1 << 16);
  program.size(n, "n", "columns of B and C", {160, 256, 1024}, 1, 1 << 16);
  program.size(k, "k", "columns of A, rows of B", {80, 256, 1024}, 1, 1 << 16);
  std::string implementation, tile, layout;
  program.choice(implementation, "implementation", "what multiplies", implementations(kernels), std::string("simt"));
  program.choice(tile, "tile", "elements of C for each workgroup", {"auto", "large", "small"}, std::string("auto"));
  program.choice(layout, "layout", "A and B in memory: n row-major, t column-major", {"nn", "nt", "tn", "tt"},
                 std::string("nn"));
  double alpha = 1, beta = 0;
  program.real(alpha, "alpha", "factor of A B", 1.0, -1e6, 1e6);
  program.real(beta, "beta", "factor of C", 0.0, -1e6, 1e6);
  return program.run(argc, argv, [&] {
    const auto a = random_matrix<Element>(program.random(), m, k), b = random_matrix<Element>(program.random(), k, n);
    const auto c = random_matrix<Element>(program.random(), m, n);
    const auto left = left_operand(a, layout[0] == 'n');
    const auto right = right_operand(b, layout[1] == 't');
    const workload::DeviceArray<Element> device_c("C", c.values.size());
    const Result<Element> result{device_c.data(),        a.rows, b.columns, b.columns, static_cast<Real>(alpha),
                                 static_cast<Real>(beta)};
    const auto& kernel = kernel_for(kernels, implementation, tile, a.rows, b.columns);
    program.measure(
        [&] {
          if (beta != 0) device_c.upload(c.values);
        },
        [&] { launch(kernel, result, left.operand(), right.operand(), a.columns); });
    if (program.checks()) check(program, kernel, a, b, c, device_c.download(), result.alpha, result.beta);
  });
}

}  // namespace tiled

/// Defines the kernel NAME of a product: TILED_KERNEL(sgemm_simt, float, tiled::Simt<float, 8, 8>). TILED_MATRIX_KERNEL is for
/// kernels that need matrix units; `kernel_for` prevents calls on other GPUs.
#define TILED_KERNEL_HEAD(name, Element, wavefronts)                          \
  extern "C" __global__ void __launch_bounds__(tiled::kWorkgroup, wavefronts) \
      name(tiled::Result<Element> c, tiled::Operand<Element> a, tiled::Operand<Element> b, unsigned k)
#define TILED_KERNEL(name, Element, ...) \
  TILED_KERNEL_HEAD(name, Element, (__VA_ARGS__::kWavefronts)) { tiled::multiply<__VA_ARGS__>(c, a, b, k); }
#if defined(__gfx90a__)
#define TILED_MATRIX_KERNEL(name, Element, ...) TILED_KERNEL(name, Element, __VA_ARGS__)
#else
#define TILED_MATRIX_KERNEL(name, Element, ...) \
  TILED_KERNEL_HEAD(name, Element, 1) {         \
    (void)c, (void)a, (void)b, (void)k;         \
    __builtin_trap();                           \
  }
#endif
