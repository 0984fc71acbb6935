#include <cstdlib>

#include "tests/isa/reference/vector_bench.h"

namespace lacuna::isa::test {
namespace {

const std::vector<std::uint64_t> kEdges16 = {0,    1,     2,      15,     16,     17,     0x7f,   0x80,
                                             0xff, 0x100, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff};
const std::vector<std::uint64_t> kEdges32 = {0,          1,          2,          7,          8,          15,         16,
                                             31,         32,         33,         63,         64,         0x7f,       0x80,
                                             0xff,       0x7fff,     0x8000,     0xffff,     0x10000,    0x7fffff,   0x800000,
                                             0xffffff,   0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0x80808080, 0xfffffffe,
                                             0xffffffff, 0xffff8000, 0xffff7fff, 0x0c0b0a09, 0x01020304};
const std::vector<std::uint64_t> kEdges64 = {0,
                                             1,
                                             31,
                                             32,
                                             63,
                                             64,
                                             0xffffffff,
                                             0x100000000,
                                             0x7fffffff,
                                             0x80000000,
                                             0x7fffffffffffffff,
                                             0x8000000000000000,
                                             0x8000000000000001,
                                             0xffffffffffffffff,
                                             0xfffffffffffffffe,
                                             0xffff0000ffff0000,
                                             0xff00ff00ff00ff};

/// Both signs of: zero, the limits of the denormals and of the normals, infinity, NaNs, one and its neighbours, halves and
/// other ties of rounding to integers, limits of integers, values near the bounds of division scaling.
std::vector<std::uint64_t> float_edges(int width, int precision) {
  const int bias = (1 << (width - precision - 1)) - 1;
  const std::uint64_t hidden = std::uint64_t{1} << (precision - 1);
  const auto power = [&](int e) { return static_cast<std::uint64_t>(e + bias) << (precision - 1); };
  const std::uint64_t infinity = power(bias + 1);
  const std::uint64_t half = hidden >> 1;
  std::vector<std::uint64_t> positive = {0,
                                         1,
                                         2,
                                         half,
                                         hidden - 1,
                                         hidden,
                                         hidden + 1,
                                         2 * hidden,
                                         infinity - 1,
                                         infinity - hidden,
                                         infinity,
                                         infinity + 1,
                                         infinity + half,
                                         infinity + half + 5,
                                         infinity + half - 1,
                                         power(0),
                                         power(0) - 1,
                                         power(0) + 1,
                                         power(-1),
                                         power(-1) + 1,
                                         power(-1) - 1,
                                         power(0) + half,      // 1.5
                                         power(1) + half / 2,  // 2.5
                                         power(1),
                                         power(precision - 1) + 1,  // the first binade without fraction bits
                                         power(precision - 2) + 1,  // ends in .5
                                         power(-precision),         // half a unit in the last place of 1.0
                                         power(-precision) + 1,
                                         power(8),
                                         power(7) + (std::uint64_t{0x7f} << (precision - 8))};  // 255
  if (precision > 11) {
    for (const int e : {15, 16, 31, 32}) positive.insert(positive.end(), {power(e), power(e) - 1, power(e) + 1});
    for (const int e : {bias - 1, bias, 1 - bias, 2 - bias, precision - 1 - bias, 3 * bias / 4})
      positive.push_back(power(e) + 3);
  }
  const std::size_t count = positive.size();
  for (std::size_t i = 0; i < count; ++i) positive.push_back(positive[i] | std::uint64_t{1} << (width - 1));
  return positive;
}
const std::vector<std::uint64_t> kEdgesF16 = float_edges(16, 11);
const std::vector<std::uint64_t> kEdgesF32 = float_edges(32, 24);
const std::vector<std::uint64_t> kEdgesF64 = float_edges(64, 53);

bool half_of(OperandType t) { return t == OperandType::f16 || t == OperandType::pk_f16; }

}  // namespace

std::span<const std::uint64_t> edge_values(OperandType type) {
  switch (type) {
    case OperandType::f16:
    case OperandType::pk_f16:
      return kEdgesF16;
    case OperandType::f32:
    case OperandType::pk_f32:
      return kEdgesF32;
    case OperandType::f64:
      return kEdgesF64;
    case OperandType::b8:
    case OperandType::b16:
    case OperandType::u16:
    case OperandType::i16:
    case OperandType::pk_u16:
    case OperandType::pk_i16:
      return kEdges16;
    case OperandType::b64:
    case OperandType::u64:
    case OperandType::i64:
    case OperandType::b128:
      return kEdges64;
    default:
      return kEdges32;
  }
}

std::uint64_t draw_value(OperandType type, std::mt19937_64& generator) {
  const std::span<const std::uint64_t> edges = edge_values(type);
  const auto one = [&] {
    const std::uint64_t r = generator();
    if ((r & 3) < 2) return edges[(r >> 8) % edges.size()];
    if ((r & 3) == 2) return generator();
    // Values near an edge value, which cause cancellation and carries.
    return edges[(r >> 8) % edges.size()] + (r >> 40 & 0xf) - 8;
  };
  const std::uint64_t low = one();
  // Fills the high part of packed types, or the bits above a 16-bit operand, which must not affect the result.
  if (type == OperandType::pk_f32) return (low & 0xffffffff) | one() << 32;
  if (half_of(type) || edges.data() == kEdges16.data()) return (low & 0xffff) | (one() & 0xffff) << 16;
  return low;
}

unsigned reference_rounds() {
  const char* text = std::getenv("LACUNA_REFERENCE_ROUNDS");
  const long rounds = text != nullptr ? std::strtol(text, nullptr, 10) : 1;
  return rounds < 1 ? 1U : static_cast<unsigned>(rounds);
}

}  // namespace lacuna::isa::test
