// Other VGPRs for values that live within one basic block: what keeps an instruction from moving is often only that its
// register is used for something else before.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "models/isa/analysis/control_flow.h"
#include "models/isa/analysis/value_readers.h"

namespace lacuna {

/// An operand of an instruction: a source, or the destination behind the sources.
struct OperandPlace {
  static constexpr unsigned kDestination = isa::kMaxSources;
  std::uint32_t instruction = 0;
  unsigned operand = 0;
  auto operator<=>(const OperandPlace&) const = default;
};

/// The instruction with VGPRs of the operands in `operands`, as bits by OperandPlace::operand, that are `distance` higher.
/// Nothing where an operand is no field of a VGPR of the instruction's encoding.
std::optional<isa::Instruction> renamed(const isa::Instruction& instruction, unsigned operands, int distance,
                                        isa::Target target);

/// All places that must change together, when a value gets another register: its writer, its readers, and what shares operands
/// of several registers with it.
class ValueWeb {
 public:
  ValueWeb(const isa::ControlFlow& flow, const isa::ValueReaders& values) : flow_(flow), values_(values) {}

  /// The web of what `writer` writes to its destination. False when the value, or one that shares an operand with it, is read
  /// outside of the block, comes from there, or is loaded, or when EXEC is written between.
  bool grow(std::uint32_t writer);
  const std::set<OperandPlace>& places() const { return places_; }
  /// Registers that the web has, ascending.
  const std::set<unsigned>& vgprs() const { return vgprs_; }

 private:
  bool add_writer(std::uint32_t writer);
  bool add_readers(std::uint32_t writer, unsigned vgpr);
  bool add_operand(std::uint32_t reader, unsigned operand);
  bool one_mask() const;

  static constexpr std::size_t kMostPlaces = 64;
  const isa::ControlFlow& flow_;
  const isa::ValueReaders& values_;
  std::set<OperandPlace> places_;
  std::set<unsigned> vgprs_;
};

}  // namespace lacuna
