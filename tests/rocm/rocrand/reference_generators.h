// Host implementations of rocRAND's random number generators as their authors define them: the GPU's results must equal these
// bit by bit.
//
// Each class comment names the publication of the algorithm. The distribution of a generator over the GPU's work-items
// (subsequences, strides, seeds) is from its documentation and its device headers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace lacuna::reference {

/// J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), section 3.
class Philox4x32 {
 public:
  using Block = std::array<std::uint32_t, 4>;

  explicit Philox4x32(std::uint64_t key) : key_(key) {}
  /// Ten rounds over a counter.
  Block block(Block counter) const;
  /// Number `index` of the sequence, counted from zero.
  std::uint32_t at(std::uint64_t index) const;

 private:
  std::uint64_t key_;
};

/// G. Marsaglia, "Xorshift RNGs" (Journal of Statistical Software 8, 2003), section 4: xorwow.
class Xorwow {
 public:
  static constexpr unsigned kBits = 160;
  using Shifts = std::array<std::uint32_t, 5>;

  /// State as in the paper: x, y, z, w, v and the Weyl counter d.
  Xorwow(const Shifts& state, std::uint32_t weyl) : x_(state), d_(weyl) {}
  /// rocRAND's initialisation of the first subsequence from a seed.
  static Xorwow seeded(std::uint64_t seed);
  std::uint32_t next();
  const Shifts& shifts() const { return x_; }

  /// A linear map of the 160 bits: the effect of a number of steps.
  class Jump {
   public:
    /// The effect of 2^exponent steps.
    static Jump power_of_two(unsigned exponent);
    Shifts apply(const Shifts& state) const;

   private:
    std::array<Shifts, kBits> columns_{};
  };
  /// Advances by a multiple of 2^32 steps, which does not change the Weyl counter.
  void jump(const Jump& jump) { x_ = jump.apply(x_); }

 private:
  Shifts x_;
  std::uint32_t d_;
};

/// P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators" (Operations
/// Research 47, 1999), figure 1: MRG32k3a.
class Mrg32k3a {
 public:
  static constexpr std::uint64_t kM1 = 4294967087;
  static constexpr std::uint64_t kM2 = 4294944443;
  using State = std::array<std::uint64_t, 3>;

  Mrg32k3a(const State& first, const State& second) : s1_(first), s2_(second) {}
  /// rocRAND's initialisation of the first subsequence from a seed below 2^32.
  static Mrg32k3a seeded(std::uint32_t seed);
  /// The next number, in [1, m1].
  std::uint32_t next();

  class Jump {
   public:
    using Matrix = std::array<State, 3>;
    static Jump power_of_two(unsigned exponent);
    State first(const State& state) const;
    State second(const State& state) const;

   private:
    Matrix first_{};
    Matrix second_{};
  };
  void jump(const Jump& jump) {
    s1_ = jump.first(s1_);
    s2_ = jump.second(s2_);
  }

 private:
  State s1_, s2_;
};

/// M. Saito, M. Matsumoto, "Variants of Mersenne Twister suitable for graphic processors" (ACM TOMS 39, 2013): MTGP32 with the
/// exponent 11213.
class Mtgp32 {
 public:
  static constexpr unsigned kExponent = 11213;
  static constexpr unsigned kWords = kExponent / 32 + 1;

  /// A parameter set made by the authors' dynamic creator.
  struct Parameters {
    unsigned position, shift1, shift2;
    std::uint32_t mask;
    std::span<const std::uint32_t, 16> recursion, tempering;
  };
  Mtgp32(const Parameters& parameters, std::uint32_t seed);
  std::uint32_t next();

 private:
  Parameters parameters_;
  std::vector<std::uint32_t> words_;  ///< the last kWords of the sequence
  std::size_t oldest_ = 0;
};

/// S. Joe, F. Kuo, "Constructing Sobol sequences with better two-dimensional projections" (SIAM J. Sci. Comput. 30, 2008); the
/// direction numbers are the first ones of their file new-joe-kuo-6.21201. Points are in Gray code order; the first point is
/// zero.
class Sobol {
 public:
  static constexpr unsigned kDimensions = 10;

  /// `bits`: width of a coordinate, 32 or 64.
  Sobol(unsigned dimension, unsigned bits);
  std::uint64_t at(std::uint64_t index) const;
  const std::vector<std::uint64_t>& directions() const { return directions_; }

 private:
  std::vector<std::uint64_t> directions_;
};

}  // namespace lacuna::reference
