// The memory pipe of a compute unit: issue of memory and LDS instructions, and their completion.
//
//   issued instruction --+-- LoadStage ... --> VectorMemory --> vector memory
//                        +-- ScalarMemory ---------------------> scalar memory
//                        +-- LoadStage ... --> LocalDataShare
//   MemoryTokens      memory instructions in flight
//   CounterWaits      wavefronts that wait for their vmcnt and lgkmcnt
//   DeferredAccesses  accesses that are performed at the end of the window
//
// The instruction has executed when it is issued to the pipe: the pipe moves no data, except that of deferred accesses. In
// functional mode no instruction is issued to the pipe.
#pragma once

#include <memory>
#include <vector>

#include "models/common/config/statistics.h"
#include "models/common/time/units.h"
#include "models/common/transport/memory_request.h"
#include "models/common/transport/translation_level.h"
#include "models/compute/compute_unit_context.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/compute/issue/counter_waits.h"
#include "models/compute/load_stage.h"
#include "models/compute/memory/deferred_accesses.h"
#include "models/compute/memory/local_data_share.h"
#include "models/compute/memory/memory_tokens.h"
#include "models/compute/memory/scalar_memory.h"
#include "models/compute/memory/vector_memory.h"

namespace lacuna {

class MemoryPipe final : private MemoryTokens::Listener {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    /// A memory operation of an ended wavefront of the group has completed; group.open and group.end have been updated.
    virtual void operation_completed(ResidentWorkgroup& group) = 0;
  };

  /// `vector` and `scalar`: memories that are used until attach() replaces them. The referenced objects must outlive this
  /// object.
  MemoryPipe(const ComputeUnitParameters& parameters, ComputeUnitPlace place, const ComputeUnitContext& context,
             MemoryTarget& vector, MemoryTarget& scalar, Listener& listener);

  void attach(MemoryTarget& vector, MemoryTarget& scalar) {
    vector_.port().attach(vector);
    scalar_.port().attach(scalar);
  }
  /// Attaches the TLB of each port; null: translation takes no time.
  void attach_tlbs(TranslationLevel* vector, TranslationLevel* scalar);
  /// Attaches the timeline that records the number of load requests over time.
  void count_requests(RequestTimeline& timeline) { tokens_.attach(&timeline); }

  // -- issue

  /// Addresses of the instruction being executed, by lane.
  isa::LaneAddresses& addresses() { return vector_.addresses(); }
  /// Whether a load stage serves the wavefronts of the dispatch (LoadStage::serves()).
  bool serves(const Dispatch& dispatch) const;
  /// Called before an instruction executes, if a stage serves the wavefront (LoadStage::prepare()). Returns the combined
  /// verdict of the stages up to the first stage that stalls the instruction.
  StageVerdict prepare(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
    StageVerdict all;
    for (LoadStage* stage = first_stage_; stage != nullptr && all.issues; stage = stage->next()) {
      const StageVerdict verdict = stage->prepare(slot, instruction, cycle);
      all = {verdict.issues, all.elsewhere | verdict.elsewhere, verdict.vector_unit};
    }
    return all;
  }
  /// Whether a stage would commit a vector instruction without execution (LoadStage::commits()).
  bool commits(const WavefrontSlot& slot, Cycles cycle) const {
    if (slot.next == nullptr || !slot.staged) return false;
    const LoadStage* stage = first_stage_;
    while (stage != nullptr && !stage->commits(slot, *slot.next, cycle)) stage = stage->next();
    return stage != nullptr;
  }
  /// See CounterWaits::full().
  bool full(WavefrontSlot& slot, Cycles cycle) { return waits_.full(slot, cycle); }
  /// See CounterWaits::wait().
  void wait(WavefrontSlot& slot, std::uint32_t simm16, Cycles cycle) { waits_.wait(slot, simm16, cycle); }
  /// Issues an executed instruction of the VMEM, SMEM or LDS unit, whose access is slot.wave.access.
  void issue(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle);
  /// LDS cycles of the access of an instruction, whose lane offsets are in addresses().
  LdsCycles lds_cycles(const isa::MemoryAccess& access, const isa::DecodedInstruction& instruction) {
    return lds_.cycles(access, vector_.addresses().lds, instruction);
  }
  /// Issues an LDS instruction.
  void issue_lds(WavefrontSlot& slot, LdsCycles cycles, Cycles cycle) {
    const LocalDataShare::Result result = lds_.access(cycles, cycle);
    slot.lgkmcnt.add_out_of_order(result.done, result.delays);
  }

  // -- wavefronts

  /// Called when a wavefront ends in `cycle`. Its operations in flight pass to its workgroup (ResidentWorkgroup::open);
  /// ResidentWorkgroup::end includes the latest completion of the wavefront's other operations.
  void end_wavefront(WavefrontSlot& slot, Cycles cycle);
  /// Detaches the operations of a dispatch from their wavefronts. The caller then calls drop_wavefront() for each wavefront.
  void drop(const Dispatch& dispatch) { tokens_.drop(dispatch); }
  void drop_wavefront(WavefrontSlot& slot);

  // -- the end of a window

  bool has_deferred() const { return deferred_.count() != 0; }
  DeferredAccesses& deferred() { return deferred_; }
  /// Drops bookings before `horizon`.
  void retire(Tick horizon);
  /// Drops everything in flight. Requires that no wavefront is resident.
  void reset();

  // -- reports

  const LocalDataShare& lds() const { return lds_; }
  /// Number of line transactions so far.
  const std::uint64_t& vector_requests() const { return vector_.requests(); }
  std::uint64_t vector_group_cycles() const { return vector_.group_cycles(); }
  const std::uint64_t& scalar_requests() const { return scalar_.requests(); }
  const std::vector<std::unique_ptr<LoadStage>>& stages() const { return stages_; }
  /// Start of the oldest load with an outstanding response; kNever: there is none.
  Tick oldest_load() const { return tokens_.oldest_load(); }

 private:
  void issue_vector(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle);
  void issue_scalar(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle);
  /// Notifies the stages of a store or atomic (LoadStage::stored()).
  void notify_of_store(const WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
    for (LoadStage* stage = first_stage_; stage != nullptr; stage = stage->next()) stage->stored(slot, instruction, cycle);
  }

  void operation_closed(WavefrontSlot& slot) override { waits_.operation_closed(slot); }
  void operation_closed(ResidentWorkgroup& group, Cycles done) override {
    group.end = later(group.end, done);
    listener_.operation_completed(group);
  }
  void registers_filled(WavefrontSlot& slot, unsigned stage, Cycles done, const OperationDelays& delays) override {
    stages_[stage]->registers_filled(slot, done, delays);
  }

  Listener& listener_;
  LoadStage* first_stage_ = nullptr;  ///< null: the unit has no stages
  CounterWaits waits_;
  MemoryTokens tokens_;
  VectorMemory vector_;
  ScalarMemory scalar_;
  LocalDataShare lds_;
  DeferredAccesses deferred_;
  std::vector<std::unique_ptr<LoadStage>> stages_;
};

}  // namespace lacuna
