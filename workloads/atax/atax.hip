// y = A^T (A x). PolyBench's ATAX. The default size is MGPUSim's.
//
//   tuned   lanes read 16 bytes at a time in both products
//   suite   the kernels of PolyBench/GPU: one work-item per row in the first product, and one per column in the second
#include "workloads/common/matrix_vector.h"
#include "workloads/suite/matrix_vector.h"

int main(int argc, char** argv) {
  workload::Program program("atax", "A matrix's transpose times the matrix times a vector",
                            "LazyGPU (ISCA '25), Table 3: ATAX of PolyBench");
  int rows = 0, columns = 0;
  program.size(rows, "rows", "rows", {512, 4096, 4096}, 1, 1 << 20);
  program.size(columns, "columns", "columns", {640, 4096, 4096}, 1, 1 << 20);
  std::string form;
  program.choice(form, "form", "the kernels", {"tuned", "suite"}, std::string("tuned"));
  program.takes_sparsity("the matrix");
  return program.run(argc, argv, [&] {
    const std::vector<float> matrix = program.sparsified(program.random().uniform_values(size_t(rows) * columns, -1, 1));
    const std::vector<float> x = program.random().uniform_values(columns, -1, 1);
    const bool suite = form == "suite";
    // Each form stores the matrix once, either with padded rows or without padding.
    const workload::DeviceMatrix device_matrix(suite ? std::vector<float>(1) : matrix, suite ? 1 : rows, suite ? 1 : columns);
    const workload::DeviceArray<float> plain_matrix("the matrix", suite ? matrix : std::vector<float>(1));
    const size_t padded = suite ? size_t(columns) : device_matrix.padded_columns();
    const workload::DeviceArray<float> device_x("x", workload::padded(x, padded)), product("A x", rows), y("y", padded);
    program.measure([&] {
      if (suite) {
        workload::launch_product_by_rows(plain_matrix.data(), device_x.data(), product.data(), rows, columns);
        workload::launch_product_by_columns(plain_matrix.data(), product.data(), y.data(), rows, columns);
        return;
      }
      device_matrix.times(device_x.data(), product.data());
      device_matrix.transposed_times(product.data(), y.data());
    });
    if (!program.checks()) return;
    const workload::Reference inner = workload::reference_product(matrix, workload::reference_vector(x), rows);
    const workload::Reference right = workload::reference_transposed_product(matrix, inner, columns);
    // `right.magnitudes` is |A^T| |A| |x|; the rounding errors of both products are relative to these magnitudes.
    const double roundings =
        suite ? double{1} * rows + columns : device_matrix.roundings() + device_matrix.transposed_roundings();
    const double error = workload::sum_error(roundings);
    program.check_near("y", workload::shortened(y.download(), columns), right.values,
                       [&](size_t i) { return error * right.magnitudes[i]; });
  });
}
