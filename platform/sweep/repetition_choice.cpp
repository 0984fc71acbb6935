#include "platform/sweep/repetition_choice.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "platform/sweep/condition.h"
#include "platform/sweep/results_report.h"

namespace lacuna {
namespace {

std::string repetitions(std::size_t number) {
  return readable_number(static_cast<double>(number)) + (number == 1 ? " repetition" : " repetitions");
}

}  // namespace

std::vector<std::size_t> sample_order(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Fisher-Yates shuffle; the result of std::shuffle depends on the standard library.
  std::mt19937_64 random(0);
  for (std::size_t left = count; left > 1; --left) std::swap(order[left - 1], order[random() % left]);
  return order;
}

RepetitionChoice::RepetitionChoice(const SweepPlan& plan) : plan_(plan), wanted_(plan.points().size()) {
  const SweepUntil& until = *plan.file().until;
  for (const std::string& name : until.metrics)
    metrics_.push_back(
        *std::find_if(plan.metrics().begin(), plan.metrics().end(), [&](const Metric& metric) { return metric.name == name; }));
  if (metrics_.empty()) metrics_.push_back({"cycles", "kernels.*.cycles"});
  for (const Metric& metric : plan.metrics())
    for (const std::string& path : metric.paths())
      if (NamedValues reference = StatisticPath::parse(path).reference; !reference.empty())
        references_.push_back(std::move(reference));

  std::map<std::string, std::vector<std::size_t>> points;
  std::vector<std::string> names;  // names of the combinations, in the order of the file
  for (std::size_t i = 0; i < plan.points().size(); ++i) {
    const SweepPoint& point = plan.points()[i].point;
    places_.emplace(place_of(point.axes, point.repeats), i);
    const auto [found, is_new] = points.try_emplace(to_json(point.axes));
    if (is_new) names.push_back(found->first);
    found->second.push_back(i);
  }
  for (const std::string& name : names) {
    const std::vector<std::size_t>& repeated = points.at(name);
    CombinationChoice& combination = combinations_.emplace_back();
    for (const std::size_t at : sample_order(repeated.size())) combination.points.push_back(repeated[at]);
  }
}

std::vector<std::size_t> RepetitionChoice::references(std::size_t point) const {
  const SweepPoint& from = plan_.points()[point].point;
  std::vector<std::size_t> found;
  for (const NamedValues& reference : references_) {
    const auto place =
        places_.find(place_of(reference_values(from.axes, reference), reference_values(from.repeats, reference)));
    if (place != places_.end()) found.push_back(place->second);
  }
  return found;
}

void RepetitionChoice::want(std::size_t point) {
  wanted_[point] = true;
  for (const std::size_t reference : references(point)) wanted_[reference] = true;
}

void RepetitionChoice::choose(ResultsDatabase* database) {
  wanted_.assign(wanted_.size(), false);
  std::vector<StoredPoint> stored;
  stored.reserve(plan_.points().size());
  for (const PlannedPoint& planned : plan_.points()) {
    StoredPoint& point = stored.emplace_back();
    point.axes = planned.point.axes;
    point.repeats = planned.point.repeats;
    if (database == nullptr || !planned.state) continue;
    point.state = *planned.state;
    point.id = database->row_of(planned.prepared.key);
  }
  std::optional<MetricValues> values;
  if (database != nullptr) values.emplace(*database, metrics_, stored);
  for (CombinationChoice& combination : combinations_) choose(combination, values ? &*values : nullptr, stored);
}

void RepetitionChoice::choose(CombinationChoice& combination, MetricValues* values, const std::vector<StoredPoint>& stored) {
  using State = CombinationChoice::State;
  const SweepUntil& until = *plan_.file().until;
  const std::size_t all = combination.points.size();
  combination.why.clear();
  for (combination.chosen = std::min(until.least, all);;) {
    combination.spreads.clear();
    std::vector<Spread> spreads(metrics_.size());
    std::vector<std::size_t> without(metrics_.size());
    std::size_t not_done = 0;
    bool open = false;
    for (std::size_t i = 0; i < combination.chosen; ++i) {
      const std::size_t point = combination.points[i];
      want(point);
      open = open || stored[point].id == 0;
      for (const std::size_t reference : references(point)) open = open || stored[reference].id == 0;
      if (!stored[point].is_done()) ++not_done;
      for (std::size_t m = 0; m < metrics_.size() && values != nullptr; ++m) {
        if (const auto value = values->value(metrics_[m], stored[point])) {
          spreads[m].add(value->value, value->half_width);
        } else {
          ++without[m];
        }
      }
    }
    combination.state = State::open;
    if (open) return;
    combination.state = State::stuck;
    if (not_done != 0) {
      combination.why =
          std::to_string(not_done) + " of " + repetitions(combination.chosen) + (not_done == 1 ? " is" : " are") + " not done";
      return;
    }
    for (std::size_t m = 0; m < metrics_.size(); ++m) {
      if (without[m] == 0) continue;
      combination.why = std::to_string(without[m]) + " of " + repetitions(combination.chosen) +
                        (without[m] == 1 ? " has no " : " have no ") + metrics_[m].name;
      return;
    }
    combination.spreads = spreads;
    combination.state = State::reached;
    if (std::all_of(spreads.begin(), spreads.end(), [&](const Spread& spread) { return spread.is_within(until.share); }))
      return;
    combination.state = State::sampled;
    if (std::any_of(spreads.begin(), spreads.end(), [&](const Spread& spread) { return spread.is_beyond(until.share); }))
      return;
    combination.state = State::exhausted;
    if (combination.chosen == all) return;
    std::size_t needed = combination.chosen + 1;
    for (const Spread& spread : spreads) needed = std::max(needed, spread.needed(until.share).value_or(all));
    combination.chosen = std::min({needed, 2 * combination.chosen, all});
  }
}

std::size_t RepetitionChoice::count(CombinationChoice::State state) const {
  return static_cast<std::size_t>(std::count_if(combinations_.begin(), combinations_.end(),
                                                [&](const CombinationChoice& choice) { return choice.state == state; }));
}

std::vector<std::string> RepetitionChoice::shortcomings() const {
  using State = CombinationChoice::State;
  std::vector<std::string> texts;
  for (const CombinationChoice& combination : combinations_) {
    if (combination.state == State::open || combination.state == State::reached) continue;
    std::string text = label(plan_.points()[combination.points.front()].point.axes);
    if (!text.empty()) text += ": ";
    if (combination.state == State::stuck) text += combination.why + ", which is unrelated to the interval";
    texts.push_back(text + wide_intervals(combination));
  }
  return texts;
}

std::string RepetitionChoice::wide_intervals(const CombinationChoice& combination) const {
  const double share = plan_.file().until->share;
  std::string texts;
  for (std::size_t m = 0; m < combination.spreads.size(); ++m) {
    const Spread& spread = combination.spreads[m];
    if (spread.is_within(share)) continue;
    std::string text = metrics_[m].name + ' ' + readable_spread(spread) + " after " + repetitions(combination.chosen);
    if (spread.is_beyond(share)) {
      text += "; sampled timing alone has " + readable_interval(spread.mean, spread.own_half_width()) +
              ", which repetitions do not make narrower: set a smaller sampling.error, or gpu.timing = loose";
    } else {
      const auto needed = spread.needed(share);
      if (combination.chosen == combination.points.size()) text += ", which is all that [repeat] has";
      text += "; " + readable_percent(share) + " needs " +
              (needed ? "about " + readable_number(static_cast<double>(*needed)) : "more than can be said");
    }
    add_to_list(texts, text, "; ");
  }
  return texts;
}

}  // namespace lacuna
