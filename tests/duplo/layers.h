// The convolutions of Table I of the paper, batch 8, and the limits that their geometry imposes on hit rates.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>

#include "models/duplo/lowered_convolution.h"
#include "workloads/conv2d/layers.h"

namespace lacuna::test {

/// A layer and the upper limits of its hit rate in %; layers with 3 channels are padded to 16. `elements`: for elements or row
/// segments; `merged`: as `elements`, with all zeros as one datum; `tiles`: for tiles; `innermost8`, `innermost16`: for tiles
/// with the images innermost, batch 8 and 16.
struct Layer : conv::NamedLayer {
  double elements, merged, tiles, innermost8, innermost16;
};

inline constexpr std::array<Layer, conv::kTable1.size()> kLayers = [] {
  // Limits of the layers, in the order of the table.
  constexpr double kLimits[][5] = {
      {91.5, 91.8, 70.8, 83.1, 91.5},  // resnet_c1
      {88.1, 88.9, 32.1, 76.6, 88.1},  // resnet_c2
      {53.9, 53.9, 0, 19.8, 53.9},     // resnet_c3
      {87.2, 88.9, 0, 75.3, 87.2},     // resnet_c4
      {52.1, 52.1, 0, 17.3, 52.1},     // resnet_c5
      {85.5, 88.9, 0, 72.8, 85.5},     // resnet_c6
      {47.8, 47.8, 0, 27.8, 47.8},     // resnet_c7
      {81.6, 88.9, 0, 55.6, 81.6},     // resnet_c8
      {91.0, 99.0, 45.0, 83.5, 91.0},  // gan_tc1
      {93.8, 99.0, 75.0, 88.1, 93.8},  // gan_tc2
      {94.9, 99.0, 77.5, 90.2, 94.9},  // gan_tc3
      {95.5, 99.0, 78.8, 91.1, 95.5},  // gan_tc4
      {82.5, 84.0, 58.1, 66.0, 82.5},  // gan_c1
      {80.9, 84.0, 56.2, 63.9, 80.9},  // gan_c2
      {77.4, 84.0, 15.0, 59.6, 77.4},  // gan_c3
      {69.8, 84.0, 0, 50.5, 69.8},     // gan_c4
      {88.7, 88.9, 66.4, 77.5, 88.7},  // yolo_c1
      {88.5, 88.9, 66.1, 77.2, 88.5},  // yolo_c2
      {88.1, 88.9, 32.1, 76.6, 88.1},  // yolo_c3
      {87.2, 88.9, 0, 75.3, 87.2},     // yolo_c4
      {85.5, 88.9, 0, 72.8, 85.5},     // yolo_c5
      {81.6, 88.9, 0, 55.6, 81.6},     // yolo_c6
  };
  static_assert(std::size(kLimits) == conv::kTable1.size());
  std::array<Layer, conv::kTable1.size()> layers{};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto& [elements, merged, tiles, innermost8, innermost16] = kLimits[i];
    layers[i] = {conv::kTable1[i], elements, merged, tiles, innermost8, innermost16};
  }
  return layers;
}();

inline unsigned round_up(unsigned value, unsigned unit) { return (value + unit - 1) / unit * unit; }

/// `channels`: number of channels to which 3 channels are padded. `pitch` is rounded up to 16 elements.
inline LoweredConvolution lowered(const Layer& layer, unsigned images = 8, RowOrder order = RowOrder::images_outermost,
                                  unsigned channels = 16) {
  LoweredConvolution c;
  c.images = images;
  c.channels = layer.channels == 3 ? channels : layer.channels;
  c.filter_height = c.filter_width = layer.filter;
  c.pad_top = c.pad_left = c.pad_bottom = c.pad_right = layer.padding;
  if (layer.transposed) {
    // Inserts a zero between neighbours. One more row and column of padding makes the output twice as large as the input.
    c.height = c.width = (layer.side - 1) * layer.stride + 1;
    c.pad_bottom = c.pad_right = layer.padding + 1;
  } else {
    c.height = c.width = layer.side;
    c.stride_y = c.stride_x = layer.stride;
  }
  c.pitch = round_up(c.columns(), 16);
  c.order = order;
  return c;
}

/// Whether the element is a zero of the padding or an inserted zero.
inline bool is_zero(const Layer& layer, const LoweredConvolution& c, const InputElement& e) {
  if (c.in_padding(e)) return true;
  return layer.transposed && ((e.y - c.pad_top) % layer.stride != 0 || (e.x - c.pad_left) % layer.stride != 0);
}

}  // namespace lacuna::test
