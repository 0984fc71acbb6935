// Convolutions lowered to a matrix product: the workspace has a row for each output position and a column for each element of
// the filter, and holds each element of the input as often as filters reach it (Kim et al., "Duplo: Lifting Redundant Memory
// Accesses of Deep Neural Networks for GPU Tensor Cores", MICRO '20, section II).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lacuna {

/// Order of the workspace's rows, each of which belongs to an image, an output row and an output column.
enum class RowOrder : std::uint8_t {
  images_outermost,  ///< as in the paper: image after image, the output column fastest
  images_innermost,  ///< the same output position of all images in adjacent rows
};

/// An element of the padded input.
struct InputElement {
  unsigned image = 0;
  unsigned y = 0;  ///< row of the padded input
  unsigned x = 0;  ///< column of the padded input
  unsigned channel = 0;
  bool operator==(const InputElement&) const = default;
};

/// A convolution whose input has the layout NHWC. Columns of the workspace are (filter row, filter column, channel) with the
/// channel fastest. A transposed convolution is represented as one of stride 1 over its input with zeros inserted.
struct LoweredConvolution {
  static constexpr unsigned kElementBytes = 2;  ///< bytes of an element of the workspace: f16

  unsigned images = 1;
  unsigned height = 0;    ///< rows of the input, inserted zeros included, without padding
  unsigned width = 0;     ///< columns of the input, inserted zeros included, without padding
  unsigned channels = 0;  ///< channels of the input, including those added as padding
  unsigned filter_height = 0;
  unsigned filter_width = 0;
  unsigned stride_y = 1;
  unsigned stride_x = 1;
  unsigned pad_top = 0;
  unsigned pad_left = 0;
  unsigned pad_bottom = 0;
  unsigned pad_right = 0;
  unsigned pitch = 0;  ///< elements from one row of the workspace to the next, at least columns()
  RowOrder order = RowOrder::images_outermost;

  unsigned padded_height() const { return height + pad_top + pad_bottom; }
  unsigned padded_width() const { return width + pad_left + pad_right; }
  unsigned output_height() const { return (padded_height() - filter_height) / stride_y + 1; }
  unsigned output_width() const { return (padded_width() - filter_width) / stride_x + 1; }
  /// Number of output positions of one image.
  unsigned positions() const { return output_height() * output_width(); }
  /// Number of rows of the workspace, without those that fill the last tile.
  std::uint64_t rows() const { return std::uint64_t{images} * positions(); }
  /// Number of columns of the workspace, without those that `pitch` adds.
  unsigned columns() const { return filter_height * filter_width * channels; }

  /// The element at a position of the workspace; nullopt: the row or column is padding.
  std::optional<InputElement> element(std::uint64_t row, unsigned column) const;
  /// Whether an element lies in the padding.
  bool in_padding(const InputElement& element) const;

  /// Maximum number of images that a tag can distinguish: 10 bits (section IV.B).
  static constexpr unsigned kMostImages = 1024;
  /// Describes the first field that Duplo does not support, with its value and its legal values; nullopt: all are supported.
  /// The other functions must not be called with such a field.
  std::optional<std::string> problem() const;
};

}  // namespace lacuna
