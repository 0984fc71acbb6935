#include "platform/launch/contents.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "models/common/config/nearest_name.h"
#include "models/host/devices/semihosting_file.h"
#include "platform/launch/launch_error.h"
#include "platform/launch/text.h"

namespace lacuna {
namespace {

struct PatternInfo {
  std::string_view name;
  FillPattern pattern;
  std::size_t arguments;
};
constexpr std::array<PatternInfo, 5> kPatterns{{{"uniform", FillPattern::uniform, 2},
                                                {"normal", FillPattern::normal, 2},
                                                {"constant", FillPattern::constant, 1},
                                                {"iota", FillPattern::iota, 2},
                                                {"bits", FillPattern::bits, 0}}};

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
  }
  /// Uniform random number in [0, 1).
  double real() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// Natural logarithm, computed by a series because log() may differ in the last bit between hosts.
double logarithm(double x) {
  constexpr double kLn2 = 0.69314718055994530942;
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0.70710678118654752440) {
    mantissa *= 2;
    --exponent;
  }
  const double t = (mantissa - 1) / (mantissa + 1);
  double term = t;
  double sum = 0;
  for (int k = 1; k < 40; k += 2) {
    sum += term / k;
    term *= t * t;
  }
  return 2 * sum + exponent * kLn2;
}

/// Generates the elements of a Fill, in order.
class Generator {
 public:
  explicit Generator(const Fill& fill) : fill_(fill), random_(fill.seed), next_(fill.first) {}

  void element(std::byte* to) {
    // A value is generated even for a zero element, so that all shares of zeros above 0 yield the same nonzero values.
    const bool zero = fill_.zeros > 0 && random_.real() < fill_.zeros;
    make(to);
    if (zero) std::memset(to, 0, element_size(fill_.type));
  }

 private:
  void make(std::byte* to) {
    switch (fill_.pattern) {
      case FillPattern::constant:
        return store_element(fill_.type, fill_.first, to);
      case FillPattern::bits: {
        const std::uint64_t bits = random_.next();
        std::memcpy(to, &bits, element_size(fill_.type));
        return;
      }
      case FillPattern::iota:
        return iota(to);
      case FillPattern::uniform:
        return is_floating(fill_.type) ? uniform_real(to) : uniform_integer(to);
      case FillPattern::normal:
        return normal(to);
    }
  }

  /// Generates START, START + STEP, …; integers wrap around.
  void iota(std::byte* to) {
    if (is_floating(fill_.type)) {
      store_element(fill_.type,
                    Number::of_real(fill_.first.as_double() + static_cast<double>(index_++) * fill_.second.as_double()), to);
      return;
    }
    const auto value =
        static_cast<std::uint64_t>(fill_.first.integer) + index_++ * static_cast<std::uint64_t>(fill_.second.integer);
    std::memcpy(to, &value, element_size(fill_.type));
  }

  void uniform_integer(std::byte* to) {
    __extension__ using Wide = unsigned __int128;
    const auto values = static_cast<Wide>(fill_.second.integer - fill_.first.integer) + 1;
    const auto offset = values > std::numeric_limits<std::uint64_t>::max()
                            ? static_cast<WideInteger>(random_.next())
                            : static_cast<WideInteger>(Wide{random_.next()} * values >> 64);
    store_element(fill_.type, Number::of(fill_.first.integer + offset), to);
  }

  /// Generates a number in [LOW, HIGH). If rounding to the element type yields HIGH, draws again; after 100 draws, LOW.
  void uniform_real(std::byte* to) {
    const double low = fill_.first.as_double();
    const double high = fill_.second.as_double();
    for (int draw = 0; draw < 100; ++draw) {
      store_element(fill_.type, Number::of_real(low + (high - low) * random_.real()), to);
      if (load_element(fill_.type, to).value < high) return;
    }
    store_element(fill_.type, Number::of_real(low), to);
  }

  /// Generates a normally distributed number by Marsaglia's polar method.
  void normal(std::byte* to) {
    double u = 0;
    double s = 0;
    do {
      u = 2 * random_.real() - 1;
      const double v = 2 * random_.real() - 1;
      s = u * u + v * v;
    } while (s >= 1 || s == 0);
    const double value = fill_.first.as_double() + fill_.second.as_double() * u * std::sqrt(-2 * logarithm(s) / s);
    if (is_floating(fill_.type)) return store_element(fill_.type, Number::of_real(value), to);
    const int bits = static_cast<int>(8 * element_size(fill_.type)) - (is_signed(fill_.type) ? 1 : 0);
    const WideInteger most = (WideInteger{1} << bits) - 1;
    const WideInteger least = is_signed(fill_.type) ? -most - 1 : 0;
    const double clamped = std::clamp(value, -0x1p64, 0x1p64);
    store_element(fill_.type, Number::of(std::clamp(static_cast<WideInteger>(std::floor(clamped + 0.5)), least, most)), to);
  }

  const Fill fill_;
  Random random_;
  Number next_;
  std::uint64_t index_ = 0;
};

class ReadOnlyFile : public GuestFile {
 public:
  explicit ReadOnlyFile(std::uint64_t bytes) : bytes_(bytes) {}
  std::int64_t write(std::span<const std::byte>) override { return errno = EBADF, -1; }
  bool seek(std::uint64_t) override { return errno = ESPIPE, false; }
  std::int64_t length() override { return static_cast<std::int64_t>(bytes_); }

 protected:
  std::uint64_t left(std::size_t room) const { return std::min<std::uint64_t>(room, bytes_ - position_); }
  std::uint64_t bytes_;
  std::uint64_t position_ = 0;
};

class ZeroFile final : public ReadOnlyFile {
 public:
  using ReadOnlyFile::ReadOnlyFile;
  std::int64_t read(std::span<std::byte> bytes) override {
    const std::uint64_t count = left(bytes.size());
    std::memset(bytes.data(), 0, count);
    position_ += count;
    return static_cast<std::int64_t>(count);
  }
};

class FillFile final : public ReadOnlyFile {
 public:
  explicit FillFile(const Fill& fill) : ReadOnlyFile(fill.bytes()), generator_(fill), size_(element_size(fill.type)) {}
  std::int64_t read(std::span<std::byte> bytes) override {
    const std::uint64_t count = left(bytes.size());
    for (std::uint64_t at = 0; at < count;) {
      if (used_ == 0) generator_.element(element_.data());
      const std::uint64_t part = std::min<std::uint64_t>(size_ - used_, count - at);
      std::memcpy(bytes.data() + at, element_.data() + used_, part);
      used_ = (used_ + part) % size_;
      at += part;
    }
    position_ += count;
    return static_cast<std::int64_t>(count);
  }

 private:
  Generator generator_;
  std::uint64_t size_;
  std::uint64_t used_ = 0;  ///< bytes of element_ already returned
  std::array<std::byte, 8> element_{};
};

/// Checks the numbers of a pattern against its type.
void check_values(const Fill& fill, std::string_view text) {
  const auto fail = [&](const std::string& reason) { throw LaunchError(std::string(text) + ": " + reason); };
  std::array<std::byte, 8> scratch{};
  const bool integers = !is_floating(fill.type);
  if (fill.pattern == FillPattern::constant || fill.pattern == FillPattern::uniform || fill.pattern == FillPattern::iota)
    store_element(fill.type, fill.first, scratch.data());
  if (fill.pattern == FillPattern::uniform) {
    store_element(fill.type, fill.second, scratch.data());
    const double low = fill.first.as_double();
    const double high = fill.second.as_double();
    if (!std::isfinite(low) || !std::isfinite(high)) fail("bounds must be finite");
    if (integers ? low > high : low >= high) fail("the lower bound is not below the upper one");
  }
  if (integers && fill.pattern == FillPattern::iota && fill.second.real) fail("the step of an integer type must be an integer");
  if (fill.pattern == FillPattern::normal &&
      !(std::isfinite(fill.first.as_double()) && fill.second.as_double() >= 0 && std::isfinite(fill.second.as_double())))
    fail("mean and sigma must be finite, sigma not negative");
}

Number whole(const Number& number) {
  return number.real && number.value == std::floor(number.value) && std::fabs(number.value) < 0x1p62
             ? Number::of(static_cast<WideInteger>(number.value))
             : number;
}

}  // namespace

void parse_fill_pattern(std::string_view text, const ExpressionScope& scope, Fill& fill) {
  const std::size_t open = text.find('(');
  const std::string_view name = trimmed(text.substr(0, open));
  std::vector<std::string> values;
  if (open != std::string_view::npos) {
    if (text.back() != ')') throw LaunchError(std::string(text) + ": ) is missing at the end");
    const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
    if (!trimmed(inside).empty()) values = split_outside(inside, ',');
  }
  std::vector<std::string> names;
  for (const PatternInfo& pattern : kPatterns) {
    names.emplace_back(pattern.name);
    if (pattern.name != name) continue;
    if (values.size() != pattern.arguments)
      throw LaunchError(std::string(text) + ": " + std::string(name) + " takes " + std::to_string(pattern.arguments) +
                        " numbers");
    fill.pattern = pattern.pattern;
    if (!values.empty()) fill.first = whole(evaluate(values[0], scope));
    if (values.size() > 1) fill.second = whole(evaluate(values[1], scope));
    check_values(fill, text);
    return;
  }
  throw LaunchError("unknown pattern " + std::string(name) + did_you_mean(nearest_name(names, name)) +
                    " (uniform, normal, constant, iota, bits)");
}

std::unique_ptr<GuestFile> open_contents(const Contents& contents) {
  switch (contents.kind) {
    case Contents::Kind::zero:
      return std::make_unique<ZeroFile>(contents.bytes);
    case Contents::Kind::fill:
      return std::make_unique<FillFile>(contents.fill);
    case Contents::Kind::file:
      break;
  }
  return open_host_file(contents.file, 1);
}

}  // namespace lacuna
