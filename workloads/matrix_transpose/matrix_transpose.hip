// Transposes a matrix through LDS, as AMD APP SDK's MatrixTranspose does. The default width is MGPUSim's.
#include "workloads/common/program.h"
#include "workloads/common/transpose.h"

int main(int argc, char** argv) {
  workload::Program program("matrix_transpose", "Transpose of a matrix through LDS",
                            "LazyGPU (ISCA '25), Table 3: MatrixTranspose of AMD APP SDK");
  int rows = 0, columns = 0;
  program.size(rows, "rows", "rows of the input", {256, 256, 1024}, 1, 1 << 20);
  program.size(columns, "columns", "columns of the input", {320, 256, 1024}, 1, 1 << 20);
  program.takes_sparsity("the matrix");
  return program.run(argc, argv, [&] {
    const size_t count = size_t(rows) * columns;
    const std::vector<float> matrix = program.sparsified(program.random().uniform_values(count, -1, 1));
    const workload::DeviceArray<float> from("the matrix", matrix), to("the result", count);
    program.measure([&] { workload::launch_transpose(from.data(), to.data(), rows, columns); });
    if (!program.checks()) return;
    std::vector<float> expected(count);
    for (size_t i = 0; i < count; ++i) expected[i % columns * rows + i / columns] = matrix[i];
    program.check_equal("the result", to.download(), expected);
  });
}
