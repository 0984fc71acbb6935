#include "models/common/config/parameters.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

#include "models/common/config/nearest_name.h"

namespace lacuna {
namespace {

__extension__ using Wide = unsigned __int128;

struct UnitScale {
  std::string_view name;
  std::uint64_t scale;
};

// Each list ends with the base unit; text() uses the first unit that divides the value.
constexpr std::array<UnitScale, 4> kByteUnits{{{"GiB", 1ULL << 30}, {"MiB", 1ULL << 20}, {"KiB", 1ULL << 10}, {"B", 1}}};
constexpr std::array<UnitScale, 4> kFrequencyUnits{{{"GHz", 1'000'000'000}, {"MHz", 1'000'000}, {"kHz", 1'000}, {"Hz", 1}}};
constexpr std::array<UnitScale, 5> kTimeUnits{
    {{"s", 1'000'000'000'000}, {"ms", 1'000'000'000}, {"us", 1'000'000}, {"ns", 1'000}, {"ps", 1}}};
constexpr std::array<UnitScale, 1> kCycleUnits{{{"cycles", 1}}};
constexpr std::uint64_t kPicosecondsPerSecond = 1'000'000'000'000;

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

/// Properties that differ among the integer types: name, units, and access to the number inside the strong type.
template <class T>
struct IntegerKind;

template <>
struct IntegerKind<unsigned> {
  static constexpr std::string_view type = "integer";
  static constexpr std::span<const UnitScale> units{};
  static constexpr bool unit_required = false;
  static unsigned& value(unsigned& v) { return v; }
};
template <>
struct IntegerKind<std::uint64_t> {
  static constexpr std::string_view type = "integer";
  static constexpr std::span<const UnitScale> units{};
  static constexpr bool unit_required = false;
  static std::uint64_t& value(std::uint64_t& v) { return v; }
};
template <>
struct IntegerKind<Bytes> {
  static constexpr std::string_view type = "size";
  static constexpr std::span<const UnitScale> units{kByteUnits};
  static constexpr bool unit_required = false;
  static std::uint64_t& value(Bytes& v) { return v.n; }
};
template <>
struct IntegerKind<Frequency> {
  static constexpr std::string_view type = "frequency";
  static constexpr std::span<const UnitScale> units{kFrequencyUnits};
  static constexpr bool unit_required = true;
  static std::uint64_t& value(Frequency& v) { return v.hz; }
};
template <>
struct IntegerKind<Cycles> {
  static constexpr std::string_view type = "cycles";
  static constexpr std::span<const UnitScale> units{kCycleUnits};
  static constexpr bool unit_required = false;
  static std::uint64_t& value(Cycles& v) { return v.n; }
};
template <>
struct IntegerKind<Tick> {
  static constexpr std::string_view type = "time";
  static constexpr std::span<const UnitScale> units{kTimeUnits};
  static constexpr bool unit_required = true;
  static std::uint64_t& value(Tick& v) { return v.ps; }
};

/// Formats with the largest unit that leaves a whole number ("64KiB"), so that parsing returns the same value.
std::string format_integer(std::uint64_t value, std::span<const UnitScale> units) {
  if (units.empty()) return std::to_string(value);
  if (value == 0) return "0" + std::string(units.back().name);
  const auto unit = std::find_if(units.begin(), units.end(), [&](const UnitScale& u) { return value % u.scale == 0; });
  return std::to_string(value / unit->scale) + std::string(unit->name);
}

std::string unit_names(std::span<const UnitScale> units) {
  std::string names;
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
    if (!names.empty()) names += ", ";
    names += unit->name;
  }
  return names;
}

struct ParsedInteger {
  std::uint64_t value = 0;
  std::optional<std::string> error;
};

ParsedInteger refuse(std::string reason) { return {0, std::move(reason)}; }

/// Parses decimal or, after 0x, hexadecimal digits, then a unit. Only types with units allow a decimal fraction. The unit may
/// be missing for 0 and unless `unit_required`. The result is exact: no floating point is used.
ParsedInteger parse_integer(std::string_view text, std::span<const UnitScale> units, bool unit_required) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const char* begin = text.data() + (hexadecimal ? 2 : 0);
  const char* const end = text.data() + text.size();
  std::uint64_t whole = 0;
  const auto [after_whole, status] = std::from_chars(begin, end, whole, hexadecimal ? 16 : 10);
  if (status == std::errc::result_out_of_range) return refuse(quoted(text) + " is too large");
  if (status != std::errc{}) return refuse(quoted(text) + " is not a number");

  const char* position = after_whole;
  std::uint64_t fraction = 0;
  std::uint64_t fraction_scale = 1;
  if (position != end && *position == '.' && !hexadecimal && !units.empty()) {
    const char* const first_digit = ++position;
    while (position != end && *position >= '0' && *position <= '9') {
      if (fraction_scale >= kPicosecondsPerSecond) return refuse(quoted(text) + " has more than 12 decimal places");
      fraction = fraction * 10 + static_cast<std::uint64_t>(*position++ - '0');
      fraction_scale *= 10;
    }
    if (position == first_digit) return refuse(quoted(text) + " has no digits after the point");
  }
  while (position != end && *position == ' ') ++position;

  const std::string_view suffix(position, static_cast<std::size_t>(end - position));
  std::uint64_t scale = 1;
  if (!suffix.empty()) {
    if (units.empty()) return refuse(quoted(text) + " is not a whole number");
    const auto unit = std::find_if(units.begin(), units.end(), [&](const UnitScale& u) { return u.name == suffix; });
    if (unit == units.end()) return refuse("unknown unit " + quoted(suffix) + "; known: " + unit_names(units));
    scale = unit->scale;
  } else if (unit_required && (whole != 0 || fraction != 0)) {
    return refuse(quoted(text) + " needs a unit: " + unit_names(units));
  }

  const Wide scaled = (static_cast<Wide>(whole) * fraction_scale + fraction) * scale;
  if (scaled % fraction_scale != 0) return refuse(quoted(text) + " is not a whole number of " + std::string(units.back().name));
  const Wide value = scaled / fraction_scale;
  if (value > std::numeric_limits<std::uint64_t>::max()) return refuse(quoted(text) + " is too large");
  return {static_cast<std::uint64_t>(value), std::nullopt};
}

std::string format_double(double value) {
  std::array<char, 40> buffer{};
  const auto [end, status] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return status == std::errc{} ? std::string(buffer.data(), end) : std::string("?");
}

/// Text of a range: "1..64", "at least 1", "at most 64", or "" without bounds. `format` writes one bound.
template <class Format>
std::string format_range(const ParameterRange& range, double lowest, double highest, Format format) {
  const bool has_min = range.min > lowest;
  const bool has_max = range.max < highest;
  if (has_min && has_max) return format(range.min) + ".." + format(range.max);
  if (has_min) return "at least " + format(range.min);
  if (has_max) return "at most " + format(range.max);
  return {};
}

/// Base class of all kinds of parameters; stores their traits.
class TraitedParameter : public Parameter {
 public:
  explicit TraitedParameter(const ParameterTraits& traits) : range_(traits.range), unit_(traits.unit) {}

 protected:
  bool in_range(double value) const { return value >= range_.min && value <= range_.max; }
  std::string out_of_range(const std::string& value) const { return value + " is out of range (legal: " + legal() + ")"; }

  ParameterRange range_;
  std::string unit_;
};

/// Relative error of a clock's period that is due to rounding to picoseconds, the unit of simulated time.
double rounding_of_period(std::uint64_t hz) {
  const double exact = static_cast<double>(kPicosecondsPerSecond) / static_cast<double>(hz);
  return std::abs(static_cast<double>(Frequency{hz}.period().ps) / exact - 1);
}

template <class T>
class IntegerParameter final : public TraitedParameter {
  using Kind = IntegerKind<T>;

 public:
  IntegerParameter(T& member, const ParameterTraits& traits)
      : TraitedParameter(traits), member_(member), power_of_two_(traits.power_of_two) {}

  std::optional<std::string> parse(std::string_view text) override {
    const ParsedInteger parsed = parse_integer(text, Kind::units, Kind::unit_required);
    if (parsed.error) return parsed.error;
    if (auto reason = check(parsed.value)) return reason;
    using Member = std::remove_reference_t<decltype(Kind::value(member_))>;
    Kind::value(member_) = static_cast<Member>(parsed.value);
    return std::nullopt;
  }
  std::string text() const override { return format(Kind::value(member_)); }
  std::string type_name() const override { return std::string(Kind::type); }
  std::string unit() const override { return Kind::units.empty() ? unit_ : unit_names(Kind::units); }
  std::string legal() const override {
    std::string legal = format_range(range_, 0, static_cast<double>(highest()),
                                     [](double bound) { return format(static_cast<std::uint64_t>(bound)); });
    if (power_of_two_) legal += legal.empty() ? "power of two" : ", power of two";
    return legal;
  }

 private:
  static std::string format(std::uint64_t value) { return format_integer(value, Kind::units); }
  static constexpr std::uint64_t highest() {
    return std::is_same_v<T, unsigned> ? std::numeric_limits<unsigned>::max() : std::numeric_limits<std::uint64_t>::max();
  }
  std::optional<std::string> check(std::uint64_t value) const {
    if (value > highest()) return format(value) + " is too large";
    if (!in_range(static_cast<double>(value))) return out_of_range(format(value));
    if (power_of_two_ && !std::has_single_bit(value)) return format(value) + " is not a power of two (legal: " + legal() + ")";
    if constexpr (std::is_same_v<T, Frequency>) {
      if (value == 0) return "a frequency must not be 0";
      if (rounding_of_period(value) > 0.001)
        return format(value) + ": the period is off by more than 0.1 % in whole picoseconds";
    }
    return std::nullopt;
  }

  T& member_;
  bool power_of_two_;
};

class DoubleParameter final : public TraitedParameter {
 public:
  DoubleParameter(double& member, const ParameterTraits& traits) : TraitedParameter(traits), member_(member) {}

  std::optional<std::string> parse(std::string_view text) override {
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
      return quoted(text) + " is not a number";
    if (!in_range(value)) return out_of_range(format_double(value));
    member_ = value;
    return std::nullopt;
  }
  std::string text() const override { return format_double(member_); }
  std::string type_name() const override { return "number"; }
  std::string unit() const override { return unit_; }
  std::string legal() const override {
    const ParameterRange unlimited;
    return format_range(range_, unlimited.min, unlimited.max, format_double);
  }

 private:
  double& member_;
};

class BoolParameter final : public TraitedParameter {
 public:
  BoolParameter(bool& member, const ParameterTraits& traits) : TraitedParameter(traits), member_(member) {}

  std::optional<std::string> parse(std::string_view text) override {
    if (text == "true" || text == "on" || text == "yes" || text == "1") {
      member_ = true;
    } else if (text == "false" || text == "off" || text == "no" || text == "0") {
      member_ = false;
    } else {
      return quoted(text) + " is neither true nor false";
    }
    return std::nullopt;
  }
  std::string text() const override { return member_ ? "true" : "false"; }
  std::string type_name() const override { return "bool"; }
  std::string unit() const override { return unit_; }
  std::string legal() const override { return "true | false"; }

 private:
  bool& member_;
};

class StringParameter final : public TraitedParameter {
 public:
  StringParameter(std::string& member, const ParameterTraits& traits) : TraitedParameter(traits), member_(member) {}

  std::optional<std::string> parse(std::string_view text) override {
    // A value with these characters could not be read back from the effective configuration file.
    if (text.find_first_of("#\n\r") != std::string_view::npos) return quoted(text) + " contains '#' or a line break";
    if (!text.empty() && (std::string_view(" \t").find(text.front()) != std::string_view::npos ||
                          std::string_view(" \t").find(text.back()) != std::string_view::npos))
      return quoted(text) + " begins or ends with a blank";
    member_ = text;
    return std::nullopt;
  }
  std::string text() const override { return member_; }
  std::string type_name() const override { return "text"; }
  std::string unit() const override { return unit_; }
  std::string legal() const override { return {}; }

 private:
  std::string& member_;
};

class EnumParameter final : public TraitedParameter {
 public:
  EnumParameter(std::vector<EnumValue> values, std::function<int()> get, std::function<void(int)> set,
                const ParameterTraits& traits)
      : TraitedParameter(traits), values_(std::move(values)), get_(std::move(get)), set_(std::move(set)) {}

  std::optional<std::string> parse(std::string_view text) override {
    const auto value = std::find_if(values_.begin(), values_.end(), [&](const EnumValue& v) { return v.name == text; });
    if (value == values_.end()) return quoted(text) + " is not one of " + legal() + did_you_mean(nearest(text));
    set_(value->value);
    return std::nullopt;
  }
  std::string text() const override {
    const auto value = std::find_if(values_.begin(), values_.end(), [&](const EnumValue& v) { return v.value == get_(); });
    return value == values_.end() ? std::string("?") : std::string(value->name);
  }
  std::string type_name() const override { return "choice"; }
  std::string unit() const override { return unit_; }
  std::string legal() const override {
    std::string legal;
    for (const EnumValue& value : values_) {
      if (!legal.empty()) legal += " | ";
      legal += value.name;
    }
    return legal;
  }

 private:
  std::string nearest(std::string_view text) const {
    std::vector<std::string> names;
    for (const EnumValue& value : values_) names.emplace_back(value.name);
    return nearest_name(names, text);
  }

  std::vector<EnumValue> values_;
  std::function<int()> get_;
  std::function<void(int)> set_;
};

/// Sets the parameter's name, description, source and default, and returns it. The default must be valid by the same rules as a
/// user's value.
std::unique_ptr<Parameter> registered(std::unique_ptr<Parameter> parameter, const std::string& section, std::string_view name,
                                      std::string_view description, const ParameterTraits& traits) {
  parameter->name = section + '.' + std::string(name);
  parameter->description = description;
  parameter->source = traits.source;
  parameter->default_text = parameter->text();
  if (const auto reason = parameter->parse(parameter->default_text))
    throw std::logic_error("default of parameter " + parameter->name + ": " + *reason);
  return parameter;
}

/// Text of the values that have a meaning: ". lru: ...; plru: ...".
std::string meanings(const std::vector<EnumValue>& values) {
  std::string text;
  for (const EnumValue& value : values) {
    if (value.meaning.empty()) continue;
    text += text.empty() ? ". " : "; ";
    text.append(value.name).append(": ").append(value.meaning);
  }
  return text;
}

std::string_view without_section(std::string_view name) { return name.substr(name.find('.') + 1); }

}  // namespace

void ParameterSection::add(std::string_view name, bool& member, std::string_view description, ParameterTraits traits) {
  parameters_.push_back(registered(std::make_unique<BoolParameter>(member, traits), name_, name, description, traits));
}
void ParameterSection::add(std::string_view name, unsigned& member, std::string_view description, ParameterTraits traits) {
  parameters_.push_back(
      registered(std::make_unique<IntegerParameter<unsigned>>(member, traits), name_, name, description, traits));
}
void ParameterSection::add(std::string_view name, std::uint64_t& member, std::string_view description, ParameterTraits traits) {
  parameters_.push_back(
      registered(std::make_unique<IntegerParameter<std::uint64_t>>(member, traits), name_, name, description, traits));
}
void ParameterSection::add(std::string_view name, double& member, std::string_view description, ParameterTraits traits) {
  parameters_.push_back(registered(std::make_unique<DoubleParameter>(member, traits), name_, name, description, traits));
}
void ParameterSection::add(std::string_view name, std::string& member, std::string_view description, ParameterTraits traits) {
  parameters_.push_back(registered(std::make_unique<StringParameter>(member, traits), name_, name, description, traits));
}
void ParameterSection::add(std::string_view name, Bytes& member, std::string_view description, ParameterTraits traits) {
  parameters_.push_back(
      registered(std::make_unique<IntegerParameter<Bytes>>(member, traits), name_, name, description, traits));
}
void ParameterSection::add(std::string_view name, Frequency& member, std::string_view description, ParameterTraits traits) {
  parameters_.push_back(
      registered(std::make_unique<IntegerParameter<Frequency>>(member, traits), name_, name, description, traits));
}
void ParameterSection::add(std::string_view name, Cycles& member, std::string_view description, ParameterTraits traits) {
  parameters_.push_back(
      registered(std::make_unique<IntegerParameter<Cycles>>(member, traits), name_, name, description, traits));
}
void ParameterSection::add(std::string_view name, Tick& member, std::string_view description, ParameterTraits traits) {
  parameters_.push_back(registered(std::make_unique<IntegerParameter<Tick>>(member, traits), name_, name, description, traits));
}
void ParameterSection::add_enum(std::string_view name, std::vector<EnumValue> values, std::function<int()> get,
                                std::function<void(int)> set, std::string_view description, ParameterTraits traits) {
  const std::string text = std::string(description) + meanings(values);
  parameters_.push_back(registered(std::make_unique<EnumParameter>(std::move(values), std::move(get), std::move(set), traits),
                                   name_, name, text, traits));
}

void ParameterSection::renamed(std::string_view old, std::string_view name) {
  const auto full = [this](std::string_view part) { return name_ + '.' + std::string(part); };
  renamed_.push_back({full(old), full(name)});
}

Parameter* ParameterSet::find(std::string_view name) const {
  for (const auto& section : sections_)
    for (const auto& parameter : section->parameters())
      if (parameter->name == name) return parameter.get();
  return nullptr;
}

std::string ParameterSet::nearest(std::string_view name) const {
  for (const auto& section : sections_)
    for (const ParameterSection::Renamed& renamed : section->renamed())
      if (renamed.old == name) return renamed.name;
  std::string best;
  std::size_t best_distance = misspelling_limit(name) + 1;
  for (const auto& section : sections_) {
    for (const auto& parameter : section->parameters()) {
      std::size_t distance = edit_distance(name, parameter->name);
      // A name that differs only in its section, which may be missing, is treated as close.
      if (without_section(name) == without_section(parameter->name)) distance = std::min<std::size_t>(distance, 2);
      if (distance < best_distance) {
        best_distance = distance;
        best = parameter->name;
      }
    }
  }
  return best;
}

}  // namespace lacuna
