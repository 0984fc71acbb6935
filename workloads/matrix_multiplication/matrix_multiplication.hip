// C = A B in single precision: each work-item computes 4 x 4 elements of C, as in AMD APP SDK's MatrixMultiplication, from
// which MGPUSim's program is derived. A tile of 32 x 32 is computed by one wavefront (as in Fig. 3 of LazyGPU), a tile of 64 x
// 64 by four. As in libraries, rows and columns are padded with zeros to whole tiles, so that the inner loop has no bounds
// checks.
//
// Operands: `lds` loads tiles of A and B into LDS. `mixed` is the sample's kernel with local memory: A passes through LDS, and
// B is loaded directly into registers. `registers` is the sample's kernel without local memory, in which loads feed only
// multiply-adds. `words` is a simple kernel with one element of C per work-item: each load reads one word per lane; the lanes
// of a row read the same word of A, so that a transaction has only one useful word.
#include <hip/hip_runtime.h>

#include "workloads/common/program.h"

constexpr unsigned per_item = 4;  // rows and columns of C per work-item
constexpr unsigned depth = 16;    // columns of A and rows of B in LDS at a time

// Matrices are row-major and padded: a is rows x k, b k x columns, c rows x columns. A workgroup has (tile / 4) x (tile / 4)
// work-items.
template <unsigned tile>
__global__ void __launch_bounds__((tile / per_item) * (tile / per_item))
    multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned k_size,
             unsigned columns) {
  constexpr unsigned width = tile / per_item, items = width * width;
  // A is transposed in LDS, so that both operands are read 16 bytes at a time. An additional element per row avoids bank
  // conflicts.
  __shared__ float4 a_tile[depth][width + 1];
  __shared__ float4 b_tile[depth][width];
  const unsigned item = threadIdx.y * width + threadIdx.x;
  const unsigned row = blockIdx.y * tile, column = blockIdx.x * tile;
  float sums[per_item][per_item] = {};
  for (unsigned k = 0; k < k_size; k += depth) {
    for (unsigned i = item; i < tile * depth / 4; i += items) {
      const unsigned tile_row = i / (depth / 4), k4 = i % (depth / 4) * 4;
      const float4 values = *reinterpret_cast<const float4*>(a + size_t{row + tile_row} * k_size + k + k4);
      float* to = reinterpret_cast<float*>(a_tile[k4]) + tile_row;
      constexpr unsigned pitch = (width + 1) * 4;
      to[0] = values.x, to[pitch] = values.y, to[2 * pitch] = values.z, to[3 * pitch] = values.w;
    }
    for (unsigned i = item; i < tile * depth / 4; i += items) {
      const unsigned tile_k = i / width, column4 = i % width;
      b_tile[tile_k][column4] = *reinterpret_cast<const float4*>(b + size_t{k + tile_k} * columns + column + column4 * 4);
    }
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < depth; ++i) {
      const float4 from_a = a_tile[i][threadIdx.y], from_b = b_tile[i][threadIdx.x];
      const float as[per_item] = {from_a.x, from_a.y, from_a.z, from_a.w},
                  bs[per_item] = {from_b.x, from_b.y, from_b.z, from_b.w};
#pragma unroll
      for (unsigned y = 0; y < per_item; ++y) {
#pragma unroll
        for (unsigned x = 0; x < per_item; ++x) sums[y][x] += as[y] * bs[x];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned y = 0; y < per_item; ++y) {
    *reinterpret_cast<float4*>(c + size_t{row + threadIdx.y * per_item + y} * columns + column + threadIdx.x * per_item) =
        make_float4(sums[y][0], sums[y][1], sums[y][2], sums[y][3]);
  }
}

// As multiply(), but loads B directly from memory, and A as well unless `a_through_lds`.
template <unsigned tile, bool a_through_lds>
__global__ void __launch_bounds__((tile / per_item) * (tile / per_item))
    multiply_direct(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned k_size,
                    unsigned columns) {
  constexpr unsigned width = tile / per_item, items = width * width, vectors = depth / 4;
  __shared__ float4 a_tile[a_through_lds ? tile * vectors : 1];
  const unsigned item = threadIdx.y * width + threadIdx.x;
  const unsigned row = blockIdx.y * tile, column = blockIdx.x * tile + threadIdx.x * per_item;
  float sums[per_item][per_item] = {};
  for (unsigned k = 0; k < k_size; k += depth) {
    if constexpr (a_through_lds) {
      for (unsigned i = item; i < tile * vectors; i += items) {
        a_tile[i] = *reinterpret_cast<const float4*>(a + size_t{row + i / vectors} * k_size + k + i % vectors * 4);
      }
      __syncthreads();
    }
#pragma unroll 1
    for (unsigned i = 0; i < depth; i += 4) {
      float4 from_a[per_item], from_b[4];
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {
        from_b[j] = *reinterpret_cast<const float4*>(b + size_t{k + i + j} * columns + column);
      }
#pragma unroll
      for (unsigned y = 0; y < per_item; ++y) {
        const unsigned a_row = threadIdx.y * per_item + y;
        from_a[y] = a_through_lds ? a_tile[a_row * vectors + i / 4]
                                  : *reinterpret_cast<const float4*>(a + size_t{row + a_row} * k_size + k + i);
      }
#pragma unroll
      for (unsigned y = 0; y < per_item; ++y) {
        const float as[4] = {from_a[y].x, from_a[y].y, from_a[y].z, from_a[y].w};
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) {
          sums[y][0] += as[j] * from_b[j].x;
          sums[y][1] += as[j] * from_b[j].y;
          sums[y][2] += as[j] * from_b[j].z;
          sums[y][3] += as[j] * from_b[j].w;
        }
      }
    }
    if constexpr (a_through_lds) __syncthreads();
  }
#pragma unroll
  for (unsigned y = 0; y < per_item; ++y) {
    *reinterpret_cast<float4*>(c + size_t{row + threadIdx.y * per_item + y} * columns + column) =
        make_float4(sums[y][0], sums[y][1], sums[y][2], sums[y][3]);
  }
}

// A workgroup of one wavefront computes 8 x 8 elements of C.
__global__ void __launch_bounds__(64) multiply_words(const float* __restrict__ a, const float* __restrict__ b,
                                                     float* __restrict__ c, unsigned k_size, unsigned columns) {
  const unsigned row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 8 + threadIdx.x;
  float sum = 0.0f;
#pragma unroll 1
  for (unsigned k = 0; k < k_size; ++k) sum += a[size_t{row} * k_size + k] * b[size_t{k} * columns + column];
  c[size_t{row} * columns + column] = sum;
}

template <unsigned tile>
static auto kernel_of(const std::string& operands) {
  return operands == "lds" ? multiply<tile> : operands == "mixed" ? multiply_direct<tile, true> : multiply_direct<tile, false>;
}

static unsigned padded(int size, unsigned to) { return workload::groups(size, to) * to; }

static std::vector<float> padded_matrix(const std::vector<float>& values, unsigned columns, unsigned padded_rows,
                                        unsigned padded_columns) {
  std::vector<float> matrix(size_t{padded_rows} * padded_columns);
  for (size_t i = 0; i < values.size(); ++i) matrix[i / columns * padded_columns + i % columns] = values[i];
  return matrix;
}

int main(int argc, char** argv) {
  workload::Program program("matrix_multiplication", "Product of two matrices in single precision, tiled",
                            "LazyGPU (ISCA '25), Table 3: MatrixMultiplication of AMD APP SDK");
  int m = 0, k = 0, n = 0;
  // The paper preset, 1024 x 2048 elements, has 2048 wavefronts with tiles of 32, the maximum in Fig. 3 of LazyGPU.
  program.size(m, "m", "rows of A and C", {128, 64, 1024}, 1, 1 << 16);
  program.size(k, "k", "columns of A, rows of B", {96, 64, 256}, 1, 1 << 16);
  program.size(n, "n", "columns of B and C", {128, 64, 2048}, 1, 1 << 16);
  std::string tile;
  program.choice(tile, "tile", "rows and columns of C for each workgroup", {"32", "64"}, std::string("32"));
  std::string operands;
  program.choice(operands, "operands",
                 "where the operands wait: tiles in LDS; A's in LDS, B in registers; registers only; single words in registers",
                 {"lds", "mixed", "registers", "words"}, std::string("lds"));
  program.takes_sparsity("A and B");
  return program.run(argc, argv, [&] {
    const std::vector<float> a = program.sparsified(program.random().uniform_values(size_t(m) * k, -1, 1));
    const std::vector<float> b = program.sparsified(program.random().uniform_values(size_t(k) * n, -1, 1));
    const unsigned tile_size = tile == "32" ? 32 : 64;
    const unsigned rows = padded(m, tile_size), depth_size = padded(k, depth), columns = padded(n, tile_size);
    const workload::DeviceArray<float> device_a("A", padded_matrix(a, k, rows, depth_size));
    const workload::DeviceArray<float> device_b("B", padded_matrix(b, n, depth_size, columns));
    const workload::DeviceArray<float> device_c("C", size_t{rows} * columns);
    const bool words = operands == "words";
    const unsigned edge = words ? 8 : tile_size / per_item, covered = words ? 8 : tile_size;
    const dim3 grid(columns / covered, rows / covered), group(edge, edge);
    program.measure([&] {
      const auto kernel = words ? multiply_words : tile_size == 32 ? kernel_of<32>(operands) : kernel_of<64>(operands);
      kernel<<<grid, group>>>(device_a.data(), device_b.data(), device_c.data(), depth_size, columns);
    });
    if (!program.checks()) return;
    const std::vector<float> padded_c = device_c.download();
    std::vector<float> c(size_t(m) * n);
    std::vector<double> expected(c.size()), magnitude(c.size());
    for (size_t i = 0; i < c.size(); ++i) c[i] = padded_c[i / n * columns + i % n];
    for (size_t row = 0; row < size_t(m); ++row) {
      for (size_t i = 0; i < size_t(k); ++i) {
        for (size_t column = 0; column < size_t(n); ++column) {
          const double product = double{a[row * k + i]} * b[i * n + column];
          expected[row * n + column] += product;
          magnitude[row * n + column] += std::fabs(product);
        }
      }
    }
    program.check_near("C", c, expected, [&](size_t i) { return workload::sum_error(k) * magnitude[i]; });
  });
}
