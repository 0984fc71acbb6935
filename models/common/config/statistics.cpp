#include "models/common/config/statistics.h"

#include <stdexcept>
#include <utility>

namespace lacuna {
namespace {

/// Visits the counts of a group, then recursively those of its subgroups.
template <class Use>
void each_count(const StatisticsGroup& group, const Use& use) {
  for (const Statistic& s : group.statistics()) {
    if (s.is_count()) use(s);
  }
  for (const auto& inner : group.groups()) each_count(*inner, use);
}

}  // namespace

void StatisticsGroup::add(std::string_view name, const std::uint64_t& counter, StaticText description, StaticText unit) {
  statistics_.push_back({.name = std::string(name), .description = description, .unit = unit, .source = &counter});
}

void StatisticsGroup::add(std::string_view name, const Tick& duration, StaticText description) {
  statistics_.push_back({.name = std::string(name), .description = description, .unit = "ps", .source = &duration.ps});
}

void StatisticsGroup::add_derived(std::string_view name, std::function<double()> value, StaticText description,
                                  StaticText unit) {
  statistics_.push_back({.name = std::string(name), .description = description, .unit = unit, .derived = std::move(value)});
}

StatisticsGroup& StatisticsGroup::group(std::string_view name) {
  if (StatisticsGroup* const existing = find(name)) return *existing;
  StatisticsGroup& made = *groups_.emplace_back(std::make_unique<StatisticsGroup>(std::string(name)));
  by_name_.emplace(made.name(), &made);
  return made;
}

StatisticsGroup* StatisticsGroup::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<std::uint64_t> StatisticsGroup::counts() const {
  std::vector<std::uint64_t> values;
  each_count(*this, [&values](const Statistic& s) { values.push_back(s.count()); });
  return values;
}

std::vector<const std::uint64_t*> StatisticsGroup::sources() const {
  std::vector<const std::uint64_t*> places;
  each_count(*this, [&places](const Statistic& s) { places.push_back(s.source); });
  return places;
}

const std::uint64_t* StatisticsGroup::add_amounts(const std::uint64_t* amounts) {
  for (Statistic& s : statistics_) {
    if (!s.is_count()) continue;
    if (s.added != nullptr) throw std::logic_error(name_ + "." + s.name + " has an amount added already");
    s.added = amounts++;
  }
  for (const auto& group : groups_) amounts = group->add_amounts(amounts);
  return amounts;
}

}  // namespace lacuna
