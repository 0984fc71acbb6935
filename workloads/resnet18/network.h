// The structure of ResNet-18, and its passes in terms of a backend that executes operations (gpu.h, host.h).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "workloads/resnet18/reference.h"

namespace resnet18 {

/// Sizes of the network. The paper's are 224 x 224 pixels, width 64, 1000 classes.
struct Sizes {
  unsigned images, image, width, classes;
};

constexpr int kImage = -1, kNone = -2;

/// A layer: an operation, and the operations on its output (batch normalisation, residual, ReLU).
struct Layer {
  enum class Kind { kConvolution, kMaxPooling, kAveragePooling, kFullyConnected };
  std::string name;
  Kind kind;
  Shape shape;
  int input;     ///< number of the layer whose output is the input, or kImage
  int residual;  ///< number of the layer whose output is added, or kNone
  bool relu;

  std::size_t out_count() const { return static_cast<std::size_t>(shape.outputs) * shape.out_pixels(); }
  std::size_t weight_count() const { return has_weights() ? static_cast<std::size_t>(shape.outputs) * shape.taps() : 0; }
  bool has_weights() const { return kind == Kind::kConvolution || kind == Kind::kFullyConnected; }
};

inline Shape shape_of(unsigned inputs, unsigned outputs, unsigned kernel, unsigned stride, unsigned padding, unsigned images,
                      unsigned size) {
  const unsigned out = (size + 2 * padding - kernel) / stride + 1;
  return {inputs, outputs, kernel, stride, padding, images, size, size, out, out};
}

/// Table 1 and figure 3 of K. He et al., Deep residual learning for image recognition, 2016, with 18 layers and the projection
/// shortcuts of option B. convS_B_C is convolution C of block B of stage S; convS_B_DS is the block's projection
/// (downsampling).
inline std::vector<Layer> layers_of(const Sizes& sizes) {
  std::vector<Layer> layers;
  const auto add = [&](const std::string& name, Layer::Kind kind, const Shape& shape, int input, int residual, bool relu) {
    layers.push_back({name, kind, shape, input, residual, relu});
    return static_cast<int>(layers.size()) - 1;
  };
  using Kind = Layer::Kind;
  int last =
      add("conv1", Kind::kConvolution, shape_of(3, sizes.width, 7, 2, 3, sizes.images, sizes.image), kImage, kNone, true);
  const auto size = [&] { return layers.back().shape.out_width; };
  last =
      add("maxpool", Kind::kMaxPooling,
          shape_of(sizes.width, sizes.width, kPoolKernel, kPoolStride, kPoolPadding, sizes.images, size()), last, kNone, false);
  for (unsigned stage = 2; stage <= 5; ++stage) {
    const unsigned outputs = sizes.width << (stage - 2);
    for (unsigned block = 1; block <= 2; ++block) {
      const std::string name = "conv" + std::to_string(stage) + "_" + std::to_string(block) + "_";
      const bool down = stage > 2 && block == 1;
      const unsigned inputs = down ? outputs / 2 : outputs, before = size();
      int residual = last;
      const int first = add(name + "1", Kind::kConvolution, shape_of(inputs, outputs, 3, down ? 2 : 1, 1, sizes.images, before),
                            last, kNone, true);
      if (down) {
        residual =
            add(name + "DS", Kind::kConvolution, shape_of(inputs, outputs, 1, 2, 0, sizes.images, before), last, kNone, false);
      }
      last =
          add(name + "2", Kind::kConvolution, shape_of(outputs, outputs, 3, 1, 1, sizes.images, size()), first, residual, true);
    }
  }
  const unsigned channels = sizes.width * 8;
  last = add("avgpool", Kind::kAveragePooling, shape_of(channels, channels, size(), 1, 0, sizes.images, size()), last, kNone,
             false);
  add("fc", Kind::kFullyConnected, shape_of(channels, sizes.classes, 1, 1, 0, sizes.images, 1), last, kNone, false);
  return layers;
}

/// Trained parameters of one layer. `gamma` and the running statistics belong to batch normalisation; `beta` is also the bias
/// of the fully connected layer.
struct Parameters {
  Floats weights, gamma, beta, running_mean, running_variance;
};

/// The layers first ... last of the network. `Backend` has the array types Array (float) and ByteArray (unsigned char), the
/// functions `make`, `put` and `get` for Array and `make_bytes` for ByteArray, and the operations that the passes below call.
template <typename Backend>
class Network {
 public:
  using Array = typename Backend::Array;
  using Pointer = std::unique_ptr<Array>;

  Network(Backend& backend, const std::vector<Layer>& layers, std::size_t first, std::size_t last, bool training)
      : backend_(backend), layers_(layers), first_(first), last_(last), training_(training), nodes_(layers.size() + 1) {
    std::size_t largest = 0;
    for (std::size_t l = first; l <= last; ++l) {
      const Layer& layer = layers_[l];
      allocate(layer.input);
      if (layer.residual != kNone) allocate(layer.residual);
      allocate(static_cast<int>(l));
      Node& n = node(static_cast<int>(l));
      const std::size_t channels = layer.shape.outputs;
      if (layer.kind == Layer::Kind::kMaxPooling) n.taps = backend.make_bytes(layer.name + ".taps", layer.out_count());
      if (!layer.has_weights()) continue;
      n.weights = backend.make(layer.name + ".weights", layer.weight_count());
      n.beta = backend.make(layer.name + ".beta", channels);
      const bool normalised = layer.kind == Layer::Kind::kConvolution;
      if (normalised) {
        n.z = backend.make(layer.name + ".z", layer.out_count());
        for (Pointer* p : {&n.gamma, &n.running_mean, &n.running_variance, &n.mean, &n.variance}) {
          *p = backend.make(layer.name + ".normalisation", channels);
        }
      }
      if (!training) continue;
      largest = std::max(largest, layer.out_count());
      n.dweights = backend.make(layer.name + ".dweights", layer.weight_count());
      n.weight_velocity = backend.make(layer.name + ".velocity", layer.weight_count());
      for (Pointer* p : {&n.dgamma, &n.dbeta, &n.gamma_velocity, &n.beta_velocity})
        *p = backend.make(layer.name + ".gradients", channels);
    }
    if (training) dz_ = backend.make("dz", largest);
    loss_ = backend.make("loss", layers.back().shape.images);
  }

  /// Sets the parameters of all layers. To be called at the beginning of a step.
  void put_parameters(const std::vector<Parameters>& parameters) {
    for (std::size_t l = first_; l <= last_; ++l) {
      if (!layers_[l].has_weights()) continue;
      Node& n = node(static_cast<int>(l));
      const Parameters& p = parameters[l];
      backend_.put(*n.weights, p.weights);
      backend_.put(*n.beta, p.beta);
      if (n.gamma) {
        backend_.put(*n.gamma, p.gamma);
        backend_.put(*n.running_mean, p.running_mean);
        backend_.put(*n.running_variance, p.running_variance);
      }
      if (!training_) continue;
      backend_.put(*n.weight_velocity, Floats(layers_[l].weight_count()));
      backend_.put(*n.beta_velocity, Floats(p.beta.size()));
      if (n.gamma) backend_.put(*n.gamma_velocity, Floats(p.gamma.size()));
    }
  }
  /// Copies values at the boundaries of a range of layers from a network that has computed them: outputs of earlier layers, and
  /// gradients from later layers.
  template <typename Other>
  void put_surroundings(const Network<Other>& other) {
    for (int l = kImage; l <= static_cast<int>(last_); ++l) {
      Node& n = node(l);
      if (!n.y) continue;
      if (l < static_cast<int>(first_)) backend_.put(*n.y, other.output(l));
      n.has_gradient = other.has_gradient(l);
      if (n.has_gradient && n.dy) backend_.put(*n.dy, other.gradient(l));
    }
  }
  void put_image(const Floats& image) { backend_.put(*node(kImage).y, image); }
  void clear_gradients() {
    for (Node& n : nodes_) n.has_gradient = false;
  }

  Floats output(int layer) const { return backend_.get(*node(layer).y); }
  Floats gradient(int layer) const { return backend_.get(*node(layer).dy); }
  bool has_gradient(int layer) const { return node(layer).has_gradient; }
  Floats loss() const { return backend_.get(*loss_); }
  Floats batch_mean(int layer) const { return backend_.get(*node(layer).mean); }
  Floats batch_variance(int layer) const { return backend_.get(*node(layer).variance); }

  void forward() {
    for (std::size_t l = first_; l <= last_; ++l) forward(l);
  }
  /// Backward pass from the last layer to layer `until`, inclusive; starts with the loss if the range ends with the network's
  /// last layer.
  void backward(const std::vector<unsigned>& labels, std::size_t until) {
    if (last_ + 1 == layers_.size()) {
      Node& n = node(static_cast<int>(last_));
      backend_.begin("loss", "backward");
      backend_.loss(*n.y, labels, *loss_, *n.dy, layers_.back().shape.outputs);
      n.has_gradient = true;
    }
    for (std::size_t l = last_ + 1; l-- > until;) backward(l);
  }
  void update(bool pruned) {
    for (std::size_t l = first_; l <= last_; ++l) {
      if (!layers_[l].has_weights()) continue;
      Node& n = node(static_cast<int>(l));
      backend_.begin(layers_[l].name, "update");
      backend_.descend(*n.weights, *n.dweights, *n.weight_velocity, kWeightDecay, pruned);
      backend_.descend(*n.beta, *n.dbeta, *n.beta_velocity, 0.0f, false);
      if (n.gamma) backend_.descend(*n.gamma, *n.dgamma, *n.gamma_velocity, 0.0f, false);
    }
  }

 private:
  struct Node {
    Pointer y, dy, z, weights, gamma, beta, running_mean, running_variance, mean, variance;
    Pointer dweights, dgamma, dbeta, weight_velocity, gamma_velocity, beta_velocity;
    std::unique_ptr<typename Backend::ByteArray> taps;
    bool has_gradient = false;  // dy holds the sum of the gradients of the later layers processed so far
  };
  Node& node(int layer) { return nodes_[static_cast<std::size_t>(layer + 1)]; }
  const Node& node(int layer) const { return nodes_[static_cast<std::size_t>(layer + 1)]; }

  void allocate(int layer) {
    Node& n = node(layer);
    if (n.y) return;
    const Shape& image = layers_.front().shape;
    const std::size_t count = layer == kImage ? static_cast<std::size_t>(image.inputs) * image.in_pixels()
                                              : layers_[static_cast<std::size_t>(layer)].out_count();
    const std::string name = layer == kImage ? "image" : layers_[static_cast<std::size_t>(layer)].name;
    n.y = backend_.make(name + ".y", count);
    // The gradient with respect to the image is not needed.
    if (training_ && layer != kImage) n.dy = backend_.make(name + ".dy", count);
  }

  void forward(std::size_t l) {
    const Layer& layer = layers_[l];
    const Shape& s = layer.shape;
    Node& n = node(static_cast<int>(l));
    const Array& x = *node(layer.input).y;
    backend_.begin(layer.name, "forward");
    switch (layer.kind) {
      case Layer::Kind::kConvolution:
        backend_.convolution(s, x, *n.weights, *n.z);
        if (training_)
          backend_.statistics(*n.z, *n.mean, *n.variance, *n.running_mean, *n.running_variance, s.outputs, s.out_pixels());
        backend_.normalise(*n.z, training_ ? *n.mean : *n.running_mean, training_ ? *n.variance : *n.running_variance, *n.gamma,
                           *n.beta, layer.residual == kNone ? nullptr : node(layer.residual).y.get(), *n.y, s.outputs,
                           s.out_pixels(), layer.relu);
        break;
      case Layer::Kind::kMaxPooling:
        backend_.max_pooling(s, x, *n.y, *n.taps);
        break;
      case Layer::Kind::kAveragePooling:
        backend_.average_pooling(s, x, *n.y);
        break;
      case Layer::Kind::kFullyConnected:
        backend_.fully_connected(s, *n.weights, *n.beta, x, *n.y);
        break;
    }
  }

  void backward(std::size_t l) {
    const Layer& layer = layers_[l];
    const Shape& s = layer.shape;
    Node& n = node(static_cast<int>(l));
    Node& from = node(layer.input);
    backend_.begin(layer.name, "backward");
    switch (layer.kind) {
      case Layer::Kind::kConvolution: {
        // The gradient with respect to ReLU's input is passed unchanged to the residual's tensor. It is the first contribution
        // to that tensor's gradient, since the other layers that read the tensor are earlier layers of the block.
        Node* const residual = layer.residual == kNone ? nullptr : &node(layer.residual);
        backend_.normalise_backward(*n.dy, *n.y, *n.z, *n.mean, *n.variance, *n.gamma, residual ? *residual->dy : *n.dy,
                                    *n.dgamma, *n.dbeta, *dz_, s.outputs, s.out_pixels(), layer.relu);
        if (residual) residual->has_gradient = true;
        backend_.convolution_backward_weights(s, *dz_, *from.y, *n.dweights);
        if (from.dy) backend_.convolution_backward_data(s, *dz_, *n.weights, *from.dy, from.has_gradient);
        break;
      }
      case Layer::Kind::kMaxPooling:
        backend_.max_pooling_backward(s, *n.dy, *n.taps, *from.dy);
        break;
      case Layer::Kind::kAveragePooling:
        backend_.average_pooling_backward(s, *n.dy, *from.dy);
        break;
      case Layer::Kind::kFullyConnected:
        backend_.fully_connected_backward(s, *n.weights, *from.y, *n.dy, *n.dweights, *n.dbeta, *from.dy);
        break;
    }
    from.has_gradient = true;
  }

  Backend& backend_;
  const std::vector<Layer>& layers_;
  std::size_t first_, last_;
  bool training_;
  std::vector<Node> nodes_;  // the image, followed by the layers
  Pointer dz_, loss_;
};

}  // namespace resnet18
