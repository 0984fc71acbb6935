// Tests rocSPARSE, as packaged by Debian, on the virtual GPU. Values are small integers, so that results are exact in any order
// of summation, and are compared for equality.
#include <hip/hip_runtime_api.h>
#include <rocsparse/rocsparse.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

namespace {

int failures = 0;

void require(hipError_t status, const char* what) {
  if (status == hipSuccess) return;
  std::printf("FAILED: %s: %s\n", what, hipGetErrorString(status));
  std::exit(1);
}
void require(rocsparse_status status, const char* what) {
  if (status == rocsparse_status_success) return;
  std::printf("FAILED: %s: status %d\n", what, static_cast<int>(status));
  std::exit(1);
}
#define REQUIRE(call) require((call), #call)

template <class T>
void expect_equal(const char* what, const std::vector<T>& got, const std::vector<T>& expected) {
  if (got == expected) return;
  ++failures;
  const auto [g, e] = std::mismatch(got.begin(), got.end(), expected.begin(), expected.end());
  std::printf("FAILED: %s: element %td of %zu is %g, expected %g\n", what, g - got.begin(), got.size(), static_cast<double>(*g),
              static_cast<double>(*e));
}

/// An array on the GPU.
template <class T>
class Device {
 public:
  explicit Device(std::size_t count) : count_(count) {
    REQUIRE(hipMalloc(reinterpret_cast<void**>(&data_), std::max<std::size_t>(count, 1) * sizeof(T)));
  }
  explicit Device(const std::vector<T>& host) : Device(host.size()) {
    REQUIRE(hipMemcpy(data_, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice));
  }
  ~Device() { static_cast<void>(hipFree(data_)); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  T* data() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> result(count_);
    REQUIRE(hipMemcpy(result.data(), data_, count_ * sizeof(T), hipMemcpyDeviceToHost));
    return result;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

/// Compressed sparse rows, columns ascending.
template <class T>
struct Matrix {
  rocsparse_int rows = 0, columns = 0;
  std::vector<rocsparse_int> begin{0}, column{};
  std::vector<T> value{};

  rocsparse_int count() const { return static_cast<rocsparse_int>(column.size()); }
};

std::mt19937 generator(7);
int small() { return static_cast<int>(generator() % 17) - 8; }

/// A matrix with mostly short rows and a few long ones, which the library treats differently.
template <class T>
Matrix<T> random_matrix(rocsparse_int rows, rocsparse_int columns) {
  Matrix<T> m{.rows = rows, .columns = columns};
  for (rocsparse_int row = 0; row < rows; ++row) {
    const unsigned percent = row % 97 == 5 ? 60 : 3;
    for (rocsparse_int column = 0; column < columns; ++column) {
      if (generator() % 100 >= percent) continue;
      m.column.push_back(column);
      m.value.push_back(static_cast<T>(small()));
    }
    m.begin.push_back(m.count());
  }
  return m;
}

template <class T>
std::vector<T> random_vector(rocsparse_int count) {
  std::vector<T> v(static_cast<std::size_t>(count));
  for (T& value : v) value = static_cast<T>(small());
  return v;
}

template <class T>
std::vector<T> multiply(const Matrix<T>& m, const std::vector<T>& x) {
  std::vector<T> y(static_cast<std::size_t>(m.rows));
  for (rocsparse_int row = 0; row < m.rows; ++row) {
    for (rocsparse_int i = m.begin[row]; i < m.begin[row + 1]; ++i) y[row] += m.value[i] * x[m.column[i]];
  }
  return y;
}

template <class T>
struct DeviceMatrix {
  explicit DeviceMatrix(const Matrix<T>& m) : begin(m.begin), column(m.column), value(m.value) {
    REQUIRE(rocsparse_create_mat_descr(&description));
    REQUIRE(rocsparse_create_mat_info(&info));
  }
  ~DeviceMatrix() {
    rocsparse_destroy_mat_info(info);
    rocsparse_destroy_mat_descr(description);
  }
  DeviceMatrix(const DeviceMatrix&) = delete;
  DeviceMatrix& operator=(const DeviceMatrix&) = delete;

  Device<rocsparse_int> begin, column;
  Device<T> value;
  rocsparse_mat_descr description = nullptr;
  rocsparse_mat_info info = nullptr;
};

/// Checks y := 2 A x + 3 y, computed by rows without analysis, and with the library's analysis of the rows' lengths.
void check_vector_product(rocsparse_handle handle) {
  const auto m = random_matrix<float>(700, 500);
  const DeviceMatrix<float> a(m);
  const auto x = random_vector<float>(m.columns);
  const auto y = random_vector<float>(m.rows);
  std::vector<float> expected = multiply(m, x);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = 2 * expected[i] + 3 * y[i];
  const float alpha = 2;
  const float beta = 3;
  const Device<float> device_x(x);
  const auto product = [&](rocsparse_mat_info info, const char* what) {
    const Device<float> device_y(y);
    REQUIRE(rocsparse_scsrmv(handle, rocsparse_operation_none, m.rows, m.columns, m.count(), &alpha, a.description,
                             a.value.data(), a.begin.data(), a.column.data(), info, device_x.data(), &beta, device_y.data()));
    expect_equal(what, device_y.host(), expected);
  };
  product(nullptr, "scsrmv");
  REQUIRE(rocsparse_scsrmv_analysis(handle, rocsparse_operation_none, m.rows, m.columns, m.count(), a.description,
                                    a.value.data(), a.begin.data(), a.column.data(), a.info));
  product(a.info, "scsrmv after analysis");
}

void check_dense_product(rocsparse_handle handle) {
  constexpr rocsparse_int kColumns = 9;
  const auto m = random_matrix<double>(150, 120);
  const DeviceMatrix<double> a(m);
  const auto b = random_vector<double>(m.columns * kColumns);
  std::vector<double> expected;
  for (rocsparse_int column = 0; column < kColumns; ++column) {
    const auto begin = b.begin() + column * m.columns;
    const auto y = multiply(m, {begin, begin + m.columns});
    expected.insert(expected.end(), y.begin(), y.end());
  }
  const double alpha = 1;
  const double beta = 0;
  const Device<double> device_b(b);
  const Device<double> c(static_cast<std::size_t>(m.rows * kColumns));
  REQUIRE(rocsparse_dcsrmm(handle, rocsparse_operation_none, rocsparse_operation_none, m.rows, kColumns, m.columns, m.count(),
                           &alpha, a.description, a.value.data(), a.begin.data(), a.column.data(), device_b.data(), m.columns,
                           &beta, c.data(), m.rows));
  expect_equal("dcsrmm", c.host(), expected);
}

/// Checks the transposition by sorting, which uses rocPRIM.
void check_transposition(rocsparse_handle handle) {
  const auto m = random_matrix<double>(300, 400);
  const DeviceMatrix<double> a(m);
  std::vector<std::vector<std::pair<rocsparse_int, double>>> columns(static_cast<std::size_t>(m.columns));
  for (rocsparse_int row = 0; row < m.rows; ++row) {
    for (rocsparse_int i = m.begin[row]; i < m.begin[row + 1]; ++i) columns[m.column[i]].emplace_back(row, m.value[i]);
  }
  std::vector<rocsparse_int> begin{0}, rows;
  std::vector<double> values;
  for (const auto& column : columns) {
    for (const auto& [row, value] : column) {
      rows.push_back(row);
      values.push_back(value);
    }
    begin.push_back(static_cast<rocsparse_int>(rows.size()));
  }
  std::size_t bytes = 0;
  REQUIRE(rocsparse_csr2csc_buffer_size(handle, m.rows, m.columns, m.count(), a.begin.data(), a.column.data(),
                                        rocsparse_action_numeric, &bytes));
  const Device<char> buffer(bytes);
  const Device<double> csc_value(values.size());
  const Device<rocsparse_int> csc_row(rows.size());
  const Device<rocsparse_int> csc_begin(begin.size());
  REQUIRE(rocsparse_dcsr2csc(handle, m.rows, m.columns, m.count(), a.value.data(), a.begin.data(), a.column.data(),
                             csc_value.data(), csc_row.data(), csc_begin.data(), rocsparse_action_numeric,
                             rocsparse_index_base_zero, buffer.data()));
  expect_equal("csr2csc, columns", csc_begin.host(), begin);
  expect_equal("csr2csc, rows", csc_row.host(), rows);
  expect_equal("csr2csc, values", csc_value.host(), values);
}

/// Checks the solution of L x = b, where L has ones on the diagonal: wavefronts wait for results of other wavefronts.
void check_triangular_solve(rocsparse_handle handle) {
  Matrix<double> m{.rows = 300, .columns = 300};
  for (rocsparse_int row = 0; row < m.rows; ++row) {
    for (rocsparse_int column = std::max(0, row - 40); column < row; ++column) {
      if (generator() % 10 != 0) continue;
      m.column.push_back(column);
      m.value.push_back(small());
    }
    m.column.push_back(row);
    m.value.push_back(1);
    m.begin.push_back(m.count());
  }
  const DeviceMatrix<double> l(m);
  REQUIRE(rocsparse_set_mat_fill_mode(l.description, rocsparse_fill_mode_lower));
  REQUIRE(rocsparse_set_mat_diag_type(l.description, rocsparse_diag_type_unit));
  const auto solution = random_vector<double>(m.rows);
  const Device<double> b(multiply(m, solution));
  const Device<double> x(static_cast<std::size_t>(m.rows));
  std::size_t bytes = 0;
  REQUIRE(rocsparse_dcsrsv_buffer_size(handle, rocsparse_operation_none, m.rows, m.count(), l.description, l.value.data(),
                                       l.begin.data(), l.column.data(), l.info, &bytes));
  const Device<char> buffer(bytes);
  REQUIRE(rocsparse_dcsrsv_analysis(handle, rocsparse_operation_none, m.rows, m.count(), l.description, l.value.data(),
                                    l.begin.data(), l.column.data(), l.info, rocsparse_analysis_policy_reuse,
                                    rocsparse_solve_policy_auto, buffer.data()));
  const double alpha = 1;
  REQUIRE(rocsparse_dcsrsv_solve(handle, rocsparse_operation_none, m.rows, m.count(), &alpha, l.description, l.value.data(),
                                 l.begin.data(), l.column.data(), l.info, b.data(), x.data(), rocsparse_solve_policy_auto,
                                 buffer.data()));
  expect_equal("dcsrsv", x.host(), solution);
}

}  // namespace

int main() {
  rocsparse_handle handle = nullptr;
  REQUIRE(rocsparse_create_handle(&handle));
  check_vector_product(handle);
  check_dense_product(handle);
  check_transposition(handle);
  check_triangular_solve(handle);
  REQUIRE(rocsparse_destroy_handle(handle));
  std::printf("rocSPARSE: %s\n", failures == 0 ? "passed" : "failed");
  return failures == 0 ? 0 : 1;
}
