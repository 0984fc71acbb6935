// Loads that a compute unit holds in registers, by wavefront and register: which lanes' data are not there. No time, no
// requests.
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
  using LaneMasks = std::array<Lanes, held_load::kMaxRegisters>;  ///< by register of the load

  std::array<std::uint32_t, isa::kLanes> words;  ///< of the first register, as encoded
  std::uint64_t upper = 0;                       ///< address bits that the lanes share
  Tick addressed{};                              ///< when the first line of an eager load would have left
  WavefrontSlot* slot = nullptr;                 ///< null: the load is over
  isa::RegisterRange registers;
  std::uint16_t number = 0;  ///< in HeldLoads
  std::uint8_t bytes = 0;    ///< of a lane
  Lanes lanes = 0;           ///< that it loads
  LaneMasks busy{};          ///< lanes whose data are not in the register
  LaneMasks zero{};          ///< lanes of which zero masks will say that the data are zero
  LaneMasks served{};        ///< lanes that a transaction which left has filled
  LaneMasks suspended{};     ///< lanes that an instruction did without, as they made no difference
  LaneMasks need{};          ///< lanes that the instruction being prepared needs
  bool touched = false;      ///< by that instruction
  unsigned written = 0;      ///< registers that it writes, bit r
  // Zero reads:
  bool has_zeros = false;    ///< `zero` has not been applied yet
  bool waited_for = false;   ///< by the wavefront
  unsigned masks_open = 0;   ///< zero reads without a response
  Cycles masks_at{};         ///< when the others are known
  unsigned zero_blocks = 0;  ///< transactions of which everything is zero
  unsigned zero_parts = 0;   ///< other transactions of which all that is loaded is zero

  bool is_needed() const {
    Lanes any = 0;
    for (const Lanes lanes_of_register : need) any |= lanes_of_register;
    return any != 0;
  }
  /// Bytes of a lane in each register.
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
    std::vector<std::uint16_t> loads;                ///< their numbers, oldest first
    std::array<std::uint16_t, 2 * kFileSize> owner;  ///< loads by register, VGPRs then AGPRs
    OfWavefront() { owner.fill(kNone); }
    void clear() {
      loads.clear();
      busy.clear();
      owner.fill(kNone);
    }
  };

  HeldLoad& operator[](std::uint16_t number) { return *all_[number]; }
  /// A free record; enter() or release() follows.
  HeldLoad& take();
  void release(const HeldLoad& load) { free_.push_back(load.number); }
  /// Whether any register of a range waits for a load.
  static bool is_any_held(const OfWavefront& w, const isa::RegisterRange& registers);
  /// A wavefront holds a load, whose slot, registers, bytes and lanes are given: all of them are busy.
  void enter(OfWavefront& w, HeldLoad& load);
  /// Lanes of a register are filled, or are not needed any more. True: those were the load's last, and the wavefront does not
  /// hold it any more.
  bool free_lanes(OfWavefront& w, HeldLoad& load, unsigned r, Lanes lanes);
  /// Calls `body(load)` for all loads of a wavefront, which holds none afterwards.
  template <typename Body>
  void drop_all(OfWavefront& w, Body&& body) {
    for (const std::uint16_t number : w.loads) body(*all_[number]);
    w.clear();
  }
  /// Calls `body(load, register of the load)` for the busy registers of a range.
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
