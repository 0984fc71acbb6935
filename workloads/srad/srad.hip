// SRAD: speckle reducing anisotropic diffusion of an ultrasound image (Y. Yu, S. Acton, 2002). As in Rodinia's srad_v1, each
// step computes the image's mean and variance, then four differences and a coefficient for each point, and finally the diffused
// image. Rodinia's image is 502 x 458, with lambda 0.5 and 100 steps. Image and intermediate fields are in global memory;
// neighbours in a row share lines of L1.
//
//   tuned   the statistics are computed from the image; a point's value and coefficient are loaded once
//   suite   as in Rodinia, copies of the image and of its squares are summed; each element named in a difference or a product
//           is a separate load
#include <hip/hip_runtime.h>

#include "workloads/common/lanes.h"
#include "workloads/common/program.h"
#include "workloads/suite/operands.h"

constexpr unsigned group_size = 256, wavefront = 64, statistics_groups = 64;

// Writes the sums of `sum` and of `squares` over the work-items of the workgroup to sums[2 * workgroup] and the next element.
static __device__ __forceinline__ void add_lanes(float sum, float squares, float* __restrict__ sums) {
  __shared__ float partial[2][group_size / wavefront];
  sum = workload::lane_sum<wavefront>(sum);
  squares = workload::lane_sum<wavefront>(squares);
  if (threadIdx.x % wavefront == 0) {
    partial[0][threadIdx.x / wavefront] = sum;
    partial[1][threadIdx.x / wavefront] = squares;
  }
  __syncthreads();
  if (threadIdx.x < 2) {
    const float* const of = partial[threadIdx.x];
    sums[2 * blockIdx.x + threadIdx.x] = (of[0] + of[1]) + (of[2] + of[3]);
  }
}

// Each workgroup writes the sum of its points and the sum of their squares to sums[2 * workgroup] and the next element.
extern "C" __global__ void __launch_bounds__(group_size)
    srad_statistics(const float* __restrict__ image, float* __restrict__ sums, unsigned count) {
  float sum = 0, squares = 0;
  for (unsigned i = blockIdx.x * group_size + threadIdx.x; i < count; i += gridDim.x * group_size) {
    sum += image[i];
    squares += image[i] * image[i];
  }
  add_lanes(sum, squares, sums);
}

// Writes the inputs of Rodinia's reduction: copies of the image and of its squares.
extern "C" __global__ void __launch_bounds__(group_size)
    srad_prepare(const float* image, float* values, float* squares, unsigned count) {
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  if (i >= count) return;
  values[i] = image[i];
  squares[i] = image[workload::unknown(i)] * image[workload::unknown(i)];
}

extern "C" __global__ void __launch_bounds__(group_size)
    srad_reduce(const float* values, const float* squares, float* sums, unsigned count) {
  float sum = 0, sum_of_squares = 0;
  for (unsigned i = blockIdx.x * group_size + threadIdx.x; i < count; i += gridDim.x * group_size) {
    sum += values[i];
    sum_of_squares += squares[i];
  }
  add_lanes(sum, sum_of_squares, sums);
}

// One wavefront computes the squared scale of the speckle, variance / mean^2.
extern "C" __global__ void __launch_bounds__(wavefront)
    srad_scale(const float* __restrict__ sums, float* __restrict__ scale, unsigned count) {
  const float sum = workload::lane_sum<wavefront>(sums[2 * threadIdx.x]);
  const float squares = workload::lane_sum<wavefront>(sums[2 * threadIdx.x + 1]);
  const float mean = sum / static_cast<float>(count);
  const float variance = squares / static_cast<float>(count) - mean * mean;
  if (threadIdx.x == 0) *scale = variance / (mean * mean);
}

// Computes the differences to the neighbours north, south, west and east (0 at the border), and the diffusion coefficient.
template <bool suite>
static __device__ __forceinline__ void find_coefficient(const float* __restrict__ image, const float* __restrict__ scale,
                                                        float* __restrict__ north, float* __restrict__ south,
                                                        float* __restrict__ west, float* __restrict__ east,
                                                        float* __restrict__ coefficient, unsigned rows, unsigned columns) {
  const unsigned x = blockIdx.x * group_size + threadIdx.x, y = blockIdx.y;
  if (x >= columns) return;
  const unsigned at = y * columns + x;
  // In form suite, the value for the quotients is loaded last: otherwise the wait for this load would be within the offload
  // chains of the differences.
  float value = suite ? 0 : image[at];
  const auto here = [&] { return suite ? image[workload::unknown(at)] : value; };
  const float n = image[y == 0 ? at : at - columns] - here(), s = image[y + 1 == rows ? at : at + columns] - here();
  const float w = image[x == 0 ? at : at - 1] - here(), e = image[x + 1 == columns ? at : at + 1] - here();
  if (suite) value = here();
  const float gradient = (n * n + s * s + w * w + e * e) / (value * value), laplacian = (n + s + w + e) / value;
  const float part = 1.0f + 0.25f * laplacian;
  const float q = (0.5f * gradient - (1.0f / 16.0f) * laplacian * laplacian) / (part * part);
  const float c = 1.0f / (1.0f + (q - *scale) / (*scale * (1.0f + *scale)));
  north[at] = n;
  south[at] = s;
  west[at] = w;
  east[at] = e;
  coefficient[at] = fminf(fmaxf(c, 0.0f), 1.0f);
}

extern "C" __global__ void __launch_bounds__(group_size)
    srad_coefficient(const float* image, const float* scale, float* north, float* south, float* west, float* east,
                     float* coefficient, unsigned rows, unsigned columns) {
  find_coefficient<false>(image, scale, north, south, west, east, coefficient, rows, columns);
}

extern "C" __global__ void __launch_bounds__(group_size)
    srad_first(const float* image, const float* scale, float* north, float* south, float* west, float* east, float* coefficient,
               unsigned rows, unsigned columns) {
  find_coefficient<true>(image, scale, north, south, west, east, coefficient, rows, columns);
}

extern "C" __global__ void __launch_bounds__(group_size)
    srad_update(float* __restrict__ image, const float* __restrict__ north, const float* __restrict__ south,
                const float* __restrict__ west, const float* __restrict__ east, const float* __restrict__ coefficient,
                unsigned rows, unsigned columns, float lambda) {
  const unsigned x = blockIdx.x * group_size + threadIdx.x, y = blockIdx.y;
  if (x >= columns) return;
  const unsigned at = y * columns + x;
  const float here = coefficient[at];
  const float below = coefficient[y + 1 == rows ? at : at + columns], beside = coefficient[x + 1 == columns ? at : at + 1];
  const float divergence = here * north[at] + below * south[at] + here * west[at] + beside * east[at];
  image[at] = image[at] + 0.25f * lambda * divergence;
}

extern "C" __global__ void __launch_bounds__(group_size)
    srad_second(float* __restrict__ image, const float* __restrict__ north, const float* __restrict__ south,
                const float* __restrict__ west, const float* __restrict__ east, const float* __restrict__ coefficient,
                unsigned rows, unsigned columns, float lambda) {
#pragma clang fp contract(off)  // gfx90a's fused multiply-add cannot be offloaded; gfx803's v_mac_f32 rounds the product anyway
  const unsigned x = blockIdx.x * group_size + threadIdx.x, y = blockIdx.y;
  if (x >= columns) return;
  const unsigned at = y * columns + x;
  const float from_north = coefficient[at] * north[at];
  const float from_south = coefficient[y + 1 == rows ? at : at + columns] * south[at];
  const float from_west = coefficient[workload::unknown(at)] * west[at];
  const float from_east = coefficient[x + 1 == columns ? at : at + 1] * east[at];
  image[at] = image[at] + 0.25f * lambda * (from_north + from_south + from_west + from_east);
}

namespace {

/// Computes one step on the host.
void reference_step(std::vector<double>& image, unsigned rows, unsigned columns, double lambda) {
  double sum = 0, squares = 0;
  for (const double value : image) sum += value, squares += value * value;
  const double mean = sum / static_cast<double>(image.size());
  const double scale = (squares / static_cast<double>(image.size()) - mean * mean) / (mean * mean);
  std::vector<double> coefficient(image.size()), divergence(image.size());
  const auto difference = [&](size_t at, bool inside, size_t other) { return inside ? image[other] - image[at] : 0.0; };
  const auto differences = [&](size_t at, double(&d)[4]) {
    const size_t y = at / columns, x = at % columns;
    d[0] = difference(at, y > 0, at - columns);
    d[1] = difference(at, y + 1 < rows, at + columns);
    d[2] = difference(at, x > 0, at - 1);
    d[3] = difference(at, x + 1 < columns, at + 1);
  };
  double d[4];
  for (size_t at = 0; at < image.size(); ++at) {
    differences(at, d);
    const double gradient = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + d[3] * d[3]) / (image[at] * image[at]);
    const double laplacian = (d[0] + d[1] + d[2] + d[3]) / image[at], part = 1 + 0.25 * laplacian;
    const double q = (0.5 * gradient - laplacian * laplacian / 16) / (part * part);
    coefficient[at] = std::min(std::max(1 / (1 + (q - scale) / (scale * (1 + scale))), 0.0), 1.0);
  }
  for (size_t at = 0; at < image.size(); ++at) {
    differences(at, d);
    // Differences across the border are zero, regardless of the coefficient.
    const double below = at / columns + 1 < rows ? coefficient[at + columns] : 0,
                 beside = at % columns + 1 < columns ? coefficient[at + 1] : 0;
    divergence[at] = coefficient[at] * (d[0] + d[2]) + below * d[1] + beside * d[3];
  }
  for (size_t at = 0; at < image.size(); ++at) image[at] += 0.25 * lambda * divergence[at];
}

}  // namespace

int main(int argc, char** argv) {
  workload::Program program("srad", "Speckle reducing anisotropic diffusion of an image",
                            "Opportunistic computing in GPU architectures (ISCA '19), Table 3: SRAD of Rodinia");
  int rows = 0, columns = 0, steps = 0;
  std::string form;
  program.size(rows, "rows", "rows of the image", {48, 458, 2048}, 2, 1 << 14);
  program.size(columns, "columns", "columns of the image", {100, 502, 2048}, 2, 1 << 14);
  program.size(steps, "steps", "steps of diffusion", {2, 2, 1}, 1, 1000);
  program.choice(form, "form", "the kernels", {"tuned", "suite"}, std::string("tuned"));
  return program.run(argc, argv, [&] {
    constexpr float lambda = 0.5f;
    const size_t count = size_t(rows) * columns;
    // As in Rodinia: exp of values in [0, 1).
    std::vector<float> image = program.random().uniform_values(count, 0, 1);
    for (float& value : image) value = std::exp(value);
    const workload::DeviceArray<float> device_image("the image", count), north("north", count), south("south", count),
        west("west", count), east("east", count), coefficient("the coefficients", count), sums("sums", 2 * statistics_groups),
        scale("the scale", 1);
    const bool suite = form == "suite";
    const workload::DeviceArray<float> values("the image's copy", suite ? count : 1), squares("its squares", suite ? count : 1);
    const dim3 grid(workload::groups(columns, group_size), rows);
    program.measure([&] { device_image.upload(image); },
                    [&] {
                      for (int step = 0; step < steps; ++step) {
                        if (suite) {
                          srad_prepare<<<workload::groups(count, group_size), group_size>>>(device_image.data(), values.data(),
                                                                                            squares.data(), count);
                          srad_reduce<<<statistics_groups, group_size>>>(values.data(), squares.data(), sums.data(), count);
                        } else {
                          srad_statistics<<<statistics_groups, group_size>>>(device_image.data(), sums.data(), count);
                        }
                        srad_scale<<<1, wavefront>>>(sums.data(), scale.data(), count);
                        (suite ? srad_first : srad_coefficient)<<<grid, group_size>>>(
                            device_image.data(), scale.data(), north.data(), south.data(), west.data(), east.data(),
                            coefficient.data(), rows, columns);
                        (suite ? srad_second : srad_update)<<<grid, group_size>>>(device_image.data(), north.data(),
                                                                                  south.data(), west.data(), east.data(),
                                                                                  coefficient.data(), rows, columns, lambda);
                      }
                    });
    if (!program.checks()) return;
    std::vector<double> expected(image.begin(), image.end());
    for (int step = 0; step < steps; ++step) reference_step(expected, rows, columns, lambda);
    // Bound of the rounding error. Values are between 1 and e, so differences are at most e - 1. A coefficient takes about
    // twenty rounded operations on values near 1. The scale depends on sums, whose longest chain of additions has count / 16384
    // terms, and on a variance, which is the difference of two numbers ten times as large: this amplifies the error of the
    // sums. A step adds to each value one eighth of the sum of four products of a difference and a coefficient.
    const double chain = std::sqrt(1 + static_cast<double>(count) / (statistics_groups * group_size));
    const double bound = steps * (32 + 16 * chain) * 0x1p-24;
    program.check_near("the image", device_image.download(), expected, [&](size_t) { return bound; });
  });
}
