// Renames the VGPRs of values that live within one basic block. Often the only obstacle to moving an instruction is that its
// destination register still holds an earlier value.
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

/// An operand of an instruction: a source, or the destination, whose number is kDestination.
struct OperandPlace {
  static constexpr unsigned kDestination = isa::kMaxSources;
  std::uint32_t instruction = 0;
  unsigned operand = 0;
  auto operator<=>(const OperandPlace&) const = default;
};

/// Adds `distance` to the VGPR numbers of the operands selected by `operands` (bits by OperandPlace::operand). nullopt if the
/// encoding does not permit this, for instance because a selected operand is no VGPR field.
std::optional<isa::Instruction> renamed(const isa::Instruction& instruction, unsigned operands, int distance,
                                        isa::Target target);

/// All operands that must change together when a value is assigned another register: those of the value's writer and readers,
/// and of values that share multi-register operands with the value.
class ValueWeb {
 public:
  ValueWeb(const isa::ControlFlow& flow, const isa::ValueReaders& values) : flow_(flow), values_(values) {}

  /// Collects the web of the value that `writer` writes to its destination. Returns false if a value of the web is read outside
  /// of the block, or written outside of the block or by an instruction that is not a vector ALU instruction, if EXEC is
  /// written in between, or if the web exceeds kMostPlaces operands.
  bool grow(std::uint32_t writer);
  const std::set<OperandPlace>& places() const { return places_; }
  /// Registers of the web, ascending.
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
