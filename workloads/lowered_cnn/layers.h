// The networks of Duplo's Table I (MICRO '20) as lists of layers. Number and order of layers, and all layers missing from the
// table, follow the networks' own publications.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/common/error.h"
#include "workloads/conv2d/convolution.h"
#include "workloads/conv2d/layers.h"

namespace lowered_cnn {

using conv::Convolution;

constexpr int kImage = -1, kNone = -2;

/// y = v for v > 0, otherwise slope * v (slope 0: ReLU, slope 1: identity); or y = tanh(v).
struct Activation {
  float slope;
  bool tanh;
};
constexpr Activation kIdentity{1, false}, kRelu{0, false}, kTanh{0, true};

/// A convolution and the operations on its output (batch normalisation or bias, residual, activation), or a pooling layer,
/// whose window is described by the filter's sizes.
struct Layer {
  enum class Kind { kConvolution, kMaxPooling, kAveragePooling };
  std::string name;
  Kind kind;
  Convolution shape;  ///< channels are those of the padded input
  unsigned channels;  ///< channels of the input, without padding
  unsigned padded;    ///< halves per pixel of the output: filters, padded
  int input;          ///< number of the layer whose output is the input, or kImage
  int residual = kNone;
  bool normalised = false;
  Activation activation = kIdentity;
  bool ascends = false;  ///< parameters ascend the loss's gradient, as in a generator trained against its discriminator

  size_t weight_count() const { return size_t{shape.filters} * shape.columns(); }
  size_t outputs() const { return size_t{shape.rows()} * shape.filters; }
};

enum class Loss { kSoftmaxCrossEntropy, kLogistic, kSquaredError };

struct Sizes {
  unsigned images, channel_divisor, size_divisor;
  unsigned channel_unit;  ///< channels of a tensor are padded to a multiple of this
  bool images_innermost;  ///< order of the workspaces' rows
};

/// Builds a list of layers; the input size of each layer is the output size of the layer that it reads.
class Builder {
 public:
  explicit Builder(const Sizes& sizes) : sizes_(sizes) {}

  /// Sets the size and channels of the network's input to those of a layer's input in Table I.
  void image(const char* name) {
    const conv::NamedLayer& layer = in_table(name);
    side_ = (layer.side + sizes_.size_divisor - 1) / sizes_.size_divisor;
    channels_ = scaled(layer.channels);
  }
  /// Appends a layer of Table I that reads the output of `input`. `name` is the layer's name in this network; `padding`, if
  /// given, replaces the table's.
  Layer& in_table(const std::string& name, const char* table_name, int input, int padding = -1) {
    const conv::NamedLayer& from = in_table(table_name);
    Layer& layer = convolution(name, input, scaled(from.filters), from.filter,
                               padding < 0 ? from.padding : static_cast<unsigned>(padding), from.transposed ? 1 : from.stride);
    if (from.transposed) {
      layer.shape.spacing_shift = from.stride / 2;
      layer.shape.pad_bottom = layer.shape.pad_right = from.padding + 1;
    }
    return layer;
  }
  Layer& convolution(const std::string& name, int input, unsigned filters, unsigned filter, unsigned padding, unsigned stride) {
    Layer& layer = add(name, Layer::Kind::kConvolution, input, filter, padding, stride);
    layer.shape.filters = filters;
    layer.padded = padded(filters);
    layer.shape.images_innermost = sizes_.images_innermost ? 1 : 0;
    return layer;
  }
  Layer& pooling(const std::string& name, Layer::Kind kind, int input, unsigned window, unsigned padding, unsigned stride) {
    return add(name, kind, input, window, padding, stride);
  }
  unsigned side_of(int layer) const { return layer == kImage ? side_ : at(layer).shape.output_height(); }
  unsigned channels_of(int layer) const { return layer == kImage ? channels_ : at(layer).shape.filters; }
  int last() const { return static_cast<int>(layers_.size()) - 1; }
  std::vector<Layer> layers() const { return layers_; }

 private:
  static const conv::NamedLayer& in_table(std::string_view name) {
    for (const conv::NamedLayer& layer : conv::kTable1) {
      if (name == layer.name) return layer;
    }
    throw workload::Error("no layer " + std::string(name) + " in Table I");
  }
  /// The three colour channels of an image are not scaled.
  unsigned scaled(unsigned channels) const {
    return channels == 3 ? 3 : (channels + sizes_.channel_divisor - 1) / sizes_.channel_divisor;
  }
  unsigned padded(unsigned channels) const {
    return (channels + sizes_.channel_unit - 1) / sizes_.channel_unit * sizes_.channel_unit;
  }
  const Layer& at(int layer) const { return layers_[static_cast<size_t>(layer)]; }
  Layer& add(const std::string& name, Layer::Kind kind, int input, unsigned filter, unsigned padding, unsigned stride) {
    Convolution c{};
    c.images = sizes_.images;
    c.height = c.width = side_of(input);
    const unsigned channels = channels_of(input);
    c.channels = padded(channels);
    c.filters = channels;
    c.filter_height = c.filter_width = filter;
    c.stride_y = c.stride_x = stride;
    c.pad_top = c.pad_left = c.pad_bottom = c.pad_right = padding;
    if (filter > c.height + 2 * padding) {
      throw workload::UsageError("--size-divisor " + std::to_string(sizes_.size_divisor) + " leaves an input of " +
                                 std::to_string(c.height) + " x " + std::to_string(c.width) + " for " + name +
                                 ", whose window is " + std::to_string(filter) + " x " + std::to_string(filter));
    }
    Layer layer{};
    layer.name = name;
    layer.kind = kind;
    layer.shape = c;
    layer.channels = channels;
    layer.padded = c.channels;
    layer.input = input;
    layer.activation = kIdentity;
    layer.residual = kNone;
    layers_.push_back(layer);
    return layers_.back();
  }

  Sizes sizes_;
  unsigned side_ = 0, channels_ = 0;
  std::vector<Layer> layers_;
};

/// ResNet-18 (K. He et al., Deep residual learning for image recognition, 2016, Table 1), whose layers are those of Table I: C2
/// four times, C4, C6 and C8 three times. C3, C5 and C7 have a padding of 1, as the sizes of C4, C6 and C8 require; the table
/// has 0. p3, p5 and p7 are the projection shortcuts parallel to C3, C5 and C7.
inline std::vector<Layer> resnet18(const Sizes& sizes) {
  Builder builder(sizes);
  builder.image("resnet_c1");
  const auto normalise = [](Layer& layer, Activation activation) {
    layer.normalised = true;
    layer.activation = activation;
  };
  normalise(builder.in_table("c1", "resnet_c1", kImage), kRelu);
  builder.pooling("maxpool", Layer::Kind::kMaxPooling, builder.last(), 3, 1, 2);
  for (unsigned stage = 2; stage <= 8; stage += 2) {
    const std::string same = std::to_string(stage), down = std::to_string(stage - 1);
    unsigned count = 0;
    const auto plain = [&](int input) -> Layer& {
      const std::string number = std::to_string(++count);
      return builder.in_table("c" + same + "_" + number, ("resnet_c" + same).c_str(), input);
    };
    for (unsigned block = 0; block < 2; ++block) {
      const int input = builder.last();
      int residual = input, first = 0;
      if (stage > 2 && block == 0) {
        Layer& half = builder.in_table("c" + down, ("resnet_c" + down).c_str(), input, 1);
        normalise(half, kRelu);
        const unsigned filters = half.shape.filters;
        first = builder.last();
        normalise(builder.convolution("p" + down, input, filters, 1, 0, 2), kIdentity);
        residual = builder.last();
      } else {
        normalise(plain(input), kRelu);
        first = builder.last();
      }
      Layer& second = plain(first);
      normalise(second, kRelu);
      second.residual = residual;
    }
  }
  builder.pooling("avgpool", Layer::Kind::kAveragePooling, builder.last(), builder.side_of(builder.last()), 0, 1);
  builder.convolution("fc", builder.last(), (1000 + sizes.channel_divisor - 1) / sizes.channel_divisor, 1, 0, 1);
  return builder.layers();
}

/// Generator and discriminator of DCGAN (A. Radford et al., Unsupervised representation learning with deep convolutional
/// generative adversarial networks, 2016, section 3 and Fig. 1), one after the other. The generator's input represents the
/// projection of its noise; the discriminator receives only generated images.
inline std::vector<Layer> gan(const Sizes& sizes) {
  constexpr Activation kLeaky{0.2f, false};
  Builder builder(sizes);
  builder.image("gan_tc1");
  for (unsigned i = 1; i <= 4; ++i) {
    const std::string number = std::to_string(i);
    Layer& layer = builder.in_table("tc" + number, ("gan_tc" + number).c_str(), builder.last());
    layer.normalised = i < 4;
    layer.activation = i < 4 ? kRelu : kTanh;
    layer.ascends = true;
  }
  for (unsigned i = 1; i <= 4; ++i) {
    const std::string number = std::to_string(i);
    Layer& layer = builder.in_table("c" + number, ("gan_c" + number).c_str(), builder.last());
    layer.normalised = i > 1;
    layer.activation = kLeaky;
  }
  builder.convolution("score", builder.last(), 1, builder.side_of(builder.last()), 0, 1);
  return builder.layers();
}

/// YOLO: C1 to C6 with normalisation, leaky ReLU and 2 x 2 pooling in between (J. Redmon and A. Farhadi, YOLO9000, 2017,
/// section 3), and a last layer that computes the 30 numbers of each cell of J. Redmon et al., You only look once, 2016,
/// section 2.
inline std::vector<Layer> yolo(const Sizes& sizes) {
  constexpr Activation kLeaky{0.1f, false};
  Builder builder(sizes);
  builder.image("yolo_c1");
  for (unsigned i = 1; i <= 6; ++i) {
    const std::string number = std::to_string(i);
    if (i > 1) builder.pooling("maxpool" + std::to_string(i - 1), Layer::Kind::kMaxPooling, builder.last(), 2, 0, 2);
    Layer& layer = builder.in_table("c" + number, ("yolo_c" + number).c_str(), builder.last());
    layer.normalised = true;
    layer.activation = kLeaky;
  }
  builder.convolution("detect", builder.last(), 30, 1, 0, 1);
  return builder.layers();
}

struct Network {
  std::vector<Layer> layers;  ///< the last layer is a convolution with a bias, without normalisation
  Loss loss;
};

inline Network network_of(const std::string& name, const Sizes& sizes) {
  if (name == "resnet18") return {resnet18(sizes), Loss::kSoftmaxCrossEntropy};
  if (name == "gan") return {gan(sizes), Loss::kLogistic};
  return {yolo(sizes), Loss::kSquaredError};
}

}  // namespace lowered_cnn
