// The report on kernels that have not ended: how far each is, where its wavefronts are and what they wait for, which of them
// cannot go on, and on which memory they wait.
//
// Wavefronts that are at the same instruction and wait for the same are one line. Those that go on are observed for some
// thousands of instructions on copies (models/compute/wavefront_observation.h), which says what they spin on and whether
// another one would write there. The report says what was observed and for how long. It changes nothing of the run.
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
  /// "PC 0x2000 (+0x30), file.hip:12".
  using PlaceOf = std::function<std::string(const Dispatch&, std::uint64_t pc)>;
  /// "inside the mapping [0x1000, 0x2000)".
  using MemoryOf = std::function<std::string(std::uint64_t address)>;

  /// Between windows. The dispatches of `units` that have wavefronts must be among `dispatches`.
  RunningKernels(std::span<Dispatch* const> dispatches, std::span<ComputeUnit* const> units, PlaceOf place, MemoryOf memory);

  /// What is known of the dispatch besides: why its next workgroup has not started; empty: it has.
  void write(std::ostream& out, const std::function<std::string(const Dispatch&)>& not_started) const;

 private:
  using Group = std::vector<const WavefrontSnapshot*>;

  void write_groups(const Dispatch& dispatch, std::span<const WavefrontSnapshot> wavefronts, std::ostream& out) const;
  void write_spins(const Dispatch& dispatch, std::span<const WavefrontSnapshot> wavefronts, std::ostream& out) const;
  void write_spin(const Dispatch& dispatch, const Group& group, std::ostream& out) const;
  void write_barriers(const Dispatch& dispatch, std::span<const WavefrontSnapshot> wavefronts, std::ostream& out) const;
  std::string writers(const WavefrontSnapshot& reader, const WavefrontObservation::Read& read) const;

  std::vector<const Dispatch*> dispatches_;
  std::vector<WavefrontSnapshot> wavefronts_;  // of one dispatch after the other
  unsigned observed_ = 0;                      // instructions of each that goes on, at most
  PlaceOf place_;
  MemoryOf memory_;
};

}  // namespace lacuna
