// Tensors of a network, and its forward and backward passes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workloads/lowered_cnn/gpu.h"

namespace lowered_cnn {

/// Initial parameters of a layer. Weights are [filter][column], zero for padding channels of the input; gamma and the running
/// statistics are empty if only a bias is added.
struct Parameters {
  Floats weights, gamma, beta, running_mean, running_variance;
};

class Step {
 public:
  Step(Gpu& gpu, const Network& network, bool training) : gpu_(gpu), network_(network), training_(training) {
    const std::vector<Layer>& layers = network.layers;
    const Convolution& first = layers.front().shape;
    image_ = gpu.halves("image", first.inputs());
    size_t largest = 1;
    for (const Layer& layer : layers) {
      nodes_.emplace_back();
      allocate(layer, nodes_.back(), &layer == &layers.back());
      largest = std::max(largest, size_t{layer.shape.rows()} * layer.padded);
    }
    if (training) dz_ = gpu.halves("the gradient by a convolution's output", largest);
    const size_t outputs = layers.back().outputs();
    output_ = gpu.floats("output", outputs);
    loss_ = gpu.floats("loss", first.images);
    wanted_ = gpu.floats("wanted", network.loss == Loss::kSoftmaxCrossEntropy ? first.images : outputs);
  }

  void put(const std::vector<Parameters>& parameters, const Halves& image, const Floats& wanted) {
    image_->put(image);
    wanted_->put(wanted);
    for (size_t l = 0; l < nodes_.size(); ++l) {
      Node& n = nodes_[l];
      n.has_gradient = false;
      if (!n.half_weights) continue;
      const Parameters& p = parameters[l];
      put_half_weights(network_.layers[l].shape, p.weights, *n.half_weights);
      n.normalisation.beta->put(p.beta);
      if (n.normalisation.gamma) {
        n.normalisation.gamma->put(p.gamma);
        // Inference normalises by the running statistics.
        (training_ ? n.running_mean : n.normalisation.mean)->put(p.running_mean);
        (training_ ? n.running_variance : n.normalisation.variance)->put(p.running_variance);
      }
      if (!training_) continue;
      n.weights->put(p.weights);
      for (FloatTensor* velocity : {n.weight_velocity.get(), n.gamma_velocity.get(), n.beta_velocity.get()}) {
        if (velocity != nullptr) velocity->put(Floats(velocity->size()));
      }
    }
  }

  size_t layers() const { return nodes_.size(); }
  bool has_weights(size_t layer) const { return nodes_[layer].weights != nullptr; }

  void forward() {
    for (size_t l = 0; l < nodes_.size(); ++l) {
      const Layer& layer = network_.layers[l];
      Node& n = nodes_[l];
      const HalfTensor& x = output_of(layer.input);
      gpu_.begin(layer.name, "forward");
      if (layer.kind == Layer::Kind::kMaxPooling) {
        gpu_.max_pooling(layer, x, *n.y, *n.taps);
      } else if (layer.kind == Layer::Kind::kAveragePooling) {
        gpu_.average_pooling(layer, x, *n.y);
      } else {
        gpu_.convolution(layer, x, *n.half_weights, *n.z);
        if (training_ && layer.normalised) gpu_.statistics(layer, *n.z, n.normalisation, *n.running_mean, *n.running_variance);
        if (n.y) {
          gpu_.activate(layer, *n.z, n.normalisation, layer.residual == kNone ? nullptr : &output_of(layer.residual), *n.y);
        } else {
          gpu_.add_bias(layer, *n.z, n.normalisation, *output_);
        }
      }
    }
  }
  void backward() {
    compute_loss();
    nodes_.back().has_gradient = true;
    for (size_t l = nodes_.size(); l-- > 0;) backward(l);
  }
  /// Moves a layer's weights along the gradient of the last backward pass, and returns the loss's change divided by the change
  /// that the gradient predicts: a central difference over 2 % of the loss. Parameters must be those of that pass.
  double difference_by_gradient(size_t layer, double loss) {
    constexpr double kShare = 0.01;
    Node& n = nodes_[layer];
    double squares = 0;
    for (const float gradient : n.dweights->get()) squares += double{gradient} * gradient;
    const Floats weights = n.weights->get(), gradient = n.dweights->get();
    const auto loss_at = [&](double distance) {
      Floats moved = weights;
      for (size_t i = 0; i < moved.size(); ++i) moved[i] += static_cast<float>(distance * gradient[i]);
      put_half_weights(network_.layers[layer].shape, moved, *n.half_weights);
      forward();
      compute_loss();
      return this->loss();
    };
    // The stored gradient is that of the scaled loss.
    const double distance = kShare * loss * static_cast<double>(kLossScale) / squares;
    const double difference = loss_at(distance) - loss_at(-distance);
    put_half_weights(network_.layers[layer].shape, weights, *n.half_weights);
    return difference / (2 * kShare * loss);
  }
  void update() {
    for (size_t l = 0; l < nodes_.size(); ++l) {
      const Layer& layer = network_.layers[l];
      Node& n = nodes_[l];
      if (!n.weights) continue;
      gpu_.begin(layer.name, "update");
      gpu_.descend(*n.weights, *n.dweights, *n.weight_velocity, n.half_weights.get(), layer.shape.columns(),
                   Products::pitch_of(layer.shape), layer.ascends, kWeightDecay);
      const auto plain = [&](FloatTensor& values, const FloatTensor& gradient, FloatTensor& velocity) {
        gpu_.descend(values, gradient, velocity, nullptr, 1, 1, layer.ascends, 0);
      };
      plain(*n.normalisation.beta, *n.dbeta, *n.beta_velocity);
      if (n.dgamma) plain(*n.normalisation.gamma, *n.dgamma, *n.gamma_velocity);
    }
  }

  /// A hash of the step's results: the output and, in training, losses and parameters.
  std::uint64_t bits() const {
    std::uint64_t bits = tiled::hash_of_bits(output_->get());
    if (!training_) return bits;
    bits = tiled::hash_of_bits(loss_->get(), bits);
    for (const Node& n : nodes_) {
      if (!n.weights) continue;
      bits = tiled::hash_of_bits(n.weights->get(), bits);
      bits = tiled::hash_of_bits(n.normalisation.beta->get(), bits);
      if (n.normalisation.gamma) bits = tiled::hash_of_bits(n.normalisation.gamma->get(), bits);
    }
    return bits;
  }
  /// The mean loss over the images.
  double loss() const {
    double sum = 0;
    for (const float loss : loss_->get()) sum += loss;
    return sum / static_cast<double>(loss_->size());
  }

 private:
  void compute_loss() {
    gpu_.begin("loss", "backward");
    gpu_.loss(network_.loss, *output_, *wanted_, *loss_, *nodes_.back().dy);
  }
  struct Node {
    std::unique_ptr<HalfTensor> y, half_weights;
    std::unique_ptr<FloatTensor> dy, z, weights, running_mean, running_variance;
    NormalisationArrays normalisation;
    std::unique_ptr<FloatTensor> dweights, dgamma, dbeta, weight_velocity, gamma_velocity, beta_velocity;
    std::unique_ptr<workload::DeviceArray<Half>> turned_weights;
    std::unique_ptr<ByteArray> taps;
    bool has_gradient = false;  // dy holds the sum of the gradients of the later layers processed so far
  };

  void allocate(const Layer& layer, Node& n, bool last) const {
    const Convolution& c = layer.shape;
    if (!last) n.y = gpu_.halves(layer.name + ".y", size_t{c.rows()} * layer.padded);
    if (training_) n.dy = gpu_.floats(layer.name + ".dy", layer.outputs());
    if (layer.kind == Layer::Kind::kMaxPooling) {
      n.taps = std::make_unique<ByteArray>(layer.name + ".taps", size_t{c.rows()} * layer.padded);
    }
    if (layer.kind != Layer::Kind::kConvolution) return;
    n.z = gpu_.floats(layer.name + ".z", layer.outputs());
    n.half_weights = gpu_.halves(layer.name + ".weights", conv::right_elements(c.filters, Products::pitch_of(c)));
    const auto per_channel = [&](const char* what) { return gpu_.floats(layer.name + what, c.filters); };
    n.normalisation.beta = per_channel(".beta");
    if (layer.normalised) {
      n.normalisation.gamma = per_channel(".gamma");
      n.normalisation.mean = per_channel(".mean");
      n.normalisation.variance = per_channel(".variance");
    }
    if (!training_) return;
    n.weights = gpu_.floats(layer.name + ".weights", layer.weight_count());
    n.dweights = gpu_.floats(layer.name + ".dweights", layer.weight_count());
    n.weight_velocity = gpu_.floats(layer.name + ".velocity", layer.weight_count());
    n.dbeta = per_channel(".dbeta");
    n.beta_velocity = per_channel(".velocity");
    if (layer.normalised) {
      n.running_mean = per_channel(".running_mean");
      n.running_variance = per_channel(".running_variance");
      n.dgamma = per_channel(".dgamma");
      n.gamma_velocity = per_channel(".velocity");
    }
    // The gradient with respect to the image is not needed.
    if (layer.input == kImage) return;
    n.turned_weights = std::make_unique<workload::DeviceArray<Half>>(
        layer.name + ".turned_weights", conv::right_elements(layer.channels, Products::pitch_of(backward_by_data(layer))));
    n.turned_weights->clear();
  }
  static void put_half_weights(const Convolution& c, const Floats& weights, HalfTensor& to) {
    Halves halves(to.size());
    const size_t columns = c.columns(), pitch = Products::pitch_of(c);
    for (size_t i = 0; i < weights.size(); ++i) halves[i / columns * pitch + i % columns] = static_cast<Half>(weights[i]);
    to.put(halves);
  }
  const HalfTensor& output_of(int layer) const { return layer == kImage ? *image_ : *nodes_[static_cast<size_t>(layer)].y; }

  void backward(size_t l) {
    const Layer& layer = network_.layers[l];
    Node& n = nodes_[l];
    Node* const from = layer.input == kImage ? nullptr : &nodes_[static_cast<size_t>(layer.input)];
    gpu_.begin(layer.name, "backward");
    if (layer.kind == Layer::Kind::kMaxPooling) {
      gpu_.max_pooling_backward(layer, *n.dy, *n.taps, *from->dy);
    } else if (layer.kind == Layer::Kind::kAveragePooling) {
      gpu_.average_pooling_backward(layer, *n.dy, *from->dy);
    } else {
      // The gradient with respect to the activation's input is passed unchanged to the residual's tensor. It is the first
      // contribution to that tensor's gradient, since the other layers that read the tensor are earlier layers of the block.
      Node* const residual = layer.residual == kNone ? nullptr : &nodes_[static_cast<size_t>(layer.residual)];
      FloatTensor& g = residual != nullptr ? *residual->dy : *n.dy;
      gpu_.activation_backward(layer, *n.dy, n.y.get(), *n.z, n.normalisation, g, *n.dbeta, n.dgamma.get());
      if (residual != nullptr) residual->has_gradient = true;
      gpu_.batch_norm_backward(layer, g, *n.z, n.normalisation, n.dgamma.get(), *n.dbeta, *dz_);
      gpu_.begin(layer.name, "backward_weights");
      gpu_.backward_weights(layer, *dz_, output_of(layer.input), *n.dweights);
      if (from == nullptr) return;
      gpu_.begin(layer.name, "backward_data");
      gpu_.backward_data(layer, *dz_, *n.half_weights, n.turned_weights->data(), *from->dy, from->has_gradient);
    }
    from->has_gradient = true;
  }

  Gpu& gpu_;
  const Network& network_;
  bool training_;
  std::vector<Node> nodes_;
  std::unique_ptr<HalfTensor> image_, dz_;
  std::unique_ptr<FloatTensor> output_, loss_, wanted_;
};

}  // namespace lowered_cnn
