// Classes of kernel launches that are expected to take the same time: launches that agree in code and grid, and whose preceding
// launches agree in code and grid. If the times in a class differ, launches with the same arguments form a class.
//
// A class predicts the time of further launches when the times of its timed launches have a narrow interval. Launches are timed
// again after an increasing number of predictions; a timed launch that does not agree with the prediction restarts the class.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/common/math/spread.h"

namespace lacuna {

/// Properties that the launches of a class have in common.
struct KernelKey {
  std::uint64_t entry = 0;                   ///< address of the first instruction
  std::array<std::uint32_t, 3> grid{};       ///< work-items
  std::array<std::uint32_t, 3> workgroup{};  ///< work-items
  std::uint32_t lds_bytes = 0;
  std::uint64_t previous = 0;   ///< class of the previous launch's code and grid; 0: any
  std::uint64_t arguments = 0;  ///< hash of the arguments without addresses; 0: launches with any arguments

  auto operator<=>(const KernelKey&) const = default;
};

struct KernelPrediction {
  double cycles = 0;
  double half_width = 0;  ///< half of the 95 % interval of one launch
  double instructions = 0;
};

class KernelClasses {
 public:
  /// `error`: largest half-width of the 95 % interval of a class's mean, as a share of the mean, at which the class predicts.
  explicit KernelClasses(double error) : error_(error) {}

  /// Returns the number of the class of a launch, from 1; adds the class if it is new.
  std::uint64_t find(const KernelKey& key);
  /// Class number for kernels that are never predicted.
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  /// Records that a launch of class `number` has been timed after an untimed launch of class `before`. If `number` cannot
  /// predict, `before` predicts only while `number` does: otherwise launches of `number` would always find the L2 in a wrong
  /// state.
  void follows(std::uint64_t number, std::uint64_t before);
  /// Whether launches of the class have been found to differ in their times or instruction counts.
  bool varies(std::uint64_t number) const {
    const Class& c = classes_[number - 1];
    return c.cycles.samples >= kFewest && !prediction_of(c);
  }
  /// Prediction for a launch of the class; nullopt: the launch must be timed. Counts the launch.
  std::optional<KernelPrediction> predict(std::uint64_t number);
  /// Adds a timed launch. `half_width`: that of the 95 % confidence interval of `cycles`, 0 if the launch was timed as a whole.
  /// `comparable`: false if the launch before it was not timed, so the state of the L2 differs from that in a timed run. The
  /// times of such a launch are not used.
  void add(std::uint64_t number, double cycles, double half_width, std::uint64_t instructions, bool comparable);
  /// Called when a predicted launch has executed. A launch whose instruction count differs from the predicted one by more than
  /// 1 % restarts its class. Returns the prediction for `instructions`.
  KernelPrediction executed(std::uint64_t number, const KernelPrediction& prediction, std::uint64_t instructions);

 private:
  static constexpr std::size_t kFewest = 3;  ///< minimum number of timed launches for a class to predict
  struct Class {
    Spread cycles;
    Spread instructions;
    double own_half_widths = 0;   ///< sum of the squared half-widths of the launches' own intervals
    std::uint64_t predicted = 0;  ///< number of launches predicted since the last check
    std::uint64_t period = 0;     ///< number of predictions before the next check
    unsigned checks = 0;          ///< launches to be timed before predictions continue
    bool restarted = false;       ///< the first launch's time differed from the second's and has been dropped
    std::uint64_t successor = 0;  ///< this class predicts only while class `successor` does (see follows()); 0: no condition
  };
  std::optional<KernelPrediction> prediction_of(const Class& c) const;
  bool predicts(std::uint64_t number) const { return number != kNever && prediction_of(classes_[number - 1]); }
  bool checks_now();

  double error_;
  std::uint64_t checking_ = 0;      ///< number of the class that is being checked; 0: none
  unsigned launches_of_check_ = 0;  ///< number of launches since the check began
  std::map<KernelKey, std::uint64_t> numbers_;
  std::vector<Class> classes_;
};

}  // namespace lacuna
