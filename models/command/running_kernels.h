// Report on kernels that have not ended: progress of each, positions and wait reasons of its wavefronts, wavefronts that cannot
// continue, and the memory that they poll.
//
// Wavefronts at the same instruction with the same wait reason share a line. Wavefronts that can continue are observed: copies
// of them execute up to 20,000 instructions (models/compute/wavefront_observation.h), which shows the addresses that they poll
// and whether another wavefront would write there. The report states the observations and their length. Reporting does not
// affect the run.
#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "models/compute/compute_unit.h"
#include "models/compute/dispatch.h"

namespace lacuna {

class RunningKernels {
 public:
  /// Text of a position in code: "PC 0x2000 (+0x30), file.hip:12".
  using PlaceOf = std::function<std::string(const Dispatch&, std::uint64_t pc)>;
  /// Text of an address's mapping: "inside the mapping [0x1000, 0x2000)".
  using MemoryOf = std::function<std::string(std::uint64_t address)>;

  /// Call it between windows. `dispatches` must contain all dispatches with wavefronts in `units`.
  RunningKernels(std::span<Dispatch* const> dispatches, std::span<ComputeUnit* const> units, PlaceOf place, MemoryOf memory);

  /// Writes the report. `not_started`: the reason why a dispatch's next workgroup has not started; empty: it has.
  void write(std::ostream& out, const std::function<std::string(const Dispatch&)>& not_started) const;

 private:
  using Group = std::vector<const WavefrontSnapshot*>;

  void write_groups(const Dispatch& dispatch, std::span<const WavefrontSnapshot> wavefronts, std::ostream& out) const;
  void write_spins(const Dispatch& dispatch, std::span<const WavefrontSnapshot> wavefronts, std::ostream& out) const;
  void write_spin(const Dispatch& dispatch, const Group& group, std::ostream& out) const;
  void write_barriers(const Dispatch& dispatch, std::span<const WavefrontSnapshot> wavefronts, std::ostream& out) const;
  std::string writers(const WavefrontSnapshot& reader, const WavefrontObservation::Read& read) const;

  std::vector<const Dispatch*> dispatches_;
  std::vector<WavefrontSnapshot> wavefronts_;  // wavefronts of all dispatches, dispatch by dispatch
  unsigned observed_ = 0;                      // maximum number of instructions for which a wavefront is observed
  PlaceOf place_;
  MemoryOf memory_;
};

}  // namespace lacuna
