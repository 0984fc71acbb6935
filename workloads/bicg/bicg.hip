// q = A p and s = A^T r, the two products of the biconjugate gradient method. PolyBench's BICG. The default size is MGPUSim's.
//
//   tuned   lanes read 16 bytes at a time in both products
//   suite   the kernels of PolyBench/GPU: one work-item per row for q, and one per column for s
#include "workloads/common/matrix_vector.h"
#include "workloads/suite/matrix_vector.h"

int main(int argc, char** argv) {
  workload::Program program("bicg", "The products A p and A^T r of the biconjugate gradient method",
                            "LazyGPU (ISCA '25), Table 3: BICG of PolyBench");
  int rows = 0, columns = 0;
  program.size(rows, "rows", "rows", {512, 4096, 4096}, 1, 1 << 20);
  program.size(columns, "columns", "columns", {640, 4096, 4096}, 1, 1 << 20);
  std::string form;
  program.choice(form, "form", "the kernels", {"tuned", "suite"}, std::string("tuned"));
  program.takes_sparsity("the matrix");
  return program.run(argc, argv, [&] {
    const std::vector<float> matrix = program.sparsified(program.random().uniform_values(size_t(rows) * columns, -1, 1));
    const std::vector<float> p = program.random().uniform_values(columns, -1, 1),
                             r = program.random().uniform_values(rows, -1, 1);
    const bool suite = form == "suite";
    // Each form stores the matrix once, either with padded rows or without padding.
    const workload::DeviceMatrix device_matrix(suite ? std::vector<float>(1) : matrix, suite ? 1 : rows, suite ? 1 : columns);
    const workload::DeviceArray<float> plain_matrix("the matrix", suite ? matrix : std::vector<float>(1));
    const size_t padded = suite ? size_t(columns) : device_matrix.padded_columns();
    const workload::DeviceArray<float> device_p("p", workload::padded(p, padded)), device_r("r", r), q("q", r.size()),
        s("s", padded);
    program.measure([&] {
      if (suite) {
        workload::launch_product_by_rows(plain_matrix.data(), device_p.data(), q.data(), rows, columns);
        workload::launch_product_by_columns(plain_matrix.data(), device_r.data(), s.data(), rows, columns);
        return;
      }
      device_matrix.times(device_p.data(), q.data());
      device_matrix.transposed_times(device_r.data(), s.data());
    });
    if (!program.checks()) return;
    const workload::Reference right_q = workload::reference_product(matrix, workload::reference_vector(p), rows);
    const workload::Reference right_s = workload::reference_transposed_product(matrix, workload::reference_vector(r), columns);
    const double q_error = workload::sum_error(suite ? columns : device_matrix.roundings());
    program.check_near("q", q.download(), right_q.values, [&](size_t i) { return q_error * right_q.magnitudes[i]; });
    const double s_error = workload::sum_error(suite ? rows : device_matrix.transposed_roundings());
    program.check_near("s", workload::shortened(s.download(), columns), right_s.values,
                       [&](size_t i) { return s_error * right_s.magnitudes[i]; });
  });
}
