// Inference or one training step of ResNet-18 in single precision, for the complete network or a range of its layers. Structure
// and sizes are those of K. He et al., Deep residual learning for image recognition, 2016; convolutions are im2col + matrix
// product or direct.
//
// The network is synthetic: weights are initialised as in K. He et al., Delving deep into rectifiers, 2015, the running
// statistics of inference are computed by the host from a batch of two small images, and the image is noise. --sparsity sets
// the smallest weights of each layer to zero (S. Han et al., Learning both weights and connections for efficient neural
// networks, 2015). Zeros among activations result from ReLU.
#include <hip/hip_runtime.h>

#include <numeric>

#include "workloads/common/program.h"
#include "workloads/resnet18/gpu.h"
#include "workloads/resnet18/host.h"

namespace resnet18 {
namespace {

/// Approximately normal: the sum of twelve uniform numbers has variance 1. Never 0, since zeros come only from --sparsity.
float normal(workload::Random& random) {
  float sum = 0.0f;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t bits = random.bits();
    for (int j = 0; j < 4; ++j) sum += static_cast<float>(bits >> (16 * j) & 0xffff) * 0x1p-16f;
  }
  return sum - (6.0f - 0x1p-17f);
}

Floats normal_values(workload::Random& random, std::size_t count, float mean, float deviation) {
  Floats values(count);
  for (float& value : values) value = mean + deviation * normal(random);
  return values;
}

/// Sets the round(sparsity * count) weights of smallest magnitude to zero.
void prune(Floats& weights, double sparsity) {
  const auto count = static_cast<std::size_t>(std::llround(sparsity * static_cast<double>(weights.size())));
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                   [&](std::size_t a, std::size_t b) {
                     const float x = std::fabs(weights[a]), y = std::fabs(weights[b]);
                     return x != y ? x < y : a < b;
                   });
  for (std::size_t i = 0; i < count; ++i) weights[order[i]] = 0.0f;
}

std::vector<Parameters> initial_parameters(const std::vector<Layer>& layers, workload::Program& program) {
  std::vector<Parameters> parameters(layers.size());
  workload::Random& random = program.random();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (!layers[l].has_weights()) continue;
    Parameters& p = parameters[l];
    const Shape& s = layers[l].shape;
    p.weights = normal_values(random, layers[l].weight_count(), 0.0f, std::sqrt(2.0f / static_cast<float>(s.taps())));
    prune(p.weights, program.sparsity());
    p.beta = normal_values(random, s.outputs, 0.0f, 0.1f);
    if (layers[l].kind != Layer::Kind::kConvolution) continue;
    p.gamma = random.uniform_values(s.outputs, 0.5f, 1.5f);
    p.running_mean.assign(s.outputs, 0.0f);
    p.running_variance.assign(s.outputs, 1.0f);
  }
  return parameters;
}

/// Sets the running statistics to the batch statistics of two images of at most 64 x 64 pixels, computed on the host.
void calibrate(std::vector<Parameters>& parameters, Sizes sizes, workload::Random& random) {
  sizes.images = 2;
  sizes.image = std::min(sizes.image, 64u);
  const std::vector<Layer> layers = layers_of(sizes);
  Host host;
  Network<Host> network(host, layers, 0, layers.size() - 1, true);
  network.put_parameters(parameters);
  network.put_image(normal_values(random, std::size_t{3} * layers.front().shape.in_pixels(), 0.0f, 1.0f));
  network.forward();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (layers[l].kind != Layer::Kind::kConvolution) continue;
    parameters[l].running_mean = network.batch_mean(static_cast<int>(l));
    parameters[l].running_variance = network.batch_variance(static_cast<int>(l));
    // The variance over a single pixel per image is unreliable.
    for (float& variance : parameters[l].running_variance) variance = std::max(variance, 0.05f);
  }
}

/// Returns the first and last layer that `range` names: A-B, A alone, or all.
std::pair<std::size_t, std::size_t> layer_range(const std::vector<Layer>& layers, const std::string& range) {
  if (range == "all") return {0, layers.size() - 1};
  const auto number = [&](const std::string& name) {
    for (std::size_t l = 0; l < layers.size(); ++l) {
      if (layers[l].name == name) return l;
    }
    std::string names;
    for (const Layer& layer : layers) names += ' ' + layer.name;
    throw workload::UsageError("--layers: no layer '" + name + "'; in order:" + names);
  };
  const std::size_t dash = range.find('-');
  const std::size_t first = number(range.substr(0, dash)),
                    last = dash == std::string::npos ? first : number(range.substr(dash + 1));
  if (last < first) throw workload::UsageError("--layers: " + layers[last].name + " comes before " + layers[first].name);
  return {first, last};
}

struct Options {
  int batch = 0, image = 0, width = 0, classes = 0;
  std::string pass, convolution, operands, layers;
};

void run(workload::Program& program, const Options& options) {
  if (options.convolution == "direct" && options.operands == "words") {
    throw workload::UsageError("--operands words is a form of matrix products: it needs --convolution gemm");
  }
  const Sizes sizes{static_cast<unsigned>(options.batch), static_cast<unsigned>(options.image),
                    static_cast<unsigned>(options.width), static_cast<unsigned>(options.classes)};
  const std::vector<Layer> layers = layers_of(sizes);
  const auto range = layer_range(layers, options.layers);
  const std::size_t first = range.first, last = range.second;
  const bool training = options.pass == "training";
  const bool whole = first == 0 && (!training || last + 1 == layers.size());

  std::vector<Parameters> parameters = initial_parameters(layers, program);
  if (!training) calibrate(parameters, sizes, program.random());
  const Floats image = normal_values(program.random(), std::size_t{3} * layers.front().shape.in_pixels(), 0.0f, 1.0f);
  std::vector<unsigned> labels(sizes.images);
  for (unsigned& label : labels) label = static_cast<unsigned>(program.random().below(sizes.classes));

  Gpu gpu(program, options.convolution == "direct" ? Method::kDirect : Method::kGemm,
          options.operands == "lds"     ? gemm::Form::kLds
          : options.operands == "words" ? gemm::Form::kWords
                                        : gemm::Form::kRegisters);
  Network<Gpu> network(gpu, layers, first, last, training);
  // Computes values at the boundaries of the range of layers: outputs of earlier layers and, in training, gradients from later
  // layers.
  Host host;
  std::unique_ptr<Network<Host>> surroundings;
  if (!whole) {
    surroundings = std::make_unique<Network<Host>>(host, layers, 0, training ? layers.size() - 1 : first - 1, training);
    surroundings->put_parameters(parameters);
    surroundings->put_image(image);
    surroundings->forward();
    if (training) surroundings->backward(labels, last + 1);
  }
  const auto prepare = [&] {
    network.put_parameters(parameters);
    network.clear_gradients();
    if (first == 0) network.put_image(image);
    if (surroundings) network.put_surroundings(*surroundings);
  };
  program.measure(prepare, [&] {
    network.forward();
    if (!training) return;
    network.backward(labels, first);
    network.update(program.sparsity() > 0);
  });

  std::size_t weights = 0, zeros = 0;
  double products = 0;
  for (std::size_t l = first; l <= last; ++l) {
    weights += parameters[l].weights.size();
    zeros += static_cast<std::size_t>(std::count(parameters[l].weights.begin(), parameters[l].weights.end(), 0.0f));
    if (layers[l].has_weights()) products += static_cast<double>(layers[l].weight_count()) * layers[l].shape.out_pixels();
  }
  program.report("kernels", gpu.kernels());
  program.report("multiply_adds_forward", products);
  program.report("zero_weights", weights == 0 ? 0.0 : static_cast<double>(zeros) / static_cast<double>(weights));
}

}  // namespace
}  // namespace resnet18

int main(int argc, char** argv) {
  workload::Program program("resnet18", "ResNet-18, inference or one step of training, layer by layer",
                            "LazyGPU (ISCA '25), figures 4, 9, 10 and 13 to 16; K. He et al., 2016, table 1");
  resnet18::Options options;
  program.choice(options.pass, "pass", "inference, or one step of training", {"inference", "training"},
                 std::string("inference"));
  program.choice(options.convolution, "convolution", "how layers are convolved", {"gemm", "direct"}, std::string("gemm"));
  program.choice(options.operands, "operands",
                 "where the operands of convolutions wait: tiles in LDS, registers, or registers of single words",
                 {"lds", "registers", "words"}, std::string("lds"));
  program.size(options.batch, "batch", "images", {2, 1, 1}, 1, 4096);
  program.size(options.image, "image", "rows and columns of an image", {32, 112, 224}, 1, 4096);
  program.size(options.width, "width", "channels of conv1 and conv2; later stages have 2, 4 and 8 times as many", {8, 64, 64},
               1, 512);
  program.size(options.classes, "classes", "outputs of the last layer", {10, 1000, 1000}, 1, 1 << 20);
  program.text(options.layers, "layers", "all, one layer, or FIRST-LAST (conv1, maxpool, conv2_1_1 ... conv5_2_2, avgpool, fc)",
               std::string("all"));
  program.takes_sparsity("each layer's weights, the smallest in magnitude,");
  return program.run(argc, argv, [&] { resnet18::run(program, options); });
}
