// Record of a kernel for the report of a run.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "models/common/time/units.h"
#include "models/compute/dispatch.h"
#include "models/energy/kernel_energy.h"

namespace lacuna {

struct KernelRecord {
  std::uint64_t index = 0;
  std::string name;
  unsigned queue = 0;
  std::array<std::uint32_t, 3> grid{};       ///< work-items
  std::array<std::uint32_t, 3> workgroup{};  ///< work-items
  Tick start{};
  Tick end{};
  std::uint64_t cycles = 0;  ///< core clock cycles from start to end
  std::uint64_t workgroups = 0;
  std::uint64_t wavefronts = 0;
  std::uint64_t wavefront_instructions = 0;
  std::uint64_t thread_instructions = 0;  ///< see Dispatch::thread_instructions
  double wall_seconds = 0;                ///< host time between start and end, during which other kernels may run as well
  bool failed = false;
  bool unfinished = false;       ///< the run ended before the kernel: all values are those at the end of the run
  std::uint64_t bulk_bytes = 0;  ///< see Dispatch::bulk_bytes; not included in counts of instructions and wavefronts
  /// Number of instructions that were not timed (gpu.timing = sampled). Their time is estimated, and so are all counts of
  /// `activity` except instructions and wavefronts.
  std::uint64_t untimed_instructions = 0;
  std::uint64_t skipped_instructions = 0;  ///< untimed instructions that did not execute
  std::uint64_t half_width = 0;            ///< half of the 95 % confidence interval of `cycles`
  KernelActivity activity{};
  KernelEnergy energy{};
};

/// Notified of every kernel at its start and at its end, and of unfinished kernels at the end of the run.
class KernelObserver {
 public:
  virtual ~KernelObserver() = default;
  virtual void kernel_started(const Dispatch& dispatch) = 0;
  virtual void kernel_ended(const KernelRecord& record) = 0;
};

}  // namespace lacuna
