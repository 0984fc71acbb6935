// Issue in functional mode, and in the parts of sampled kernels that take no simulated time: wavefronts run one after the
// other, each until it is held or the window ends. Every instruction takes a cycle.
#pragma once

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
  /// Runs each wavefront up to its WavefrontSlot::untimed_limit or, if that is 0, up to `limit`.
  void run_to_limits(Cycles limit);

 private:
  template <bool kBuffered, class LimitOf>
  void run_all(const LimitOf& limit_of);
  template <bool kBuffered>
  void run_wavefront(WavefrontSlot& slot, Cycles limit);
  template <bool kBuffered>
  Cycles run_straight_line(WavefrontSlot& slot, Cycles cycle, Cycles limit);

  WavefrontPool& pool_;
  InstructionFetch& fetch_;
  InstructionExecution& execution_;
  IssueStatistics& statistics_;
  const bool by_unit_;
};

}  // namespace lacuna
