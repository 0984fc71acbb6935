// Compares a buffer, as it streams by, with a reference file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/host/devices/guest_file.h"
#include "platform/launch/element_type.h"

namespace lacuna {

/// An element is equal when one of the limits holds; without any, when its bytes are.
struct Tolerance {
  std::optional<double> absolute;
  std::optional<double> relative;  ///< of the reference's magnitude
  std::optional<std::uint64_t> ulp;

  bool exact() const { return !absolute && !relative && !ulp; }
};

/// "abs=1e-6,rel=1e-4,ulp=4"; "" is exact. Throws LaunchError.
Tolerance parse_tolerance(std::string_view text, const ExpressionScope& scope);

struct ComparisonResult {
  std::string buffer;
  std::string reference;
  ElementType type{};
  bool typed = false;  ///< else bytes are compared
  std::uint64_t elements = 0;
  std::uint64_t differing = 0;
  struct Difference {
    std::uint64_t index;
    std::string value;
    std::string reference;
  };
  std::vector<Difference> first;  ///< the first few
  double largest_absolute = 0;    ///< among those that differ
  double largest_relative = 0;
  std::string error;  ///< the reference could not be read

  bool equal() const { return differing == 0 && error.empty(); }
  /// Lines for people.
  std::string text() const;
};

/// A file for writing the buffer to; `result` must outlive it and is complete when everything has been written.
std::unique_ptr<GuestFile> open_comparison(const std::filesystem::path& reference, const Tolerance& tolerance,
                                           std::optional<ElementType> type, ComparisonResult& result);
/// Throws LaunchError when the reference cannot be read or does not have `bytes` bytes, or a type is needed.
void check_comparison(const std::filesystem::path& reference, std::uint64_t bytes, const Tolerance& tolerance,
                      std::optional<ElementType> type);

}  // namespace lacuna
