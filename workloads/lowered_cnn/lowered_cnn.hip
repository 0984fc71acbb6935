// Inference or one training step of convolutional networks in mixed precision. Every convolution is lowered explicitly: one
// kernel writes the workspace, another kernel multiplies it by the weights. The networks consist of the layers of Duplo's Table
// I (layers.h); their products have parameters for Duplo's detection unit (products.h).
//
//   --method gemm      products on vector ALUs
//   --method explicit  products on matrix units: the kernels of conv2d
//
// The networks are synthetic: weights are initialised as in K. He et al., Delving deep into rectifiers, 2015, the running
// statistics of inference are approximately those of such weights, and images are noise.
#include <hip/hip_runtime.h>

#include <cmath>

#include "workloads/common/program.h"
#include "workloads/lowered_cnn/step.h"

namespace lowered_cnn {
namespace {

/// Approximately normal: the sum of twelve uniform numbers has variance 1.
float normal(workload::Random& random) {
  float sum = 0;
  for (int i = 0; i < 12; ++i) sum += random.uniform(0, 1);
  return sum - 6;
}

std::vector<Parameters> initial_parameters(const std::vector<Layer>& layers, workload::Random& random) {
  std::vector<Parameters> parameters(layers.size());
  for (size_t l = 0; l < layers.size(); ++l) {
    const Layer& layer = layers[l];
    if (layer.kind != Layer::Kind::kConvolution) continue;
    const Convolution& c = layer.shape;
    Parameters& p = parameters[l];
    // A filter's taps on inserted zeros contribute nothing.
    const double taps = double{1} * c.filter_height * c.filter_width * layer.channels / (1u << 2 * c.spacing_shift);
    const auto deviation = static_cast<float>(std::sqrt(2 / taps));
    p.weights.resize(layer.weight_count());
    for (size_t i = 0; i < p.weights.size(); ++i) {
      if (i % c.channels < layer.channels) p.weights[i] = deviation * normal(random);
    }
    p.beta.resize(c.filters);
    for (float& beta : p.beta) beta = 0.1f * normal(random);
    if (!layer.normalised) continue;
    p.gamma = random.uniform_values(c.filters, 0.5f, 1.5f);
    p.running_mean.resize(c.filters);
    for (float& mean : p.running_mean) mean = 0.1f * normal(random);
    // Inputs with a mean square of 1 give sums with a variance of 2.
    p.running_variance = random.uniform_values(c.filters, 1.0f, 3.0f);
  }
  return parameters;
}

Halves initial_image(const Layer& first, workload::Random& random) {
  Halves image(first.shape.inputs());
  for (size_t i = 0; i < image.size(); ++i) {
    if (i % first.shape.channels < first.channels) image[i] = static_cast<Half>(normal(random));
  }
  return image;
}

/// Returns the images' labels or the desired outputs, depending on the network's loss.
Floats wanted_outputs(const Network& network, workload::Random& random) {
  const Convolution& last = network.layers.back().shape;
  if (network.loss != Loss::kSoftmaxCrossEntropy) return random.uniform_values(size_t{last.rows()} * last.filters, 0, 1);
  Floats labels(last.images);
  for (float& label : labels) label = static_cast<float>(random.below(last.filters));
  return labels;
}

struct Options {
  int batch = 0, channel_divisor = 0, size_divisor = 0, channels = 0;
  std::string network, pass;
  bool gradients = false;
  Form form;

  void add_to(workload::Program& program) {
    program.choice(network, "network", "network", {"resnet18", "gan", "yolo"}, std::string("resnet18"));
    program.choice(pass, "pass", "inference, or one step of training", {"inference", "training"}, std::string("inference"));
    program.choice(form.method, "method", "products on vector ALUs, or on matrix units", {"gemm", "explicit"},
                   std::string("gemm"));
    program.size(batch, "batch", "images", {2, 2, 8}, 1, 1024);
    program.size(channel_divisor, "channel-divisor", "channels are fewer by this factor than in the network", {8, 4, 1}, 1, 64);
    program.size(size_divisor, "size-divisor", "and the input smaller in each direction", {7, 2, 1}, 1, 64);
    program.choice(form.lds, "lds", "matrices that products on matrix units have in LDS", conv::lds_choices(),
                   std::string("c"));
    program.choice(form.loads, "loads",
                   "whether lowered products on matrix units load each fragment once, or twice, as two octets of a warp do",
                   conv::loads_choices(), std::string("once"));
    program.choice(form.rows, "rows", "order of the workspaces' rows", {"images_outermost", "images_innermost"},
                   std::string("images_outermost"));
    program.choice(form.k, "k", "order of columns in products on matrix units", {"channels", "taps"}, std::string("channels"));
    program.size(form.fragments, "fragments", "dwords of a fragment in a lane, 2 or 4", 4, 2, 4);
    program.size(channels, "channels", "4, 8 or 16: channels are padded to a multiple", 16, 4, 16);
    program.flag(gradients, "gradients", "with --check, compare the weights' gradients with differences of the loss");
  }
};

/// Compares finite differences of the loss with the gradients. Unlike checks of single operations, this shows whether every
/// gradient reaches the right parameters. At the sizes of the tests, the ratio of the two deviates from 1 by at most a tenth,
/// because of curvature and of activations that switch; without the gradients through residual connections, it deviates by up
/// to four tenths.
void check_gradients(workload::Program& program, const Network& network, Gpu& gpu, Step& step, double loss) {
  constexpr double kMost = 0.15;
  gpu.set_checks(false);
  for (size_t l = 0; l < step.layers(); ++l) {
    if (!step.has_weights(l)) continue;
    const double ratio = step.difference_by_gradient(l, loss);
    program.check_true(network.layers[l].name + ": a difference of the loss by " + std::to_string(ratio) + " of the gradient",
                       std::fabs(ratio - 1) <= kMost);
  }
}

void run(workload::Program& program, const Options& options) {
  if (options.channels != 4 && options.channels != 8 && options.channels != 16) {
    throw workload::UsageError("--channels has to be 4, 8 or 16");
  }
  if (options.form.fragments == 3) throw workload::UsageError("--fragments has to be 2 or 4");
  conv::require_loads(options.form.method, options.form.lds, options.form.loads, options.form.fragments);
  const bool innermost = options.form.rows == "images_innermost";
  if (innermost && options.form.method == "gemm") {
    throw workload::UsageError("--method gemm has its results in the order of rows: images_outermost alone");
  }
  const auto number = [](int value) { return static_cast<unsigned>(value); };
  const Network network = network_of(options.network, {number(options.batch), number(options.channel_divisor),
                                                       number(options.size_divisor), number(options.channels), innermost});
  const bool training = options.pass == "training";
  if (options.gradients && !(training && program.checks())) {
    throw workload::UsageError("--gradients needs --check and --pass training");
  }
  const std::vector<Parameters> parameters = initial_parameters(network.layers, program.random());
  const Halves image = initial_image(network.layers.front(), program.random());
  const Floats wanted = wanted_outputs(network, program.random());

  Gpu gpu(program, options.form, network.layers, training);
  Step step(gpu, network, training);
  program.measure([&] { step.put(parameters, image, wanted); },
                  [&] {
                    step.forward();
                    if (!training) return;
                    step.backward();
                    step.update();
                  });
  double products = 0;
  for (const Layer& layer : network.layers) {
    if (layer.kind != Layer::Kind::kConvolution) continue;
    products += double{1} * layer.shape.rows() * layer.shape.filters * layer.shape.filter_height * layer.shape.filter_width *
                layer.channels;
  }
  program.report("kernels", gpu.kernels());
  program.report("multiply_adds_forward", products);
  program.report("workspace", static_cast<double>(gpu.workspace_bytes()));
  const double loss = training ? step.loss() : 0;
  if (training) program.report("loss", loss);
  program.report("bits", std::to_string(step.bits()));
  if (!options.gradients) return;
  step.put(parameters, image, wanted);
  check_gradients(program, network, gpu, step, loss);
}

}  // namespace
}  // namespace lowered_cnn

int main(int argc, char** argv) {
  workload::Program program(
      "lowered_cnn", "ResNet-18, GAN or YOLO by lowered convolutions, inference or one step of training",
      "Duplo (MICRO '20), Table I and Fig. 14; K. He et al., 2016; A. Radford et al., 2016; J. Redmon et al., "
      "2016 and 2017");
  lowered_cnn::Options options;
  options.add_to(program);
  return program.run(argc, argv, [&] { lowered_cnn::run(program, options); });
}
