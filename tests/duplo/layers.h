// The convolutions of Table I of the paper, batch 8, and what their geometry alone says.
#pragma once

#include <array>

#include "models/duplo/lowered_convolution.h"

namespace lacuna::test {

struct Layer {
  const char* name;
  unsigned side;      ///< of the square input
  unsigned channels;  ///< as the paper has them
  unsigned filters;   ///< output channels
  unsigned filter;    ///< side of the filter
  unsigned padding;   ///< on each side
  unsigned stride;    ///< of a transposed layer: how many times as many rows and columns the output has
  bool transposed;
  // Limits of the hit rate, %, with 3 channels padded to 16: of elements and row segments; with all zeros as one datum; of
  // tiles, and with the images innermost, batch 8 and 16.
  double elements, merged, tiles, innermost8, innermost16;
};

inline constexpr std::array<Layer, 22> kLayers{{
    {"resnet_c1", 224, 3, 64, 7, 3, 2, false, 91.5, 91.8, 70.8, 83.1, 91.5},
    {"resnet_c2", 56, 64, 64, 3, 1, 1, false, 88.1, 88.9, 32.1, 76.6, 88.1},
    {"resnet_c3", 56, 64, 128, 3, 0, 2, false, 53.9, 53.9, 0, 19.8, 53.9},
    {"resnet_c4", 28, 128, 128, 3, 1, 1, false, 87.2, 88.9, 0, 75.3, 87.2},
    {"resnet_c5", 28, 128, 256, 3, 0, 2, false, 52.1, 52.1, 0, 17.3, 52.1},
    {"resnet_c6", 14, 256, 256, 3, 1, 1, false, 85.5, 88.9, 0, 72.8, 85.5},
    {"resnet_c7", 14, 256, 512, 3, 0, 2, false, 47.8, 47.8, 0, 27.8, 47.8},
    {"resnet_c8", 7, 512, 512, 3, 1, 1, false, 81.6, 88.9, 0, 55.6, 81.6},
    {"gan_tc1", 4, 512, 256, 5, 2, 2, true, 91.0, 99.0, 45.0, 83.5, 91.0},
    {"gan_tc2", 8, 256, 128, 5, 2, 2, true, 93.8, 99.0, 75.0, 88.1, 93.8},
    {"gan_tc3", 16, 128, 64, 5, 2, 2, true, 94.9, 99.0, 77.5, 90.2, 94.9},
    {"gan_tc4", 32, 64, 3, 5, 2, 2, true, 95.5, 99.0, 78.8, 91.1, 95.5},
    {"gan_c1", 64, 3, 64, 5, 2, 2, false, 82.5, 84.0, 58.1, 66.0, 82.5},
    {"gan_c2", 32, 64, 128, 5, 2, 2, false, 80.9, 84.0, 56.2, 63.9, 80.9},
    {"gan_c3", 16, 128, 256, 5, 2, 2, false, 77.4, 84.0, 15.0, 59.6, 77.4},
    {"gan_c4", 8, 256, 512, 5, 2, 2, false, 69.8, 84.0, 0, 50.5, 69.8},
    {"yolo_c1", 224, 3, 32, 3, 1, 1, false, 88.7, 88.9, 66.4, 77.5, 88.7},
    {"yolo_c2", 112, 32, 64, 3, 1, 1, false, 88.5, 88.9, 66.1, 77.2, 88.5},
    {"yolo_c3", 56, 64, 128, 3, 1, 1, false, 88.1, 88.9, 32.1, 76.6, 88.1},
    {"yolo_c4", 28, 128, 256, 3, 1, 1, false, 87.2, 88.9, 0, 75.3, 87.2},
    {"yolo_c5", 14, 256, 512, 3, 1, 1, false, 85.5, 88.9, 0, 72.8, 85.5},
    {"yolo_c6", 7, 512, 1024, 3, 1, 1, false, 81.6, 88.9, 0, 55.6, 81.6},
}};

inline unsigned round_up(unsigned value, unsigned unit) { return (value + unit - 1) / unit * unit; }

/// `channels`: to how many channels 3 of them are padded. `pitch` is rounded up to 16 elements.
inline LoweredConvolution lowered(const Layer& layer, unsigned images = 8, RowOrder order = RowOrder::images_outermost,
                                  unsigned channels = 16) {
  LoweredConvolution c;
  c.images = images;
  c.channels = layer.channels == 3 ? channels : layer.channels;
  c.filter_height = c.filter_width = layer.filter;
  c.pad_top = c.pad_left = c.pad_bottom = c.pad_right = layer.padding;
  if (layer.transposed) {
    // A zero between all neighbours; the output is twice as large as the input, which takes one more row and column.
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

/// Whether the element is a zero of the padding, or one that was inserted.
inline bool is_zero(const Layer& layer, const LoweredConvolution& c, const InputElement& e) {
  if (c.in_padding(e)) return true;
  return layer.transposed && ((e.y - c.pad_top) % layer.stride != 0 || (e.x - c.pad_left) % layer.stride != 0);
}

}  // namespace lacuna::test
