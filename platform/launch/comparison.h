// Compares a buffer with a reference file while the launcher writes the buffer.
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

/// An element counts as equal if its difference is within at least one of the given limits; without limits, the bytes must be
/// equal.
struct Tolerance {
  std::optional<double> absolute;
  std::optional<double> relative;  ///< relative to the reference's magnitude
  std::optional<std::uint64_t> ulp;

  bool exact() const { return !absolute && !relative && !ulp; }
};

/// Parses "abs=1e-6,rel=1e-4,ulp=4"; "" requires equal bytes. Throws LaunchError.
Tolerance parse_tolerance(std::string_view text, const ExpressionScope& scope);

struct ComparisonResult {
  std::string buffer;
  std::string reference;
  ElementType type{};
  bool typed = false;  ///< false: compared as bytes, without an element type
  std::uint64_t elements = 0;
  std::uint64_t differing = 0;
  struct Difference {
    std::uint64_t index;
    std::string value;
    std::string reference;
  };
  std::vector<Difference> first;  ///< the first few differences
  double largest_absolute = 0;    ///< largest absolute difference of the elements that differ
  double largest_relative = 0;
  std::string error;  ///< reason why the reference could not be read; "" = none

  bool equal() const { return differing == 0 && error.empty(); }
  /// Formats the result as several lines of text.
  std::string text() const;
};

/// Opens a file to which the buffer is written; `result` must outlive the file, and is complete when all bytes have been
/// written.
std::unique_ptr<GuestFile> open_comparison(const std::filesystem::path& reference, const Tolerance& tolerance,
                                           std::optional<ElementType> type, ComparisonResult& result);
/// Throws LaunchError if the reference is not a file of `bytes` bytes, if `bytes` is not a whole number of elements, or if
/// `tolerance` requires a type and there is none.
void check_comparison(const std::filesystem::path& reference, std::uint64_t bytes, const Tolerance& tolerance,
                      std::optional<ElementType> type);

}  // namespace lacuna
