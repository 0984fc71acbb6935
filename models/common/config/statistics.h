// Statistics: a tree of values with name, description and unit. Models increment plain integers; output formats are elsewhere.
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
#include <unordered_map>
#include <vector>

#include "models/common/time/units.h"

namespace lacuna {

/// Text that outlives every statistic, such as a string literal. Texts are not copied, as a large GPU has thousands of
/// statistics with few different texts. There is no conversion from std::string.
class StaticText {
 public:
  // NOLINTBEGIN(google-explicit-constructor): literals are arguments.
  constexpr StaticText(const char* text) : text_(text) {}
  constexpr StaticText(std::string_view text) : text_(text) {}
  constexpr operator std::string_view() const { return text_; }
  // NOLINTEND(google-explicit-constructor)

 private:
  std::string_view text_;
};

/// A count (exact integer), or a value derived from counts (double).
struct Statistic {
  std::string name;
  std::string_view description;
  std::string_view unit;
  const std::uint64_t* source = nullptr;  ///< counter of a count; null for a derived value
  const std::uint64_t* added = nullptr;   ///< amount that is added to the reported count; may be null
  std::function<double()> derived{};      ///< reads a derived value

  bool is_count() const { return source != nullptr; }
  /// Current value of a count.
  std::uint64_t count() const { return added == nullptr ? *source : *source + *added; }
  /// Current value of a derived statistic.
  double value() const { return derived(); }
};

/// A node of the tree. Counters to which a node refers must outlive the node.
class StatisticsGroup {
 public:
  explicit StatisticsGroup(std::string name) : name_(std::move(name)) {}

  void add(std::string_view name, const std::uint64_t& counter, StaticText description, StaticText unit);
  void add(std::string_view name, const Tick& duration, StaticText description);  ///< unit: ps
  // Temporaries are rejected: they would not outlive the group.
  void add(std::string_view name, const std::uint64_t&& counter, StaticText description, StaticText unit) = delete;
  void add(std::string_view name, const Tick&& duration, StaticText description) = delete;
  void add_derived(std::string_view name, std::function<double()> value, StaticText description, StaticText unit);
  /// Returns the child of that name; creates it if necessary.
  StatisticsGroup& group(std::string_view name);
  /// Marks this group and its subgroups as a breakdown of other counts of the tree. The run hash excludes breakdowns, so that
  /// adding a breakdown does not change the hash.
  void set_breakdown() { breakdown_ = true; }
  bool is_breakdown() const { return breakdown_; }
  /// The child of that name, or null.
  StatisticsGroup* find(std::string_view name) const;

  /// All counts of the tree without derived values: those of this group, then those of its subgroups, in order of addition.
  std::vector<std::uint64_t> counts() const;
  /// The counters of counts(), in the same order.
  std::vector<const std::uint64_t*> sources() const;
  /// Adds `amounts`, in the order of counts(), to all counts reported later. `amounts` must outlive the group. Call at most
  /// once per group.
  void add_to_counts(const std::uint64_t* amounts) { add_amounts(amounts); }

  const std::string& name() const { return name_; }
  const std::vector<Statistic>& statistics() const { return statistics_; }
  const std::vector<std::unique_ptr<StatisticsGroup>>& groups() const { return groups_; }

 private:
  const std::uint64_t* add_amounts(const std::uint64_t* amounts);

  std::string name_;
  bool breakdown_ = false;
  std::vector<Statistic> statistics_;
  std::vector<std::unique_ptr<StatisticsGroup>> groups_;
  std::unordered_map<std::string_view, StatisticsGroup*> by_name_;  // elements of groups_, by name
};

}  // namespace lacuna
