// MVT: x1 += A y1 and x2 += A^T y2, of PolyBench, whose GPU version has a work-item for each row and each column; here reads
// are 16 bytes for each lane in both products. The paper size is PolyBench/GPU's default.
#include "workloads/common/matrix_vector.h"
#include "workloads/common/tensor.h"

static __global__ void __launch_bounds__(256) add(const float* __restrict__ product, float* __restrict__ x, unsigned length) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < length) x[i] = x[i] + product[i];
}

int main(int argc, char** argv) {
  workload::Program program("mvt", "Products of a matrix and of its transpose with vectors",
                            "Opportunistic computing in GPU architectures (ISCA '19), Table 3: MVT of PolyBench");
  int size = 0;
  program.size(size, "size", "rows and columns", {512, 1024, 4096}, 1, 1 << 16);
  return program.run(argc, argv, [&] {
    workload::Random& random = program.random();
    const auto n = static_cast<size_t>(size);
    const std::vector<float> matrix = random.uniform_values(n * n, -1, 1), x1 = random.uniform_values(n, -1, 1),
                             x2 = random.uniform_values(n, -1, 1), y1 = random.uniform_values(n, -1, 1),
                             y2 = random.uniform_values(n, -1, 1);
    const workload::DeviceMatrix device_matrix(matrix, size, size);
    const size_t padded = device_matrix.padded_columns();
    const workload::DeviceArray<float> device_x1("x1", n), device_x2("x2", n), device_y1("y1", workload::padded(y1, padded)),
        device_y2("y2", y2), product("A y1", n), transposed_product("A^T y2", padded);
    program.measure(
        [&] {
          device_x1.upload(x1);
          device_x2.upload(x2);
        },
        [&] {
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
