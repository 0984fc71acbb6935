// Products of a dense matrix, and of its transpose, with vectors, for the PolyBench programs. Both products read the matrix
// once, 1 KiB per wavefront at a time.
#pragma once

#include <hip/hip_runtime.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "workloads/common/lanes.h"
#include "workloads/common/program.h"

namespace workload {

constexpr unsigned wavefront = 64;
/// Rows that a wavefront multiplies at a time, to load the vector once for all of them.
constexpr unsigned rows_at_once = 4;
/// Rows that one wavefront of `transposed_product_parts` sums.
constexpr unsigned rows_of_part = 64;

// Rows of the matrix have `pitch` float4 and are padded with zeros; vectors with an element per column are padded likewise.

/// y = A x, one wavefront per `rows_at_once` rows.
static __global__ void __launch_bounds__(wavefront) product(const float4* __restrict__ matrix, const float4* __restrict__ x,
                                                            float* __restrict__ y, unsigned rows, unsigned pitch) {
  const unsigned first = blockIdx.x * rows_at_once;
  float sums[rows_at_once] = {};
  for (unsigned column = threadIdx.x; column < pitch; column += wavefront) {
    const float4 b = x[column];
#pragma unroll
    for (unsigned i = 0; i < rows_at_once; ++i) {
      // Rows beyond the last row read the last row; their sums are not stored.
      const float4 a = matrix[size_t{min(first + i, rows - 1)} * pitch + column];
      sums[i] += a.x * b.x, sums[i] += a.y * b.y, sums[i] += a.z * b.z, sums[i] += a.w * b.w;
    }
  }
#pragma unroll
  for (unsigned i = 0; i < rows_at_once; ++i) {
    const float sum = lane_sum<wavefront>(sums[i]);
    if (threadIdx.x == i && first + i < rows) y[first + i] = sum;
  }
}

/// parts[p] = the sum over rows r in [64 p, 64 p + 64) of A[r] x[r], four columns per work-item.
static __global__ void __launch_bounds__(wavefront)
    transposed_product_parts(const float4* __restrict__ matrix, const float* __restrict__ x, float4* __restrict__ parts,
                             unsigned rows, unsigned pitch) {
  const unsigned column = blockIdx.x * wavefront + threadIdx.x, first = blockIdx.y * rows_of_part;
  if (column >= pitch) return;
  const unsigned end = min(first + rows_of_part, rows);
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
  for (unsigned row = first; row < end; ++row) {
    const float4 a = matrix[size_t{row} * pitch + column];
    const float b = x[row];
    sum.x += a.x * b, sum.y += a.y * b, sum.z += a.z * b, sum.w += a.w * b;
  }
  parts[size_t{blockIdx.y} * pitch + column] = sum;
}

/// y = the sum of the parts, each of `length` elements.
static __global__ void __launch_bounds__(wavefront)
    sum_parts(const float* __restrict__ parts, float* __restrict__ y, unsigned length, unsigned count) {
  const unsigned i = blockIdx.x * wavefront + threadIdx.x;
  if (i >= length) return;
  float sum = 0;
#pragma unroll 4
  for (unsigned part = 0; part < count; ++part) sum += parts[size_t{part} * length + i];
  y[i] = sum;
}

/// A matrix of rows x columns in GPU memory.
class DeviceMatrix {
 public:
  DeviceMatrix(const std::vector<float>& values, unsigned rows, unsigned columns)
      : rows_(rows),
        columns_(columns),
        matrix_("the matrix", padded(values)),
        parts_("partial sums", size_t{parts()} * pitch() * 4) {}

  /// Padded length of a vector of `columns` elements, filled up with zeros.
  unsigned padded_columns() const { return pitch() * 4; }
  /// Number of successive roundings of a term of A x, for sum_error(): those of a lane's sum and of the sum over lanes.
  double roundings() const { return 4.0 * groups(pitch(), wavefront) + 6; }
  /// Number of successive roundings of a term of A^T x, for sum_error(): those of a part's sum and of the sum of the parts.
  double transposed_roundings() const { return std::min<double>(rows_, rows_of_part) + parts(); }
  /// y = A x; x has padded_columns() elements, y `rows`.
  void times(const float* x, float* y) const {
    product<<<groups(rows_, rows_at_once), wavefront>>>(four(matrix_.data()), four(x), y, rows_, pitch());
  }
  /// y = A^T x; x has `rows` elements, y padded_columns().
  void transposed_times(const float* x, float* y) const {
    transposed_product_parts<<<dim3(groups(pitch(), wavefront), parts()), wavefront>>>(
        four(matrix_.data()), x, reinterpret_cast<float4*>(parts_.data()), rows_, pitch());
    sum_parts<<<groups(padded_columns(), wavefront), wavefront>>>(parts_.data(), y, padded_columns(), parts());
  }

 private:
  static const float4* four(const float* data) { return reinterpret_cast<const float4*>(data); }
  unsigned pitch() const { return groups(columns_, 4); }
  unsigned parts() const { return groups(rows_, rows_of_part); }
  std::vector<float> padded(const std::vector<float>& values) const {
    std::vector<float> result(size_t{rows_} * padded_columns());
    for (size_t i = 0; i < values.size(); ++i) result[i / columns_ * padded_columns() + i % columns_] = values[i];
    return result;
  }

  unsigned rows_, columns_;
  DeviceArray<float> matrix_, parts_;
};

/// Products on the host in double precision, and the sums of the terms' magnitudes, which bound the error of single precision.
struct Reference {
  std::vector<double> values, magnitudes;
};
inline Reference reference_product(const std::vector<float>& matrix, const Reference& x, size_t rows) {
  const size_t columns = x.values.size();
  Reference y{std::vector<double>(rows), std::vector<double>(rows)};
  for (size_t i = 0; i < matrix.size(); ++i) {
    y.values[i / columns] += matrix[i] * x.values[i % columns];
    y.magnitudes[i / columns] += std::fabs(matrix[i]) * x.magnitudes[i % columns];
  }
  return y;
}
inline Reference reference_transposed_product(const std::vector<float>& matrix, const Reference& x, size_t columns) {
  Reference y{std::vector<double>(columns), std::vector<double>(columns)};
  for (size_t i = 0; i < matrix.size(); ++i) {
    y.values[i % columns] += matrix[i] * x.values[i / columns];
    y.magnitudes[i % columns] += std::fabs(matrix[i]) * x.magnitudes[i / columns];
  }
  return y;
}
inline Reference reference_vector(const std::vector<float>& x) {
  Reference result{{x.begin(), x.end()}, {x.begin(), x.end()}};
  for (double& magnitude : result.magnitudes) magnitude = std::fabs(magnitude);
  return result;
}

/// Returns `values`, padded with zeros to `size`.
inline std::vector<float> padded(std::vector<float> values, size_t size) {
  values.resize(size);
  return values;
}
/// Returns the first `size` values.
inline std::vector<float> shortened(std::vector<float> values, size_t size) { return padded(std::move(values), size); }

}  // namespace workload
