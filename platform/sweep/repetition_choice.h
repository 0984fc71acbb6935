// Which repetitions of each combination of axes are run while `until` of a sweep goes on.
//
// The choice depends on results alone, not on the order in which they arrive: it begins with the `least` repetitions of each
// combination, and as long as the interval of these is too wide, takes as many as their spread says that it needs, at most
// twice as many as before. So it is made anew from the database each time, and a sweep that was interrupted goes on where it
// was.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "platform/sweep/stored_points.h"
#include "platform/sweep/sweep_plan.h"

namespace lacuna {

/// The numbers below `count` in a random order, which is always the same: every beginning of it is a sample of all of them.
/// Equal distances would be none where something has a period that they are a multiple of.
std::vector<std::size_t> sample_order(std::size_t count);

/// A combination of axes.
struct CombinationChoice {
  enum class State : std::uint8_t {
    open,       ///< repetitions that it wants have not been run
    reached,    ///< the interval is as narrow as is wanted
    exhausted,  ///< it is not, and there are no more repetitions
    stuck       ///< a repetition is not done, or has no such value, so that nothing can be said of the interval
  };
  State state = State::open;
  std::vector<std::size_t> points;  ///< its repetitions in the plan, in the order in which they are run
  std::size_t chosen = 0;           ///< how many of them are wanted
  std::vector<Spread> spreads;      ///< of what `until` is of, over those that are wanted; empty = it is not known
  std::string why;                  ///< it is stuck
};

class RepetitionChoice {
 public:
  /// The plan is of a sweep with `until`.
  explicit RepetitionChoice(const SweepPlan& plan);

  /// From what the database has; null = nothing. The plan has been looked up in it.
  void choose(ResultsDatabase* database);

  const std::vector<CombinationChoice>& combinations() const { return combinations_; }
  /// For each point of the plan: a combination wants it, or it is the reference of a point that one wants.
  const std::vector<bool>& wanted() const { return wanted_; }
  /// One for each combination that is exhausted or stuck, with the interval that it has.
  std::vector<std::string> shortcomings() const;
  std::size_t count(CombinationChoice::State state) const;

 private:
  void want(std::size_t point);
  /// The points that takes of this one refer to.
  std::vector<std::size_t> references(std::size_t point) const;
  void choose(CombinationChoice& combination, TakenValues* values, const std::vector<StoredPoint>& stored);

  const SweepPlan& plan_;
  std::vector<Take> metrics_;
  std::vector<NamedValues> references_;  ///< of all takes
  std::map<std::string, std::size_t> places_;
  std::vector<CombinationChoice> combinations_;
  std::vector<bool> wanted_;
};

}  // namespace lacuna
