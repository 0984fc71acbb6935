// Convolution of an image with a small square mask, which is the same for all lanes and is read by scalar loads. The algorithm
// is that of AMD APP SDK's SimpleConvolution, without LDS; sizes are MGPUSim's. The input has mask - 1 rows and columns more
// than the output.
//
//   tuned   a wavefront covers 64 adjacent columns, and a work-item four rows of one column: with a mask of 3 rows it loads 6
//           rows, instead of the 12 that four work-items with one row each would load; adjacent values are loaded together
//   suite   the kernel of AMD APP SDK: one result per work-item, and one load for each element of the mask. Its pixels are
//           integers, which it converts after loading; here they are in single precision
#include <hip/hip_runtime.h>

#include "workloads/common/program.h"

constexpr unsigned group_columns = 64, group_rows = 4, per_item = 4;

// mask_size 0: any size, passed as an argument. `in` has rows of width + size - 1 elements; the number of rows is size - 1 more
// than `height` rounded up to whole work-items.
template <unsigned mask_size>
__global__ void __launch_bounds__(group_columns* group_rows)
    convolve(const float* __restrict__ in, const float* __restrict__ mask, float* __restrict__ out, unsigned width,
             unsigned height, unsigned any_size) {
  const unsigned size = mask_size != 0 ? mask_size : any_size, pitch = width + size - 1;
  const unsigned column = blockIdx.x * group_columns + threadIdx.x, row = (blockIdx.y * group_rows + threadIdx.y) * per_item;
  if (column >= width || row >= height) return;
  float sums[per_item] = {};
#pragma unroll mask_size == 0 ? 1 : mask_size + per_item - 1
  for (unsigned y = 0; y < size + per_item - 1; ++y) {
#pragma unroll mask_size == 0 ? 1 : mask_size
    for (unsigned x = 0; x < size; ++x) {
      const float value = in[size_t{row + y} * pitch + column + x];
#pragma unroll
      for (unsigned i = 0; i < per_item; ++i) {
        if (y >= i && y - i < size) sums[i] += mask[(y - i) * size + x] * value;
      }
    }
  }
#pragma unroll
  for (unsigned i = 0; i < per_item; ++i) {
    if (row + i < height) out[size_t{row + i} * width + column] = sums[i];
  }
}

// As in MGPUSim's code object, loops are not unrolled: each load is waited for before the next one is issued.
__global__ void __launch_bounds__(group_columns* group_rows)
    convolve_words(const float* __restrict__ in, const float* __restrict__ mask, float* __restrict__ out, unsigned width,
                   unsigned height, unsigned size) {
  const unsigned i = blockIdx.x * group_columns * group_rows + threadIdx.x, row = i / width, column = i % width;
  if (row >= height) return;
  const unsigned pitch = width + size - 1;
  float sum = 0;
#pragma unroll 1
  for (unsigned y = 0; y < size; ++y) {
#pragma unroll 1
    for (unsigned x = 0; x < size; ++x) sum += mask[y * size + x] * in[size_t{row + y} * pitch + column + x];
  }
  out[i] = sum;
}

int main(int argc, char** argv) {
  workload::Program program("simple_convolution", "Convolution of an image with a square mask",
                            "LazyGPU (ISCA '25), Table 3: SimpleConvolution of AMD APP SDK");
  int width = 0, height = 0, mask_size = 0;
  program.size(width, "width", "columns of the output", {254, 254, 1024}, 1, 1 << 16);
  program.size(height, "height", "rows of the output", {254, 254, 1024}, 1, 1 << 16);
  program.size(mask_size, "mask-size", "rows and columns of the mask", 3, 1, 64);
  std::string form;
  program.choice(form, "form", "the kernels", {"tuned", "suite"}, std::string("tuned"));
  program.takes_sparsity("the image");
  return program.run(argc, argv, [&] {
    const size_t pitch = size_t(width) + mask_size - 1, rows = size_t(height) + mask_size - 1;
    std::vector<float> image = program.sparsified(program.random().uniform_values(pitch * rows, -1, 1));
    const std::vector<float> mask = program.random().uniform_values(size_t(mask_size) * mask_size, -1, 1);
    // The last work-items read rows beyond the image, whose results are not stored.
    image.resize(pitch * (rows + per_item - 1));
    const workload::DeviceArray<float> in("the image", image), device_mask("the mask", mask),
        out("the result", size_t(width) * height);
    program.measure([&] {
      if (form == "suite") {
        constexpr unsigned group_size = group_columns * group_rows;
        convolve_words<<<workload::groups(out.size(), group_size), group_size>>>(in.data(), device_mask.data(), out.data(),
                                                                                 width, height, mask_size);
        return;
      }
      const auto kernel = mask_size == 3 ? convolve<3> : mask_size == 5 ? convolve<5> : convolve<0>;
      kernel<<<dim3(workload::groups(width, group_columns), workload::groups(height, group_rows * per_item)),
               dim3(group_columns, group_rows)>>>(in.data(), device_mask.data(), out.data(), width, height, mask_size);
    });
    if (!program.checks()) return;
    std::vector<double> expected(out.size()), magnitude(out.size());
    for (size_t i = 0; i < out.size(); ++i) {
      for (size_t m = 0; m < mask.size(); ++m) {
        const double product = double{mask[m]} * image[(i / width + m / mask_size) * pitch + i % width + m % mask_size];
        expected[i] += product;
        magnitude[i] += std::fabs(product);
      }
    }
    program.check_near("the result", out.download(), expected,
                       [&](size_t i) { return workload::sum_error(mask.size()) * magnitude[i]; });
  });
}
