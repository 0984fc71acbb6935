// y = A x with A in compressed rows (CSR) and single precision. With 64 lanes per row, this is the vector kernel of SHOC's
// Spmv; with one lane, it is the scalar kernel (Bell and Garland, SC '09). The default size and share of non-zeros are
// MGPUSim's.
//
//   tuned   the number of lanes that share a row depends on the average length of rows
//   suite   SHOC's scalar kernel, which MGPUSim runs: one work-item per row
#include <hip/hip_runtime.h>

#include "workloads/common/csr.h"
#include "workloads/common/lanes.h"
#include "workloads/common/program.h"

constexpr unsigned group_size = 256;

template <unsigned lanes>
__global__ void __launch_bounds__(group_size)
    spmv(const unsigned* __restrict__ offsets, const unsigned* __restrict__ columns, const float* __restrict__ values,
         const float* __restrict__ x, float* __restrict__ y, unsigned rows) {
  const unsigned item = blockIdx.x * group_size + threadIdx.x, row = item / lanes, lane = item % lanes;
  // All lanes take part in the sum; a lane without a row has an empty range of entries.
  const unsigned begin = row < rows ? offsets[row] : 0, end = row < rows ? offsets[row + 1] : 0;
  const float sum = workload::row_dot<lanes>(columns, values, x, begin, end, lane);
  if (row < rows && lane == 0) y[row] = sum;
}

int main(int argc, char** argv) {
  workload::Program program("spmv", "Sparse matrix, compressed rows, times a dense vector",
                            "LazyGPU (ISCA '25), Table 3: SPMV of SHOC");
  int rows = 0;
  double density = 0;
  program.size(rows, "rows", "rows and columns", {2000, 128, 32768}, 1, 1 << 24);
  program.real(density, "density", "the share of elements that are stored", {0.005, 0.01, 0.001}, 0, 1);
  std::string form;
  program.choice(form, "form", "the kernels", {"tuned", "suite"}, std::string("tuned"));
  program.takes_sparsity("the dense vector");
  return program.run(argc, argv, [&] {
    const auto entries = static_cast<size_t>(density * rows * rows);
    const workload::Csr matrix = workload::random_csr(program.random(), rows, rows, entries);
    const std::vector<float> values = program.random().uniform_values(matrix.entries(), -1, 1);
    const std::vector<float> x = program.sparsified(program.random().uniform_values(rows, -1, 1));
    const workload::DeviceArray<unsigned> offsets("the row offsets", matrix.offsets), columns("the columns", matrix.columns);
    const workload::DeviceArray<float> device_values("the values", values), device_x("x", x), device_y("y", x.size());
    const unsigned lanes = form == "suite" ? 1 : workload::lanes_for_rows(matrix);
    program.measure([&] {
      const auto kernel = lanes == 1 ? spmv<1> : lanes == 4 ? spmv<4> : lanes == 16 ? spmv<16> : spmv<64>;
      kernel<<<workload::groups(size_t(rows) * lanes, group_size), group_size>>>(
          offsets.data(), columns.data(), device_values.data(), device_x.data(), device_y.data(), rows);
    });
    program.report("entries", matrix.entries());
    if (!program.checks()) return;
    std::vector<double> expected(rows), magnitude(rows);
    for (size_t row = 0; row < matrix.rows(); ++row) {
      for (size_t i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i) {
        const double product = double{values[i]} * x[matrix.columns[i]];
        expected[row] += product;
        magnitude[row] += std::fabs(product);
      }
    }
    const double error = workload::sum_error(matrix.longest_row() + 6);
    program.check_near("y", device_y.download(), expected, [&](size_t i) { return error * magnitude[i]; });
  });
}
