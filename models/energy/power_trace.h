// Power over time, by block: the mean of each sampling interval. Intervals begin at multiples of their length.
//
// Counters are read when the device makes progress, not exactly at the ends of intervals: counts between two readings are
// distributed evenly over that time. An idle device is not read; consecutive intervals between two readings form one sample.
#pragma once

#include <functional>
#include <vector>

#include "models/energy/energy_meter.h"

namespace lacuna {

struct PowerSample {
  Tick begin{};
  Tick end{};
  std::vector<double> watts{};  ///< mean power of each block
  EnergyBounds bounds{};        ///< bounds of total(), in watts, from the uncertainty of the energies of events

  double total() const {
    double sum = 0;
    for (const double w : watts) sum += w;
    return sum;
  }
};

class PowerTrace {
 public:
  using Sink = std::function<void(const PowerSample&)>;

  /// `meter` must have all its events, and must outlive the trace. Throws std::invalid_argument if the interval is 0.
  PowerTrace(const EnergyMeter& meter, Tick interval, Sink sink);

  /// Reads the counters, which include all events until `now`. No effect before the end of the current interval.
  void advance(Tick now) {
    if (now >= next_) read(now);
  }
  /// Ends the current interval at `now`.
  void finish(Tick now);

 private:
  void read(Tick now);
  /// Returns the counts of events since the last reading.
  std::vector<double> take_counts();
  void give(Tick begin, Tick end, const std::vector<double>& counts);

  const EnergyMeter& meter_;
  const Tick interval_;
  const Sink sink_;
  EnergyMeter::Counts last_;     // counts at read_
  Tick read_{};                  // time of the last reading
  Tick begin_{};                 // start of the interval that has not been reported yet
  Tick next_{};                  // end of that interval
  std::vector<double> counted_;  // counts in that interval until read_
};

}  // namespace lacuna
