// The lazy unit of a compute unit (LazyGPU, ISCA '25, section 4): it keeps vector loads in their destination registers until an
// instruction needs them, reads from zero caches whether they are needed at all, and drops those that no instruction uses.
//
//   load         access()           the request is encoded in its registers, which are busy (held_load.h); zero reads leave
//   instruction  prepare()          waits until its registers are there: their requests leave now, for all registers that the
//                                   same transactions fill
//   store        access()           requests of held loads that overlap it leave first. A transaction of zeros is its mask
//                                   alone
//   end          wavefront_ended()  what is still held is never issued
//
// Function is eager: a load's values are in its registers when it has executed. What is held is its requests, so that every
// mode computes the same bits by construction. Whether hardware would have done so is what the rules below are for, and what
// `lazy.check` watches: memory must hold what the load has read when its request leaves.
//
// Rules, which the paper leaves open (docs/DEVIATIONS.md has the reasons):
//   needed by           lanes of EXEC; all lanes for DPP, lane moves of VALU and LDS, MFMA, partial writes of a register
//   all held loads      are needed by s_barrier, cache invalidations, atomics, accesses with GLC or SLC, scalar stores, global
//                       wave sync, vector instructions while VGPR indexing or VSKIP is on
//   a store             sends held loads that share a transaction with it first, and waits for them
//   a load              whose destinations are partly held for lanes outside of EXEC goes eagerly: a register has one request
//   the first register  of a load has its address: an instruction that reads or overwrites a lane of it needs what other
//                       registers hold of that lane, and it is not set to zero before them
//   s_waitcnt           does not wait for held loads: they count as completed
//
// The table of held loads is HeldLoads, the analysis of an instruction InstructionNeeds; loads of eager_zero, which are not
// held, are RacingLoads.
//
// A transaction is eliminated when no lane needs it any more: its words are zero, a lane's partner is zero and its register is
// overwritten, or no instruction reads it. Counts are of transactions (kLazyCountTexts).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/common/config/statistics.h"
#include "models/compute/load_stage.h"
#include "models/compute/memory/coalescer.h"
#include "models/compute/memory/memory_tokens.h"
#include "models/compute/memory/vector_memory.h"
#include "models/compute/wavefront_pool.h"
#include "models/lazy/held_load.h"
#include "models/lazy/held_loads.h"
#include "models/lazy/instruction_needs.h"
#include "models/lazy/lazy_parameters.h"
#include "models/lazy/lazy_texts.h"
#include "models/lazy/racing_loads.h"
#include "models/lazy/zero_requests.h"

namespace lacuna {

/// What a compute unit's vector loads came to; sums over all kernels.
struct LazyStatistics {
  LazyCounts counts{};
  std::array<std::uint64_t, held_load::kRefusals> refused{};  ///< loads that went eagerly, by reason
  std::uint64_t encoded = 0;                                  ///< register lanes that were written with a request,
  std::uint64_t decoded = 0;                                  ///< and read when it was issued
};

class LazyUnit : public LoadStage, private ZeroRequests::Client {
 public:
  /// `path`: not used in modes without zero caches.
  LazyUnit(const LazyParameters& parameters, const LoadStageContext& unit, const ZeroPath& path);

  bool prepare(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) override {
    const Wavefront& w = wavefront(slot);
    if (w.loads.empty()) return true;
    if (!InstructionNeeds::needs_everything(instruction, slot.wave) && !instruction.registers.uses_any(w.busy)) return true;
    return prepare_registers(slot, instruction, cycle);
  }
  MemoryTokens::Token access(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Counters counters,
                             Cycles cycle) override;
  void wavefront_ended(WavefrontSlot& slot) override;
  void registers_filled(WavefrontSlot& slot, Cycles done, const OperationDelays& delays) override;
  void reset() override;
  void retire(Tick horizon) override {
    if (zeros_) zeros_->retire(horizon);
  }
  void attach(TranslationLevel* tlb) override {
    if (zeros_) zeros_->port().attach(tlb);
  }
  /// In modes with zero caches: another path there, before the first access.
  void attach(const ZeroPath& path) { zeros_->attach(path); }

  const LazyStatistics& statistics() const { return statistics_; }
  void describe(StatisticsGroup& unit) const override;
  void describe_energy(EnergyMeter& meter, const ComputeEnergy& energy) const override;

 private:
  using Lanes = HeldLoad::Lanes;
  using LaneMasks = HeldLoad::LaneMasks;

  struct Wavefront : HeldLoads::OfWavefront {
    unsigned pending = 0;  ///< what it waits for, without a time yet
    Cycles due{};          ///< the latest of what has a time
    OperationDelays delays;
    LazyCause cause = LazyCause::registers;
  };
  /// Held loads occupy the address unit once.
  bool is_addressed_once() const { return parameters_.address_unit == AddressUnit::once; }

  // lazy_unit.cpp: before instructions
  bool prepare_registers(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle);
  void need_all(Wavefront& w, Cycles cycle);
  bool masks_known(WavefrontSlot& slot, Wavefront& w, Cycles cycle);
  void suspend(WavefrontSlot& slot, const isa::DecodedInstruction& instruction);
  void overwrite(Wavefront& w, const isa::DecodedInstruction& instruction, const isa::Wavefront& wave);
  void wait(WavefrontSlot& slot, Wavefront& w, LazyCause cause, Cycles cycle);
  void end_wait(WavefrontSlot& slot, Wavefront& w);
  void zeros_known(std::uint32_t tag, Tick at) override;
  Wavefront& wavefront(const WavefrontSlot& slot) { return wavefronts_[slot.simd->number * slots_ + slot.number]; }

  // lazy_unit_memory.cpp: loads and stores
  bool hold(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle);
  MemoryTokens::Token load_with_masks(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Counters counters,
                                      Cycles cycle);
  MemoryTokens::Token store_with_masks(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Counters counters,
                                       Cycles cycle);
  void send_overlapping(WavefrontSlot& slot, Cycles cycle);
  /// Sends the transactions of what is needed of a load.
  void issue(HeldLoad& load, Cycles cycle);
  void find_neighbours(const HeldLoad& load, LaneMasks& filled);
  void check_memory(const HeldLoad& load);
  /// Lanes of each register of a load that its zero masks say are zero, and its transactions of which nothing else is loaded.
  LaneMasks find_zeros(const isa::RegisterRange& registers, const isa::Wavefront& wave, unsigned bytes);
  bool zero_by_mask(std::uint64_t address, unsigned bytes);
  void count_zero_lines(HeldLoad& load, std::span<const CoalescedLine> lines);
  void apply_zeros(HeldLoad& load);
  static void add_followers(HeldLoad& load);
  /// Lanes of a register are there, or will not be asked for.
  void free_lanes(HeldLoad& load, unsigned r, Lanes lanes);
  /// The load is over: counts what has become of it. Its record may be used again.
  void finish(HeldLoad& load);
  void decode_addresses(const HeldLoad& load);
  void add_lanes(const HeldLoad& load, unsigned r, Lanes lanes);
  void count(const WavefrontSlot& slot, LazyCount what, std::uint64_t amount = 1);

  const LazyParameters parameters_;
  const ExtensionSlots slots_of_texts_ = lazy_slots();
  Clock clock_;
  MemoryTokens& tokens_;
  VectorMemory& memory_;
  PhysicalAddresses physical_;
  std::unique_ptr<ZeroRequests> zeros_;  ///< null: there are no zero caches
  unsigned slots_;                       ///< of a SIMD
  std::vector<Wavefront> wavefronts_;
  HeldLoads loads_;
  InstructionNeeds needs_;
  RacingLoads racing_loads_;
  // Scratch: loads that may overlap a store, lines, addresses of the load that is looked at.
  std::vector<std::uint16_t> overlapping_;
  Coalescer lines_;
  std::array<CoalescedLine, 2 * isa::kLanes> kept_;
  isa::LaneAddresses decoded_;
  LazyStatistics statistics_;
};

}  // namespace lacuna
