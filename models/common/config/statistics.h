// Statistics are a tree with name, description and unit. Hot code increments plain integers; formatting is elsewhere.
//
//   struct CacheStatistics {
//     std::uint64_t hits = 0;
//     void describe(StatisticsGroup& g) const { g.add("hits", hits, "accesses that hit", "accesses"); }
//   };
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/common/time/units.h"

namespace lacuna {

struct Statistic {
  std::string name;
  std::string description;
  std::string unit;
  /// Reads the current value. Counts are exact integers; derived values are doubles.
  std::function<std::uint64_t()> count;
  std::function<double()> value;          ///< set instead of `count` for derived statistics
  const std::uint64_t* source = nullptr;  ///< where a count is kept
};

/// A node of the tree. The members it refers to must outlive it.
class StatisticsGroup {
 public:
  explicit StatisticsGroup(std::string name) : name_(std::move(name)) {}

  void add(std::string_view name, const std::uint64_t& counter, std::string_view description, std::string_view unit);
  void add(std::string_view name, const Tick& duration, std::string_view description);  ///< unit: ps
  // A temporary does not outlive the group.
  void add(std::string_view name, const std::uint64_t&& counter, std::string_view description, std::string_view unit) = delete;
  void add(std::string_view name, const Tick&& duration, std::string_view description) = delete;
  void add_derived(std::string_view name, std::function<double()> value, std::string_view description, std::string_view unit);
  /// The child of that name, made when it does not exist yet.
  StatisticsGroup& group(std::string_view name);

  /// All counts of the tree, derived values apart: this group's, then its groups', in the order they were added in.
  std::vector<std::uint64_t> counts() const;
  /// Where they are kept, in the same order.
  std::vector<const std::uint64_t*> sources() const;
  /// From now on each count is reported with one of `amounts` more, which are in the order of counts() and outlive the group.
  void add_to_counts(const std::uint64_t* amounts) { add_amounts(amounts); }

  const std::string& name() const { return name_; }
  const std::vector<Statistic>& statistics() const { return statistics_; }
  const std::vector<std::unique_ptr<StatisticsGroup>>& groups() const { return groups_; }

 private:
  const std::uint64_t* add_amounts(const std::uint64_t* amounts);

  std::string name_;
  std::vector<Statistic> statistics_;
  std::vector<std::unique_ptr<StatisticsGroup>> groups_;
};

}  // namespace lacuna
