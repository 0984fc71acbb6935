#pragma once
// Matrix products of the neural networks: C = op(A) op(B), or C += op(A) op(B), row-major, any size and leading dimension.
//
// Elements are float or _Float16; sums are float, in order of ascending k within a part. There are three kernels:
//   lds        64 x 64 tile of C, 256 work-items with 4 x 4 elements each; A and B pass through LDS in steps of 16 along k, and
//              the next step is loaded into registers while the current one is multiplied. The usual kernel of a BLAS.
//   registers  the same 4 x 4 elements; operands are loaded directly into registers, four at a time, and neighbouring
//              work-items share lines of L1. The form of AMD APP SDK's MatrixMultiplication, in which loads feed only
//              multiply-adds.
//   words      one element of C per work-item, 16 x 16 per workgroup: each step loads one element of A and one of B, without
//              LDS. The form used in MGPUSim's ResNet, where transposed operands are also first transposed by a separate
//              kernel.
// In the first two forms, a product with few tiles and a long sum is split along k into parts, which `sum_parts` adds in
// order.
//
// Use: GEMM_KERNELS(NAME, TYPE, OUTPUT, A_TRANSPOSED, B_TRANSPOSED) defines the kernels NAME_lds, NAME_registers and
// NAME_words, so that the name identifies the layer, and NAME, which refers to them; gemm::multiply(...) launches one of the
// three, together with the helper kernels that it requires.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <type_traits>

#include "workloads/common/layer_log.h"

namespace gemm {

constexpr unsigned kTile = 64, kDepth = 16, kWorkgroup = 256, kPitch = kTile + 4;
constexpr unsigned kEdge = 16;  // rows and columns of C per workgroup of form `words`
// Target number of workgroups when a product is split into parts: a few for each compute unit of a large GPU.
constexpr unsigned kWorkgroups = 256;
constexpr unsigned kShortestPart = 128;

// Arguments of a product's kernel. If `parts` is set, part p (blockIdx.z) covers k from p * part_depth on and is written to
// parts[p][row][column]; otherwise a single part is written to C.
template <typename T, typename Output>
struct Arguments {
  const T* a;
  const T* b;
  Output* c;
  unsigned m, n, k, lda, ldb, ldc;
  bool accumulate;
  unsigned part_depth;
  float* parts;
};

// A matrix in memory: `lines` lines of `length` elements each, `ld` elements apart.
template <typename T>
struct Stored {
  // Four elements loaded by one access, aligned to 4 bytes.
  using Four = T __attribute__((ext_vector_type(4), aligned(4)));

  __device__ Stored(const T* first, unsigned leading, unsigned line_count, unsigned line_length)
      : data(first),
        ld(leading),
        lines(line_count),
        length(line_length),
        by_four(line_length >= 4 && (line_length | leading) * sizeof(T) % 4 == 0 && reinterpret_cast<size_t>(first) % 4 == 0) {}
  // Loads the elements `at` to `at` + 3 of a line by one access. They must be inside the matrix, and `by_four` must be set,
  // that is, the matrix must have lines of at least four elements and suitable alignment.
  __device__ void four_inside(unsigned line, unsigned at, float (&values)[4]) const {
    const Four elements = *reinterpret_cast<const Four*>(data + static_cast<size_t>(line) * ld + at);
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) values[i] = static_cast<float>(elements[i]);
  }
  // Loads four elements at any position; elements outside the matrix are zero.
  __device__ void four(unsigned line, unsigned at, float (&values)[4]) const {
    if (by_four && line < lines && at + 4 <= length) {
      four_inside(line, at, values);
    } else {
      edge(line, at, values);
    }
  }
  __device__ void edge(unsigned line, unsigned at, float (&values)[4]) const {
    const T* const from = data + static_cast<size_t>(min(line, lines - 1)) * ld;
    if (by_four) {
      // Loads the line's last four elements and shifts them to their positions by selections: a variable index would put the
      // array into private memory.
      const unsigned start = min(at, length - 4), shift = line < lines ? at - start : 4;
      const Four last = *reinterpret_cast<const Four*>(from + start);
      auto a = static_cast<float>(last[0]), b = static_cast<float>(last[1]), c = static_cast<float>(last[2]),
           d = static_cast<float>(last[3]);
      if ((shift & 1) != 0) a = b, b = c, c = d, d = 0.0f;
      if ((shift & 2) != 0) a = c, b = d, c = 0.0f, d = 0.0f;
      if (shift >= 4) a = b = c = d = 0.0f;
      values[0] = a, values[1] = b, values[2] = c, values[3] = d;
    } else {
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) values[i] = line < lines && at + i < length ? static_cast<float>(from[at + i]) : 0.0f;
    }
  }

  const T* data;
  unsigned ld, lines, length;
  bool by_four;
};

// Stores the 4 x 4 elements that start at (row, column), except those outside the matrix and those before first_row or
// first_column.
template <typename T, typename Output>
__device__ inline void store(const Arguments<T, Output>& x, unsigned row, unsigned column, const float (&sum)[4][4],
                             unsigned first_row = 0, unsigned first_column = 0) {
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      if (row + i >= x.m || column + j >= x.n || row + i < first_row || column + j < first_column) continue;
      if (x.parts) {
        x.parts[(static_cast<size_t>(blockIdx.z) * x.m + row + i) * x.n + column + j] = sum[i][j];
      } else {
        Output* const at = x.c + static_cast<size_t>(row + i) * x.ldc + column + j;
        *at = static_cast<Output>(x.accumulate ? static_cast<float>(*at) + sum[i][j] : sum[i][j]);
      }
    }
  }
}

// Computes a tile of C for form `lds`. `a` and `b` are matrices in memory, or other sources of four elements of a line.
// AAlongK, BAlongK: lines are rows of op(A) or columns of op(B), so that elements of a line are adjacent along k; otherwise,
// each line belongs to one k.
template <bool AAlongK, bool BAlongK, typename A, typename B, typename T, typename Output>
__device__ inline void multiply_lds(const Arguments<T, Output>& x, const A& a, const B& b) {
  __shared__ __attribute__((aligned(16))) float a_tile[kDepth][kPitch];
  __shared__ __attribute__((aligned(16))) float b_tile[kDepth][kPitch];
  const unsigned item = threadIdx.x;
  const unsigned row0 = blockIdx.y * kTile, column0 = blockIdx.x * kTile;
  const unsigned row = item / 16 * 4, column = item % 16 * 4;
  const unsigned first = blockIdx.z * x.part_depth, last = min(first + x.part_depth, x.k);

  // A work-item loads four elements of each tile.
  const auto load = [item](auto along_k, const auto& matrix, unsigned place, unsigned k, float(&values)[4]) {
    if constexpr (along_k) {
      matrix.four(place + item / (kDepth / 4), k + item % (kDepth / 4) * 4, values);
    } else {
      matrix.four(k + item / (kTile / 4), place + item % (kTile / 4) * 4, values);
    }
  };
  const auto keep = [item](auto along_k, float(&tile)[kDepth][kPitch], const float(&values)[4]) {
    if constexpr (along_k) {
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) tile[item % (kDepth / 4) * 4 + i][item / (kDepth / 4)] = values[i];
    } else {
      *reinterpret_cast<float4*>(&tile[item / (kTile / 4)][item % (kTile / 4) * 4]) =
          make_float4(values[0], values[1], values[2], values[3]);
    }
  };
  constexpr std::bool_constant<AAlongK> a_along_k;
  constexpr std::bool_constant<BAlongK> b_along_k;

  float sum[4][4] = {}, a_next[4], b_next[4];
  load(a_along_k, a, row0, first, a_next);
  load(b_along_k, b, column0, first, b_next);
  for (unsigned k = first; k < last; k += kDepth) {
    __syncthreads();
    keep(a_along_k, a_tile, a_next);
    keep(b_along_k, b_tile, b_next);
    __syncthreads();
    if (k + kDepth < last) {
      load(a_along_k, a, row0, k + kDepth, a_next);
      load(b_along_k, b, column0, k + kDepth, b_next);
    }
#pragma unroll
    for (unsigned d = 0; d < kDepth; ++d) {
      const float4 a4 = *reinterpret_cast<const float4*>(&a_tile[d][row]);
      const float4 b4 = *reinterpret_cast<const float4*>(&b_tile[d][column]);
      const float a_values[4] = {a4.x, a4.y, a4.z, a4.w}, b_values[4] = {b4.x, b4.y, b4.z, b4.w};
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) sum[i][j] += a_values[i] * b_values[j];
      }
    }
  }
  store(x, row0 + row, column0 + column, sum);
}

template <bool AAlongK, bool BAlongK, typename T, typename Output>
__device__ inline void multiply_registers(const Arguments<T, Output>& x, const Stored<T>& a, const Stored<T>& b) {
  const unsigned first = blockIdx.z * x.part_depth, last = min(first + x.part_depth, x.k);
  const unsigned first_row = blockIdx.y * kTile + threadIdx.x / 16 * 4,
                 first_column = blockIdx.x * kTile + threadIdx.x % 16 * 4;
  if (first_row >= x.m || first_column >= x.n) return;
  // At the end of rows and columns, the block of 4 x 4 elements is moved inside the matrix, so that the loop has no bounds
  // checks.
  const bool inside = a.by_four && b.by_four && x.m >= 4 && x.n >= 4;
  const unsigned row = inside ? min(first_row, x.m - 4) : first_row,
                 column = inside ? min(first_column, x.n - 4) : first_column;
  float sum[4][4] = {}, a_values[4][4], b_values[4][4];
  const auto add = [&] {
#pragma unroll
    for (unsigned d = 0; d < 4; ++d) {
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) {
          sum[i][j] += (AAlongK ? a_values[i][d] : a_values[d][i]) * (BAlongK ? b_values[j][d] : b_values[d][j]);
        }
      }
    }
  };
  unsigned k = first;
  if (inside) {
    for (; k + 4 <= last; k += 4) {
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        AAlongK ? a.four_inside(row + i, k, a_values[i]) : a.four_inside(k + i, row, a_values[i]);
        BAlongK ? b.four_inside(column + i, k, b_values[i]) : b.four_inside(k + i, column, b_values[i]);
      }
      add();
    }
  }
  for (; k < last; k += 4) {
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      AAlongK ? a.four(row + i, k, a_values[i]) : a.four(k + i, row, a_values[i]);
      BAlongK ? b.four(column + i, k, b_values[i]) : b.four(k + i, column, b_values[i]);
    }
    add();
  }
  store(x, row, column, sum, first_row, first_column);
}

// Computes one element of C per work-item, for operands stored as op(A) and op(B). `alpha` is BLAS's factor of the product,
// applied to elements of A, so that this multiplication does not wait for elements of B.
template <typename T, typename Output>
__device__ inline void multiply_words(const Arguments<T, Output>& x, float alpha) {
  const unsigned row = blockIdx.y * kEdge + threadIdx.y, column = blockIdx.x * kEdge + threadIdx.x;
  if (row >= x.m || column >= x.n) return;
  const T* a = x.a + static_cast<size_t>(row) * x.lda;
  const T* b = x.b + column;
  float sum = 0.0f;
#pragma unroll 1
  for (unsigned k = 0; k < x.k; ++k, ++a, b += x.ldb) sum += alpha * static_cast<float>(*a) * static_cast<float>(*b);
  Output* const at = x.c + static_cast<size_t>(row) * x.ldc + column;
  *at = static_cast<Output>(x.accumulate ? static_cast<float>(*at) + sum : sum);
}

// to[column][row] (+)= from[row][column], one work-item per element of `to`, which has no gaps between its lines.
template <typename From, typename To>
__device__ inline void transpose(const From* from, To* to, unsigned rows, unsigned columns, unsigned ld, bool accumulate) {
  const unsigned row = blockIdx.x * kEdge + threadIdx.x, column = blockIdx.y * kEdge + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const auto value = static_cast<float>(from[static_cast<size_t>(row) * ld + column]);
  To* const at = to + static_cast<size_t>(column) * rows + row;
  *at = static_cast<To>(accumulate ? static_cast<float>(*at) + value : value);
}

// Number of parts of an m x n x k product, and depth of a part (a multiple of the tile's depth).
struct Parts {
  Parts(unsigned m, unsigned n, unsigned k) {
    const unsigned tiles = ((m + kTile - 1) / kTile) * ((n + kTile - 1) / kTile);
    const unsigned wanted = std::max(1u, std::min(kWorkgroups / tiles, k / kShortestPart));
    depth = ((k + wanted - 1) / wanted + kDepth - 1) / kDepth * kDepth;
    count = std::max(1u, (k + depth - 1) / depth);
  }
  unsigned count, depth;
};

// Arguments of `sum_parts`: c[row][column] (+)= sum over p of parts[p][row][column], in order.
template <typename Output>
struct PartsArguments {
  const float* parts;
  Output* c;
  unsigned count, m, n, ldc;
  bool accumulate;
};

template <typename Output>
__device__ inline void sum_parts(const PartsArguments<Output>& x) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= x.n) return;
  float sum = 0.0f;
  for (unsigned part = 0; part < x.count; ++part) sum += x.parts[(static_cast<size_t>(part) * x.m + row) * x.n + column];
  Output* const at = x.c + static_cast<size_t>(row) * x.ldc + column;
  *at = static_cast<Output>(x.accumulate ? static_cast<float>(*at) + sum : sum);
}

// Forms of a product's kernel, see the top of this file.
enum class Form { kLds, kRegisters, kWords };

// The kernels of a product, and the storage order of its operands.
template <typename T, typename Output>
struct Product {
  void (*lds)(Arguments<T, Output>);
  void (*registers)(Arguments<T, Output>);
  void (*words)(Arguments<T, Output>, float);
  bool a_transposed, b_transposed;
};

// Kernels shared by products of one type.
template <typename T, typename Output>
struct Helpers {
  void (*sum)(PartsArguments<Output>);
  void (*transpose)(const T*, T*, unsigned, unsigned, unsigned, bool);
};

// Grid with one work-item for each of rows x columns elements, in workgroups of kEdge x kEdge.
inline dim3 edges(unsigned rows, unsigned columns) {
  return {workload::groups(columns, kEdge), workload::groups(rows, kEdge), 1};
}

template <typename T, typename Output, typename Scratch>
void multiply_by_words(workload::LayerLog& log, const Product<T, Output>& product, const Helpers<T, Output>& helpers,
                       Arguments<T, Output> x, Scratch& scratch) {
  // Transposes an operand that is stored transposed, which form `words` does not support. At most one operand is stored
  // transposed.
  const auto straight = [&](const T*& operand, unsigned& ld, unsigned rows, unsigned columns) {
    T* const to = reinterpret_cast<T*>(scratch(static_cast<size_t>(rows) * columns));
    log.launch(helpers.transpose, edges(columns, rows), dim3(kEdge, kEdge), operand, to, rows, columns, ld, false);
    operand = to;
    ld = rows;
  };
  if (product.a_transposed) straight(x.a, x.lda, x.k, x.m);
  if (product.b_transposed) straight(x.b, x.ldb, x.n, x.k);
  log.launch(product.words, edges(x.m, x.n), dim3(kEdge, kEdge), x, 1.0f);
}

// Launches the product that `x` describes (part_depth and parts are filled in here). `scratch(count)` returns GPU memory for
// `count` floats.
template <typename T, typename Output, typename Scratch>
void multiply(workload::LayerLog& log, const Product<T, Output>& product, Form form, const Helpers<T, Output>& helpers,
              Arguments<T, Output> x, Scratch& scratch) {
  if (form == Form::kWords) return multiply_by_words(log, product, helpers, x, scratch);
  const Parts parts(x.m, x.n, x.k);
  x.part_depth = parts.depth;
  x.parts = parts.count > 1 ? scratch(static_cast<size_t>(parts.count) * x.m * x.n) : nullptr;
  log.launch(form == Form::kLds ? product.lds : product.registers,
             dim3(workload::groups(x.n, kTile), workload::groups(x.m, kTile), parts.count), dim3(kWorkgroup), x);
  if (parts.count == 1) return;
  log.launch(helpers.sum, dim3(workload::groups(x.n, 256), x.m), dim3(256),
             PartsArguments<Output>{x.parts, x.c, parts.count, x.m, x.n, x.ldc, x.accumulate});
}

}  // namespace gemm

// Defines the kernel NAME_lds or NAME_registers (`form`) for operands that are stored as op(A) and op(B), or transposed.
#define GEMM_KERNEL(name, T, Output, a_transposed, b_transposed, form)                                     \
  extern "C" __global__ void __launch_bounds__(256) name##_##form(gemm::Arguments<T, Output> x) {          \
    gemm::multiply_##form<!(a_transposed), (b_transposed)>(                                                \
        x, (a_transposed) ? gemm::Stored<T>(x.a, x.lda, x.k, x.m) : gemm::Stored<T>(x.a, x.lda, x.m, x.k), \
        (b_transposed) ? gemm::Stored<T>(x.b, x.ldb, x.n, x.k) : gemm::Stored<T>(x.b, x.ldb, x.k, x.n));   \
  }
#define GEMM_WORDS_KERNEL(name, T, Output)                                                            \
  extern "C" __global__ void __launch_bounds__(256) name(gemm::Arguments<T, Output> x, float alpha) { \
    gemm::multiply_words(x, alpha);                                                                   \
  }
#define GEMM_KERNELS(name, T, Output, a_transposed, b_transposed)     \
  GEMM_KERNEL(name, T, Output, a_transposed, b_transposed, lds)       \
  GEMM_KERNEL(name, T, Output, a_transposed, b_transposed, registers) \
  GEMM_WORDS_KERNEL(name##_words, T, Output)                          \
  static const gemm::Product<T, Output> name{name##_lds, name##_registers, name##_words, a_transposed, b_transposed};
#define GEMM_TRANSPOSE_KERNEL(name, From, To)                                                         \
  extern "C" __global__ void __launch_bounds__(256)                                                   \
      name(const From* from, To* to, unsigned rows, unsigned columns, unsigned ld, bool accumulate) { \
    gemm::transpose(from, to, rows, columns, ld, accumulate);                                         \
  }
