// One training step of convolutional layers: forward pass, gradients with respect to input and weights, and update of the
// weights.
//
//   --forward mfma   f16 operands, sums in f32, by CDNA2's MFMA, as in mixed precision. The weights are kept in f32.
//   --forward simt   f32, by vector ALUs
//   --backward simt  f32, by vector ALUs: mixed precision leaves this part in f32
//   --backward m3xu  the same products in M3XU's FP32, bit-identical
//
// Layers are some of VGG-16, ResNet-50 and AlexNet (layers.h). Each is computed separately, with random input and a random
// gradient of the loss with respect to its output. A ReLU follows each convolution. Convolutions are products whose second
// factor is gathered (convolution.h); products that have few tiles and a long sum are split along k.
#include "workloads/common/gemm_host.h"
#include "workloads/common/layer_log.h"
#include "workloads/training/kernels.h"
#include "workloads/training/reference.h"

using training::Layer;
template <class T>
using Array = workload::DeviceArray<T>;

namespace {

struct Choice {
  bool forward_on_units, backward_on_units;
};

/// A layer's tensors and operations. Planes of channels, and lines of weights, are Layer::padded() elements apart, with zeros
/// in between and after each tensor.
class Step {
 public:
  Step(const Layer& layer, const Choice& choice, const training::Input& input)
      : layer_(layer),
        choice_(choice),
        plane_in_(Layer::padded(layer.in_pixels())),
        plane_out_(Layer::padded(layer.out_pixels())),
        line_(Layer::padded(layer.in * layer.taps())),
        transposed_line_(Layer::padded(layer.out * layer.taps())),
        forward_parts_(parts_of(layer.out, layer.out_pixels(), layer.in * layer.taps(), depth(choice))),
        weight_parts_(parts_of(layer.out, layer.in * layer.taps(), layer.out_pixels(), tiled::kDepth<float>)),
        input_parts_(parts_of(layer.in, layer.in_pixels(), layer.out * layer.taps(), tiled::kDepth<float>)),
        host_weights_(padded(input.weights, layer.out, line_)),
        output_pixels_("a table", training::pixels_of_output(layer)),
        input_taps_("a table", training::taps_of_input(layer)),
        input_pixels_("a table", training::pixels_of_input(layer)),
        output_taps_("a table", training::taps_of_output(layer)),
        weights_("the weights", host_weights_),
        transposed_("the weights", std::vector<float>(size_t{1} * layer.in * transposed_line_)),
        x_("the input", padded(input.x, layer.in, plane_in_)),
        y_("the output", std::vector<float>(choice.forward_on_units ? 1 : layer.out * plane_out_ + 1)),
        gradient_("the output's gradient", padded(input.gradient, layer.out, plane_out_)),
        before_relu_("the output's gradient", std::vector<float>(layer.out * plane_out_ + 1)),
        of_weights_("the weights' gradient", layer.out * layer.in * layer.taps()),
        of_input_("the input's gradient", size_t{1} * layer.in * layer.in_pixels()),
        parts_("parts of sums", std::max({weight_parts_.count * of_weights_.size(), input_parts_.count * of_input_.size(),
                                          forward_parts_.count * size_t{plane_out_} * layer.out})),
        half_weights_("the weights", choice.forward_on_units ? host_weights_.size() : 1),
        half_x_("the input", halves(choice.forward_on_units ? padded(input.x, layer.in, plane_in_) : std::vector<float>(1))),
        half_y_("the output", std::vector<Half>(choice.forward_on_units ? layer.out * plane_out_ + 1 : 1)) {}

  void restore() const { weights_.upload(host_weights_); }
  void forward(workload::LayerLog& log) const {
    log.begin(layer_.name, "forward");
    const unsigned k = layer_.in * layer_.taps(), lines = layer_.out, pixels = layer_.out_pixels();
    const tiled::Result<float> sums{parts_.data(), lines, pixels, plane_out_, 1, 0};
    if (choice_.forward_on_units) {
      element_wise(log, narrow, half_weights_.size(), half_weights_.data(), weights_.data());
      multiply<Half>(log, convolve_mfma, sums, {half_weights_.data(), line_, lines, true}, columns_of_x(half_x_), k,
                     forward_parts_);
      line_wise(log, activate_f16, lines, plane_out_, half_y_.data(), parts_.data(), forward_parts_.count, lines * plane_out_,
                pixels, plane_out_);
    } else {
      multiply<float>(log, convolve_simt, sums, {weights_.data(), line_, lines, true}, columns_of_x(x_), k, forward_parts_);
      line_wise(log, activate_f32, lines, plane_out_, y_.data(), parts_.data(), forward_parts_.count, lines * plane_out_,
                pixels, plane_out_);
    }
  }
  void backward(workload::LayerLog& log) const {
    log.begin(layer_.name, "backward");
    const auto convolve = choice_.backward_on_units ? convolve_m3xu : convolve_simt;
    if (choice_.forward_on_units) {
      element_wise(log, relu_backward_f16, before_relu_.size() - 1, before_relu_.data(), gradient_.data(), half_y_.data());
      element_wise(log, widen, x_.size(), x_.data(), half_x_.data());
    } else {
      element_wise(log, relu_backward_f32, before_relu_.size() - 1, before_relu_.data(), gradient_.data(), y_.data());
    }
    if (!layer_.first()) multiply_for_input(log, convolve);
    Gathered<float> lines_of_x = columns_of_x(x_);
    std::swap(lines_of_x.lines, lines_of_x.ks);
    const unsigned columns = layer_.in * layer_.taps(), lines = layer_.out;
    lines_of_x.size = columns;
    multiply<float>(log, convolve, {parts_.data(), lines, columns, columns, 1, 0},
                    {before_relu_.data(), plane_out_, lines, true}, lines_of_x, layer_.out_pixels(), weight_parts_);
    line_wise(log, update, lines, columns, weights_.data(), of_weights_.data(), parts_.data(), weight_parts_.count,
              lines * columns, columns, line_, training::kRate);
  }
  training::Output output() const {
    training::Output output;
    const auto planes = [&](const auto& values, unsigned count, unsigned size, unsigned ld) {
      std::vector<float> packed;
      for (unsigned i = 0; i < count; ++i) packed.insert(packed.end(), values.begin() + i * ld, values.begin() + i * ld + size);
      return packed;
    };
    output.y = choice_.forward_on_units ? planes(half_y_.download(), layer_.out, layer_.out_pixels(), plane_out_)
                                        : planes(y_.download(), layer_.out, layer_.out_pixels(), plane_out_);
    output.weights = planes(weights_.download(), layer_.out, layer_.in * layer_.taps(), line_);
    output.of_weights = of_weights_.download();
    if (!layer_.first()) output.of_input = of_input_.download();
    return output;
  }

 private:
  template <class Kernel>
  void multiply_for_input(workload::LayerLog& log, Kernel convolve) const {
    const unsigned taps = layer_.taps(), pixels = layer_.in_pixels(), lines = layer_.in, columns = lines * taps;
    const auto reciprocal = static_cast<unsigned>((0x100000000 + taps - 1) / taps);  // 0 if there is one tap
    line_wise(log, transpose_weights, layer_.out, columns, transposed_.data(), weights_.data(), columns, taps, reciprocal,
              transposed_line_, line_);
    const Gathered<float> columns_of_output{before_relu_.data(),
                                            input_pixels_.data(),
                                            output_taps_.data(),
                                            pixels,
                                            layer_.out_size(),
                                            layer_.out_size(),
                                            layer_.stride == 4 ? 2 : layer_.stride - 1,
                                            int(before_relu_.size() - 1)};
    const bool single = input_parts_.count == 1;
    multiply<float>(log, convolve, {single ? of_input_.data() : parts_.data(), lines, pixels, pixels, 1, 0},
                    {transposed_.data(), transposed_line_, lines, true}, columns_of_output, layer_.out * taps, input_parts_);
    if (single) return;
    line_wise(log, sum_parts, lines, pixels, of_input_.data(), parts_.data(), input_parts_.count, lines * pixels, pixels,
              pixels);
  }
  struct Parts {
    unsigned count, slabs;  ///< `slabs`: number of slabs of each part
  };
  static unsigned depth(const Choice& choice) { return choice.forward_on_units ? tiled::kDepth<Half> : tiled::kDepth<float>; }
  /// Chooses about as many workgroups as a large GPU can hold, and at least four slabs per part.
  static Parts parts_of(unsigned m, unsigned n, unsigned k, unsigned depth) {
    const unsigned tiles = workload::groups(m, kRows) * workload::groups(n, kColumns), slabs = workload::groups(k, depth);
    const unsigned wanted = std::max(1u, std::min(256 / tiles, slabs / 4)), each = workload::groups(slabs, wanted);
    return {workload::groups(slabs, each), each};
  }
  static std::vector<float> padded(const std::vector<float>& values, size_t lines, size_t ld) {
    std::vector<float> result(lines * ld + 1);
    const size_t length = values.size() / lines;
    for (size_t i = 0; i < values.size(); ++i) result[i / length * ld + i % length] = values[i];
    return result;
  }
  static std::vector<Half> halves(const std::vector<float>& values) { return {values.begin(), values.end()}; }
  template <class Element>
  Gathered<Element> columns_of_x(const Array<Element>& x) const {
    return {x.data(), output_pixels_.data(), input_taps_.data(), unsigned(layer_.out_pixels()), layer_.size, layer_.size,
            0,        int(x.size() - 1)};
  }
  template <class Kernel, class... Argument>
  static void element_wise(workload::LayerLog& log, Kernel kernel, unsigned count, Argument... arguments) {
    log.launch(kernel, dim3(workload::groups(count, kElementWise)), dim3(kElementWise), count, arguments...);
  }
  template <class Kernel, class... Argument>
  static void line_wise(workload::LayerLog& log, Kernel kernel, unsigned lines, unsigned columns, Argument... arguments) {
    log.launch(kernel, dim3(workload::groups(columns, kElementWise), lines), dim3(kElementWise), arguments...);
  }

  template <class Element, class Kernel>
  static void multiply(workload::LayerLog& log, Kernel kernel, const tiled::Result<float>& c, const tiled::Operand<Element>& a,
                       const Gathered<Element>& b, unsigned k, Parts parts) {
    log.launch(kernel, dim3(workload::groups(c.n, kColumns), workload::groups(c.m, kRows), parts.count),
               dim3(tiled::kWorkgroup), c, a, b, workload::groups(k, tiled::kDepth<Element>), parts.slabs);
  }

  const Layer& layer_;
  Choice choice_;
  unsigned plane_in_, plane_out_, line_, transposed_line_;
  Parts forward_parts_, weight_parts_, input_parts_;
  std::vector<float> host_weights_;
  Array<convolution::Place> output_pixels_, input_taps_, input_pixels_, output_taps_;
  Array<float> weights_, transposed_, x_, y_, gradient_, before_relu_, of_weights_, of_input_, parts_;
  Array<Half> half_weights_, half_x_, half_y_;
};

}  // namespace

int main(int argc, char** argv) {
  workload::Program program("training", "A training step of convolutional layers, on vector ALUs or matrix units",
                            "M3XU (thesis, section 2.6.3): ResNet, VGG and AlexNet of Nebula");
  int batch = 0, channel_divisor = 0, size_divisor = 0;
  program.size(batch, "batch", "images", {2, 4, 4}, 1, 256);
  program.size(channel_divisor, "channel-divisor", "channels are fewer by this factor than in the network", {8, 2, 1}, 1, 64);
  program.size(size_divisor, "size-divisor", "and images smaller in each direction", {8, 4, 4}, 1, 64);
  std::string network, forward, backward;
  program.choice(network, "network", "where the layers are from", {"vgg", "resnet", "alexnet"}, std::string("resnet"));
  program.choice(forward, "forward", "forward products: vector ALUs in f32, MFMA in f16", {"simt", "mfma"},
                 std::string("simt"));
  program.choice(backward, "backward", "backward products, in f32", {"simt", "m3xu"}, std::string("simt"));
  return program.run(argc, argv, [&] {
    const Choice choice{forward == "mfma", backward == "m3xu"};
    if ((choice.forward_on_units || choice.backward_on_units) && !tiled::has_matrix_units()) {
      throw workload::UsageError("--forward mfma and --backward m3xu need matrix units, which gfx90a has");
    }
    const std::vector<Layer> layers = training::layers_of(network, channel_divisor, size_divisor, batch);
    std::vector<training::Input> inputs;
    std::vector<std::unique_ptr<Step>> steps;
    for (const Layer& layer : layers) {
      inputs.push_back(training::make_input(program.random(), layer));
      steps.push_back(std::make_unique<Step>(layer, choice, inputs.back()));
    }
    workload::LayerLog log;
    program.measure(
        [&] {
          for (const auto& step : steps) step->restore();
        },
        [&] {
          for (const auto& step : steps) step->forward(log);
          for (size_t i = steps.size(); i-- > 0;) steps[i]->backward(log);
        });
    if (!program.checks()) return;
    std::uint64_t bits = tiled::hash_of_bits(std::vector<float>());
    for (size_t i = 0; i < layers.size(); ++i) {
      const training::Output output = steps[i]->output();
      training::check(program, layers[i], inputs[i], output, choice.forward_on_units);
      for (const auto* values : {&output.y, &output.of_input, &output.of_weights, &output.weights}) {
        bits = tiled::hash_of_bits(*values, bits);
      }
    }
    program.report("bits", std::to_string(bits));
  });
}
