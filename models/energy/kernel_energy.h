// Energy of a kernel, and the interface that measures it.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "models/common/time/units.h"
#include "models/energy/energy_meter.h"

namespace lacuna {

struct KernelEnergy {
  std::vector<double> joules;          ///< energy by block of the meter; empty: not measured
  std::vector<EnergyBounds> bounds{};  ///< bounds of `joules`, from the uncertainty of the energies of events
  /// Highest power of the device in a sampling interval that lies within the kernel, but at least the kernel's mean power.
  double peak_watts = 0;
  /// Half of the 95 % confidence interval of the total, in joules; 0 if the whole kernel was timed.
  double half_width = 0;

  bool measured() const { return !joules.empty(); }
  double total() const { return std::accumulate(joules.begin(), joules.end(), 0.0); }
  EnergyBounds total_bounds() const { return total_of(bounds); }
  KernelEnergy& operator+=(const KernelEnergy& other) {
    if (joules.size() < other.joules.size()) joules.resize(other.joules.size());
    for (std::size_t i = 0; i < other.joules.size(); ++i) joules[i] += other.joules[i];
    if (bounds.size() < other.bounds.size()) bounds.resize(other.bounds.size());
    for (std::size_t i = 0; i < other.bounds.size(); ++i) bounds[i] += other.bounds[i];
    peak_watts = peak_watts > other.peak_watts ? peak_watts : other.peak_watts;
    half_width += other.half_width;
    return *this;
  }
};

/// Part of a kernel that ran without timing (models/sampling): its events are not in the device's counters.
struct UntimedWork {
  std::uint64_t kind = 0;          ///< class of launches that use the same energy for the same work; 0: none
  std::uint64_t instructions = 0;  ///< wavefront instructions of the kernel
  std::uint64_t untimed = 0;       ///< wavefront instructions that ran without timing
  double half_width = 0;           ///< half of the 95 % confidence interval of the untimed part's time, in picoseconds
  double half_width_share = 0;     ///< `half_width` as a share of that time
};

/// Measures the energy of kernels, which are identified by Dispatch::index.
class KernelEnergyMeter {
 public:
  virtual ~KernelEnergyMeter() = default;
  virtual void kernel_started(std::uint64_t kernel, Tick at) = 0;
  /// Called at the end of a kernel; returns its energy. The events of untimed work are estimated from those of the kernel's
  /// timed part or, if there is none, from those of the latest launch of its kind.
  virtual KernelEnergy kernel_ended(std::uint64_t kernel, Tick at, const UntimedWork& work) = 0;
};

}  // namespace lacuna
