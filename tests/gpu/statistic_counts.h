// Counters of a device, for comparing their increments.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "models/common/config/statistics.h"

namespace lacuna::test {

/// Counters by name, prefixed by the names of their groups, such as "noc.hops".
using Counts = std::map<std::string, std::uint64_t>;

inline void list_counts(const StatisticsGroup& group, const std::string& prefix, Counts& all) {
  for (const Statistic& s : group.statistics()) {
    if (s.is_count()) all.emplace(prefix + s.name, s.count());
  }
  for (const auto& child : group.groups()) list_counts(*child, prefix + child->name() + ".", all);
}
/// The counters of a group and of the groups in it.
inline Counts counts_of(const StatisticsGroup& group) {
  Counts all;
  list_counts(group, "", all);
  return all;
}
/// Increments since `before`.
inline Counts growth_of(const StatisticsGroup& group, const Counts& before) {
  Counts all = counts_of(group);
  for (auto& [name, count] : all) count -= before.at(name);
  return all;
}

}  // namespace lacuna::test
