// Forms of an instruction with two or three sources, and their results for given sources. Used by tests that cover all rows of
// the instruction table.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "tests/isa/vector/vop_machine.h"

namespace lacuna::isa::test {

inline constexpr unsigned kResultWords = 4;
inline constexpr unsigned kScalarDst = 16;

/// Result of a row's instruction for up to three sources of up to 64 bits.
struct Outcome {
  std::array<std::array<std::uint32_t, kLanes>, kResultWords> words{};
  std::uint64_t flags = 0;
  bool scc = false;
};

inline bool is_float_type(OperandType t) {
  return t == OperandType::f16 || t == OperandType::f32 || t == OperandType::f64 || t == OperandType::pk_f16 ||
         t == OperandType::pk_f32;
}
inline bool halves(OperandType t) { return t == OperandType::f16 || t == OperandType::pk_f16; }

/// Type of a source. A literal has the type of the first factor.
inline OperandType source_type(const InstructionRow& row, unsigned source) {
  return row.src.types[source] == OperandType::simm32 ? row.src.types[0] : row.src.types[source];
}

/// Whether no part of `value` is NaN or infinite when read as `type`. `mixed`: the value may be read as f16 or as f32.
inline bool finite(std::uint64_t value, OperandType type, bool mixed) {
  if (!is_float_type(type)) return true;
  if (type == OperandType::f64) return (value >> 52 & 0x7ff) != 0x7ff;
  bool good = true;
  if (halves(type)) {
    for (unsigned i = 0; i < 64; i += 16) good = good && (value >> i & 0x7c00) != 0x7c00;
  }
  if (!halves(type) || mixed) {
    for (unsigned i = 0; i < 64; i += 32) good = good && (value >> i & 0x7f80'0000) != 0x7f80'0000;
  }
  return good;
}

inline std::uint64_t negative_zero(OperandType type) {
  if (type == OperandType::f64) return 0x8000'0000'0000'0000;
  return halves(type) ? 0x8000'8000'8000'8000 : 0x8000'0000'8000'0000;
}

inline bool same(const Outcome& a, const Outcome& b) { return a.words == b.words && a.flags == b.flags; }
/// Whether the values are equal except for the signs of zeros.
inline bool same_values(const InstructionRow& row, const Outcome& a, const Outcome& b) {
  const OperandType type = row.dst.types[0];
  if (!is_float_type(type) || a.flags != b.flags) return same(a, b);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned i = 0; i < kResultWords; i += 2) {
      const auto pair = [lane, i](const Outcome& o) {
        return std::uint64_t{o.words[i][lane]} | std::uint64_t{o.words[i + 1][lane]} << 32;
      };
      const std::uint64_t x = pair(a);
      const std::uint64_t y = pair(b);
      const bool half = halves(type) || (row.flags & (kMixedPrecision | kReadsDst)) == (kMixedPrecision | kReadsDst);
      const unsigned width = type == OperandType::f64 ? 64 : half ? 16 : 32;
      for (unsigned bit = 0; bit < 64; bit += width) {
        const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
        const std::uint64_t p = x >> bit & mask;
        const std::uint64_t q = y >> bit & mask;
        if (p != q && ((p | q) & (mask >> 1)) != 0) return false;
      }
    }
  }
  return true;
}

/// 100 values of 64 bits: special and moderate values of every format, and random values.
inline const std::vector<std::uint64_t>& values() {
  static const std::vector<std::uint64_t> all = [] {
    std::vector<std::uint64_t> list;
    for (const std::uint64_t half :
         {0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x8001, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7d01})
      list.push_back(half * 0x0001'0001'0001'0001);
    for (const std::uint64_t word : {0x3f80'0000, 0x0000'0001, 0x0040'0000, 0x7f7f'ffff, 0x7f80'0000, 0x7fc0'0000, 0x7f80'0001,
                                     0x00ff'ffff, 0x0100'0000, 0x7fff'ffff, 0x4b00'0000})
      list.push_back(word * 0x1'0000'0001);
    for (const std::uint64_t word : {0xbf80'0000, 0xff80'0000, 0x8000'0000, 0x8000'0001, 0xffff'ffff, 0xff7f'ffff})
      list.push_back(word * 0x1'0000'0001);
    list.insert(list.end(),
                {0x3ff0'0000'0000'0000, 0xbff0'0000'0000'0000, 0x7ff0'0000'0000'0000, 0xfff0'0000'0000'0000,
                 0x7ff8'0000'0000'0000, 0x7ff0'0000'0000'0001, 0x7fef'ffff'ffff'ffff, 1, 0x8000'0000'0000'0000, 31, 5});
    std::mt19937_64 random(5);
    while (list.size() < 100) {
      // Half of the values are moderate in every floating-point format.
      const std::uint64_t bits = random();
      list.push_back(list.size() % 2 == 0 ? bits : (bits & 0xbfff'bfff'bfff'bfff) | 0x3800'3800'3800'3800);
    }
    return list;
  }();
  return all;
}

/// A form of an instruction, with its sources in v[2:3], v[4:5], v[6:7] (SOP2: in SGPRs) except for a literal.
struct Form {
  Instruction instruction;
  int literal = -1;  ///< index of the source that is a literal
};

class Subject {
 public:
  Subject(Machine& machine, const InstructionRow& row) : m_(machine), row_(row) {}

  std::vector<Form> forms() {
    std::vector<Form> all;
    const auto add = [&](auto make) {
      try {
        all.push_back({.instruction = make()});
      } catch (const std::runtime_error&) {  // the row has no such form
      }
    };
    const std::array sources{row_.src.count > 0 ? vgpr(kSrc0) : 0, row_.src.count > 1 ? vgpr(kSrc1) : 0,
                             row_.src.count > 2 ? vgpr(kSrc2) : 0};
    const auto opcode = static_cast<std::uint32_t>(row_.opcode[m_.wave.target]);
    if (row_.format == Format::sop2) {
      add([&] { return m_.assemble({0x8000'0000U | opcode << 23 | kScalarDst << 16 | kSrc1 << 8 | kSrc0}); });
    } else if (row_.format == Format::vop3p) {
      // The words contain the row's opcode: the mnemonic does not identify the row, since several rows may share it.
      for (const Vop3p& m : {Vop3p{}, Vop3p{.op_sel_hi = 0}, Vop3p{.op_sel = 7, .op_sel_hi = 0}, Vop3p{.neg = 7, .neg_hi = 7},
                             Vop3p{.op_sel = 2, .op_sel_hi = 5, .clamp = true}}) {
        add([&] {
          return m_.assemble({0xd380'0000U | opcode << 16 | (m.clamp ? 1U << 15 : 0U) | (m.op_sel_hi >> 2 & 1) << 14 |
                                  m.op_sel << 11 | m.neg_hi << 8 | kDst,
                              m.neg << 29 | (m.op_sel_hi & 3) << 27 | sources[2] << 18 | sources[1] << 9 | sources[0]});
        });
      }
    } else if (row_.format == Format::vop2) {
      add([&] { return m_.assemble({opcode << 25 | kDst << 17 | kSrc1 << 9 | vgpr(kSrc0), 0x3f80'0000U}); });
      if (!all.empty() && (row_.flags & kHasLiteralOperand) != 0)
        all.back().literal = row_.src.types[1] == OperandType::simm32 ? 1 : 2;
      if ((row_.flags & kNoE64) == 0) add_vop3(add, kVop3OfVop2 + opcode, sources);
    } else {
      add_vop3(add, opcode, sources);
    }
    return all;
  }

  using Sources = std::array<const std::vector<std::uint64_t>*, 3>;

  /// Executes the form and returns its results. `sources`: values of each source by lane; `old`: destination before execution.
  Outcome run(const Form& form, const Sources& sources, std::uint64_t old) {
    if (row_.format == Format::sop2) {
      Outcome outcome;
      // Scalar instructions are executed for one lane after the other.
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        m_.wave.write64(kSrc0, (*sources[0])[lane]);
        m_.wave.write64(kSrc1, (*sources[1])[lane]);
        m_.wave.write64(kScalarDst, old);
        m_.wave.scc = false;
        m_.run(form.instruction);
        outcome.words[0][lane] = m_.wave.sgpr[kScalarDst];
        outcome.words[1][lane] = m_.wave.sgpr[kScalarDst + 1];
        outcome.flags |= std::uint64_t{m_.wave.scc} << lane;
      }
      return outcome;
    }
    return execute(load(form, sources, old));
  }

  /// Loads the sources and the old destination of a vector form into registers. Returns the instruction with its literal, if
  /// any.
  Instruction load(const Form& form, const Sources& sources, std::uint64_t old) {
    Instruction instruction = form.instruction;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      for (unsigned i = 0; i < instruction.sources; ++i) {
        if (instruction.src[i].kind == OperandKind::vgpr) m_.set_pair(instruction.src[i].index, lane, (*sources[i])[lane]);
      }
      m_.set_pair(kSrc2 + 2, lane, 0x1234'5678'9abc'def0);
      for (unsigned i = 0; i < kResultWords; i += 2) m_.set_pair(kDst + i, lane, old);
    }
    if (form.literal >= 0) {
      // A literal has the same value in all lanes.
      Operand& literal = instruction.src[static_cast<unsigned>(form.literal)];
      literal.value = (*sources[static_cast<unsigned>(form.literal)])[0] & 0xffff'ffff;
    }
    m_.wave.set_vcc(0x5555'5555'5555'5555);
    return instruction;
  }

  /// Executes an instruction whose sources load() has set, and returns its results.
  Outcome execute(const Instruction& instruction) {
    Outcome outcome;
    m_.run(instruction);
    for (unsigned i = 0; i < kResultWords; ++i) {
      for (unsigned lane = 0; lane < kLanes; ++lane) outcome.words[i][lane] = m_.at(kDst + i, lane);
    }
    if (row_.dst.count > 1) outcome.flags = m_.wave.read64(instruction.dst[1].index);
    return outcome;
  }

 private:
  template <class Add>
  void add_vop3(Add add, std::uint32_t opcode, const std::array<unsigned, 3>& sources) {
    const bool flag = row_.dst.count > 1;
    for (const Vop3& m : {Vop3{}, Vop3{.neg = 7}, Vop3{.abs = 3}, Vop3{.omod = 2}, Vop3{.clamp = true}, Vop3{.op_sel = 3},
                          Vop3{.op_sel = 12}}) {
      if (flag && (m.abs != 0 || m.op_sel != 0)) continue;
      add([&] {
        return m_.assemble(
            {0xd000'0000U | opcode << 16 | (m.clamp ? 1U << 15 : 0U) | (flag ? 40U << 8 : m.abs << 8 | m.op_sel << 11) | kDst,
             m.neg << 29 | m.omod << 27 | sources[2] << 18 | sources[1] << 9 | sources[0]});
      });
    }
  }

  Machine& m_;
  const InstructionRow& row_;
};

}  // namespace lacuna::isa::test
