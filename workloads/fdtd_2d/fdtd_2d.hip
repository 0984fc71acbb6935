// FDTD-2D: solves Maxwell's equations in two dimensions by finite differences in the time domain. As in PolyBench/GPU, a step
// has three kernels; PolyBench/GPU's default is 2048 x 2048 points and 500 steps. Each work-item computes one point: neighbours
// in a row share lines of L1, so that each kernel reads each field once.
//
//   tuned   two neighbours of a row are read by one load where the compiler combines them
//   suite   each element that PolyBench's source names is a separate load, and each difference is that of two such loads
#include <hip/hip_runtime.h>

#include "workloads/common/program.h"
#include "workloads/suite/operands.h"

constexpr unsigned group_width = 64, group_height = 4;

// A field has rows x columns points in row-major order.
extern "C" __global__ void __launch_bounds__(group_width* group_height)
    fdtd_ey(const float* __restrict__ source, float* __restrict__ ey, const float* __restrict__ hz, unsigned rows,
            unsigned columns, unsigned step) {
  const unsigned x = blockIdx.x * group_width + threadIdx.x, y = blockIdx.y * group_height + threadIdx.y;
  if (x >= columns || y >= rows) return;
  const size_t at = size_t{y} * columns + x;
  ey[at] = y == 0 ? source[step] : ey[at] - 0.5f * (hz[at] - hz[at - columns]);
}

extern "C" __global__ void __launch_bounds__(group_width* group_height)
    fdtd_ex(float* __restrict__ ex, const float* __restrict__ hz, unsigned rows, unsigned columns) {
  const unsigned x = blockIdx.x * group_width + threadIdx.x, y = blockIdx.y * group_height + threadIdx.y;
  if (x >= columns || y >= rows || x == 0) return;
  const size_t at = size_t{y} * columns + x;
  ex[at] = ex[at] - 0.5f * (hz[at] - hz[at - 1]);
}

extern "C" __global__ void __launch_bounds__(group_width* group_height)
    fdtd_hz(const float* __restrict__ ex, const float* __restrict__ ey, float* __restrict__ hz, unsigned rows,
            unsigned columns) {
  const unsigned x = blockIdx.x * group_width + threadIdx.x, y = blockIdx.y * group_height + threadIdx.y;
  if (x + 1 >= columns || y + 1 >= rows) return;
  const size_t at = size_t{y} * columns + x;
  hz[at] = hz[at] - 0.7f * (ex[at + 1] - ex[at] + ey[at + columns] - ey[at]);
}

// As in PolyBench/GPU, pointers to fields are not `restrict`. unknown() hides from the compiler that two elements are
// neighbours in a row: otherwise it would combine both loads into a single load of 8 bytes, which cannot be an operand of an
// offload chain.
extern "C" __global__ void __launch_bounds__(group_width* group_height)
    fdtd_step1(const float* source, float* ey, const float* hz, unsigned rows, unsigned columns, unsigned step) {
  const unsigned x = blockIdx.x * group_width + threadIdx.x, y = blockIdx.y * group_height + threadIdx.y;
  if (x >= columns || y >= rows) return;
  const size_t at = size_t{y} * columns + x;
  ey[at] = y == 0 ? source[step] : ey[at] - 0.5f * (hz[at] - hz[at - columns]);
}

extern "C" __global__ void __launch_bounds__(group_width* group_height)
    fdtd_step2(float* ex, const float* hz, unsigned rows, unsigned columns) {
  const unsigned x = blockIdx.x * group_width + threadIdx.x, y = blockIdx.y * group_height + threadIdx.y;
  if (x >= columns || y >= rows || x == 0) return;
  const size_t at = size_t{y} * columns + x;
  ex[at] = ex[at] - 0.5f * (hz[at] - hz[workload::unknown(at - 1)]);
}

// Computes both differences before adding them: PolyBench adds from left to right, and in that order, the core would load the
// two elements of ey separately instead of offloading their difference.
extern "C" __global__ void __launch_bounds__(group_width* group_height)
    fdtd_step3(const float* ex, const float* ey, float* hz, unsigned rows, unsigned columns) {
  const unsigned x = blockIdx.x * group_width + threadIdx.x, y = blockIdx.y * group_height + threadIdx.y;
  if (x + 1 >= columns || y + 1 >= rows) return;
  const size_t at = size_t{y} * columns + x;
  const float along_x = ex[workload::unknown(at + 1)] - ex[at], along_y = ey[at + columns] - ey[at];
  hz[at] = hz[at] - 0.7f * (along_x + along_y);
}

namespace {

/// Values in double precision, and error bounds for single precision: the errors of the operands, plus half a unit in the last
/// place of the largest intermediate value for each operation.
struct Field {
  explicit Field(const std::vector<float>& from) : values(from.begin(), from.end()), errors(from.size()) {}
  /// values[to] -= factor * (sum over the terms of sign * field.values[at]); errors[to] grows by the error of this operation.
  template <typename... Term>
  void subtract(size_t to, double factor, Term... term) {
    const double sum = ((term.sign * term.field.values[term.at]) + ...);
    const double error = ((term.field.errors[term.at]) + ...), magnitude = ((std::fabs(term.field.values[term.at])) + ...);
    const double before = std::fabs(values[to]);
    values[to] -= factor * sum;
    errors[to] += factor * error + 4 * 0x1p-24 * (before + factor * magnitude);
  }
  std::vector<double> values, errors;
};
struct Term {
  int sign;
  const Field& field;
  size_t at;
};

}  // namespace

int main(int argc, char** argv) {
  workload::Program program("fdtd_2d", "Finite differences in the time domain, two dimensions",
                            "Opportunistic computing in GPU architectures (ISCA '19), Table 3: FDTD-2D of PolyBench");
  int rows = 0, columns = 0, steps = 0;
  std::string form;
  program.size(rows, "rows", "rows of points", {48, 512, 2048}, 1, 1 << 15);
  program.size(columns, "columns", "columns of points", {100, 512, 2048}, 1, 1 << 15);
  program.size(steps, "steps", "steps of time", {3, 2, 1}, 1, 10000);
  program.choice(form, "form", "the kernels", {"tuned", "suite"}, std::string("tuned"));
  return program.run(argc, argv, [&] {
    const size_t count = size_t(rows) * columns;
    std::vector<float> source(steps);
    for (int i = 0; i < steps; ++i) source[i] = static_cast<float>(i);  // PolyBench's values
    const std::vector<float> ex = program.random().uniform_values(count, 0, 1),
                             ey = program.random().uniform_values(count, 0, 1);
    const std::vector<float> hz = program.random().uniform_values(count, 0, 1);
    const workload::DeviceArray<float> device_source("the source", source), device_ex("ex", count), device_ey("ey", count),
        device_hz("hz", count);
    const dim3 group(group_width, group_height),
        grid(workload::groups(columns, group_width), workload::groups(rows, group_height));
    program.measure(
        [&] {
          device_ex.upload(ex);
          device_ey.upload(ey);
          device_hz.upload(hz);
        },
        [&] {
          const bool suite = form == "suite";
          for (int step = 0; step < steps; ++step) {
            (suite ? fdtd_step1 : fdtd_ey)<<<grid, group>>>(device_source.data(), device_ey.data(), device_hz.data(), rows,
                                                            columns, step);
            (suite ? fdtd_step2 : fdtd_ex)<<<grid, group>>>(device_ex.data(), device_hz.data(), rows, columns);
            (suite ? fdtd_step3 : fdtd_hz)<<<grid, group>>>(device_ex.data(), device_ey.data(), device_hz.data(), rows,
                                                            columns);
          }
        });
    if (!program.checks()) return;
    Field x(ex), y(ey), z(hz);
    const auto width = static_cast<size_t>(columns);
    for (int step = 0; step < steps; ++step) {
      for (size_t i = 0; i < width; ++i) {
        y.values[i] = source[step];
        y.errors[i] = 0;
      }
      for (size_t i = width; i < count; ++i) y.subtract(i, 0.5, Term{1, z, i}, Term{-1, z, i - width});
      for (size_t i = 0; i < count; ++i) {
        if (i % width != 0) x.subtract(i, 0.5, Term{1, z, i}, Term{-1, z, i - 1});
      }
      for (size_t i = 0; i + width < count; ++i) {
        if (i % width + 1 < width) z.subtract(i, 0.7, Term{1, x, i + 1}, Term{-1, x, i}, Term{1, y, i + width}, Term{-1, y, i});
      }
    }
    program.check_near("ex", device_ex.download(), x.values, [&](size_t i) { return x.errors[i]; });
    program.check_near("ey", device_ey.download(), y.values, [&](size_t i) { return y.errors[i]; });
    program.check_near("hz", device_hz.download(), z.values, [&](size_t i) { return z.errors[i]; });
  });
}
