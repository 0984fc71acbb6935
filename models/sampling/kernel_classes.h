// Classes of kernel launches whose times are predicted from those of timed ones.
//
// A class has launches that are expected to take the same time: they agree in code and grid, and the launches before them
// agree in code and grid. If the times in a class differ, launches with the same arguments form a class. A class predicts the
// time of further launches when the times of its timed launches have a narrow interval.
//
// A family has the launches of a code after launches of one code, with any grids and arguments: a step of an algorithm whose
// size changes from launch to launch. It predicts by a line through the latest timed launches, time against instructions, where
// the line's interval is narrow and the launch is hardly smaller or larger than these. A family predicts only what the class
// of the launch does not.
//
// Launches are timed again after an increasing number of predictions; a timed launch that does not agree with the prediction
// restarts the class or family.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/common/math/linear_fit.h"
#include "models/common/math/spread.h"

namespace lacuna {

/// Properties that the launches of a class have in common.
struct KernelKey {
  std::uint64_t entry = 0;                   ///< address of the first instruction
  std::array<std::uint32_t, 3> grid{};       ///< work-items; 0: launches with any grid
  std::array<std::uint32_t, 3> workgroup{};  ///< work-items
  std::uint32_t lds_bytes = 0;
  std::uint64_t previous = 0;   ///< class of the previous launch's code and grid, or family of its code; 0: any
  std::uint64_t arguments = 0;  ///< hash of the arguments without addresses; 0: launches with any arguments

  auto operator<=>(const KernelKey&) const = default;
};

/// A launch that was timed.
struct TimedLaunch {
  double cycles = 0;
  double half_width = 0;  ///< that of the 95 % confidence interval of `cycles`; 0 if the launch was timed as a whole
  std::uint64_t instructions = 0;
  std::uint64_t workgroups = 0;
  /// False if the launch before it was not timed, so the state of the L2 differs from that in a timed run. The times of such
  /// a launch are not used.
  bool comparable = true;
};

struct KernelPrediction {
  double cycles = 0;
  double half_width = 0;  ///< half of the 95 % interval of one launch
  double instructions = 0;
  std::uint64_t number = 0;  ///< class or family that predicts
  bool of_family = false;
};

class KernelClasses {
 public:
  /// `error`: largest half-width of the 95 % interval of a class's mean, as a share of the mean, at which the class predicts.
  explicit KernelClasses(double error) : error_(error) {}

  /// Returns the number of the class of a launch, from 1; adds the class if it is new. `family`: number of the launch's family,
  /// 0 if it has none.
  std::uint64_t find(const KernelKey& key, std::uint64_t family = 0);
  /// Returns the number of a family; adds it if it is new. Classes and families are numbered together.
  std::uint64_t find_family(const KernelKey& key);
  /// Class number for kernels that are never predicted.
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  /// Records that a launch of class `number` has been timed after an untimed launch of `before`, a class or family. If `number`
  /// cannot predict, `before` predicts only while `number` does: otherwise launches of `number` would always find the L2 in a
  /// wrong state.
  void follows(std::uint64_t number, std::uint64_t before);
  /// Whether launches of the class have been found to differ in their times or instruction counts.
  bool varies(std::uint64_t number) const {
    const Class& c = classes_[number - 1];
    return c.cycles.samples >= kFewest && !prediction_of(c);
  }
  /// Prediction for a launch with `workgroups` by its class, or else by its family; nullopt: the launch must be timed. Counts
  /// the launch.
  std::optional<KernelPrediction> predict(std::uint64_t number, std::uint64_t workgroups);
  /// Adds a timed launch to a class or family.
  void add(std::uint64_t number, const TimedLaunch& launch);
  /// Called when a predicted launch has executed. Returns the prediction for `instructions`. A launch whose instruction count
  /// differs from that of its class by more than 1 % restarts the class.
  KernelPrediction executed(const KernelPrediction& prediction, std::uint64_t instructions);

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
    std::uint64_t successor = 0;  ///< predicts only while class `successor` does (see follows()); 0: no condition
    std::uint64_t family = 0;     ///< family of a class's launches; 0: none
    bool is_family = false;
    std::vector<TimedLaunch> latest{};  ///< of a family: the latest timed launches
  };
  std::optional<KernelPrediction> prediction_of(const Class& c) const;
  /// Prediction of a family for a launch with `workgroups`.
  std::optional<KernelPrediction> prediction_of(const Class& family, double workgroups) const;
  /// Lines through the latest launches of a family.
  struct Lines {
    LinearFit cycles_by_instructions;
    LinearFit instructions_by_workgroups;
    double own_half_width = 0;  ///< root of the mean square of the launches' own half-widths
  };
  static Lines lines_of(const Class& family);
  static KernelPrediction on_line(const Lines& lines, double instructions);
  bool predicts(std::uint64_t number) const;
  bool checks_now();
  static void restart(Class& c);

  double error_;
  std::uint64_t checking_ = 0;      ///< number of the class that is being checked; 0: none
  unsigned launches_of_check_ = 0;  ///< number of launches since the check began
  std::map<KernelKey, std::uint64_t> numbers_;
  std::vector<Class> classes_;
};

}  // namespace lacuna
