// Energy of a kernel, and the interface that measures it.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "models/common/time/units.h"

namespace lacuna {

struct KernelEnergy {
  std::vector<double> joules;  ///< by block of the meter; empty: not measured
  /// Highest power of the device in a sampling interval that lies within the kernel; if there is no such interval, the kernel's
  /// mean power.
  double peak_watts = 0;

  bool measured() const { return !joules.empty(); }
  double total() const { return std::accumulate(joules.begin(), joules.end(), 0.0); }
  KernelEnergy& operator+=(const KernelEnergy& other) {
    if (joules.size() < other.joules.size()) joules.resize(other.joules.size());
    for (std::size_t i = 0; i < other.joules.size(); ++i) joules[i] += other.joules[i];
    peak_watts = peak_watts > other.peak_watts ? peak_watts : other.peak_watts;
    return *this;
  }
};

/// Kernels are identified by Dispatch::index.
class KernelEnergyMeter {
 public:
  virtual ~KernelEnergyMeter() = default;
  virtual void kernel_started(std::uint64_t kernel, Tick at) = 0;
  virtual KernelEnergy kernel_ended(std::uint64_t kernel, Tick at) = 0;
};

}  // namespace lacuna
