// Table of the loads that a compute unit holds in registers, by wavefront and register, with the lanes whose data are missing.
// No time, no requests.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/common/time/units.h"
#include "models/compute/wavefront_pool.h"
#include "models/isa/decode/decoded_code.h"
#include "models/lazy/held_load.h"

namespace lacuna {

struct HeldLoad {
  using Lanes = std::uint64_t;
  using LaneMasks = std::array<Lanes, held_load::kMaxRegisters>;  ///< indexed by register of the load

  std::array<std::uint32_t, isa::kLanes> words;  ///< encoded first register
  std::uint64_t upper = 0;                       ///< address bits that the lanes share
  Tick addressed{};                              ///< departure time of the first line if the load were eager
  WavefrontSlot* slot = nullptr;                 ///< wavefront that holds the load; null: the load has ended
  isa::RegisterRange registers;
  std::uint64_t pc = 0;
  std::uint16_t number = 0;  ///< index in HeldLoads
  std::uint8_t bytes = 0;    ///< bytes per lane
  Lanes lanes = 0;           ///< lanes that execute the load
  LaneMasks busy{};          ///< lanes whose data are not in the register
  LaneMasks zero{};          ///< lanes whose data are zero according to the zero masks
  LaneMasks served{};        ///< lanes filled by a transaction that has departed
  LaneMasks suspended{};     ///< lanes that an instruction has skipped because they do not affect its result
  LaneMasks need{};          ///< lanes that must be requested before the current instruction
  bool touched = false;      ///< InstructionNeeds::touch() has found the load; false after the call
  unsigned written = 0;      ///< registers of the load that the instruction being prepared writes: bit r is register r
  // State of the load's zero reads:
  bool has_zeros = false;    ///< `zero` is not empty and has not been applied yet
  bool waited_for = false;   ///< the wavefront waits for the zero reads
  unsigned masks_open = 0;   ///< number of zero reads without a response
  Cycles masks_at{};         ///< time of the latest response so far
  unsigned zero_blocks = 0;  ///< number of transactions whose words are all zero
  unsigned zero_parts = 0;   ///< number of other transactions whose loaded words are all zero

  bool is_needed() const {
    Lanes any = 0;
    for (const Lanes lanes_of_register : need) any |= lanes_of_register;
    return any != 0;
  }
  /// Bytes of a lane per register.
  unsigned register_bytes() const { return bytes < 4 ? bytes : 4; }
};

class HeldLoads {
 public:
  static constexpr unsigned kFileSize = 256;
  static constexpr std::uint16_t kNone = 0xffff;
  using Lanes = HeldLoad::Lanes;

  /// Loads of one wavefront.
  struct OfWavefront {
    isa::RegisterSet busy;
    std::vector<std::uint16_t> loads;                ///< numbers of the loads, oldest first
    std::array<std::uint16_t, 2 * kFileSize> owner;  ///< number of the load by register, VGPRs then AGPRs
    OfWavefront() { owner.fill(kNone); }
    void clear() {
      loads.clear();
      busy.clear();
      owner.fill(kNone);
    }
  };

  HeldLoad& operator[](std::uint16_t number) { return *all_[number]; }
  /// Allocates a record. Call enter() or release() afterwards.
  HeldLoad& take();
  void release(const HeldLoad& load) { free_.push_back(load.number); }
  /// Whether any register of a range waits for a load.
  static bool is_any_held(const OfWavefront& w, const isa::RegisterRange& registers);
  /// Adds a load to those of a wavefront; the caller has set the load's slot, registers, bytes and lanes. All lanes of the load
  /// become busy.
  void enter(OfWavefront& w, HeldLoad& load);
  /// Clears the busy bits of lanes of a register that are filled or no longer needed. Returns true if these were the load's
  /// last busy lanes; the wavefront then no longer holds the load.
  bool free_lanes(OfWavefront& w, HeldLoad& load, unsigned r, Lanes lanes);
  /// Calls `body(load)` for all loads of a wavefront, then drops them.
  template <typename Body>
  void drop_all(OfWavefront& w, Body&& body) {
    for (const std::uint16_t number : w.loads) body(*all_[number]);
    w.clear();
  }
  /// Calls `body(load, r)` for each busy register of a range: the register is register `r` of `load`.
  template <typename Body>
  void for_busy(const OfWavefront& w, const isa::RegisterRange& range, Body&& body) {
    if (range.file != isa::OperandKind::vgpr && range.file != isa::OperandKind::agpr) return;
    const unsigned first = index_of(range);
    for (unsigned i = first; i < first + range.count; ++i) {
      if (w.owner[i] == kNone) continue;
      HeldLoad& load = *all_[w.owner[i]];
      body(load, i - index_of(load.registers));
    }
  }
  void clear() {
    all_.clear();
    free_.clear();
  }

 private:
  static unsigned index_of(const isa::RegisterRange& range) {
    return range.first + (range.file == isa::OperandKind::agpr ? kFileSize : 0U);
  }

  std::vector<std::unique_ptr<HeldLoad>> all_;
  std::vector<std::uint16_t> free_;
};

}  // namespace lacuna
