#include "tests/rocm/rocrand/reference_generators.h"

#include <algorithm>

namespace lacuna::reference {

// -- Philox

Philox4x32::Block Philox4x32::block(Block c) const {
  constexpr std::uint64_t kMultiplier0 = 0xd2511f53;
  constexpr std::uint64_t kMultiplier1 = 0xcd9e8d57;
  auto key0 = static_cast<std::uint32_t>(key_);
  auto key1 = static_cast<std::uint32_t>(key_ >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * c[0];
    const std::uint64_t product1 = kMultiplier1 * c[2];
    c = {static_cast<std::uint32_t>(product1 >> 32) ^ c[1] ^ key0, static_cast<std::uint32_t>(product1),
         static_cast<std::uint32_t>(product0 >> 32) ^ c[3] ^ key1, static_cast<std::uint32_t>(product0)};
    key0 += 0x9e3779b9;  // golden ratio
    key1 += 0xbb67ae85;  // sqrt(3) - 1
  }
  return c;
}

std::uint32_t Philox4x32::at(std::uint64_t index) const {
  const std::uint64_t counter = index / 4;
  return block({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0})[index % 4];
}

// -- XORWOW

namespace {

void step(Xorwow::Shifts& x) {
  const std::uint32_t t = x[0] ^ (x[0] >> 2);
  std::rotate(x.begin(), x.begin() + 1, x.end());
  x[4] = (x[3] ^ (x[3] << 4)) ^ (t ^ (t << 1));
}

}  // namespace

std::uint32_t Xorwow::next() {
  step(x_);
  d_ += 362437;
  return d_ + x_[4];
}

Xorwow Xorwow::seeded(std::uint64_t seed) {
  const std::uint32_t t0 = (static_cast<std::uint32_t>(seed) ^ 0x2c7f967f) * 1228688033;
  const std::uint32_t t1 = (static_cast<std::uint32_t>(seed >> 32) ^ 0xa03697cb) * 2073658381;
  return Xorwow({123456789 + t0, 362436069 ^ t0, 521288629 + t1, 88675123 ^ t1, 5783321 + t0}, 6615241 + t1 + t0);
}

Xorwow::Shifts Xorwow::Jump::apply(const Shifts& state) const {
  Shifts result{};
  for (unsigned bit = 0; bit < kBits; ++bit) {
    if ((state[bit / 32] >> bit % 32 & 1) == 0) continue;
    for (unsigned word = 0; word < result.size(); ++word) result[word] ^= columns_[bit][word];
  }
  return result;
}

Xorwow::Jump Xorwow::Jump::power_of_two(unsigned exponent) {
  Jump jump;
  for (unsigned bit = 0; bit < kBits; ++bit) {
    jump.columns_[bit][bit / 32] = 1U << bit % 32;
    step(jump.columns_[bit]);
  }
  for (; exponent > 0; --exponent) {
    Jump twice;
    for (unsigned bit = 0; bit < kBits; ++bit) twice.columns_[bit] = jump.apply(jump.columns_[bit]);
    jump = twice;
  }
  return jump;
}

// -- MRG32k3a

namespace {

std::uint64_t multiply(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b % modulus);
}

Mrg32k3a::State multiply(const Mrg32k3a::Jump::Matrix& a, const Mrg32k3a::State& v, std::uint64_t modulus) {
  Mrg32k3a::State result{};
  for (unsigned i = 0; i < 3; ++i) {
    for (unsigned k = 0; k < 3; ++k) result[i] = (result[i] + multiply(a[i][k], v[k], modulus)) % modulus;
  }
  return result;
}

Mrg32k3a::Jump::Matrix square(const Mrg32k3a::Jump::Matrix& a, std::uint64_t modulus) {
  Mrg32k3a::Jump::Matrix result{};
  for (unsigned i = 0; i < 3; ++i) {
    for (unsigned j = 0; j < 3; ++j) {
      for (unsigned k = 0; k < 3; ++k) result[i][j] = (result[i][j] + multiply(a[i][k], a[k][j], modulus)) % modulus;
    }
  }
  return result;
}

constexpr std::uint64_t kA12 = 1403580;
constexpr std::uint64_t kA13 = Mrg32k3a::kM1 - 810728;
constexpr std::uint64_t kA21 = 527612;
constexpr std::uint64_t kA23 = Mrg32k3a::kM2 - 1370589;

}  // namespace

std::uint32_t Mrg32k3a::next() {
  const std::uint64_t p1 = (multiply(kA12, s1_[1], kM1) + multiply(kA13, s1_[0], kM1)) % kM1;
  const std::uint64_t p2 = (multiply(kA21, s2_[2], kM2) + multiply(kA23, s2_[0], kM2)) % kM2;
  s1_ = {s1_[1], s1_[2], p1};
  s2_ = {s2_[1], s2_[2], p2};
  return static_cast<std::uint32_t>(p1 > p2 ? p1 - p2 : p1 + kM1 - p2);
}

Mrg32k3a Mrg32k3a::seeded(std::uint32_t seed) {
  const std::uint64_t x = seed ^ 0x55555555U;
  const std::uint64_t y = 0xaaaaaaaaU;
  return Mrg32k3a({multiply(x, seed, kM1), multiply(y, seed, kM1), multiply(x, seed, kM1)},
                  {multiply(y, seed, kM2), multiply(x, seed, kM2), multiply(y, seed, kM2)});
}

Mrg32k3a::Jump Mrg32k3a::Jump::power_of_two(unsigned exponent) {
  Jump jump;
  jump.first_ = {{{0, 1, 0}, {0, 0, 1}, {kA13, kA12, 0}}};
  jump.second_ = {{{0, 1, 0}, {0, 0, 1}, {kA23, 0, kA21}}};
  for (; exponent > 0; --exponent) {
    jump.first_ = square(jump.first_, kM1);
    jump.second_ = square(jump.second_, kM2);
  }
  return jump;
}

Mrg32k3a::State Mrg32k3a::Jump::first(const State& state) const { return multiply(first_, state, kM1); }
Mrg32k3a::State Mrg32k3a::Jump::second(const State& state) const { return multiply(second_, state, kM2); }

// -- MTGP32

Mtgp32::Mtgp32(const Parameters& parameters, std::uint32_t seed) : parameters_(parameters) {
  const std::uint32_t hidden = parameters.recursion[4] ^ (parameters.recursion[8] << 16);
  std::uint32_t mixed = hidden;
  mixed += mixed >> 16;
  mixed += mixed >> 8;
  words_.assign(kWords, (mixed & 0xff) * 0x01010101U);
  words_[0] = seed;
  words_[1] = hidden;
  for (std::uint32_t i = 1; i < kWords; ++i) words_[i] ^= 1812433253U * (words_[i - 1] ^ (words_[i - 1] >> 30)) + i;
}

std::uint32_t Mtgp32::next() {
  const auto word = [this](std::size_t i) -> std::uint32_t& { return words_[(oldest_ + i) % kWords]; };
  std::uint32_t x = (word(0) & parameters_.mask) ^ word(1);
  x ^= x << parameters_.shift1;
  const std::uint32_t y = x ^ (word(parameters_.position) >> parameters_.shift2);
  std::uint32_t t = word(parameters_.position - 1);
  const std::uint32_t made = y ^ parameters_.recursion[y & 15];
  word(0) = made;
  oldest_ = (oldest_ + 1) % kWords;
  t ^= t >> 16;
  t ^= t >> 8;
  return made ^ parameters_.tempering[t & 15];
}

// -- Sobol

namespace {

/// Degree and inner coefficients of the primitive polynomial, and the initial direction numbers, of a dimension from 2 on.
struct JoeKuo {
  unsigned degree;
  unsigned coefficients;
  std::array<unsigned, 5> initial;
};
constexpr std::array<JoeKuo, Sobol::kDimensions - 1> kJoeKuo{{{1, 0, {1}},
                                                              {2, 1, {1, 3}},
                                                              {3, 1, {1, 3, 1}},
                                                              {3, 2, {1, 1, 1}},
                                                              {4, 1, {1, 1, 3, 3}},
                                                              {4, 4, {1, 3, 5, 13}},
                                                              {5, 2, {1, 1, 5, 5, 17}},
                                                              {5, 4, {1, 1, 5, 5, 5}},
                                                              {5, 7, {1, 1, 7, 11, 19}}}};

}  // namespace

Sobol::Sobol(unsigned dimension, unsigned bits) : directions_(bits) {
  for (unsigned i = 0; i < bits; ++i) {
    const auto shifted = [&](std::uint64_t m) { return m << (bits - 1 - i); };
    if (dimension == 0) {
      directions_[i] = shifted(1);
      continue;
    }
    const JoeKuo& row = kJoeKuo[dimension - 1];
    if (i < row.degree) {
      directions_[i] = shifted(row.initial[i]);
      continue;
    }
    std::uint64_t v = directions_[i - row.degree] ^ (directions_[i - row.degree] >> row.degree);
    for (unsigned k = 1; k < row.degree; ++k) {
      if ((row.coefficients >> (row.degree - 1 - k) & 1) != 0) v ^= directions_[i - k];
    }
    directions_[i] = v;
  }
}

std::uint64_t Sobol::at(std::uint64_t index) const {
  const std::uint64_t gray = index ^ (index >> 1);
  std::uint64_t point = 0;
  for (unsigned i = 0; i < directions_.size(); ++i) {
    if ((gray >> i & 1) != 0) point ^= directions_[i];
  }
  return point;
}

}  // namespace lacuna::reference
