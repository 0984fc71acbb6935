// Registers that an instruction reads and writes, as sets for a scoreboard: computed once, when the instruction is decoded, and
// compared with the registers that have pending results in a few host instructions.
//
//   RegisterSet pending;                    // of a wavefront
//   pending.add(load destination); ...      // when a load issues
//   if (instruction.registers.uses_any(pending)) ...   // the next instruction must wait
//
// Folds and layout are described in models/isa/detail/host_layout.h.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "models/isa/analysis/register_use.h"

namespace lacuna::isa {

/// Mask of a range of registers, folded to 64 bits: AGPRs are rotated by half a word, so that low numbers of both files use
/// different bits.
constexpr std::uint64_t fold_of(RegisterRange range) {
  if (range.count == 0) return 0;
  const std::uint64_t ones = range.count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << range.count) - 1;
  return std::rotl(ones, static_cast<int>((range.first + (range.file == OperandKind::agpr ? 32U : 0U)) % 64));
}

/// A set of a wavefront's registers: VGPRs and AGPRs 0 to 255, SGPRs by operand encoding 0 to 127, including VCC, M0 and EXEC.
class RegisterSet {
 public:
  void add(RegisterRange range) { change(range, true); }
  void remove(RegisterRange range) { change(range, false); }
  void clear() { *this = RegisterSet(); }
  bool empty() const { return (vector_fold_ | scalar_fold_) == 0; }
  bool contains_any(RegisterRange range) const;

  std::uint64_t vector_fold() const { return vector_fold_; }
  std::uint64_t scalar_fold() const { return scalar_fold_; }

 private:
  static constexpr unsigned kSgprWords = 2;
  static constexpr unsigned kVectorWords = 4;  // 64-bit words for each vector register file
  static constexpr unsigned kVgprs = kSgprWords;
  static constexpr unsigned kAgprs = kVgprs + kVectorWords;
  static constexpr unsigned kWords = kAgprs + kVectorWords;

  /// Calls `visit` with each word of the file that contains a part of the range, and the mask of this part. Ignores registers
  /// beyond the file.
  template <class Words, class Visit>
  static void for_words(Words& words, RegisterRange range, Visit visit);
  void change(RegisterRange range, bool present);

  std::array<std::uint64_t, kWords> words_{};
  std::uint64_t vector_fold_ = 0;
  std::uint64_t scalar_fold_ = 0;
};

/// Registers that an instruction uses: those of register_use(), except for moves relative to M0, which may read or write any
/// register of the file. VGPR indexing (models/isa/scalar/gpr_index.h), with which vector instructions may use any VGPR, is not
/// considered.
class RegisterMasks {
 public:
  RegisterMasks() = default;
  explicit RegisterMasks(const Instruction& instruction);

  bool reads_any(const RegisterSet& set) const {
    return ((vector_reads_ & set.vector_fold()) | (scalar_reads_ & set.scalar_fold())) != 0 && find(set, 0, reads_);
  }
  bool writes_any(const RegisterSet& set) const {
    return ((vector_writes_ & set.vector_fold()) | (scalar_writes_ & set.scalar_fold())) != 0 && find(set, reads_, ranges_);
  }
  bool uses_any(const RegisterSet& set) const {
    return (((vector_reads_ | vector_writes_) & set.vector_fold()) | ((scalar_reads_ | scalar_writes_) & set.scalar_fold())) !=
               0 &&
           find(set, 0, ranges_);
  }

  unsigned reads() const { return reads_; }
  unsigned writes() const { return ranges_ - reads_; }
  RegisterRange read(unsigned i) const { return range(i); }
  RegisterRange write(unsigned i) const { return range(reads_ + i); }
  bool reads_scc() const { return reads_scc_; }
  bool writes_scc() const { return writes_scc_; }

 private:
  struct Packed {
    OperandKind file = OperandKind::none;
    std::uint8_t last = 0;  ///< count - 1
    std::uint16_t first = 0;
  };
  RegisterRange range(unsigned i) const {
    const Packed& p = packed_[i];
    return {p.file, p.first, static_cast<std::uint16_t>(p.last + 1U)};
  }
  bool find(const RegisterSet& set, unsigned begin, unsigned end) const;
  void add(RegisterRange range, std::uint64_t& vector, std::uint64_t& scalar);

  std::uint64_t vector_reads_ = 0;
  std::uint64_t vector_writes_ = 0;
  std::uint64_t scalar_reads_ = 0;
  std::uint64_t scalar_writes_ = 0;
  std::uint8_t reads_ = 0;
  std::uint8_t ranges_ = 0;
  bool reads_scc_ = false;
  bool writes_scc_ = false;
  std::array<Packed, RegisterUse::kMaxReads + RegisterUse::kMaxWrites> packed_{};  // reads, then writes
};

/// Position of a decoded instruction in its program.
struct CodePlace {
  std::uint64_t end = 0;  ///< address after the instruction
  /// The instruction at `end`, once it has been looked up: see DecodedCode::after().
  mutable std::atomic<const struct DecodedInstruction*> following = nullptr;
};

/// A decoded instruction with the masks of its registers.
struct alignas(64) DecodedInstruction : CodePlace, Instruction {
  DecodedInstruction() = default;
  explicit DecodedInstruction(const Instruction& instruction, std::uint64_t address = 0)
      : CodePlace{address + instruction.size}, Instruction(instruction), registers(instruction) {
    reach = reach_of(instruction);
  }

  RegisterMasks registers;
};

}  // namespace lacuna::isa
