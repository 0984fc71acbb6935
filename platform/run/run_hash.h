// The run hash: equal for two runs with the same results, on any host.
//
// It covers everything that must be deterministic (exit code, console text, kernel records, statistics that are counts) and
// nothing that may differ (wall time, paths).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/common/config/statistics.h"

namespace lacuna {

/// 64-bit FNV-1a over names and values. Source: Fowler, Noll, Vo, "The FNV Non-Cryptographic Hash Algorithm", offset basis and
/// prime for 64 bits.
class RunHash {
 public:
  void add(std::string_view name, std::uint64_t value);
  void add(std::string_view name, std::string_view text);
  /// Adds all counts of the tree with their paths, in order. Omits derived values and breakdowns, which follow from the counts.
  void add(const StatisticsGroup& group);

  std::uint64_t value() const { return hash_; }
  /// The hash as 16 hexadecimal digits.
  std::string text() const;

 private:
  void add(const StatisticsGroup& group, std::string& path);
  void bytes(std::string_view bytes);

  std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace lacuna
