// Cost of copies (time and traffic), measured on copies that were simulated in detail.
//
// A kind comprises everything on which the cost depends, other than the number of bytes. Each kind has
//   points  costs of whole copies by size. The cost of a size is that of the copy with the median time of three: a single copy
//           may be delayed by a refresh, or because its kernel's code has been evicted. Costs between two neighbouring sizes,
//           at most a factor of two apart, are interpolated linearly
//   slope   cost per byte beyond `from` bytes, for longer copies
// There are no built-in rates: all costs are measured on the simulated configuration.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/common/time/units.h"

namespace lacuna {

struct CopyCost {
  Tick time{};
  /// Amounts by which counters of the memory system grow; all costs of a device have the same counters in the same order.
  std::vector<std::uint64_t> traffic{};

  /// This cost plus `share` times the difference to `other`; `share` may exceed 1.
  CopyCost towards(const CopyCost& other, double share) const;
  CopyCost scaled(double factor) const;
  /// Difference between this cost and `other`, which is smaller.
  CopyCost beyond(const CopyCost& other) const;
};

struct CopyKind {
  std::string what;               ///< kernel or engine, and the shape of the copy
  bool from_host = false;         ///< the source is accessed over the host link
  bool to_host = false;           ///< the destination is accessed over the host link
  std::uint32_t alignment = 0;    ///< class of the alignment of source and destination
  std::uint32_t cache_state = 0;  ///< class of the state of L2 before the copy

  auto operator<=>(const CopyKind&) const = default;
};

class CopyCosts {
 public:
  /// Adds the measured cost of a whole copy of `bytes` bytes. The cost of a size is known after three additions.
  void add(const CopyKind& kind, std::uint64_t bytes, CopyCost cost);
  /// Sets the slope: a copy costs `first` for its first `from` bytes, and `more` for each further `bytes` bytes.
  void add_slope(const CopyKind& kind, std::uint64_t from, CopyCost first, std::uint64_t bytes, CopyCost more);
  /// Cost of a copy of `bytes` bytes; nullopt if it is not known.
  std::optional<CopyCost> of(const CopyKind& kind, std::uint64_t bytes) const;

 private:
  struct Slope {
    std::uint64_t from;
    CopyCost first;
    std::uint64_t bytes;
    CopyCost more;
  };
  struct Known {
    std::map<std::uint64_t, CopyCost> points;
    std::map<std::uint64_t, std::vector<CopyCost>> samples;  ///< costs of sizes with fewer than three additions
    std::optional<Slope> slope;
  };
  std::map<CopyKind, Known> kinds_;
};

}  // namespace lacuna
