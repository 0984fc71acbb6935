// MVT of PolyBench: x1 += A y1 and x2 += A^T y2. The paper size is PolyBench/GPU's default.
//
//   tuned   lanes read 16 bytes at a time in both products, and sums stay in registers
//   suite   the kernels of PolyBench/GPU: one work-item per row and, in another kernel, per column. For each element of the
//           matrix, a work-item adds to an element of x1 or x2 in memory. In the first kernel, adjacent lanes' addresses are a
//           row apart
#include "workloads/common/matrix_vector.h"
#include "workloads/common/tensor.h"
#include "workloads/suite/matrix_vector.h"

static __global__ void __launch_bounds__(256) add(const float* __restrict__ product, float* __restrict__ x, unsigned length) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < length) x[i] = x[i] + product[i];
}

// x[i] is loaded before the loop of add_products, not in it.
extern "C" __global__ void __launch_bounds__(256) mvt_rows(const float* matrix, const float* y, float* x, unsigned size) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i >= size) return;
  workload::add_products(x + i, y, size, workload::unknown(x[i]), [=](unsigned j) { return matrix[size_t{i} * size + j]; });
}

extern "C" __global__ void __launch_bounds__(256) mvt_columns(const float* matrix, const float* y, float* x, unsigned size) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i >= size) return;
  workload::add_products(x + i, y, size, workload::unknown(x[i]), [=](unsigned j) { return matrix[size_t{j} * size + i]; });
}

int main(int argc, char** argv) {
  workload::Program program("mvt", "Products of a matrix and of its transpose with vectors",
                            "Opportunistic computing in GPU architectures (ISCA '19), Table 3: MVT of PolyBench");
  int size = 0;
  std::string form;
  program.size(size, "size", "rows and columns", {512, 1024, 4096}, 1, 1 << 16);
  program.choice(form, "form", "the kernels", {"tuned", "suite"}, std::string("tuned"));
  return program.run(argc, argv, [&] {
    workload::Random& random = program.random();
    const auto n = static_cast<size_t>(size);
    const std::vector<float> matrix = random.uniform_values(n * n, -1, 1), x1 = random.uniform_values(n, -1, 1),
                             x2 = random.uniform_values(n, -1, 1), y1 = random.uniform_values(n, -1, 1),
                             y2 = random.uniform_values(n, -1, 1);
    const bool suite = form == "suite";
    // Each form stores the matrix once, either with padded rows or without padding.
    const workload::DeviceMatrix device_matrix(suite ? std::vector<float>(1) : matrix, suite ? 1 : size, suite ? 1 : size);
    const size_t padded = std::max<size_t>(n, device_matrix.padded_columns());
    const workload::DeviceArray<float> device_x1("x1", n), device_x2("x2", n), device_y1("y1", workload::padded(y1, padded)),
        device_y2("y2", y2), product("A y1", n), transposed_product("A^T y2", padded);
    const workload::DeviceArray<float> plain_matrix("the matrix", suite ? matrix : std::vector<float>(1));
    program.measure(
        [&] {
          device_x1.upload(x1);
          device_x2.upload(x2);
        },
        [&] {
          if (suite) {
            const unsigned groups = workload::groups(n, 256);
            mvt_rows<<<groups, 256>>>(plain_matrix.data(), device_y1.data(), device_x1.data(), size);
            mvt_columns<<<groups, 256>>>(plain_matrix.data(), device_y2.data(), device_x2.data(), size);
            return;
          }
          device_matrix.times(device_y1.data(), product.data());
          add<<<workload::groups(n, 256), 256>>>(product.data(), device_x1.data(), size);
          device_matrix.transposed_times(device_y2.data(), transposed_product.data());
          add<<<workload::groups(n, 256), 256>>>(transposed_product.data(), device_x2.data(), size);
        });
    if (!program.checks()) return;
    const auto check = [&](const char* name, const std::vector<float>& got, workload::Reference expected,
                           const std::vector<float>& x) {
      for (size_t i = 0; i < n; ++i) {
        expected.values[i] += x[i];
        expected.magnitudes[i] += std::fabs(x[i]);
      }
      program.check_near(name, got, expected.values,
                         [&](size_t i) { return workload::sum_factor(size + 1.0) * expected.magnitudes[i]; });
    };
    check("x1", device_x1.download(), workload::reference_product(matrix, workload::reference_vector(y1), n), x1);
    check("x2", device_x2.download(), workload::reference_transposed_product(matrix, workload::reference_vector(y2), n), x2);
  });
}
