// Instructions of a block that is being reordered, with their dependences.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/isa/analysis/register_use.h"
#include "models/isa/analysis/wait_effects.h"
#include "models/isa/decode/instruction.h"

namespace lacuna {

/// Set of resources through which instructions depend on each other: registers, memory, LDS and waits, one bit each.
class Resources {
 public:
  static constexpr unsigned kVgprs = 0;
  static constexpr unsigned kAgprs = 256;
  static constexpr unsigned kSgprs = 512;
  static constexpr unsigned kScc = 640;
  static constexpr unsigned kMemory = 641;
  static constexpr unsigned kLds = 642;
  static constexpr unsigned kPrivate = 643;
  static constexpr unsigned kWait = 644;  ///< written by waits, read by instructions that must not move in front of a wait
  /// First bit of the values that are being renamed and have no register yet.
  static constexpr unsigned kUnnamed = 645;
  static constexpr unsigned kEnd = 768;

  void add(unsigned bit) { words_[bit / 64] |= std::uint64_t{1} << (bit % 64); }
  void remove(unsigned bit) { words_[bit / 64] &= ~(std::uint64_t{1} << (bit % 64)); }
  void add(isa::RegisterRange range) {
    if (range.file == isa::OperandKind::none) return;
    const unsigned base = range.file == isa::OperandKind::vgpr   ? kVgprs
                          : range.file == isa::OperandKind::agpr ? kAgprs
                                                                 : kSgprs;
    const unsigned limit = range.file == isa::OperandKind::sgpr ? 128 : 256;
    for (unsigned r = range.first; r < std::min<unsigned>(range.first + range.count, limit); ++r) add(base + r);
  }
  void add(const Resources& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  bool intersects(const Resources& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      if ((words_[i] & other.words_[i]) != 0) return true;
    return false;
  }
  /// Whether the sets share a resource other than VGPRs.
  bool intersects_beyond_vgprs(const Resources& other) const {
    for (std::size_t i = kAgprs / 64; i < words_.size(); ++i)
      if ((words_[i] & other.words_[i]) != 0) return true;
    return false;
  }

 private:
  std::array<std::uint64_t, kEnd / 64> words_{};
};

struct MovedItem {
  std::uint32_t index = 0;  ///< index in ControlFlow::instructions()
  isa::Instruction instruction;
  bool is_wait = false;
  Resources reads;
  Resources writes;
  isa::PendingRegisters uses;       ///< registers that must be available before the instruction issues
  isa::PendingRegisters available;  ///< registers that the item makes available, if it is a wait
  bool is_fixed = false;            ///< no instruction may move across this item
};

/// Adds to `item` the registers, memory and waits that the instruction reads and writes, and sets item.is_fixed. Ignores
/// operands of OperandKind::none.
void add_uses(const isa::Instruction& instruction, MovedItem& item);

}  // namespace lacuna
