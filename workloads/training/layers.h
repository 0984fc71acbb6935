// Layers of networks, and tables of the positions from which convolutions gather operands.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "workloads/training/convolution.h"

namespace training {

struct Layer {
  std::string name;
  int in, out, size, kernel, stride, padding;  ///< in, out: channels; size: side of the input; kernel: side of the filter
  int batch = 1;

  int out_size() const { return (size + 2 * padding - kernel) / stride + 1; }
  int in_pixels() const { return batch * size * size; }
  int out_pixels() const { return batch * out_size() * out_size(); }
  /// Whether the input is the image, which needs no gradient.
  bool first() const { return in == 3; }
  int taps() const { return kernel * kernel; }
  /// Padded length of a line of weights and of a channel's plane: an odd multiple of 32, so that lines are in different sets of
  /// a cache.
  static int padded(int count) { return ((count + 31) / 32 | 1) * 32; }
};

/// Returns some layers of a network, of different shapes, from the table in the network's paper: VGG-16 (Simonyan and
/// Zisserman, 2015, table 1, D), ResNet-50 (He et al., 2016, table 1), AlexNet (Krizhevsky, One weird trick for parallelizing
/// convolutional neural networks, 2014: without groups). Channels, except the image's three, are divided by `channel_divisor`,
/// sides of images by `size_divisor`.
inline std::vector<Layer> layers_of(const std::string& network, int channel_divisor, int size_divisor, int batch) {
  std::vector<Layer> layers;
  if (network == "vgg") {
    layers = {{"conv1_2", 64, 64, 224, 3, 1, 1},
              {"conv2_2", 128, 128, 112, 3, 1, 1},
              {"conv3_2", 256, 256, 56, 3, 1, 1},
              {"conv4_2", 512, 512, 28, 3, 1, 1},
              {"conv5_2", 512, 512, 14, 3, 1, 1}};
  } else if (network == "resnet") {
    layers = {{"conv1", 3, 64, 224, 7, 2, 3},
              {"conv2_1_2", 64, 64, 56, 3, 1, 1},
              {"conv3_1_3", 128, 512, 28, 1, 1, 0},
              {"conv4_1_2", 256, 256, 28, 3, 2, 1},
              {"conv5_2_1", 2048, 512, 7, 1, 1, 0}};
  } else {
    layers = {{"conv1", 3, 64, 224, 11, 4, 2},
              {"conv2", 64, 192, 27, 5, 1, 2},
              {"conv3", 192, 384, 13, 3, 1, 1},
              {"conv4", 384, 256, 13, 3, 1, 1},
              {"conv5", 256, 256, 13, 3, 1, 1}};
  }
  for (Layer& layer : layers) {
    if (!layer.first()) layer.in = std::max(4, layer.in / channel_divisor);
    layer.out = std::max(1, layer.out / channel_divisor);
    layer.size = std::max(layer.kernel, layer.size / size_divisor);
    layer.batch = batch;
  }
  return layers;
}

using Table = std::vector<convolution::Place>;

/// Positions in X of the pixels of Y, in the order of pixels; padding entries are outside.
inline Table pixels_of_output(const Layer& layer) {
  Table table;
  const int size = layer.out_size();
  for (int pixel = 0; pixel < Layer::padded(layer.out_pixels()); ++pixel) {
    const int image = pixel / (size * size), row = pixel / size % size * layer.stride - layer.padding,
              column = pixel % size * layer.stride - layer.padding;
    if (pixel < layer.out_pixels()) {
      table.push_back({(image * layer.size + row) * layer.size + column, row, column, 0});
    } else {
      table.push_back({0, -(1 << 20), 0, 0});
    }
  }
  return table;
}
/// Positions in X of taps (in, r, s).
inline Table taps_of_input(const Layer& layer) {
  Table table;
  for (int tap = 0; tap < Layer::padded(layer.in * layer.taps()); ++tap) {
    const int channel = tap / layer.taps(), row = tap / layer.kernel % layer.kernel, column = tap % layer.kernel;
    if (channel < layer.in) {
      table.push_back({channel * Layer::padded(layer.in_pixels()) + row * layer.size + column, row, column, 0});
    } else {
      table.push_back({0, -(1 << 20), 0, 0});
    }
  }
  return table;
}
/// Positions in dY of the pixels of X, before division by the stride.
inline Table pixels_of_input(const Layer& layer) {
  Table table;
  const int size = layer.out_size();
  for (int pixel = 0; pixel < layer.in_pixels(); ++pixel) {
    const int image = pixel / (layer.size * layer.size), row = pixel / layer.size % layer.size + layer.padding,
              column = pixel % layer.size + layer.padding;
    table.push_back({image * size * size + (layer.stride == 1 ? row * size + column : 0), row, column, 0});
  }
  return table;
}
/// Positions in dY of taps (out, r, s).
inline Table taps_of_output(const Layer& layer) {
  Table table;
  const int size = layer.out_size();
  for (int tap = 0; tap < Layer::padded(layer.out * layer.taps()); ++tap) {
    const int channel = tap / layer.taps(), row = tap / layer.kernel % layer.kernel, column = tap % layer.kernel;
    if (channel < layer.out) {
      const int plane = channel * Layer::padded(layer.out_pixels());
      table.push_back({plane - (layer.stride == 1 ? row * size + column : 0), -row, -column, 0});
    } else {
      table.push_back({0, -(1 << 20), 0, 0});
    }
  }
  return table;
}

}  // namespace training
