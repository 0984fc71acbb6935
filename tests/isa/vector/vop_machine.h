// A wavefront for tests: assembles vector instructions from the opcodes of the instruction table, decodes and executes them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "models/isa/decode/decoder.h"
#include "models/isa/decode/table.h"
#include "models/isa/vector/host_fp.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa::test {

inline constexpr unsigned kRegisters = 64;
inline constexpr std::uint32_t kUntouched = 0xdeadbeef;
inline constexpr std::uint64_t kAllLanes = ~std::uint64_t{0};

/// MODE: f32 and f64/f16 rounding (0 even, 1 +inf, 2 -inf, 3 zero); denormals kept or flushed, for inputs and results alike.
inline Mode mode_of(unsigned rounding, bool denormals, bool ieee = true, bool dx10_clamp = true) {
  Mode mode;
  mode.bits = rounding | rounding << 2 | (denormals ? 0xf0U : 0U) | (dx10_clamp ? 1U << 8 : 0U) | (ieee ? 1U << 9 : 0U);
  return mode;
}

/// 9-bit source encodings.
constexpr unsigned vgpr(unsigned index) { return 256 + index; }
constexpr unsigned sgpr(unsigned index) { return index; }
constexpr unsigned integer_constant(int value) { return static_cast<unsigned>(value >= 0 ? 128 + value : 192 - value); }
inline constexpr unsigned kHalf = 240, kOne = 242, kMinusTwo = 245;

struct Vop3 {
  unsigned abs = 0, neg = 0, omod = 0;
  bool clamp = false;
  unsigned sdst = 0;
  unsigned op_sel = 0;
};
/// Modifiers of VOP3P. The defaults leave halves and signs as they are.
struct Vop3p {
  unsigned op_sel = 0, op_sel_hi = 7, neg = 0, neg_hi = 0;
  bool clamp = false;
};

class Machine {
 public:
  explicit Machine(Target target = Target::gfx803) : registers_(kRegisters * kLanes, kUntouched) {
    wave.target = target;
    wave.vgpr = registers_.data();
    wave.vgpr_count = kRegisters;
    wave.sgpr_count = 102;
    wave.mode = mode_of(0, true);
    wave.set_exec(kAllLanes);
  }
  ~Machine() { restore_host_fp(); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Wavefront wave;

  std::uint32_t& at(unsigned reg, unsigned lane) { return registers_.at(reg * kLanes + lane); }
  std::uint64_t pair(unsigned reg, unsigned lane) {
    return std::uint64_t{at(reg, lane)} | std::uint64_t{at(reg + 1, lane)} << 32;
  }
  void set_pair(unsigned reg, unsigned lane, std::uint64_t value) {
    at(reg, lane) = static_cast<std::uint32_t>(value);
    at(reg + 1, lane) = static_cast<std::uint32_t>(value >> 32);
  }
  void fill(unsigned reg, std::uint32_t value) {
    for (unsigned lane = 0; lane < kLanes; ++lane) at(reg, lane) = value;
  }

  const InstructionRow& row(std::string_view mnemonic) const {
    for (const Format format : {Format::vop1, Format::vop2, Format::vopc, Format::vop3a, Format::vop3p}) {
      for (const InstructionRow& candidate : rows(format)) {
        if (candidate.mnemonic == mnemonic && candidate.opcode[wave.target] != kAbsent) return candidate;
      }
    }
    throw std::runtime_error("no row for " + std::string(mnemonic));
  }

  Instruction assemble(std::initializer_list<std::uint32_t> words) const {
    const std::vector<std::uint32_t> code(words);
    const DecodeResult decoded = decode(code.data(), code.size(), wave.target);
    if (!decoded.ok) throw std::runtime_error(decoded.error);
    return decoded.instruction;
  }

  /// The 32-bit encoding, with the word that follows for literals, SDWA and DPP.
  Instruction e32(std::string_view mnemonic, unsigned dst, unsigned src0, unsigned vsrc1 = 0, std::uint32_t next = 0) const {
    const InstructionRow& r = row(mnemonic);
    const auto opcode = static_cast<std::uint32_t>(r.opcode[wave.target]);
    switch (r.format) {
      case Format::vop1:
        return assemble({0x7e000000U | dst << 17 | opcode << 9 | src0, next});
      case Format::vop2:
        return assemble({opcode << 25 | dst << 17 | vsrc1 << 9 | src0, next});
      case Format::vopc:
        return assemble({0x7c000000U | opcode << 17 | vsrc1 << 9 | src0, next});
      default:
        throw std::runtime_error("VOP3 only");
    }
  }

  Instruction e64(std::string_view mnemonic, unsigned dst, std::array<unsigned, 3> src, Vop3 modifiers = {}) const {
    const InstructionRow& r = row(mnemonic);
    auto opcode = static_cast<std::uint32_t>(r.opcode[wave.target]);
    if (r.format == Format::vop2) opcode += kVop3OfVop2;
    if (r.format == Format::vop1) opcode += kVop3OfVop1;
    const bool scalar_result = r.dst.count > 1;
    const std::uint32_t middle = scalar_result ? modifiers.sdst << 8 : modifiers.abs << 8 | modifiers.op_sel << 11;
    return assemble({0xd0000000U | opcode << 16 | (modifiers.clamp ? 1U << 15 : 0U) | middle | dst,
                     modifiers.neg << 29 | modifiers.omod << 27 | src[2] << 18 | src[1] << 9 | src[0]});
  }

  Instruction vop3p(std::string_view mnemonic, unsigned dst, std::array<unsigned, 3> src, Vop3p m = {}) const {
    const auto opcode = static_cast<std::uint32_t>(row(mnemonic).opcode[wave.target]);
    return assemble({0xd3800000U | opcode << 16 | (m.clamp ? 1U << 15 : 0U) | (m.op_sel_hi >> 2 & 1) << 14 | m.op_sel << 11 |
                         m.neg_hi << 8 | dst,
                     m.neg << 29 | (m.op_sel_hi & 3) << 27 | src[2] << 18 | src[1] << 9 | src[0]});
  }

  void run(const Instruction& instruction) {
    wave.event = Event::none;
    instruction.execute(instruction, wave);
    restore_host_fp();  // the test computes in floating point too
  }

 private:
  std::vector<std::uint32_t> registers_;
};

/// One set of source values.
struct Inputs {
  std::uint64_t a = 0, b = 0, c = 0;
};

/// Every combination of the edges for `count` sources, then `random` combinations of drawn values.
inline std::vector<Inputs> combine(const std::vector<std::uint64_t>& edges, unsigned count, unsigned random,
                                   const std::function<std::uint64_t(std::mt19937_64&)>& draw) {
  std::vector<Inputs> all;
  for (const std::uint64_t a : edges) {
    for (const std::uint64_t b : count > 1 ? edges : std::vector<std::uint64_t>{0}) {
      for (const std::uint64_t c : count > 2 ? edges : std::vector<std::uint64_t>{0}) all.push_back({a, b, c});
    }
  }
  std::mt19937_64 generator(count * 7919 + edges.size());
  for (unsigned i = 0; i < random; ++i) {
    const std::uint64_t a = draw(generator);
    const std::uint64_t b = draw(generator);
    all.push_back({a, b, draw(generator)});
  }
  return all;
}

/// The expected contents of a lane: up to 64 bits of result and, if the instruction has one, the lane's flag.
struct Expected {
  std::uint64_t value = 0;
  bool flag = false;
};

inline constexpr unsigned kDst = 16, kSrc0 = 2, kSrc1 = 4, kSrc2 = 6;

/// Runs `instruction` (sources in v[2:3], v[4:5], v[6:7]; result in v[16:17]) over all inputs, 64 at a time and under changing
/// EXEC masks; checks active lanes against `expected`, and that inactive lanes are unchanged. With `old_is_input`, the
/// destination holds the third source before.
inline void check_lanes(Machine& machine, const Instruction& instruction, const std::vector<Inputs>& inputs, bool old_is_input,
                        const std::function<Expected(const Inputs&)>& expected) {
  std::mt19937_64 generator(inputs.size());
  const InstructionRow& row = *instruction.row;
  const bool compares = row.dst.types[0] == OperandType::lane_mask;
  const bool has_flag = row.dst.count > 1;
  const bool wide = !compares && instruction.dst[0].words > 1;
  unsigned failures = 0;
  for (std::size_t first = 0; first < inputs.size(); first += kLanes) {
    const std::uint64_t exec = (first / kLanes) % 2 == 0 ? kAllLanes : generator();
    machine.wave.set_exec(exec);
    machine.wave.set_vcc(kAllLanes);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const Inputs& in = inputs[(first + lane) % inputs.size()];
      machine.set_pair(kSrc0, lane, in.a);
      machine.set_pair(kSrc1, lane, in.b);
      machine.set_pair(kSrc2, lane, in.c);
      machine.set_pair(kDst, lane, old_is_input ? in.c : std::uint64_t{kUntouched} << 32 | kUntouched);
    }
    const std::uint64_t mask_before = machine.wave.exec();
    machine.run(instruction);
    for (unsigned lane = 0; lane < kLanes && failures < 5; ++lane) {
      const Inputs& in = inputs[(first + lane) % inputs.size()];
      const bool active = ((mask_before >> lane) & 1) != 0;
      const Expected want =
          active ? expected(in) : Expected{old_is_input ? in.c : std::uint64_t{kUntouched} << 32 | kUntouched};
      bool good = true;
      std::uint64_t got = 0;
      if (!compares) {
        got = wide ? machine.pair(kDst, lane) : machine.at(kDst, lane);
        good = got == (wide ? want.value : want.value & 0xffffffff);
      }
      if (compares || has_flag) {
        const std::uint64_t bits = machine.wave.read64(instruction.dst[has_flag ? 1 : 0].index);
        good = good && ((bits >> lane) & 1) == (active && want.flag ? 1U : 0U);
      }
      if (!good) {
        ++failures;
        ADD_FAILURE() << row.mnemonic << " mode 0x" << std::hex << machine.wave.mode.bits << (active ? " active" : " inactive")
                      << " lane: a 0x" << in.a << " b 0x" << in.b << " c 0x" << in.c << ": got 0x" << got << ", want 0x"
                      << want.value << " flag " << want.flag << " mask 0x"
                      << (compares || has_flag ? machine.wave.read64(instruction.dst[has_flag ? 1 : 0].index) : 0);
      }
    }
  }
}

}  // namespace lacuna::isa::test
