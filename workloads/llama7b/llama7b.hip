// Decoder layers of LLaMA-7B (H. Touvron et al., LLaMA, 2023, table 2: 4096 features, 32 heads; 11008 features between the
// matrices of the feed-forward part), in single or half precision: decoding of one token, by matrix-vector products over a
// cache of any length, or prefill of any number of tokens, by products of matrices.
//
// Weights, cached keys and values, and the tokens are synthetic: normally distributed weights that preserve the variance, and
// tokens whose features differ in scale, as those of language models do. --sparsity prunes as Wanda does (wanda.h). All layers
// have the same shape, so that one of the 32 represents the others; one layer takes 809 MB in single precision.
// `--layers 32 --vocabulary 32000 --type fp16` is the whole network after the embedding: 13.5 GB with the cache of 2,048
// positions.
#include <hip/hip_runtime.h>

#include "workloads/common/program.h"
#include "workloads/llama7b/decoder.h"
#include "workloads/llama7b/wanda.h"

namespace llama7b {
namespace {

/// Approximately normal with variance 1: the sum of four uniform numbers. Never 0, since zeros come only from --sparsity.
float normal(workload::Random& random) {
  const std::uint64_t bits = random.bits();
  std::uint64_t sum = 0;
  for (int i = 0; i < 4; ++i) sum += bits >> (16 * i) & 0xffff;
  return (static_cast<float>(sum) - (0x1.fffep16f + 0.5f)) * (0x1p-16f * 1.7320508f);
}

Floats normal_values(workload::Random& random, std::size_t count, float deviation = 1.0f) {
  Floats values(count);
  for (float& value : values) value = deviation * normal(random);
  return values;
}

Floats matrix(workload::Random& random, std::size_t rows, std::size_t columns) {
  return normal_values(random, rows * columns, 1.0f / std::sqrt(static_cast<float>(columns)));
}

Floats tokens(workload::Random& random, const Floats& scales, std::size_t count) {
  Floats x = normal_values(random, count * scales.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= scales[i % scales.size()];
  return x;
}

struct Options {
  int hidden = 0, heads = 0, feed_forward = 0, layers = 0, vocabulary = 0, tokens = 0, context = 0;
  std::string phase, type, operands;
};

template <typename T>
void run(workload::Program& program, const Options& options) {
  const bool decoding = options.phase == "decode";
  const auto number = [](int value) { return static_cast<unsigned>(value); };
  const Sizes s{number(options.hidden),
                number(options.heads),
                number(options.feed_forward),
                number(options.layers),
                decoding ? 1 : number(options.tokens),
                number(options.context)};
  if (s.hidden % s.heads != 0 || s.dimensions() % 2 != 0 || s.dimensions() > kMostDimensions) {
    throw workload::UsageError("--hidden / --heads has to be an even number of dimensions, at most " +
                               std::to_string(kMostDimensions));
  }
  workload::Random& random = program.random();
  Floats scales = normal_values(random, s.hidden);
  for (float& scale : scales) scale = std::exp(scale);
  const Floats input = tokens(random, scales, s.tokens);
  Calibration calibration(s, tokens(random, scales, kCalibrationTokens));

  const gemm::Form form = options.operands == "lds"     ? gemm::Form::kLds
                          : options.operands == "words" ? gemm::Form::kWords
                                                        : gemm::Form::kRegisters;
  Decoder<T> decoder(program, s, decoding, form);
  std::size_t weights = 0, zeros = 0;
  for (unsigned l = 0; l < s.layers; ++l) {
    Matrices<Floats> m;
    for (Floats* square : {&m.wq, &m.wk, &m.wv, &m.wo}) *square = matrix(random, s.hidden, s.hidden);
    for (Floats* up : {&m.w1, &m.w3}) *up = matrix(random, s.feed_forward, s.hidden);
    m.w2 = matrix(random, s.hidden, s.feed_forward);
    const Floats attention_gain = random.uniform_values(s.hidden, 0.5f, 1.5f);
    const Floats feed_forward_gain = random.uniform_values(s.hidden, 0.5f, 1.5f);
    const std::size_t cached = std::size_t{s.positions()} * s.hidden;
    const Floats keys = normal_values(random, cached), values = normal_values(random, cached);
    if (program.sparsity() > 0) calibration.prune_layer(m, attention_gain, feed_forward_gain, program.sparsity());
    decoder.put_layer(l, m, attention_gain, feed_forward_gain, keys, values);
    for (const Floats* x : {&m.wq, &m.wk, &m.wv, &m.wo, &m.w1, &m.w2, &m.w3}) {
      weights += x->size();
      zeros += static_cast<std::size_t>(std::count(x->begin(), x->end(), 0.0f));
    }
  }
  if (options.vocabulary > 0) {
    const Floats head = matrix(random, number(options.vocabulary), s.hidden);
    decoder.put_head(head, random.uniform_values(s.hidden, 0.5f, 1.5f));
    weights += head.size();
  }
  program.measure([&] { decoder.put_input(input); }, [&] { decoder.run(); });
  program.report("kernels", decoder.kernels());
  program.report("weights", static_cast<double>(weights));
  program.report("zero_weights", static_cast<double>(zeros) / static_cast<double>(weights));
}

}  // namespace
}  // namespace llama7b

int main(int argc, char** argv) {
  workload::Program program("llama7b", "Decoder layers of LLaMA-7B: decoding of a token, or prefill",
                            "LazyGPU (ISCA '25), figure 11; H. Touvron et al., LLaMA, 2023, table 2");
  llama7b::Options options;
  program.choice(options.phase, "phase", "decode: one token, matrix times vector; prefill: many, matrix times matrix",
                 {"decode", "prefill"}, std::string("decode"));
  program.choice(options.type, "type", "weights, activations and cache; sums are fp32", {"fp32", "fp16"}, std::string("fp32"));
  program.choice(
      options.operands, "operands",
      "where operands wait: those of prefill's products as tiles in LDS or in registers; those of all products in registers, "
      "by single words",
      {"lds", "registers", "words"}, std::string("lds"));
  program.size(options.layers, "layers", "decoder layers", {1, 1, 1}, 1, 32);
  program.size(options.vocabulary, "vocabulary", "rows of the matrix after the last layer; 0: without it; LLaMA-7B has 32000",
               {0, 0, 0}, 0, 1 << 20);
  program.size(options.hidden, "hidden", "features of a token", {128, 1024, 4096}, 2, 1 << 15);
  program.size(options.heads, "heads", "heads of attention", {4, 8, 32}, 1, 1024);
  program.size(options.feed_forward, "feed-forward", "features between the matrices of the feed-forward part",
               {344, 2752, 11008}, 1, 1 << 17);
  program.size(options.context, "context", "positions that are in the cache before", {150, 128, 2047}, 0, 1 << 16);
  program.size(options.tokens, "tokens", "new tokens of prefill", {16, 16, 16}, 1, 1 << 14);
  program.takes_sparsity("each row's weights, by Wanda,");
  return program.run(argc, argv, [&] {
    options.type == "fp16" ? llama7b::run<_Float16>(program, options) : llama7b::run<float>(program, options);
  });
}
