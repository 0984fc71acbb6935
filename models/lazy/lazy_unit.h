// The lazy unit of a compute unit (LazyGPU, ISCA '25, section 4). It holds vector loads in their destination registers until an
// instruction needs them, looks up in zero caches whether their data are zero, and drops loads that no instruction uses.
//
//   load         access()           encodes the request in its registers, which are busy (held_load.h); sends zero reads
//   instruction  prepare()          waits for its busy registers: sends the requests of all registers that the same
//                                   transactions fill
//   store        access()           first sends requests of held loads that overlap the store. A transaction of zeros is
//   written
//                                   as a mask only
//   end          wavefront_ended()  loads that are still held are never issued
//
// Functional execution is eager: a load's values are in its registers when it has executed. Only its requests are held, so
// every mode computes the same bits by construction. The rules below ensure that hardware would compute them as well;
// `lazy.check` verifies it: memory must still hold the values of the load when its request departs.
//
// Rules for cases that the paper leaves open (docs/deviations/lazygpu.md has the reasons):
//   needed by           lanes of EXEC; all lanes for DPP, lane moves of VALU and LDS, MFMA, partial writes of a register
//   all held loads      are needed by s_barrier, cache invalidations, atomics, accesses with GLC or SLC, scalar stores, global
//                       wave sync, vector instructions while VGPR indexing or VSKIP is on
//   a store             first sends held loads that share a transaction with it, and waits for them
//   a load              whose destinations are partly held for lanes outside of EXEC is issued eagerly: a register has one
//                       request
//   the first register  of a load holds its address: an instruction that reads a lane of it needs that lane of all other
//                       registers, an instruction that overwrites it needs that lane of the registers that it does not
//                       overwrite, and zero masks set the first register to zero only after the others
//   s_waitcnt           does not wait for held loads: they count as completed
//
// Later stages (models/compute/load_stage.h) are queried when a load executes: a load that a stage performs without requests is
// not held. They are queried again when requests of a held load depart.
//
// HeldLoads is the table of held loads, InstructionNeeds the analysis of an instruction. RacingLoads has the loads of
// eager_zero, which are not held.
//
// A transaction is eliminated when no lane needs its words: because they are zero, because the lane's other operand is zero
// until the register is overwritten, or because no instruction reads them. Transactions are counted (kLazyCountTexts).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
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

/// Outcomes of a compute unit's vector loads and stores, summed over all kernels.
struct LazyStatistics {
  LazyCounts counts{};
  std::array<std::uint64_t, held_load::kRefusals> refused{};  ///< loads that were issued eagerly, by reason
  std::uint64_t encoded = 0;                                  ///< register lanes into which an encoded request was written
  std::uint64_t decoded = 0;                                  ///< register lanes whose encoded request was read to send it
};

class LazyUnit : public LoadStage, private ZeroRequests::Client {
 public:
  /// `path`: not used in modes without zero caches.
  LazyUnit(const LazyParameters& parameters, const LoadStageContext& unit, const ZeroPath& path);

  StageVerdict prepare(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) override {
    const Wavefront& w = wavefront(slot);
    if (w.loads.empty()) return {};
    if (!InstructionNeeds::needs_everything(instruction, slot.wave) && !instruction.registers.uses_any(w.busy)) return {};
    return {.issues = prepare_registers(slot, instruction, cycle)};
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
  /// Replaces the path to the zero caches. Call only in modes with zero caches, before the first access.
  void attach(const ZeroPath& path) { zeros_->attach(path); }

  const LazyStatistics& statistics() const { return statistics_; }
  void describe(StatisticsGroup& unit) const override;
  void describe_energy(EnergyMeter& meter, const ComputeEnergy& energy) const override;

 private:
  using Lanes = HeldLoad::Lanes;
  using LaneMasks = HeldLoad::LaneMasks;

  struct Wavefront : HeldLoads::OfWavefront {
    unsigned pending = 0;  ///< number of events without a known time that the wavefront waits for
    Cycles due{};          ///< latest known time of an event that the wavefront waits for
    OperationDelays delays;
    LazyCause cause = LazyCause::registers;
  };
  /// Whether held loads occupy the address unit only once.
  bool is_addressed_once() const { return parameters_.address_unit == AddressUnit::once; }

  // lazy_unit.cpp: work before an instruction issues
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
  /// Holds a load, or has a later stage perform it. Returns its token; nullopt: the load is issued eagerly.
  std::optional<MemoryTokens::Token> hold(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Counters counters,
                                          Cycles cycle);
  MemoryTokens::Token load_with_masks(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Counters counters,
                                      Cycles cycle);
  MemoryTokens::Token store_with_masks(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Counters counters,
                                       Cycles cycle);
  void send_overlapping(WavefrontSlot& slot, Cycles cycle);
  /// Sends the transactions of a load's needed lanes.
  void issue(HeldLoad& load, Cycles cycle);
  /// Earliest departure of the first line of a held load whose addresses have passed the address unit already.
  Tick leaves(const HeldLoad& load, Cycles cycle) const;
  MemoryTokens::Token send(const HeldLoad& load, const isa::MemoryAccess& access, std::span<const CoalescedLine> lines,
                           Cycles cycle, Cycles delay);
  /// As send(), but asks the later stages whether they serve the load before its first part departs. `whole`: `part` is the
  /// entire load.
  MemoryTokens::Token depart_held(const HeldLoad& load, const isa::MemoryAccess& part, bool whole, Cycles cycle);
  /// Whether all lanes and registers of a load are busy, and will be filled by the requests about to be sent.
  static bool is_whole(const HeldLoad& load, const LaneMasks& filled);
  void find_neighbours(const HeldLoad& load, LaneMasks& filled);
  void check_memory(const HeldLoad& load);
  /// Lanes of each register of a load that are zero according to its zero masks.
  LaneMasks find_zeros(const isa::RegisterRange& registers, const isa::Wavefront& wave, unsigned bytes);
  bool zero_by_mask(std::uint64_t address, unsigned bytes);
  void count_zero_lines(HeldLoad& load, std::span<const CoalescedLine> lines);
  void apply_zeros(HeldLoad& load);
  static void add_followers(HeldLoad& load);
  /// Clears the busy bits of lanes that are filled or will not be requested.
  void free_lanes(HeldLoad& load, unsigned r, Lanes lanes);
  /// Ends a load: counts its outcome and releases its record.
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
  std::unique_ptr<ZeroRequests> zeros_;  ///< null: the mode has no zero caches
  unsigned slots_;                       ///< wavefront slots of a SIMD
  std::vector<Wavefront> wavefronts_;
  HeldLoads loads_;
  InstructionNeeds needs_;
  RacingLoads racing_loads_;
  // Scratch state.
  std::vector<std::uint16_t> overlapping_;           ///< loads that may overlap a store
  Coalescer lines_;                                  ///< lines of a part of a load or store
  std::array<CoalescedLine, 2 * isa::kLanes> kept_;  ///< lines of a store that are not all zero
  isa::LaneAddresses decoded_;                       ///< addresses that decode_addresses() decoded last
  LazyStatistics statistics_;
};

}  // namespace lacuna
