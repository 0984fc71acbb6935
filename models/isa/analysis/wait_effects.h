// Registers that each s_waitcnt makes available: results of memory instructions that may be outstanding before the wait and are
// complete after it. Used by passes that move or remove waits.
//
// vmcnt counts vector memory instructions in order; lgkmcnt counts scalar and LDS instructions. FLAT instructions are counted
// by both.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "models/isa/analysis/control_flow.h"
#include "models/isa/target.h"

namespace lacuna::isa {

/// The counts in the operand of s_waitcnt.
struct WaitCounts {
  static constexpr unsigned kNone = ~0U;  ///< no wait for this counter
  unsigned vm = kNone;
  unsigned lgkm = kNone;

  static WaitCounts of(const Instruction& wait, Target target);
  /// Returns `word`, an encoded s_waitcnt, with these counts; other bits of its operand are unchanged.
  std::uint32_t encode(std::uint32_t word, Target target) const;
  bool operator==(const WaitCounts&) const = default;
};

bool is_wait(const Instruction& instruction);
/// Whether vmcnt (counts_vm()) or lgkmcnt (counts_lgkm()) counts the instruction.
bool counts_vm(const Instruction& instruction);
bool counts_lgkm(const Instruction& instruction);

/// A set of registers: VGPRs 0 to 255, then SGPRs by operand encoding.
class PendingRegisters {
 public:
  static constexpr unsigned kWords = 6;

  void add(RegisterRange range) { change(range, true); }
  void remove(RegisterRange range) { change(range, false); }
  bool contains_any(RegisterRange range) const;
  bool empty() const;
  bool intersects(const PendingRegisters& other) const;
  /// Adds the registers of `other`. Returns true if any of them is new.
  bool merge(const PendingRegisters& other);
  void clear() { words_ = {}; }

 private:
  void change(RegisterRange range, bool present);
  std::array<std::uint64_t, kWords> words_{};
};

class WaitEffects {
 public:
  /// `flow` must be known.
  WaitEffects(const ControlFlow& flow, Target target);

  /// Operations that a wait waits for: they are complete after the wait and may be outstanding before it.
  struct Effect {
    PendingRegisters from_before;     ///< results of instructions before the block
    bool vm_before = false;           ///< the wait includes all operations that vmcnt counted before the block
    bool lgkm_before = false;         ///< the wait includes all operations that lgkmcnt counted before the block
    std::vector<std::uint32_t> vm;    ///< instructions of the block that vmcnt counts, in order
    std::vector<std::uint32_t> lgkm;  ///< instructions of the block that lgkmcnt counts

    bool covers(std::uint32_t instruction) const {
      return std::find(vm.begin(), vm.end(), instruction) != vm.end() ||
             std::find(lgkm.begin(), lgkm.end(), instruction) != lgkm.end();
    }
  };
  /// Effect of an s_waitcnt, given by its index.
  const Effect& effect(std::uint32_t wait) const { return effects_.at(wait); }
  /// Adds to `registers` those that the memory instruction with index `load` writes after it has issued.
  void add_results(std::uint32_t load, PendingRegisters& registers) const;

  /// Registers that the wait, given by its index, makes available, except those of loads for which `ignored` is true.
  template <class Ignored>
  PendingRegisters made_available(std::uint32_t wait, Ignored ignored) const {
    PendingRegisters registers;
    const auto found = effects_.find(wait);
    if (found == effects_.end()) return registers;
    registers = found->second.from_before;
    for (const std::vector<std::uint32_t>* list : {&found->second.vm, &found->second.lgkm})
      for (const std::uint32_t load : *list)
        if (!ignored(load)) add_results(load, registers);
    return registers;
  }

 private:
  /// Operations that may be outstanding at a point of a block.
  struct State {
    PendingRegisters vm_before;  ///< results of operations that vmcnt counted before the block
    PendingRegisters lgkm_before;
    std::vector<std::uint32_t> vm;  ///< instructions of the block that vmcnt counts, in order
    std::vector<std::uint32_t> lgkm;
  };

  void step(std::uint32_t index, State& state, Effect* effect) const;
  void wait(const WaitCounts& counts, State& state, Effect* effect) const;

  const ControlFlow& flow_;
  Target target_;
  std::unordered_map<std::uint32_t, Effect> effects_;  ///< effects by the index of the wait; never iterated
};

}  // namespace lacuna::isa
