// What copies of one kind cost, learned from copies that were carried out in detail: time, and traffic on the way.
//
// A kind is all that the cost depends on beside the number of bytes. Of each kind are known
//   points  whole copies by their size, of three the one of median time: a single one may meet a refresh, or find the code of
//           its kernel evicted. Between two neighbours, of which the larger has twice the bytes of the smaller at most, a
//           copy costs what lies on the line between them
//   slope   what each byte costs beyond `from` bytes, for copies that are longer than that
// Nothing here knows a rate of its own: whatever a configuration makes of copies is what was measured.
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

  /// This one and `share` of the difference to another; `share` may be above 1.
  CopyCost towards(const CopyCost& other, double share) const;
  CopyCost scaled(double factor) const;
  /// What this one costs more than another.
  CopyCost beyond(const CopyCost& other) const;
};

struct CopyKind {
  std::string what;               ///< kernel or engine, and the shape of its work
  bool from_host = false;         ///< the source is behind the host link
  bool to_host = false;           ///< likewise
  std::uint32_t alignment = 0;    ///< what of source and destination is aligned
  std::uint32_t cache_state = 0;  ///< what the copy finds in L2

  auto operator<=>(const CopyKind&) const = default;
};

class CopyCosts {
 public:
  /// A copy of `bytes` bytes, the whole of it. What such copies cost is known when three have been added.
  void add(const CopyKind& kind, std::uint64_t bytes, CopyCost cost);
  /// A copy costs `first` for its first `from` bytes, and `more` for each further `bytes`. Replaces what was known.
  void add_slope(const CopyKind& kind, std::uint64_t from, CopyCost first, std::uint64_t bytes, CopyCost more);
  /// Nothing when it is not known.
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
    std::map<std::uint64_t, std::vector<CopyCost>> samples;  ///< of points to be
    std::optional<Slope> slope;
  };
  std::map<CopyKind, Known> kinds_;
};

}  // namespace lacuna
