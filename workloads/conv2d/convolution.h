// Convolutions in half precision, and their lowering to a matrix product: the workspace has a row for each output position and
// a column for each element of a filter (Kim et al., "Duplo: Lifting Redundant Memory Accesses of Deep Neural Networks for GPU
// Tensor Cores", MICRO '20, section II).
//
// x is NHWC, weights are [filter][filter row][filter column][channel], y is NHWC with the filters as channels. Columns of the
// workspace are (filter row, filter column, channel) with the channel fastest.
#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>

namespace conv {

using Half = _Float16;

/// Parameters of a convolution, passed to GPU kernels. A transposed convolution has stride 1, and zeros between all adjacent
/// elements of its input.
struct Convolution {
  unsigned images, height, width;  ///< number of images in x, and their rows and columns
  unsigned channels;               ///< a multiple of 4, including padding channels
  unsigned filters, filter_height, filter_width;
  unsigned stride_y, stride_x;
  unsigned pad_top, pad_left, pad_bottom, pad_right;
  unsigned spacing_shift;  ///< elements of x are 1 << spacing_shift apart in the lowered input, with zeros in between
  /// Order of the workspace's rows: 0 (image, output row, output column), 1 (output row, output column, image).
  unsigned images_innermost;

  __host__ __device__ unsigned lowered_height() const { return ((height - 1) << spacing_shift) + 1; }
  __host__ __device__ unsigned lowered_width() const { return ((width - 1) << spacing_shift) + 1; }
  __host__ __device__ unsigned output_height() const {
    return (lowered_height() + pad_top + pad_bottom - filter_height) / stride_y + 1;
  }
  __host__ __device__ unsigned output_width() const {
    return (lowered_width() + pad_left + pad_right - filter_width) / stride_x + 1;
  }
  /// Number of output positions of an image.
  __host__ __device__ unsigned positions() const { return output_height() * output_width(); }
  /// Number of rows of the workspace.
  __host__ __device__ unsigned rows() const { return images * positions(); }
  __host__ __device__ unsigned columns() const { return filter_height * filter_width * channels; }
  __host__ __device__ size_t inputs() const { return size_t{images} * height * width * channels; }

  /// Position of the filter in the lowered input for a row of the workspace: the image, and the filter's first row and column.
  struct Corner {
    unsigned image;
    int y, x;
  };
  __host__ __device__ Corner corner(unsigned row) const {
    const unsigned position = images_innermost != 0 ? row / images : row % positions();
    const unsigned image = images_innermost != 0 ? row % images : row / positions();
    const unsigned y = position / output_width(), x = position % output_width();
    return {image, static_cast<int>(y * stride_y) - static_cast<int>(pad_top),
            static_cast<int>(x * stride_x) - static_cast<int>(pad_left)};
  }
  /// Whether a position of the lowered input has an element of x rather than a zero.
  __host__ __device__ bool inside(int y, int x) const {
    const unsigned zeros = (1u << spacing_shift) - 1;
    return static_cast<unsigned>(y) < lowered_height() && static_cast<unsigned>(x) < lowered_width() &&
           ((static_cast<unsigned>(y) | static_cast<unsigned>(x)) & zeros) == 0;
  }
  /// Index in x of channel 0 at a position that is `inside`.
  __host__ __device__ unsigned element(unsigned image, int y, int x) const {
    return ((image * height + (static_cast<unsigned>(y) >> spacing_shift)) * width +
            (static_cast<unsigned>(x) >> spacing_shift)) *
           channels;
  }
};

/// Returns the row of y (of `filters` elements) for the results of a row of the workspace.
__device__ inline unsigned output_row(unsigned row, unsigned images, unsigned positions, bool images_innermost) {
  return images_innermost ? row % images * positions + row / images : row;
}

}  // namespace conv
