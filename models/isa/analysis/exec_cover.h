// Tracks which lanes are active, relative to sets of lanes at earlier points of a program.
//
// Compilers narrow EXEC for the sides of a branch and restore it from a saved mask. A vector register that is written by fewer
// lanes than before keeps the old value in the other lanes. An instruction can therefore read an old value only if a lane in
// which the value has not been overwritten is active, which depends on whether the mask has been restored.
#pragma once

#include <cstdint>

#include "models/isa/analysis/register_use.h"
#include "models/isa/decode/instruction.h"

namespace lacuna::isa {

/// Relation of EXEC and of the masks in SGPR pairs to D, the lanes that are active at the start of a path through the program.
/// Masks in VCC are not tracked.
class ExecCover {
 public:
  /// Whether EXEC is known to contain all lanes of D.
  bool covers() const { return covers_; }
  /// Applies the effect of an instruction. Only instructions that write EXEC or an SGPR have an effect.
  void apply(const Instruction& instruction, const RegisterUse& use);
  /// Merges the states of two paths that join: keeps the facts that hold on both. Returns true if any fact is dropped.
  bool meet(const ExecCover& other);

 private:
  void forget(const RegisterUse& use);
  bool apply_saving(const Instruction& instruction);
  bool apply_logic(const Instruction& instruction);

  bool covers_ = true;
  std::uint64_t masks_ = 0;        ///< bit p: SGPRs 2p and 2p + 1 hold all lanes of D
  std::uint64_t complements_ = 0;  ///< bit p: SGPRs 2p and 2p + 1 hold all lanes of D that are not in EXEC
};

/// Relation of EXEC and of the masks in SGPR pairs to W, the set of lanes that have written a register so far.
class ExecBound {
 public:
  /// Whether all active lanes are known to be in W.
  bool holds() const { return holds_; }
  /// Adds the active lanes to W: they write the register.
  void write() { holds_ = true; }
  /// Applies the effect of an instruction, as ExecCover::apply().
  void apply(const Instruction& instruction, const RegisterUse& use);
  bool meet(const ExecBound& other);

 private:
  bool apply_saving(const Instruction& instruction);
  bool apply_logic(const Instruction& instruction);

  bool holds_ = false;
  std::uint64_t masks_ = 0;  ///< bit p: SGPRs 2p and 2p + 1 hold lanes of W only
};

}  // namespace lacuna::isa
