// The product of PageRank, y = x A, by rocSPARSE, for comparison with the kernels of product.h on the same matrices.
//
//   vector     adjacent lanes share a row, depending on the mean length of rows
//   adaptive   the library analyses the lengths of rows first (csrmv_analysis), which is not timed; rows in groups of similar
//              numbers of entries, long rows by one or several workgroups
#include <rocsparse/rocsparse.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "workloads/common/program.h"
#include "workloads/sparse_programs/application.h"

namespace {

using workload::DeviceArray;

void require(rocsparse_status status, const std::string& what) {
  if (status != rocsparse_status_success) throw workload::Error(what + ": rocSPARSE error " + std::to_string(status));
}

std::vector<rocsparse_int> as_signed(const std::vector<unsigned>& values) { return {values.begin(), values.end()}; }

/// A matrix in GPU memory, and what rocSPARSE knows of it.
class Matrix {
 public:
  explicit Matrix(const workload::SparseValues& matrix)
      : offsets_("the row offsets", as_signed(matrix.pattern.offsets)),
        columns_("the columns", as_signed(matrix.pattern.columns)),
        values_("the values", matrix.values) {
    require(rocsparse_create_handle(&handle_), "creating a handle");
    require(rocsparse_create_mat_descr(&description_), "creating a description");
    require(rocsparse_create_mat_info(&info_), "creating an info");
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() {
    rocsparse_destroy_mat_info(info_);
    rocsparse_destroy_mat_descr(description_);
    rocsparse_destroy_handle(handle_);
  }

  void analyse() {
    require(rocsparse_dcsrmv_analysis(handle_, rocsparse_operation_none, rows(), rows(), entries(), description_,
                                      values_.data(), offsets_.data(), columns_.data(), info_),
            "the analysis");
    analysed_ = true;
  }
  void multiply(const double* x, double* y) const {
    const double one = 1, none = 0;
    require(rocsparse_dcsrmv(handle_, rocsparse_operation_none, rows(), rows(), entries(), &one, description_, values_.data(),
                             offsets_.data(), columns_.data(), analysed_ ? info_ : nullptr, x, &none, y),
            "the product");
  }

 private:
  rocsparse_int rows() const { return static_cast<rocsparse_int>(offsets_.size() - 1); }
  rocsparse_int entries() const { return static_cast<rocsparse_int>(columns_.size()); }

  DeviceArray<rocsparse_int> offsets_, columns_;
  DeviceArray<double> values_;
  rocsparse_handle handle_ = nullptr;
  rocsparse_mat_descr description_ = nullptr;
  rocsparse_mat_info info_ = nullptr;
  bool analysed_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  workload::Program program("rocsparse_product", "Product of a vector with a sparse matrix by rocSPARSE",
                            "Democratizing tensor processors (thesis), section 4.6: PageRank's product");
  workload::ApplicationSetup setup;
  setup.program = "pr";
  std::string form;
  int iterations = 0;
  program.text(setup.matrix, "matrix", "a file, or a kind and its numbers",
               {"power:rows=1500,entries=12000", "power:rows=20000,entries=256000", "power:rows=55733,entries=730000"});
  program.text(setup.order, "order", "of rows and columns", std::string("natural"));
  program.choice(form, "form", "without or with an analysis of the rows", {"vector", "adaptive"}, std::string("adaptive"));
  program.size(iterations, "iterations", "number of products", {1, 4, 4});
  return program.run(argc, argv, [&] {
    const workload::Application application(setup);
    const workload::SparseValues columns = application.by_columns();
    const std::size_t rows = columns.pattern.rows();
    std::vector<double> x(rows);
    for (std::size_t i = 0; i < rows; ++i) x[i] = static_cast<double>(1 + i % 251);
    const DeviceArray<double> device_x("x", x), device_y("y", rows);
    Matrix matrix(columns);
    if (form == "adaptive") matrix.analyse();
    program.measure([&] {
      for (int i = 0; i < iterations; ++i) matrix.multiply(device_x.data(), device_y.data());
    });
    program.report("entries", static_cast<double>(application.entries()));
    if (!program.checks()) return;
    std::vector<double> expected(rows), bounds(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      const unsigned begin = columns.pattern.offsets[row], end = columns.pattern.offsets[row + 1];
      for (unsigned entry = begin; entry < end; ++entry)
        expected[row] += columns.values[entry] * x[columns.pattern.columns[entry]];
      // No term is negative: a sum of n terms has at most n roundings, on the GPU and on the host.
      bounds[row] = 2.0 * (end - begin + 1) * std::numeric_limits<double>::epsilon() * expected[row];
    }
    program.check_near("y", device_y.download(), expected, [&](std::size_t i) { return bounds[i]; });
  });
}
