// Power over time, by block: the mean of each sampling interval. Intervals begin at multiples of their length.
//
// Counters are read when the device gets on, which is not exactly at the ends of intervals: what was counted between two
// readings is taken as used evenly in that time. A device that does nothing is not read; intervals in a row between two
// readings are one sample.
#pragma once

#include <functional>
#include <vector>

#include "models/energy/energy_meter.h"

namespace lacuna {

struct PowerSample {
  Tick begin{};
  Tick end{};
  std::vector<double> watts{};  ///< by block

  double total() const {
    double sum = 0;
    for (const double w : watts) sum += w;
    return sum;
  }
};

class PowerTrace {
 public:
  using Sink = std::function<void(const PowerSample&)>;

  /// `meter` has all its events, and outlives the trace. std::invalid_argument when the interval is 0.
  PowerTrace(const EnergyMeter& meter, Tick interval, Sink sink);

  /// Counters say what has happened until `now`. An earlier time than before is nothing new.
  void advance(Tick now) {
    if (now >= next_) read(now);
  }
  /// Ends the last interval early.
  void finish(Tick now);

 private:
  void read(Tick now);
  /// What has been counted since the last reading.
  std::vector<double> take_counts();
  void give(Tick begin, Tick end, const std::vector<double>& counts);

  const EnergyMeter& meter_;
  const Tick interval_;
  const Sink sink_;
  EnergyMeter::Counts last_;     // counts at read_
  Tick read_{};                  // the last reading
  Tick begin_{};                 // of the interval that has not been given yet
  Tick next_{};                  // its end
  std::vector<double> counted_;  // in it, until read_
};

}  // namespace lacuna
