// What is in a buffer at first: zeros, a file, or elements made by a pattern.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "models/host/devices/guest_file.h"
#include "platform/launch/element_type.h"

namespace lacuna {

enum class FillPattern : std::uint8_t { uniform, normal, constant, iota, bits };

/// Elements that are made, the same on every host: integer generator, and no function of the host's mathematics library.
struct Fill {
  ElementType type{};
  std::uint64_t count = 0;
  FillPattern pattern = FillPattern::constant;
  Number first;   ///< LOW, MEAN, VALUE, START
  Number second;  ///< HIGH, SIGMA, -, STEP
  std::uint64_t seed = 1;
  double zeros = 0;  ///< share of elements that are zero

  std::uint64_t bytes() const { return count * element_size(type); }
};

/// "uniform(0,1)" into pattern, first and second; throws LaunchError, also when the type cannot hold the values.
void parse_fill_pattern(std::string_view text, const ExpressionScope& scope, Fill& fill);

struct Contents {
  enum class Kind : std::uint8_t { zero, file, fill };
  Kind kind = Kind::zero;
  std::uint64_t bytes = 0;
  std::filesystem::path file;
  Fill fill;
};

/// The contents as a file for reading. Null when the file cannot be opened (errno holds the reason).
std::unique_ptr<GuestFile> open_contents(const Contents& contents);

}  // namespace lacuna
