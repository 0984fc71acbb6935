// Which lanes are active, relative to sets of lanes from earlier points of a program.
//
// Compilers narrow EXEC for the sides of a branch and restore it from a saved mask. A vector register that is written by fewer
// lanes than before keeps the old value in the others, so "is this value still there" needs to know whether the mask is back,
// and "is it read here" whether a lane is active that has not been written.
#pragma once

#include <cstdint>

#include "models/isa/analysis/register_use.h"
#include "models/isa/decode/instruction.h"

namespace lacuna::isa {

/// What is known of EXEC and of the masks in SGPR pairs along a way through the program that begins at a point with the lanes
/// D. Masks in VCC are not followed.
class ExecCover {
 public:
  /// EXEC contains all lanes of D.
  bool covers() const { return covers_; }
  /// The effect of an instruction. Only those that write EXEC or an SGPR have one.
  void apply(const Instruction& instruction, const RegisterUse& use);
  /// Keeps what is known on both of two ways that meet. True when something that was known here is not any more.
  bool meet(const ExecCover& other);

 private:
  void forget(const RegisterUse& use);
  bool apply_saving(const Instruction& instruction);
  bool apply_logic(const Instruction& instruction);

  bool covers_ = true;
  std::uint64_t masks_ = 0;        ///< bit p: SGPRs 2p and 2p + 1 hold all lanes of D
  std::uint64_t complements_ = 0;  ///< bit p: they hold all lanes of D that EXEC has not
};

/// What is known of EXEC and of the masks in SGPR pairs relative to the lanes W that have written a register so far.
class ExecBound {
 public:
  /// All active lanes are in W.
  bool holds() const { return holds_; }
  /// The active lanes write the register: W grows by them.
  void write() { holds_ = true; }
  /// As of ExecCover.
  void apply(const Instruction& instruction, const RegisterUse& use);
  bool meet(const ExecBound& other);

 private:
  bool apply_saving(const Instruction& instruction);
  bool apply_logic(const Instruction& instruction);

  bool holds_ = false;
  std::uint64_t masks_ = 0;  ///< bit p: SGPRs 2p and 2p + 1 hold lanes of W only
};

}  // namespace lacuna::isa
