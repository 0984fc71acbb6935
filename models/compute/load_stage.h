// Stages of a research machine on the path of vector memory and LDS instructions, between their issue and the vector memory
// unit or the LDS.
//
//   issue -> stage -> stage -> ... -> VectorMemory
//                                  +-> LocalDataShare
//
// The stages of a compute unit form a chain in the order in which the device's extensions were added. Each stage sees an
// instruction before it executes, and its memory or LDS access afterwards; it passes accesses that it does not serve on to the
// next stage. Instructions of wavefronts that a stage serves do not execute ahead of their issue, so that the stage sees
// registers and memory as they are when the instruction issues. Other wavefronts run as in a unit without stages: each of
// their instructions tests a flag.
//
// Values never depend on stages: an instruction has read and written registers and memory when it has executed. A stage
// determines which requests depart, and when.
//
// A stage passes an access on with pass_on(). A stage that delays an access, or sends its requests itself, queries the stages
// after it with perform() and depart(), and notifies them with departed().
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "models/common/config/statistics.h"
#include "models/common/time/units.h"
#include "models/common/transport/memory_request.h"
#include "models/common/transport/translation_level.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/compute/memory/local_data_share.h"
#include "models/compute/memory/memory_tokens.h"
#include "models/compute/memory/vector_memory.h"
#include "models/compute/wavefront_pool.h"
#include "models/energy/energy_meter.h"
#include "models/energy/energy_parameters.h"
#include "models/isa/decode/decoded_code.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

/// Decision about an instruction that a wavefront is about to issue.
struct StageVerdict {
  bool issues = true;  ///< whether the instruction issues in this cycle
  /// Active lanes whose part of the instruction is performed elsewhere, without registers and ALU of the unit. If these are all
  /// active lanes, a vector instruction is committed without execution and does not occupy the SIMD's vector ALU.
  std::uint64_t elsewhere = 0;
  /// Cycles for which the stage takes the SIMD's vector ALU, which must be free; used only if `issues` is false.
  Cycles vector_unit{};
};

/// An access that a stage does not pass on. During perform() and depart(), VectorMemory::addresses() holds the addresses of the
/// access.
struct StagedAccess {
  const isa::MemoryAccess& access;
  isa::RegisterRange destination;  ///< destination registers of a load; count = 0 for other accesses
  std::uint64_t pc = 0;
  /// Whether the access's instruction executes now; otherwise the access is a held load, which has executed before.
  bool executes = true;
  /// Whether all data of the load are requested now; otherwise the stage has found a part of them elsewhere.
  bool whole = true;
  /// Earliest time at which the first line leaves, if the addresses have passed the address unit before; otherwise nullopt.
  std::optional<Tick> leaves{};
};

/// The part of an access that remains for the stage that is about to send its requests.
struct Departure {
  std::optional<MemoryTokens::Token> performed{};  ///< token of a load that is performed without requests
  std::uint64_t lanes = 0;                         ///< lanes whose data are to be requested, unless `performed` is set
  Cycles delay{};                                  ///< additional delay of the requests' departure
};

class LoadStage {
 public:
  explicit LoadStage(VectorMemory& memory) : memory_(memory) {}
  virtual ~LoadStage() = default;
  LoadStage(const LoadStage&) = delete;
  LoadStage& operator=(const LoadStage&) = delete;

  /// Whether the stage serves the wavefronts of a dispatch; called when a wavefront starts. If no stage of the unit does, only
  /// wavefront_ended() is called for the wavefront.
  virtual bool serves(const Dispatch& dispatch) const {
    static_cast<void>(dispatch);
    return true;
  }
  /// Called before an instruction executes. If the instruction does not issue in this cycle, the stage has set the cycle from
  /// which it may be offered again (slot.when), or holds the slot until the stage releases it. Every instruction changes
  /// registers and memory when it issues, wherever it is performed.
  virtual StageVerdict prepare(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
    static_cast<void>(slot), static_cast<void>(instruction), static_cast<void>(cycle);
    return {};
  }
  /// Whether prepare(), if it were called now, would let a vector instruction be committed without execution. Such an
  /// instruction needs neither the SIMD's vector ALU nor its turn.
  virtual bool commits(const WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) const {
    static_cast<void>(slot), static_cast<void>(instruction), static_cast<void>(cycle);
    return false;
  }
  /// Called after a vector memory instruction that accesses global memory in some lane has executed: slot.wave.access describes
  /// the access, memory().addresses() has its addresses. The caller calls MemoryTokens::issued() for the token.
  virtual MemoryTokens::Token access(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Counters counters,
                                     Cycles cycle) {
    return pass_on(slot, instruction, counters, cycle);
  }
  /// Called after an instruction of the LDS unit has executed: slot.wave.access describes the access, whose bytes_per_lane is 0
  /// if the instruction only moves data between lanes; memory().addresses() has its offsets. The caller counts the result in
  /// lgkmcnt.
  virtual LocalDataShare::Result access_lds(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
    return pass_on_lds(slot, instruction, cycle);
  }
  /// Called when a store or atomic of the unit has executed and its access has been passed on: vector and scalar instructions
  /// of all wavefronts, also of those that the stage does not serve. slot.wave.access describes the access,
  /// memory().addresses() has the addresses of a vector instruction.
  virtual void stored(const WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
    static_cast<void>(slot), static_cast<void>(instruction), static_cast<void>(cycle);
  }
  /// Called when requests that the stage has sent with own_counters() for registers of the wavefront have completed.
  virtual void registers_filled(WavefrontSlot& slot, Cycles done, const OperationDelays& delays) {
    static_cast<void>(slot), static_cast<void>(done), static_cast<void>(delays);
  }
  /// Called when the wavefront has ended or is dropped.
  virtual void wavefront_ended(WavefrontSlot& slot) { static_cast<void>(slot); }
  /// Drops everything in flight.
  virtual void reset() {}
  /// Drops bookings that end by `horizon`: no later booking starts before `horizon`.
  virtual void retire(Tick horizon) { static_cast<void>(horizon); }

  /// Attaches the TLB of the unit's vector memory; null: translation takes no time.
  virtual void attach(TranslationLevel* tlb) { static_cast<void>(tlb); }
  /// Adds the stage's statistics, in a separate group, to those of the compute unit.
  virtual void describe(StatisticsGroup& unit) const { static_cast<void>(unit); }
  /// Registers the energy of the stage's work.
  virtual void describe_energy(EnergyMeter& meter, const ComputeEnergy& energy) const {
    static_cast<void>(meter), static_cast<void>(energy);
  }

  // -- accesses that a stage before this one does not pass on

  /// Called when a load executes that the calling stage would delay. If this stage or a later stage performs the load without
  /// requests, returns the load's token. The caller of perform() or depart() calls MemoryTokens::issued() for such a token.
  virtual std::optional<MemoryTokens::Token> perform(WavefrontSlot& slot, const StagedAccess& load, Counters counters,
                                                     Cycles cycle) {
    return next_ != nullptr ? next_->perform(slot, load, counters, cycle) : std::nullopt;
  }
  /// Called before another stage sends the requests of an access itself. Unless Departure::performed is returned, departed()
  /// follows with the token of the requests, before any other access.
  virtual Departure depart(WavefrontSlot& slot, const StagedAccess& access, Counters counters, Cycles cycle) {
    if (next_ != nullptr) return next_->depart(slot, access, counters, cycle);
    return {.lanes = access.access.lanes};
  }
  virtual void departed(WavefrontSlot& slot, const StagedAccess& access, MemoryTokens::Token token) {
    if (next_ != nullptr) next_->departed(slot, access, token);
  }

  /// Sets the stage's position in its compute unit (counted from 0), the next stage (null: vector memory unit and LDS), and the
  /// LDS.
  void enter_chain(unsigned number, LoadStage* next, LocalDataShare& lds) {
    number_ = number;
    next_ = next;
    lds_ = &lds;
  }
  LoadStage* next() const { return next_; }

 protected:
  VectorMemory& memory() { return memory_; }
  LocalDataShare& lds() { return *lds_; }
  /// Counters of requests whose completion is reported to registers_filled().
  Counters own_counters() const { return counters_of_stage(number_); }
  /// Passes the access on to the next stage, or to the vector memory unit.
  MemoryTokens::Token pass_on(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Counters counters,
                              Cycles cycle) {
    return next_ != nullptr ? next_->access(slot, instruction, counters, cycle)
                            : memory_.access(slot, slot.wave.access, counters, cycle);
  }
  /// Passes an LDS access on to the next stage, or to the LDS.
  LocalDataShare::Result pass_on_lds(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
    return next_ != nullptr ? next_->access_lds(slot, instruction, cycle)
                            : lds_->access(lds_->cycles(slot.wave.access, memory_.addresses().lds, instruction), cycle);
  }

 private:
  VectorMemory& memory_;
  LocalDataShare* lds_ = nullptr;
  unsigned number_ = 0;
  LoadStage* next_ = nullptr;
};

/// The compute unit of a stage. All referenced objects outlive the stage.
struct LoadStageContext {
  ComputeUnitPlace place;
  const ComputeUnitParameters& parameters;
  Clock clock;
  const GpuVm& vm;
  MemoryTokens& tokens;
  VectorMemory& memory;
  MemoryTarget& socket;  ///< the memory at the unit's vector socket
};
/// Creates the stage of a compute unit. Returns null if the unit has none.
using LoadStageFactory = std::function<std::unique_ptr<LoadStage>(const LoadStageContext&)>;

}  // namespace lacuna
