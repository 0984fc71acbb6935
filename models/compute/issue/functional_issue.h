// Issue in functional mode, and in the parts of sampled kernels that take no simulated time: wavefronts run one after the
// other, each until it is held or the window ends. Every instruction takes a cycle.
#pragma once

#include <cstdint>

#include "models/compute/address_range.h"
#include "models/compute/issue/instruction_execution.h"
#include "models/compute/issue/instruction_fetch.h"
#include "models/compute/issue/issue_statistics.h"
#include "models/compute/wavefront_pool.h"

namespace lacuna {

class FunctionalIssue {
 public:
  /// The referenced objects must outlive this object. `by_unit`: instructions are also counted in KernelActivity::issued.
  FunctionalIssue(WavefrontPool& pool, InstructionFetch& fetch, InstructionExecution& execution, IssueStatistics& statistics,
                  bool by_unit)
      : pool_(pool), fetch_(fetch), execution_(execution), statistics_(statistics), by_unit_(by_unit) {}

  /// Runs all cycles before `limit`.
  void run(Cycles limit);
  /// As run(), for wavefronts with a store buffer (isa::Wavefront::stores). A wavefront whose next access would be deferred,
  /// such as an atomic operation, is held before the access (StallReason::order).
  void run_buffered(Cycles limit);
  /// Runs each wavefront up to its WavefrontSlot::untimed_limit, but not beyond `code`, or, if the limit is 0, up to `limit`.
  /// A wavefront whose next instruction is outside of `code` is stopped: its limit and its rate become those of a wavefront
  /// that does not advance. Returns the number of wavefronts stopped.
  unsigned run_to_limits(Cycles limit, const AddressRange& code);

 private:
  enum class Bounds : std::uint8_t {
    none,
    order,  ///< a wavefront is held before an access that must follow others (run_buffered())
    code,   ///< a wavefront is stopped before code outside of `code_` (run_to_limits())
  };
  template <Bounds kBounds, class LimitOf>
  void run_all(const LimitOf& limit_of);
  template <Bounds kBounds>
  void run_wavefront(WavefrontSlot& slot, Cycles limit);
  template <Bounds kBounds>
  Cycles run_straight_line(WavefrontSlot& slot, Cycles cycle, Cycles limit);

  WavefrontPool& pool_;
  InstructionFetch& fetch_;
  InstructionExecution& execution_;
  IssueStatistics& statistics_;
  const bool by_unit_;
  AddressRange code_;     ///< argument of run_to_limits()
  unsigned stopped_ = 0;  ///< wavefronts that the current run_to_limits() has stopped
};

}  // namespace lacuna
