// Tests rocRAND, as packaged by Debian, on the virtual GPU. Usage: generators [NAME...]; without a name, all generators are
// tested.
//
// Integers are compared bit by bit with the reference generators, in the order in memory that the library's documentation
// defines; nearly everything derived from them is checked by its distribution.
#include <hip/hip_runtime_api.h>
#include <rocrand/rocrand.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/rocm/rocrand/mtgp32_parameters.h"
#include "tests/rocm/rocrand/reference_generators.h"

namespace lacuna::reference {
namespace {

constexpr std::uint32_t kSeed = 0x2545f491;
/// Work-items of the library's launches: 512 workgroups of 256. XORWOW and MRG32k3a have a subsequence for each work-item.
constexpr std::size_t kWorkItems = 512 * 256;
constexpr std::size_t kWorkgroup = 256;
// log2 of the length of a subsequence. The documentation states 67 for both generators; the jump tables of MRG32k3a's header
// are for 76.
constexpr unsigned kXorwowSubsequence = 67;
constexpr unsigned kMrg32k3aSubsequence = 76;

int failures = 0;

template <class... Values>
void expect(bool condition, const char* format, Values... values) {
  if (condition) return;
  ++failures;
  std::printf("FAILED: ");
  std::printf(format, values...);
  std::printf("\n");
}

void hip(hipError_t status, const char* what) {
  if (status == hipSuccess) return;
  std::printf("FAILED: %s: %s\n", what, hipGetErrorString(status));
  std::exit(1);
}
void rocrand(rocrand_status status, const char* what) {
  if (status == ROCRAND_STATUS_SUCCESS) return;
  std::printf("FAILED: %s: status %d\n", what, static_cast<int>(status));
  std::exit(1);
}

class Generator {
 public:
  Generator(rocrand_rng_type type, bool quasi) : quasi_(quasi) {
    rocrand(rocrand_create_generator(&handle_, type), "rocrand_create_generator");
    if (!quasi) rocrand(rocrand_set_seed(handle_, kSeed), "rocrand_set_seed");
  }
  ~Generator() { rocrand_destroy_generator(handle_); }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  rocrand_generator handle() const { return handle_; }
  bool quasi() const { return quasi_; }

  /// Returns the numbers that `generate` writes to `count` elements of device memory.
  template <class T>
  std::vector<T> generate(std::size_t count, const std::function<rocrand_status(T*, std::size_t)>& generate) const {
    T* device = nullptr;
    hip(hipMalloc(reinterpret_cast<void**>(&device), count * sizeof(T)), "hipMalloc");
    rocrand(generate(device, count), "rocrand_generate*");
    std::vector<T> host(count);
    hip(hipMemcpy(host.data(), device, count * sizeof(T), hipMemcpyDeviceToHost), "hipMemcpy");
    hip(hipFree(device), "hipFree");
    return host;
  }
  std::vector<std::uint32_t> integers(std::size_t count) const {
    return generate<std::uint32_t>(count, [this](auto* to, std::size_t n) { return rocrand_generate(handle_, to, n); });
  }

 private:
  rocrand_generator handle_ = nullptr;
  bool quasi_;
};

void compare(const char* what, const std::vector<std::uint32_t>& got, const std::vector<std::uint32_t>& expected) {
  std::size_t different = 0;
  std::size_t first = 0;
  for (std::size_t i = got.size(); i-- > 0;) {
    if (got[i] == expected[i]) continue;
    ++different;
    first = i;
  }
  expect(different == 0, "%s: %zu of %zu numbers differ, the first at %zu: %#x, the reference has %#x", what, different,
         got.size(), first, got[first], expected[first]);
}

// -- the references in the library's order

std::vector<std::uint32_t> philox(std::size_t first, std::size_t count) {
  const Philox4x32 generator(kSeed);
  std::vector<std::uint32_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = generator.at(first + i);
  return numbers;
}

/// Number i is from subsequence i mod kWorkItems.
template <class Reference, class Output>
std::vector<std::uint32_t> subsequences(std::size_t count, unsigned length, const Output& output) {
  const auto jump = Reference::Jump::power_of_two(length);
  Reference start = Reference::seeded(kSeed);
  std::vector<std::uint32_t> numbers(count);
  for (std::size_t item = 0; item < std::min(kWorkItems, count); ++item) {
    Reference generator = start;
    for (std::size_t i = item; i < count; i += kWorkItems) numbers[i] = output(generator.next());
    start.jump(jump);
  }
  return numbers;
}

std::vector<std::uint32_t> xorwow(std::size_t count) {
  return subsequences<Xorwow>(count, kXorwowSubsequence, [](std::uint32_t v) { return v; });
}

/// MRG32k3a as in the library, which scales [1, m1] to all 32-bit numbers.
std::vector<std::uint32_t> mrg32k3a(std::size_t count) {
  return subsequences<Mrg32k3a>(count, kMrg32k3aSubsequence,
                                [](std::uint32_t v) { return static_cast<std::uint32_t>((v - 1) * 1.000000048661607); });
}

/// Each workgroup has a generator and produces blocks of 256 numbers in turn.
std::vector<std::uint32_t> mtgp32(std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  for (std::size_t group = 0; group * kWorkgroup < std::min(kWorkItems, count); ++group) {
    Mtgp32 generator(mtgp32_parameters(static_cast<unsigned>(group)), kSeed + static_cast<std::uint32_t>(group) + 1);
    for (std::size_t begin = group * kWorkgroup; begin < count; begin += kWorkItems) {
      for (std::size_t i = begin; i < begin + kWorkgroup; ++i) {
        const std::uint32_t number = generator.next();
        if (i < count) numbers[i] = number;
      }
    }
  }
  return numbers;
}

/// Returns the points dimension by dimension: all coordinates of one dimension, then those of the next. Of 64-bit coordinates
/// only the upper half is returned.
std::vector<std::uint32_t> sobol(std::size_t count, unsigned bits) {
  std::vector<std::uint32_t> numbers;
  for (unsigned dimension = 0; dimension < Sobol::kDimensions; ++dimension) {
    const Sobol points(dimension, bits);
    for (std::size_t i = 0; i < count / Sobol::kDimensions; ++i) {
      numbers.push_back(static_cast<std::uint32_t>(points.at(i) >> (bits - 32)));
    }
  }
  return numbers;
}

// -- distributions

struct Moments {
  double mean = 0, deviation = 0, skewness = 0, excess = 0;
};
template <class T>
Moments moments(const std::vector<T>& values, const std::function<double(T)>& value) {
  Moments m;
  const auto n = static_cast<double>(values.size());
  for (const T v : values) m.mean += value(v) / n;
  double second = 0, third = 0, fourth = 0;
  for (const T v : values) {
    const double d = value(v) - m.mean;
    second += d * d / n;
    third += d * d * d / n;
    fourth += d * d * d * d / n;
  }
  m.deviation = std::sqrt(second);
  m.skewness = third / std::pow(second, 1.5);
  m.excess = fourth / (second * second) - 3;
  return m;
}
/// Checks with a tolerance of five standard errors. With good random numbers, about one in 17,000 runs of 100 such checks would
/// fail; runs are reproducible.
void expect_moment(const std::string& what, const char* moment, double got, double expected, double standard_error) {
  expect(std::abs(got - expected) < 5 * standard_error, "%s: %s is %g, expected %g +- %g", what.c_str(), moment, got, expected,
         5 * standard_error);
}
void expect_normal(const std::string& what, const Moments& m, double mean, double deviation, std::size_t count) {
  const double root = std::sqrt(static_cast<double>(count));
  expect_moment(what, "mean", m.mean, mean, deviation / root);
  expect_moment(what, "deviation", m.deviation, deviation, deviation / std::sqrt(2.0) / root);
  expect_moment(what, "skewness", m.skewness, 0, std::sqrt(6.0) / root);
  expect_moment(what, "excess", m.excess, 0, std::sqrt(24.0) / root);
}
void expect_uniform(const std::string& what, const std::vector<double>& values) {
  constexpr std::size_t kBins = 64;
  std::array<double, kBins> bins{};
  for (const double v : values) {
    expect(v > 0 && v <= 1, "%s: %g is not in (0, 1]", what.c_str(), v);
    ++bins[std::min<std::size_t>(kBins - 1, static_cast<std::size_t>(v * kBins))];
  }
  const double mean = static_cast<double>(values.size()) / kBins;
  double chi_square = 0;
  for (const double bin : bins) chi_square += (bin - mean) * (bin - mean) / mean;
  // kBins - 1 = 63 degrees of freedom: mean 63, deviation sqrt(126).
  expect(chi_square < 63 + 5 * std::sqrt(126.0), "%s: chi square of %zu bins is %g", what.c_str(), kBins, chi_square);
  const Moments m = moments<double>(values, [](double v) { return v; });
  const double root = std::sqrt(static_cast<double>(values.size()));
  expect_moment(what, "mean", m.mean, 0.5, std::sqrt(1 / 12.0) / root);
  expect_moment(what, "deviation", m.deviation, std::sqrt(1 / 12.0), std::sqrt(1 / 60.0) / root);
}

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 0x3ff;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) return fraction != 0 ? std::nan("") : HUGE_VAL;
  return bits >> 15 != 0 ? -magnitude : magnitude;
}
half to_half(std::uint16_t bits) {
  half value;
  static_assert(sizeof value == sizeof bits);
  std::memcpy(static_cast<void*>(&value), &bits, sizeof bits);
  return value;
}
template <class T>
std::vector<double> doubles(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}
std::vector<double> doubles(const std::vector<std::uint16_t>& halves) {
  std::vector<double> values;
  for (const std::uint16_t bits : halves) values.push_back(half_value(bits));
  return values;
}

/// Results that are wrong on any GPU because of bugs in the library, and are therefore not checked.
struct Flaws {
  /// The first of each pair of half-precision normal numbers is the sine of an angle, and the f16 sine of Debian's ROCm device
  /// library (5.2.3) returns NaN for finite angles: its test for infinities is the wrong way round.
  bool sine_of_half = true;
  /// These distributions use the lower half of 64-bit coordinates, which is zero for the first 2^32 points.
  bool lower_half = false;
};

class Distributions {
 public:
  Distributions(std::string name, const Generator& generator, Flaws flaws)
      : name_(std::move(name)), generator_(generator), handle_(generator.handle()), flaws_(flaws) {}

  void check() const {
    check_uniform();
    check_normal();
    for (const double lambda : {3.5, 1000.0}) check_poisson(lambda);
  }

 private:
  static constexpr std::size_t kCount = 4096 * Sobol::kDimensions;

  std::string called(const char* what) const { return name_ + ", " + what; }
  static half* halves(std::uint16_t* to) { return reinterpret_cast<half*>(to); }
  template <class T, class Call>
  std::vector<T> numbers(const Call& call) const {
    return generator_.generate<T>(kCount, [&](T* to, std::size_t n) { return call(to, n); });
  }
  /// Maps unsigned integers to the middle of their intervals of (0, 1).
  template <class T>
  static std::vector<double> scaled(const std::vector<T>& values) {
    std::vector<double> result;
    for (const T v : values) result.push_back((v + 0.5) / (1U << 8 * sizeof(T)));
    return result;
  }

  void check_uniform() const {
    if (!flaws_.lower_half) {
      expect_uniform(called("uniform float"),
                     doubles(numbers<float>([&](auto* to, auto n) { return rocrand_generate_uniform(handle_, to, n); })));
    }
    expect_uniform(called("uniform double"),
                   numbers<double>([&](auto* to, auto n) { return rocrand_generate_uniform_double(handle_, to, n); }));
    expect_uniform(called("uniform half"), doubles(numbers<std::uint16_t>([&](auto* to, auto n) {
                     return rocrand_generate_uniform_half(handle_, halves(to), n);
                   })));
    expect_uniform(called("8-bit numbers"),
                   scaled(numbers<std::uint8_t>([&](auto* to, auto n) { return rocrand_generate_char(handle_, to, n); })));
    expect_uniform(called("16-bit numbers"),
                   scaled(numbers<std::uint16_t>([&](auto* to, auto n) { return rocrand_generate_short(handle_, to, n); })));
  }

  template <class Value>
  void expect_numbers(const char* what, const std::vector<double>& values, double mean, double deviation,
                      const Value& value) const {
    expect_normal(called(what), moments<double>(values, value), mean, deviation, values.size());
  }

  void check_normal() const {
    const auto itself = [](double v) { return v; };
    const auto logarithm = [](double v) { return std::log(v); };
    expect_numbers("normal double",
                   numbers<double>([&](auto* to, auto n) { return rocrand_generate_normal_double(handle_, to, n, 7.0, 0.5); }),
                   7, 0.5, itself);
    if (flaws_.lower_half) return;
    expect_numbers(
        "normal float",
        doubles(numbers<float>([&](auto* to, auto n) { return rocrand_generate_normal(handle_, to, n, -3.0F, 2.5F); })), -3,
        2.5, itself);
    expect_numbers(
        "log-normal float",
        doubles(numbers<float>([&](auto* to, auto n) { return rocrand_generate_log_normal(handle_, to, n, 0.5F, 0.25F); })),
        0.5, 0.25, logarithm);
    expect_numbers("log-normal double", numbers<double>([&](auto* to, auto n) {
                     return rocrand_generate_log_normal_double(handle_, to, n, 1.0, 0.75);
                   }),
                   1, 0.75, logarithm);
    auto values = doubles(numbers<std::uint16_t>([&](auto* to, auto n) {
      return rocrand_generate_normal_half(handle_, halves(to), n, to_half(0x3c00), to_half(0x4000));
    }));
    if (flaws_.sine_of_half) {
      for (std::size_t i = 0; i < values.size() / 2; ++i) values[i] = values[2 * i + 1];
      values.resize(values.size() / 2);
    }
    expect_numbers("normal half", values, 1, 2, itself);
  }

  void check_poisson(double lambda) const {
    const auto counts =
        numbers<std::uint32_t>([&](auto* to, auto n) { return rocrand_generate_poisson(handle_, to, n, lambda); });
    const Moments m = moments<std::uint32_t>(counts, [](std::uint32_t v) { return static_cast<double>(v); });
    const double root = std::sqrt(static_cast<double>(kCount));
    const std::string what = called("Poisson");
    expect_moment(what, "mean", m.mean, lambda, std::sqrt(lambda) / root);
    expect_moment(what, "deviation", m.deviation, std::sqrt(lambda),
                  std::sqrt(lambda) * std::sqrt((2 + 1 / lambda) / 4) / root);
  }

  std::string name_;
  const Generator& generator_;
  rocrand_generator handle_;
  Flaws flaws_;
};

// -- generators

/// Count of generated numbers: more than there are work-items, and not a multiple of any block size.
constexpr std::size_t kCount = kWorkItems + 5003;

void run_philox() {
  const Generator g(ROCRAND_RNG_PSEUDO_PHILOX4_32_10, false);
  compare("philox", g.integers(kCount), philox(0, kCount));
  // The next call continues the sequence; an offset starts at another position.
  compare("philox, second call", g.integers(1001), philox(kCount, 1001));
  rocrand(rocrand_set_offset(g.handle(), 1000003), "rocrand_set_offset");
  compare("philox, offset", g.integers(1001), philox(1000003, 1001));
  rocrand(rocrand_set_offset(g.handle(), 0), "rocrand_set_offset");
  const auto floats =
      g.generate<float>(4096, [&](float* to, std::size_t n) { return rocrand_generate_uniform(g.handle(), to, n); });
  const auto numbers = philox(0, 4096);
  std::size_t different = 0;
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const float expected = std::fma(static_cast<float>(numbers[i]), 0x1p-32F, 0x1p-32F);
    different += floats[i] == expected ? 0 : 1;
  }
  expect(different == 0, "philox, uniform float: %zu of %zu differ", different, floats.size());
  Distributions("philox", g, {}).check();
}

void run_xorwow() {
  const Generator g(ROCRAND_RNG_PSEUDO_XORWOW, false);
  compare("xorwow", g.integers(kCount), xorwow(kCount));
  Distributions("xorwow", g, {}).check();
}

void run_mrg32k3a() {
  const Generator g(ROCRAND_RNG_PSEUDO_MRG32K3A, false);
  compare("mrg32k3a", g.integers(kCount), mrg32k3a(kCount));
  Distributions("mrg32k3a", g, {}).check();
}

void run_mtgp32() {
  const Generator g(ROCRAND_RNG_PSEUDO_MTGP32, false);
  compare("mtgp32", g.integers(kCount), mtgp32(kCount));
  Distributions("mtgp32", g, {}).check();
}

void run_sobol(const char* name, rocrand_rng_type type, unsigned bits) {
  // Quasi-random normal numbers are quantiles, which need no sine.
  const Flaws flaws{.sine_of_half = false, .lower_half = bits == 64};
  const Generator g(type, true);
  rocrand(rocrand_set_quasi_random_generator_dimensions(g.handle(), Sobol::kDimensions), "set dimensions");
  const std::size_t count = Sobol::kDimensions * 9973;
  compare(name, g.integers(count), sobol(count, bits));
  const Generator fresh(type, true);
  Distributions(name, fresh, flaws).check();
}

int run(int count, char** names) {
  const std::pair<const char*, std::function<void()>> all[] = {
      {"philox", run_philox},
      {"xorwow", run_xorwow},
      {"mrg32k3a", run_mrg32k3a},
      {"mtgp32", run_mtgp32},
      {"sobol32", [] { run_sobol("sobol32", ROCRAND_RNG_QUASI_SOBOL32, 32); }},
      {"sobol64", [] { run_sobol("sobol64", ROCRAND_RNG_QUASI_SOBOL64, 64); }},
  };
  for (const auto& [name, test] : all) {
    const bool wanted =
        count == 0 || std::any_of(names, names + count, [&, n = name](const char* w) { return std::strcmp(w, n) == 0; });
    if (!wanted) continue;
    const int before = failures;
    test();
    std::printf("%s: %s\n", name, failures == before ? "passed" : "failed");
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lacuna::reference

int main(int argc, char** argv) { return lacuna::reference::run(argc - 1, argv + 1); }
