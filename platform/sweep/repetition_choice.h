// Chooses the repetitions of each combination of axes for `until` of a sweep.
//
// The choice depends on results only, not on the order in which they arrive. Each combination begins with `least` repetitions.
// While their interval is too wide, as many repetitions are added as their spread suggests, at most doubling the number. The
// choice is recomputed from the database each time, so that an interrupted sweep continues where it stopped.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "platform/sweep/stored_points.h"
#include "platform/sweep/sweep_plan.h"

namespace lacuna {

/// The numbers below `count` in a fixed random order, so that each prefix is a sample of all of them. Equidistant numbers would
/// alias with periodic effects.
std::vector<std::size_t> sample_order(std::size_t count);

/// The repetitions chosen for a combination of axes.
struct CombinationChoice {
  enum class State : std::uint8_t {
    open,       ///< some of the wanted repetitions have not been run
    reached,    ///< the interval is narrow enough
    exhausted,  ///< the interval is too wide after all repetitions
    sampled,    ///< sampled timing alone makes the interval too wide, for any number of repetitions
    stuck       ///< the interval is unknown: a repetition failed or lacks a metric
  };
  State state = State::open;
  std::vector<std::size_t> points;  ///< indices in the plan of its repetitions, in the order in which they are run
  std::size_t chosen = 0;           ///< number of wanted repetitions, a prefix of `points`
  std::vector<Spread> spreads;      ///< one per metric of `until`, over the wanted repetitions; empty = unknown
  std::string why;                  ///< reason for the state `stuck`
};

class RepetitionChoice {
 public:
  /// `plan`: plan of a sweep with `until`; must outlive this object.
  explicit RepetitionChoice(const SweepPlan& plan);

  /// Chooses from the results in the database; null = no results. Call after the plan's look_up().
  void choose(ResultsDatabase* database);

  const std::vector<CombinationChoice>& combinations() const { return combinations_; }
  /// By point of the plan: true if a combination needs the point, or a needed point refers to it.
  const std::vector<bool>& wanted() const { return wanted_; }
  /// A line per combination whose intervals are too wide or unknown although its wanted repetitions have been run: intervals
  /// and reason.
  std::vector<std::string> shortcomings() const;
  std::size_t count(CombinationChoice::State state) const;

 private:
  void want(std::size_t point);
  /// Indices of the points that the metrics of `point` refer to.
  std::vector<std::size_t> references(std::size_t point) const;
  /// Text with the intervals of a combination that are too wide, and the repetitions or settings that would narrow them.
  std::string wide_intervals(const CombinationChoice& combination) const;
  void choose(CombinationChoice& combination, MetricValues* values, const std::vector<StoredPoint>& stored);

  const SweepPlan& plan_;
  std::vector<Metric> metrics_;          ///< metrics whose intervals `until` limits
  std::vector<NamedValues> references_;  ///< references of all metrics of the sweep
  std::map<std::string, std::size_t> places_;
  std::vector<CombinationChoice> combinations_;
  std::vector<bool> wanted_;
};

}  // namespace lacuna
