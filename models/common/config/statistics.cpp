#include "models/common/config/statistics.h"

#include <algorithm>
#include <utility>

namespace lacuna {
namespace {

/// Counts of a group, then of its groups.
template <class Use>
void each_count(const StatisticsGroup& group, const Use& use) {
  for (const Statistic& s : group.statistics()) {
    if (s.count) use(s);
  }
  for (const auto& inner : group.groups()) each_count(*inner, use);
}

}  // namespace

void StatisticsGroup::add(std::string_view name, const std::uint64_t& counter, std::string_view description,
                          std::string_view unit) {
  const std::uint64_t* source = &counter;
  statistics_.push_back(
      {std::string(name), std::string(description), std::string(unit), [source] { return *source; }, {}, source});
}

void StatisticsGroup::add(std::string_view name, const Tick& duration, std::string_view description) {
  const Tick* source = &duration;
  statistics_.push_back({std::string(name), std::string(description), "ps", [source] { return source->ps; }, {}, &source->ps});
}

void StatisticsGroup::add_derived(std::string_view name, std::function<double()> value, std::string_view description,
                                  std::string_view unit) {
  statistics_.push_back({std::string(name), std::string(description), std::string(unit), {}, std::move(value), nullptr});
}

StatisticsGroup& StatisticsGroup::group(std::string_view name) {
  const auto found = std::find_if(groups_.begin(), groups_.end(), [&](const auto& g) { return g->name() == name; });
  if (found != groups_.end()) return **found;
  groups_.push_back(std::make_unique<StatisticsGroup>(std::string(name)));
  return *groups_.back();
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
    if (s.count) s.count = [counted = std::move(s.count), amount = amounts++] { return counted() + *amount; };
  }
  for (const auto& group : groups_) amounts = group->add_amounts(amounts);
  return amounts;
}

}  // namespace lacuna
