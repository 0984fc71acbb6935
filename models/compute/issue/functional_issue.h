// Issue in functional mode: wavefronts run one after the other, each until it is held or the window ends. Every instruction
// takes a cycle.
#pragma once

#include "models/compute/issue/instruction_execution.h"
#include "models/compute/issue/instruction_fetch.h"
#include "models/compute/issue/issue_statistics.h"
#include "models/compute/wavefront_pool.h"

namespace lacuna {

class FunctionalIssue {
 public:
  /// Referenced objects outlive this one.
  FunctionalIssue(WavefrontPool& pool, InstructionFetch& fetch, InstructionExecution& execution, IssueStatistics& statistics)
      : pool_(pool), fetch_(fetch), execution_(execution), statistics_(statistics) {}

  /// Runs all cycles before `limit`.
  void run(Cycles limit);

 private:
  void run_wavefront(WavefrontSlot& slot, Cycles limit);
  Cycles run_straight_line(WavefrontSlot& slot, Cycles cycle, Cycles limit);

  WavefrontPool& pool_;
  InstructionFetch& fetch_;
  InstructionExecution& execution_;
  IssueStatistics& statistics_;
};

}  // namespace lacuna
