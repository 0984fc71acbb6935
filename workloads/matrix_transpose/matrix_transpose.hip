// Transposes a matrix through LDS. The default width is MGPUSim's.
//
//   tuned   tiles of 32 x 32, in words
//   suite   the kernel of AMD APP SDK's MatrixTranspose: tiles of 64 x 64, in 16 bytes, with a block of 4 x 4 elements per
//           work-item; adjacent workgroups write tiles of a diagonal. The matrix is padded to whole tiles
#include "workloads/common/program.h"
#include "workloads/common/transpose.h"

constexpr unsigned tile_size = 64, quads = tile_size / 4;

// The matrix has rows x quads float4; a workgroup's tile is in row blockIdx.x of the tiles.
__global__ void __launch_bounds__(quads* quads)
    transpose_quads(const float4* __restrict__ from, float4* __restrict__ to, unsigned rows, unsigned columns) {
  __shared__ float4 tile[tile_size][quads];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned tile_row = blockIdx.x, tile_column = (blockIdx.x + blockIdx.y) % gridDim.y;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
    tile[y * 4 + i][x] = from[size_t{tile_row * tile_size + y * 4 + i} * (columns / 4) + tile_column * quads + x];
  __syncthreads();
  const float4 a = tile[x * 4][y], b = tile[x * 4 + 1][y], c = tile[x * 4 + 2][y], d = tile[x * 4 + 3][y];
  const float4 transposed[4] = {{a.x, b.x, c.x, d.x}, {a.y, b.y, c.y, d.y}, {a.z, b.z, c.z, d.z}, {a.w, b.w, c.w, d.w}};
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
    to[size_t{tile_column * tile_size + y * 4 + i} * (rows / 4) + tile_row * quads + x] = transposed[i];
}

int main(int argc, char** argv) {
  workload::Program program("matrix_transpose", "Transpose of a matrix through LDS",
                            "LazyGPU (ISCA '25), Table 3: MatrixTranspose of AMD APP SDK");
  int rows = 0, columns = 0;
  std::string form;
  program.size(rows, "rows", "rows of the input", {256, 256, 1024}, 1, 1 << 20);
  program.size(columns, "columns", "columns of the input", {320, 256, 1024}, 1, 1 << 20);
  program.choice(form, "form", "the kernels", {"tuned", "suite"}, std::string("tuned"));
  program.takes_sparsity("the matrix");
  return program.run(argc, argv, [&] {
    const bool suite = form == "suite";
    const unsigned unit = suite ? tile_size : 1, tile_rows = workload::groups(rows, unit),
                   tile_columns = workload::groups(columns, unit);
    const size_t height = size_t{tile_rows} * unit, width = size_t{tile_columns} * unit, count = height * width;
    const std::vector<float> values = program.sparsified(program.random().uniform_values(size_t(rows) * columns, -1, 1));
    std::vector<float> matrix(count);
    for (size_t i = 0; i < values.size(); ++i) matrix[i / columns * width + i % columns] = values[i];
    const workload::DeviceArray<float> from("the matrix", matrix), to("the result", count);
    program.measure([&] {
      if (suite) {
        transpose_quads<<<dim3(tile_rows, tile_columns), dim3(quads, quads)>>>(
            reinterpret_cast<const float4*>(from.data()), reinterpret_cast<float4*>(to.data()), height, width);
      } else {
        workload::launch_transpose(from.data(), to.data(), rows, columns);
      }
    });
    if (!program.checks()) return;
    std::vector<float> expected(count);
    for (size_t i = 0; i < count; ++i) expected[i % width * height + i / width] = matrix[i];
    program.check_equal("the result", to.download(), expected);
  });
}
