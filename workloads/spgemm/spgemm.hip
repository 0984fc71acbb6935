// C = A B with sparse A, B and C in compressed rows, with A and B in half precision and C in f32; or the same product as dense
// matrices, on matrix units.
//
// The sparse product is computed by rows of C (Gustavson, ACM TOMS 4, 1978) in two passes, as in rocSPARSE: the first pass
// computes the pattern of C, the second pass the elements. A row's pattern is a bitmap in LDS. The second pass keeps the
// row's sums in LDS: one per column (dense accumulator) if rows are full enough; otherwise one per element of the row, at the
// number of bits that precede the element's bit in the bitmap. This needs neither a hash table nor sorting. Rows of more than
// `most_sums` elements are computed by blocks of columns.
//
// --sizes allocates the arrays without computing anything, for sizes at which the product takes too long to simulate. Its
// `products` form has buffers for all intermediate products, which are sorted, as in expansion, sorting and compression (N.
// Bell, S. Dalton, L. Olson, SIAM J. Sci. Comput. 34, 2012).
#include "lacuna/simd2.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>

#include "workloads/common/csr.h"
#include "workloads/common/matrix_unit.h"
#include "workloads/common/program.h"
#include "workloads/common/sparse_pattern.h"

using half = _Float16;
using namespace sparse;

constexpr unsigned most_columns = 1 << 15, most_sums = 8192;
// Rows of C use a dense accumulator (one sum per column) if, on average, at least one in this number of columns has an element.
constexpr unsigned full_enough = 8;

// A word of a row's bitmap, and the number of bits that are set in the words before it.
struct Word {
  unsigned bits, before;
  __device__ unsigned place(unsigned column) const { return before + __popc(bits & ((1U << column % 32) - 1)); }
};

// Each workgroup computes the elements of a row of C in `width` columns from blockIdx.y * width on. LDS: a Word for each 32
// columns, a word for each wavefront, and the sums: a dense accumulator (one sum per column) if `by_column`, which takes fewer
// instructions per product; otherwise `most` sums, one for each of the row's elements.
template <bool by_column>
__global__ void __launch_bounds__(largest_workgroup)
    compute_rows(CsrView a, CsrView b, unsigned words, unsigned width, unsigned lanes, unsigned most,
                 const unsigned* __restrict__ bitmaps, const unsigned* __restrict__ offsets, unsigned* __restrict__ c_columns,
                 float* __restrict__ c_values) {
  extern __shared__ unsigned lds[];
  const unsigned row = blockIdx.x, first_column = blockIdx.y * width, first_word = first_column / 32;
  const unsigned block = min(width / 32, words - first_word), each = (block + blockDim.x - 1) / blockDim.x;
  auto* const bitmap = reinterpret_cast<Word*>(lds);
  unsigned* const partial = lds + width / 32 * 2;
  float* const sums = reinterpret_cast<float*>(partial + blockDim.x / 64);

  const unsigned* const row_bitmap = bitmaps + size_t{row} * words;
  unsigned begin = offsets[row];
  if (first_word != 0) {
    unsigned mine = 0, all = 0;
    for (unsigned i = threadIdx.x; i < first_word; i += blockDim.x) mine += __popc(row_bitmap[i]);
    (void)workload::sum_before(mine, partial, all);
    begin += all;
  }
  for (unsigned i = threadIdx.x; i < block; i += blockDim.x) bitmap[i].bits = row_bitmap[first_word + i];
  for (unsigned i = threadIdx.x; i < (by_column ? width : most); i += blockDim.x) sums[i] = 0;
  __syncthreads();
  unsigned mine = 0, count = 0;
  const unsigned from = min(threadIdx.x * each, block), to = min(from + each, block);
  for (unsigned i = from; i < to; ++i) mine += __popc(bitmap[i].bits);
  unsigned before = workload::sum_before(mine, partial, count);
  for (unsigned i = from; i < to; ++i) {
    bitmap[i].before = before;
    before += __popc(bitmap[i].bits);
  }
  __syncthreads();

  for_each_product<true>(a, b, row, lanes, [=](unsigned column, float product) {
    const unsigned at = column - first_column;
    if (at < width) atomicAdd(&sums[by_column ? at : bitmap[at / 32].place(at)], product);
  });
  __syncthreads();
  if (by_column) {
    for (unsigned i = threadIdx.x; i < block * 32; i += blockDim.x) {
      const Word word = bitmap[i / 32];
      if ((word.bits >> i % 32 & 1) == 0) continue;
      c_values[begin + word.place(i)] = sums[i];
      c_columns[begin + word.place(i)] = first_column + i;
    }
    return;
  }
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) c_values[begin + i] = sums[i];
  __syncthreads();
  // The memory of the sums is reused for the columns, so that columns are also stored to C in order.
  auto* const columns = reinterpret_cast<unsigned*>(sums);
  for (unsigned i = threadIdx.x; i < block; i += blockDim.x) {
    unsigned at = bitmap[i].before;
    for (unsigned bits = bitmap[i].bits; bits != 0; bits &= bits - 1) columns[at++] = first_column + i * 32 + __ffs(bits) - 1;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) c_columns[begin + i] = columns[i];
}

struct Sparse {
  Sparse(workload::Random& random, int rows, int columns, double density)
      : pattern(workload::random_csr(random, rows, columns, static_cast<size_t>(density * rows * columns))),
        values(pattern.entries()) {
    // Nonzero whole numbers, small enough that all sums are exact.
    for (half& value : values) {
      const auto number = static_cast<int>(random.below(8)) - 4;
      value = static_cast<half>(number < 0 ? number : number + 1);
    }
  }
  workload::Csr pattern;
  std::vector<half> values;
};

static std::vector<half> with_zeros(const Sparse& x, int columns) {
  std::vector<half> dense(x.pattern.rows() * columns);
  for (size_t row = 0; row < x.pattern.rows(); ++row) {
    for (unsigned i = x.pattern.offsets[row]; i < x.pattern.offsets[row + 1]; ++i) {
      dense[row * columns + x.pattern.columns[i]] = x.values[i];
    }
  }
  return dense;
}

// Reference on the host: sums of a row of C, and its pattern.
struct Row {
  std::vector<float> sums;
  std::vector<bool> present;
};
static Row product_row(const Sparse& a, const Sparse& b, size_t row, int columns) {
  Row c{std::vector<float>(columns), std::vector<bool>(columns)};
  for (unsigned i = a.pattern.offsets[row]; i < a.pattern.offsets[row + 1]; ++i) {
    const unsigned k = a.pattern.columns[i];
    for (unsigned j = b.pattern.offsets[k]; j < b.pattern.offsets[k + 1]; ++j) {
      c.sums[b.pattern.columns[j]] += static_cast<float>(a.values[i]) * static_cast<float>(b.values[j]);
      c.present[b.pattern.columns[j]] = true;
    }
  }
  return c;
}

struct Size {
  int m, n, k;
};

// Number of elements of C, from the bitmaps of the rows of B.
static size_t entries_of_product(const workload::Csr& a, const workload::Csr& b, size_t columns) {
  const size_t words = (columns + 63) / 64;
  std::vector<uint64_t> rows(b.rows() * words);
  for (size_t row = 0; row < b.rows(); ++row) {
    for (unsigned i = b.offsets[row]; i < b.offsets[row + 1]; ++i)
      rows[row * words + b.columns[i] / 64] |= uint64_t{1} << b.columns[i] % 64;
  }
  const auto count = [](const std::vector<uint64_t>& row) {
    size_t bits = 0;
    for (const uint64_t word : row) bits += static_cast<size_t>(__builtin_popcountll(word));
    return bits;
  };
  size_t entries = 0;
  std::vector<uint64_t> c_row(words);
  for (size_t row = 0; row < a.rows(); ++row) {
    std::fill(c_row.begin(), c_row.end(), 0);
    for (unsigned i = a.offsets[row]; i < a.offsets[row + 1]; ++i) {
      // Most rows of C are full long before the last element of A.
      if ((i - a.offsets[row]) % 64 == 63 && count(c_row) == columns) break;
      const uint64_t* const other = &rows[a.columns[i] * words];
      for (size_t word = 0; word < words; ++word) c_row[word] |= other[word];
    }
    entries += count(c_row);
  }
  return entries;
}

// Allocations of --sizes. After the first one that does not fit, further ones are only counted.
class Allocations {
 public:
  void add(const std::string& name, double bytes) {
    bytes_ += bytes;
    if (!fits_) return;
    try {
      arrays_.push_back(std::make_unique<workload::DeviceArray<char>>(name, static_cast<size_t>(bytes)));
    } catch (const workload::Error& error) {
      std::cerr << "spgemm: does not fit: " << error.what() << '\n';
      fits_ = false;
    }
  }
  /// Reports the sum of all so far as `memory` and `fits`, with a suffix.
  void report(workload::Program& program, const std::string& suffix) const {
    program.report("memory" + suffix + "_mb", bytes_ / 1e6);
    program.report("fits" + suffix, fits_ ? 1 : 0);
  }

 private:
  double bytes_ = 0;
  bool fits_ = true;
  std::vector<std::unique_ptr<workload::DeviceArray<char>>> arrays_;
};

template <typename... T>
static double megabytes(const workload::DeviceArray<T>&... arrays) {
  return (... + static_cast<double>(arrays.size() * sizeof(T))) / 1e6;
}

static void run_dense(workload::Program& program, const Size& size, const Sparse& a, const Sparse& b) {
  const unsigned m = size.m, n = size.n, k = size.k;
  const workload::DeviceArray<half> device_a("A", with_zeros(a, size.k)), device_b("B", with_zeros(b, size.n));
  const workload::DeviceArray<float> c("C", size_t{m} * n), d("D", size_t{m} * n);
  c.clear();
  program.measure([&] {
    simd2::product<simd2::mma>(simd2::dense_factors{device_a.data(), device_b.data(), m, n, k, k, n}, c.data(), d.data());
  });
  // C is not counted: a BLAS product with beta = 0 does not need it in addition to the result.
  program.report("memory_mb", megabytes(device_a, device_b, d));
  if (!program.checks()) return;
  std::vector<float> expected;
  for (size_t row = 0; row < m; ++row) {
    const Row c_row = product_row(a, b, row, size.n);
    expected.insert(expected.end(), c_row.sums.begin(), c_row.sums.end());
  }
  program.check_equal("C", d.download(), expected);
}

static void run_sparse(workload::Program& program, const Size& size, const Sparse& a, const Sparse& b) {
  const unsigned m = size.m, words = workload::groups(size.n, 32);
  const workload::DeviceArray<unsigned> a_offsets("the rows of A", a.pattern.offsets),
      a_columns("the columns of A", a.pattern.columns), b_offsets("the rows of B", b.pattern.offsets),
      b_columns("the columns of B", b.pattern.columns);
  const workload::DeviceArray<half> a_values("the values of A", a.values), b_values("the values of B", b.values);
  const workload::DeviceArray<unsigned> bitmaps("the pattern of C", size_t{m} * words), counts("the lengths of C's rows", m),
      offsets("the rows of C", m + 1);
  const workload::DeviceArray<Total> total("the length of C", 1);
  std::optional<workload::DeviceArray<unsigned>> columns;
  std::optional<workload::DeviceArray<float>> values;
  const CsrView x{a_offsets.data(), a_columns.data(), a_values.data()}, y{b_offsets.data(), b_columns.data(), b_values.data()};
  const size_t row_of_b = b.pattern.entries() / b.pattern.rows();
  const double products = static_cast<double>(a.pattern.entries()) / a.pattern.rows() * b.pattern.entries() / b.pattern.rows();
  const unsigned lanes = lanes_for(row_of_b), workgroup = workgroup_for(products);
  program.measure([&] {
    find_pattern<<<m, workgroup, (words + 1) * sizeof(unsigned)>>>(x, y, words, lanes, bitmaps.data(), counts.data());
    scan_counts<<<1, scan_size>>>(counts.data(), m, offsets.data(), total.data());
    // The host reads the size of C, which the GPU has computed.
    const Total c = total.download()[0];
    columns.emplace("the columns of C", std::max(c.entries, 1U));
    values.emplace("the values of C", std::max(c.entries, 1U));
    const bool whole = c.longest_row <= most_sums;
    const unsigned width = whole ? words * 32 : most_sums;
    const bool by_column = !whole || (width <= most_sums && c.entries >= size_t{m} * width / full_enough);
    const unsigned most = by_column ? width : c.longest_row;
    const dim3 grid(m, workload::groups(size.n, width));
    const size_t lds = (width / 32 * 2 + workgroup / 64 + most) * sizeof(unsigned);
    const auto kernel = by_column ? compute_rows<true> : compute_rows<false>;
    kernel<<<grid, workgroup, lds>>>(x, y, words, width, lanes, most, bitmaps.data(), offsets.data(), columns->data(),
                                     values->data());
  });
  const Total c = total.download()[0];
  program.report("entries", c.entries);
  program.report("memory_mb", megabytes(a_offsets, a_columns, a_values, b_offsets, b_columns, b_values, bitmaps, counts,
                                        offsets, *columns, *values));
  if (!program.checks()) return;
  std::vector<unsigned> expected_offsets{0}, expected_columns;
  std::vector<float> expected_values;
  for (size_t row = 0; row < m; ++row) {
    const Row c_row = product_row(a, b, row, size.n);
    for (int column = 0; column < size.n; ++column) {
      if (!c_row.present[column]) continue;
      expected_columns.push_back(column);
      expected_values.push_back(c_row.sums[column]);
    }
    expected_offsets.push_back(static_cast<unsigned>(expected_columns.size()));
  }
  program.check_equal("the rows of C", offsets.download(), expected_offsets);
  if (expected_columns.empty()) return;
  program.check_equal("the columns of C", columns->download(), expected_columns);
  program.check_equal("the values of C", values->download(), expected_values);
}

// Allocates what run_dense and run_sparse count in `memory_mb`. For a sparse product, then also buffers for all intermediate
// products, before and after sorting.
static void run_sizes(workload::Program& program, const Size& size, const Sparse& a, const Sparse& b, bool dense) {
  const auto m = static_cast<double>(size.m), n = static_cast<double>(size.n), k = static_cast<double>(size.k);
  Allocations allocations;
  // Nothing is launched: the time is 0.
  program.measure([] {});
  if (dense) {
    allocations.add("A", m * k * sizeof(half));
    allocations.add("B", k * n * sizeof(half));
    allocations.add("D", m * n * sizeof(float));
    allocations.report(program, "");
    return;
  }
  const auto compressed = [&](const std::string& name, double rows, double entries, size_t value) {
    allocations.add("the rows of " + name, (rows + 1) * sizeof(unsigned));
    allocations.add("the columns of " + name, entries * sizeof(unsigned));
    allocations.add("the values of " + name, entries * static_cast<double>(value));
  };
  const auto entries = static_cast<double>(entries_of_product(a.pattern, b.pattern, static_cast<size_t>(size.n)));
  compressed("A", m, static_cast<double>(a.pattern.entries()), sizeof(half));
  compressed("B", k, static_cast<double>(b.pattern.entries()), sizeof(half));
  allocations.add("the pattern of C", m * workload::groups(static_cast<size_t>(size.n), 32) * sizeof(unsigned));
  allocations.add("the lengths of C's rows", m * sizeof(unsigned));
  compressed("C", m, entries, sizeof(float));
  program.report("entries", entries);
  allocations.report(program, "");
  double products = 0;
  for (const unsigned row : a.pattern.columns) products += b.pattern.offsets[row + 1] - b.pattern.offsets[row];
  allocations.add("the array of intermediate products", products * (sizeof(unsigned) + sizeof(float)));
  allocations.add("the array of sorted products", products * (sizeof(unsigned) + sizeof(float)));
  program.report("products", products);
  allocations.report(program, "_with_products");
}

int main(int argc, char** argv) {
  workload::Program program("spgemm", "Product of two sparse matrices, in compressed rows or on matrix units",
                            "SIMD2 (ISCA '22), Fig. 3.14 of the thesis: spGEMM of cuSPARSE and gemmEx of cuBLAS");
  Size size{};
  double density = 0;
  std::string implementation;
  bool sizes = false;
  program.size(size.m, "m", "rows of A and C", {128, 512, 4096}, 1, 1 << 20);
  program.size(size.n, "n", "columns of B and C", {128, 512, 4096}, 1, most_columns);
  program.size(size.k, "k", "columns of A, rows of B", {128, 512, 4096}, 1, 1 << 20);
  program.real(density, "density", "the share of elements of A and B that are not zero", {0.05, 0.01, 0.01}, 0, 1);
  program.choice(
      implementation, "implementation",
      "sparse: compressed rows on vector ALUs; dense: all elements, on the matrix unit of a gfx90a with mfma.extensions",
      {"sparse", "dense"}, std::string("sparse"));
  program.flag(sizes, "sizes", "only allocate the arrays, and report their bytes and whether they fit");
  return program.run(argc, argv, [&] {
    if (sizes && program.checks()) throw workload::UsageError("--sizes: nothing is computed, so --check has no results");
    const bool dense = implementation == "dense";
    if (dense && !sizes) workload::require_matrix_unit("--implementation dense");
    // Offsets have 32 bits and count elements of C, but bytes of A and B.
    const double m = size.m, n = size.n, k = size.k;
    if (density * m * k > 0x1p30 || density * k * n > 0x1p30)
      throw workload::UsageError("--density: A or B has more than 2^30 elements that are not zero");
    if (m * n >= 0x1p32) throw workload::UsageError("--m, --n: C has 2^32 elements or more");
    // The size of dense matrices does not depend on their elements.
    if (dense && sizes) density = 0;
    const Sparse a(program.random(), size.m, size.k, density), b(program.random(), size.k, size.n, density);
    if (sizes) return run_sizes(program, size, a, b, dense);
    (dense ? run_dense : run_sparse)(program, size, a, b);
  });
}
