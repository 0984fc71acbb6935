#include "platform/gfx_override.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace lacuna {
namespace {

// Largest values of the fields of HSA_ENGINE_ID (hsakmttypes.h), which the thunk checks.
constexpr std::array<unsigned, 3> kLargest{63, 255, 255};

/// The target name of a version, as compilers write it: gfx90a for "9.0.10".
std::optional<std::string> gfx_name(std::string_view version) {
  std::array<unsigned, 3> parts{};
  const char* at = version.data();
  const char* const end = at + version.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0 && (at == end || *at++ != '.')) return std::nullopt;
    const auto [next, error] = std::from_chars(at, end, parts[i]);
    if (error != std::errc{} || parts[i] > kLargest[i]) return std::nullopt;
    at = next;
  }
  if (at != end) return std::nullopt;
  return fmt::format("gfx{}{:x}{:x}", parts[0], parts[1], parts[2]);
}

/// The version of a target, the inverse of gfx_name(): "9.0.10" for gfx90a. The last two digits of a target name are minor
/// version and stepping.
std::string version_of(isa::Target target) {
  const std::string_view digits = isa::traits(target).name.substr(3);
  const std::size_t tail = digits.size() - 2;
  const auto hexadecimal = [](char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; };
  return fmt::format("{}.{}.{}", digits.substr(0, tail), hexadecimal(digits[tail]), hexadecimal(digits[tail + 1]));
}

std::string executed_versions() {
  std::string list;
  for (unsigned t = 0; t < isa::kTargets; ++t) {
    const auto target = static_cast<isa::Target>(t);
    list += fmt::format("{}{} is {}", t == 0 ? "" : ", ", isa::traits(target).name, version_of(target));
  }
  return list;
}

}  // namespace

std::string gfx_override_problem(const char* value, const std::vector<isa::Target>& targets, const std::string& option) {
  if (value == nullptr) return {};
  const std::optional<std::string> wanted = gfx_name(value);
  if (!wanted) {
    return fmt::format("{}={}: must be MAJOR.MINOR.STEPPING in decimal, at most {}.{}.{} ({}), or unset", kGfxOverride, value,
                       kLargest[0], kLargest[1], kLargest[2], executed_versions());
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const isa::TargetTraits& has = isa::traits(targets[i]);
    if (has.name == *wanted) continue;
    std::string advice = fmt::format("unset it or set {}", version_of(targets[i]));
    for (unsigned t = 0; t < isa::kTargets; ++t) {
      if (isa::traits(static_cast<isa::Target>(t)).name == *wanted)
        advice = fmt::format("unset it, or choose such GPUs by --set {}={}", option, *wanted);
    }
    return fmt::format("{}={} selects {}, but GPU {} executes {} ({}) and no other instruction set: {}", kGfxOverride, value,
                       *wanted, i, has.name, option, advice);
  }
  return {};
}

}  // namespace lacuna
