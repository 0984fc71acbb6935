// A gfx90a wavefront with VGPRs and AGPRs, for tests of matrix instructions.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "models/isa/decode/decoder.h"
#include "models/isa/vector/host_fp.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa::test {

class MatrixMachine {
 public:
  static constexpr unsigned kRegisters = 160;

  explicit MatrixMachine(const MatrixCodes& codes = {})
      : codes_(codes), vgprs_(kRegisters * kLanes), agprs_(kRegisters * kLanes) {
    wave.target = Target::gfx90a;
    wave.vgpr = vgprs_.data();
    wave.agpr = agprs_.data();
    wave.vgpr_count = kRegisters;
    wave.agpr_count = kRegisters;
    wave.mode.bits = 0x3c0;
    wave.set_exec(~std::uint64_t{0});
  }
  ~MatrixMachine() { restore_host_fp(); }
  MatrixMachine(const MatrixMachine&) = delete;
  MatrixMachine& operator=(const MatrixMachine&) = delete;

  Instruction decode_words(std::uint32_t low, std::uint32_t high) const {
    const std::array<std::uint32_t, 2> words{low, high};
    const DecodeResult decoded = decode(words.data(), words.size(), Target::gfx90a, codes_);
    EXPECT_TRUE(decoded.ok) << decoded.error;
    return decoded.instruction;
  }
  void run(const Instruction& instruction) {
    wave.event = Event::none;
    instruction.execute(instruction, wave);
    restore_host_fp();
  }

  Wavefront wave;

 private:
  MatrixCodes codes_;
  std::vector<std::uint32_t> vgprs_;
  std::vector<std::uint32_t> agprs_;
};

/// Fields of a matrix instruction; registers are numbered within their files.
struct MatrixWords {
  unsigned opcode;
  unsigned d, a, b;
  unsigned c;  ///< the operand's encoding: 256 + a register, or a constant
  unsigned cbsz = 0, abid = 0, blgp = 0;
  bool a_in_agprs = false, b_in_agprs = false, c_in_agprs = false;

  std::uint32_t low() const { return 0xd3800000 | opcode << 16 | (c_in_agprs ? 1U << 15 : 0U) | abid << 11 | cbsz << 8 | d; }
  std::uint32_t high() const {
    return blgp << 29 | (b_in_agprs ? 1U << 28 : 0U) | (a_in_agprs ? 1U << 27 : 0U) | c << 18 | (256 + b) << 9 | (256 + a);
  }
};

}  // namespace lacuna::isa::test
