// Tests instructions of the hart, and its decoder, against results derived by hand from the manual.
#include <gtest/gtest.h>

#include "tests/host/core_machine.h"

namespace lacuna::rv64 {
namespace {

constexpr std::uint64_t kMin = 0x8000'0000'0000'0000, kMax = 0x7fff'ffff'ffff'ffff, kMinusOne = ~std::uint64_t{0};
constexpr std::uint64_t kMinWord = 0xffff'ffff'8000'0000;

struct BinaryCase {
  Operation operation;
  std::uint64_t a, b, result;
};

TEST(HartInstructions, RegisterRegister) {
  using enum Operation;
  const BinaryCase cases[] = {
      {add, kMax, 1, kMin},
      {add, kMinusOne, 1, 0},
      {sub, 0, 1, kMinusOne},
      {sub, kMin, 1, kMax},
      {sll, 1, 63, kMin},
      {sll, 1, 64, 1},  // only the low six bits of the shift amount are used
      {srl, kMin, 63, 1},
      {sra, kMin, 63, kMinusOne},
      {sra, kMax, 62, 1},
      {slt, kMinusOne, 0, 1},
      {slt, 0, kMinusOne, 0},
      {slt, kMin, kMax, 1},
      {sltu, kMinusOne, 0, 0},
      {sltu, 0, kMinusOne, 1},
      {xor_, 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0},
      {or_, 0xff00ff00, 0x0ff00ff0, 0xfff0fff0},
      {and_, 0xff00ff00, 0x0ff00ff0, 0x0f000f00},
      {addw, 0x7fffffff, 1, kMinWord},
      {addw, 0xffffffff'ffffffff, 1, 0},
      {addw, 0x1'00000000, 5, 5},  // the upper halves of the operands are ignored
      {subw, 0, 1, kMinusOne},
      {subw, 0x80000000, 1, 0x7fffffff},
      {sllw, 1, 31, kMinWord},
      {sllw, 1, 32, 1},
      {srlw, 0xffffffff'80000000, 31, 1},
      {srlw, 0x80000000, 0, kMinWord},  // the result is sign-extended
      {sraw, 0x80000000, 31, kMinusOne},
      {sraw, 0x80000000, 4, 0xffffffff'f8000000},
      {mul, 0xffffffff'ffffffff, 3, 0xffffffff'fffffffd},
      {mul, 0x1'00000001, 0x1'00000001, 0x2'00000001},
      {mulh, kMin, kMin, 0x4000'0000'0000'0000},
      {mulh, kMinusOne, kMinusOne, 0},
      {mulh, kMinusOne, 1, kMinusOne},
      {mulhu, kMinusOne, kMinusOne, 0xffff'ffff'ffff'fffe},
      {mulhu, kMin, 2, 1},
      {mulhsu, kMinusOne, kMinusOne, kMinusOne},
      {mulhsu, kMin, kMinusOne, 0x8000'0000'0000'0000},
      {mulhsu, 1, kMinusOne, 0},
      {div, 7, 0xffff'ffff'ffff'fffe, 0xffff'ffff'ffff'fffd},  // 7 / -2 = -3
      {div, kMin, kMinusOne, kMin},
      {div, 5, 0, kMinusOne},
      {divu, 5, 0, kMinusOne},
      {divu, kMinusOne, 2, kMax},
      {rem, 0xffff'ffff'ffff'fff9, 2, kMinusOne},  // -7 % 2 = -1
      {rem, kMin, kMinusOne, 0},
      {rem, 5, 0, 5},
      {remu, kMinusOne, 10, 5},
      {remu, 5, 0, 5},
      {mulw, 0x10000, 0x8000, kMinWord},
      {mulw, 0xffffffff, 0xffffffff, 1},
      {divw, 0x80000000, 0xffffffff, kMinWord},
      {divw, 0xffffffff'00000007, 2, 3},
      {divw, 1, 0, kMinusOne},
      {divuw, 0x80000000, 1, kMinWord},
      {divuw, 0xfffffffe, 2, 0x7fffffff},
      {divuw, 1, 0x1'00000000, kMinusOne},  // the divisor's low half is 0
      {remw, 0x80000000, 0xffffffff, 0},
      {remw, 0xfffffff9, 2, kMinusOne},
      {remw, 0x80000000, 0, kMinWord},
      {remuw, 0xffffffff, 0x80000000, 0x7fffffff},
      {remuw, 0x80000001, 0, 0xffffffff'80000001},
  };
  Machine machine;
  for (const BinaryCase& c : cases) {
    machine.x(kA0) = c.a;
    machine.x(kA1) = c.b;
    ASSERT_EQ(machine.run({encode(c.operation, kA2, kA0, kA1)}), StopReason::wait_for_interrupt);
    EXPECT_EQ(machine.x(kA2), c.result) << std::hex << traits(c.operation).match << ": " << c.a << ", " << c.b;
  }
}

struct ImmediateCase {
  Operation operation;
  std::uint64_t a;
  int immediate;
  std::uint64_t result;
};

TEST(HartInstructions, RegisterImmediate) {
  using enum Operation;
  const ImmediateCase cases[] = {
      {addi, 0, -2048, 0xffff'ffff'ffff'f800},
      {addi, kMax, 2047, 0x8000'0000'0000'07fe},
      {slti, kMinusOne, 0, 1},
      {slti, 5, 5, 0},
      {sltiu, 5, -1, 1},  // the immediate is sign-extended, then compared unsigned
      {sltiu, 0, 1, 1},
      {xori, 0x0f, -1, 0xffff'ffff'ffff'fff0},
      {ori, 0, -1, kMinusOne},
      {andi, kMinusOne, -16, 0xffff'ffff'ffff'fff0},
      {slli, 1, 63, kMin},
      {srli, kMin, 32, 0x8000'0000},
      {srai, kMin, 32, kMinWord},
      {addiw, 0x7fffffff, 1, kMinWord},
      {addiw, 0xffffffff'12345678, 0, 0x12345678},
      {slliw, 0x40000000, 1, kMinWord},
      {srliw, 0xffffffff, 4, 0x0fffffff},
      {sraiw, 0x80000000, 4, 0xffffffff'f8000000},
  };
  Machine machine;
  for (const ImmediateCase& c : cases) {
    machine.x(kA0) = c.a;
    machine.run({encode_i(c.operation, kA2, kA0, c.immediate)});
    EXPECT_EQ(machine.x(kA2), c.result) << std::hex << traits(c.operation).match << ": " << c.a << ", " << c.immediate;
  }
}

TEST(HartInstructions, UpperImmediatesAndZeroRegister) {
  Machine machine;
  machine.run({traits(Operation::lui).match | kA0 << 7 | 0x80000000, traits(Operation::auipc).match | kA1 << 7 | 0xfffff000,
               encode_i(Operation::addi, 0, 0, 5), encode(Operation::add, kA2, 0, 0)});
  EXPECT_EQ(machine.x(kA0), kMinWord);
  EXPECT_EQ(machine.x(kA1), Machine::kRam + 4 - 0x1000);
  EXPECT_EQ(machine.x(0), 0u);
  EXPECT_EQ(machine.x(kA2), 0u);
}

struct BranchCase {
  Operation operation;
  std::uint64_t a, b;
  bool taken;
};

TEST(HartInstructions, Branches) {
  using enum Operation;
  const BranchCase cases[] = {{beq, 1, 1, true},           {beq, 1, 2, false},         {bne, 1, 2, true},
                              {bne, 2, 2, false},          {blt, kMinusOne, 0, true},  {blt, 0, 0, false},
                              {bge, 0, 0, true},           {bge, kMin, kMax, false},   {bltu, 0, kMinusOne, true},
                              {bltu, kMinusOne, 0, false}, {bgeu, kMinusOne, 0, true}, {bgeu, 0, 1, false}};
  Machine machine;
  for (const BranchCase& c : cases) {
    machine.x(kA0) = c.a;
    machine.x(kA1) = c.b;
    machine.x(kA2) = 0;
    machine.run(
        {encode_b(c.operation, kA0, kA1, 8), encode_i(Operation::addi, kA2, kA2, 1), encode_i(Operation::addi, kA2, kA2, 2)});
    EXPECT_EQ(machine.x(kA2), c.taken ? 2u : 3u) << std::hex << traits(c.operation).match << ": " << c.a << ", " << c.b;
  }
}

TEST(HartInstructions, BackwardBranchAndJumps) {
  Machine machine;
  machine.x(kA0) = 10;
  machine.x(kA1) = 0;
  machine.run(
      {encode_i(Operation::addi, kA1, kA1, 3), encode_i(Operation::addi, kA0, kA0, -1), encode_b(Operation::bne, kA0, 0, -8)});
  EXPECT_EQ(machine.x(kA1), 30u);

  machine.run({encode_j(kRa, 8), kNop, encode_i(Operation::jalr, kA3, kRa, 8), kNop, kNop});
  EXPECT_EQ(machine.x(kRa), Machine::kRam + 4);
  EXPECT_EQ(machine.x(kA3), Machine::kRam + 12);  // jalr jumped to ra + 8, the next instruction
  // Bit 0 of the target is dropped; the link register may be the base.
  machine.x(kT0) = Machine::kRam + 9;
  machine.run({encode_i(Operation::jalr, kT0, kT0, 0), encode_i(Operation::addi, kA1, 0, 99)});
  EXPECT_EQ(machine.x(kT0), Machine::kRam + 4);
  EXPECT_EQ(machine.x(kA1), 30u);
}

TEST(HartInstructions, LoadsAndStores) {
  using enum Operation;
  Machine machine;
  const std::uint64_t data = Machine::kRam + 0x1000;
  machine.store<std::uint64_t>(data, 0x8877'6655'4433'2281);
  machine.store<std::uint64_t>(data + 8, 0);
  const std::pair<Operation, std::uint64_t> loads[] = {{lb, 0xffff'ffff'ffff'ff81}, {lh, 0x2281}, {lw, 0x44332281},
                                                       {ld, 0x8877'6655'4433'2281}, {lbu, 0x81},  {lhu, 0x2281},
                                                       {lwu, 0x4433'2281}};
  machine.x(kA0) = data + 100;
  for (const auto& [operation, expected] : loads) {
    machine.run({encode_i(operation, kA1, kA0, -100)});
    EXPECT_EQ(machine.x(kA1), expected) << traits(operation).match;
  }
  machine.run({encode_i(lw, kA1, kA0, -96), encode_i(lwu, kA2, kA0, -96), encode_i(lh, kA3, kA0, -94)});
  EXPECT_EQ(machine.x(kA1), 0xffff'ffff'8877'6655);
  EXPECT_EQ(machine.x(kA2), 0x8877'6655u);
  EXPECT_EQ(machine.x(kA3), 0xffff'ffff'ffff'8877);

  machine.x(kA1) = 0x1122'3344'5566'7788;
  machine.run({encode_s(sb, kA0, kA1, -92)});
  EXPECT_EQ(machine.load<std::uint64_t>(data + 8), 0x88u);
  machine.run({encode_s(sh, kA0, kA1, -91)});  // misaligned
  EXPECT_EQ(machine.load<std::uint64_t>(data + 8), 0x778888u);
  machine.run({encode_s(sw, kA0, kA1, -92)});
  EXPECT_EQ(machine.load<std::uint64_t>(data + 8), 0x55667788u);
  machine.run({encode_s(sd, kA0, kA1, -92)});
  EXPECT_EQ(machine.load<std::uint64_t>(data + 8), 0x1122'3344'5566'7788u);
}

struct AtomicCase {
  Operation operation;
  std::uint64_t memory, operand, stored, loaded;
};

TEST(HartInstructions, AtomicMemoryOperations) {
  using enum Operation;
  const AtomicCase cases[] = {
      {amoswap_d, 1, 2, 2, 1},
      {amoadd_d, kMax, 1, kMin, kMax},
      {amoxor_d, 0xff, 0x0f, 0xf0, 0xff},
      {amoand_d, 0xff, 0x0f, 0x0f, 0xff},
      {amoor_d, 0xf0, 0x0f, 0xff, 0xf0},
      {amomin_d, kMinusOne, 1, kMinusOne, kMinusOne},
      {amomax_d, kMinusOne, 1, 1, kMinusOne},
      {amominu_d, kMinusOne, 1, 1, kMinusOne},
      {amomaxu_d, kMinusOne, 1, kMinusOne, kMinusOne},
      // Word operations leave the upper half in memory unchanged and sign-extend the loaded value.
      {amoswap_w, 0xaaaaaaaa'80000000, 5, 0xaaaaaaaa'00000005, kMinWord},
      {amoadd_w, 0xaaaaaaaa'ffffffff, 1, 0xaaaaaaaa'00000000, kMinusOne},
      {amoxor_w, 1, 3, 2, 1},
      {amoand_w, 7, 0x1'00000005, 5, 7},
      {amoor_w, 1, 0x1'00000002, 3, 1},
      {amomin_w, 0x7fffffff, 0x80000000, 0x80000000, 0x7fffffff},
      {amomax_w, 0x7fffffff, 0x80000000, 0x7fffffff, 0x7fffffff},
      {amominu_w, 0x7fffffff, 0x80000000, 0x7fffffff, 0x7fffffff},
      {amomaxu_w, 0x7fffffff, 0x80000000, 0x80000000, 0x7fffffff},
  };
  Machine machine;
  const std::uint64_t data = Machine::kRam + 0x1000;
  machine.x(kA0) = data;
  for (const AtomicCase& c : cases) {
    for (int round = 0; round < 2; ++round) {  // round 0 takes the slow path, round 1 direct access
      machine.store(data, c.memory);
      machine.x(kA1) = c.operand;
      machine.place(Machine::kRam, {encode(c.operation, kA2, kA0, kA1), kWfi});
      machine.core.flush_blocks();
      machine.core.registers().pc = Machine::kRam;
      machine.core.run(Machine::kForever);
      EXPECT_EQ(machine.load<std::uint64_t>(data), c.stored) << std::hex << traits(c.operation).match << " round " << round;
      EXPECT_EQ(machine.x(kA2), c.loaded) << std::hex << traits(c.operation).match << " round " << round;
    }
    machine.core.drop_regions(0, ~std::uint64_t{0});
  }
}

TEST(HartInstructions, StoreConditionalSeesAnotherInitiatorsStore) {
  Machine machine;
  const std::uint64_t data = Machine::kRam + 0x1000;
  machine.store<std::uint64_t>(data, 7);
  machine.x(kA0) = data;
  machine.x(kA1) = 9;
  machine.run({encode(Operation::lr_w, kA2, kA0, 0)});
  EXPECT_EQ(machine.x(kA2), 7u);
  machine.store<std::uint64_t>(data, 8);
  machine.run({encode(Operation::sc_w, kA3, kA0, kA1)});
  EXPECT_EQ(machine.x(kA3), 1u);
  EXPECT_EQ(machine.load<std::uint64_t>(data), 8u);
  machine.run({encode(Operation::lr_w, kA2, kA0, 0), encode(Operation::sc_w, kA3, kA0, kA1)});
  EXPECT_EQ(machine.x(kA3), 0u);
  EXPECT_EQ(machine.load<std::uint64_t>(data), 9u);
}

TEST(HartInstructions, FloatRegistersAndBoxing) {
  using enum Operation;
  Machine machine;
  machine.core.csrs().mstatus |= mstatus::fs;
  const std::uint64_t data = Machine::kRam + 0x1000;
  machine.store<std::uint64_t>(data, 0x4000'0000'3f80'0000);
  machine.x(kA0) = data;
  auto& f = machine.core.registers().f;
  machine.run({encode_i(flw, 0, kA0, 0), encode_i(fld, 1, kA0, 0), encode_i(flw, 2, kA0, 4)});
  EXPECT_EQ(f[0], 0xffff'ffff'3f80'0000u);
  EXPECT_EQ(f[1], 0x4000'0000'3f80'0000u);
  // 1.0f + 2.0f, dynamic rounding; f1 is not boxed, so its single is NaN.
  machine.run(
      {encode(fadd_s, 3, 0, 2) | 7u << 12, encode(fadd_s, 4, 0, 1), encode(fsgnjn_s, 5, 0, 0), encode(fmv_x_w, kA1, 1, 0)});
  EXPECT_EQ(f[3], 0xffff'ffff'4040'0000u);
  EXPECT_EQ(f[4], 0xffff'ffff'7fc0'0000u);
  EXPECT_EQ(f[5], 0xffff'ffff'bf80'0000u);
  EXPECT_EQ(machine.x(kA1), 0x3f80'0000u);  // fmv.x.w copies raw bits without checking NaN boxing
  machine.run({encode_s(fsw, kA0, 1, 8), encode_s(fsd, kA0, 3, 16)});
  EXPECT_EQ(machine.load<std::uint32_t>(data + 8), 0x3f80'0000u);
  EXPECT_EQ(machine.load<std::uint64_t>(data + 16), 0xffff'ffff'4040'0000u);
  // The four fused forms of 1 * 2 and the addend 3, with results 5, -1, 1, -5.
  const std::pair<Operation, std::uint32_t> fused[] = {
      {fmadd_s, 0x40a00000}, {fmsub_s, 0xbf800000}, {fnmsub_s, 0x3f800000}, {fnmadd_s, 0xc0a00000}};
  for (const auto& [operation, expected] : fused) {
    machine.run({encode(operation, 6, 0, 2) | 3u << 27});
    EXPECT_EQ(f[6], 0xffff'ffff'0000'0000 | expected) << traits(operation).match;
  }
  // fcvt.wu.s sign-extends its unsigned result to 64 bits.
  machine.core.registers().f[7] = 0xffff'ffff'4f7f'ffff;  // 4294967040
  machine.run({encode(fcvt_wu_s, kA1, 7, 0) & ~0x01f00000u, encode(fcvt_wu_s, kA2, 7, 0)});
  EXPECT_EQ(machine.x(kA1), 0x7fff'ffffu);  // with rs2 = 0 it is fcvt.w.s, which saturates
  EXPECT_EQ(machine.x(kA2), 0xffff'ffff'ffff'ff00u);
  EXPECT_EQ(machine.core.csrs().fflags, 16u);
}

struct CompressedCase {
  std::uint16_t bits;
  std::uint32_t word;  // 0: reserved
};

TEST(HartDecode, Compressed) {
  // Encodings produced by the GNU assembler with and without the C extension.
  const CompressedCase cases[] = {
      {0x0808, 0x01010513},  // addi a0, sp, 16
      {0x2188, 0x0005b507},  // fld fa0, 0(a1)
      {0x41c8, 0x0045a503},  // lw a0, 4(a1)
      {0x6588, 0x0085b503},  // ld a0, 8(a1)
      {0xa188, 0x00a5b027},  // fsd fa0, 0(a1)
      {0xc1c8, 0x00a5a223},  // sw a0, 4(a1)
      {0xe588, 0x00a5b423},  // sd a0, 8(a1)
      {0x0001, 0x00000013},  // nop
      {0x157d, 0xfff50513},  // addi a0, a0, -1
      {0x2505, 0x0015051b},  // addiw a0, a0, 1
      {0x5501, 0xfe000513},  // li a0, -32
      {0x717d, 0xff010113},  // addi sp, sp, -16
      {0x757d, 0xfffff537},  // lui a0, 0xfffff
      {0x9101, 0x02055513},  // srli a0, a0, 32
      {0x8505, 0x40155513},  // srai a0, a0, 1
      {0x8911, 0x00457513},  // andi a0, a0, 4
      {0x8d0d, 0x40b50533},  // sub a0, a0, a1
      {0x8d2d, 0x00b54533},  // xor a0, a0, a1
      {0x8d4d, 0x00b56533},  // or a0, a0, a1
      {0x8d6d, 0x00b57533},  // and a0, a0, a1
      {0x9d0d, 0x40b5053b},  // subw a0, a0, a1
      {0x9d2d, 0x00b5053b},  // addw a0, a0, a1
      {0xbffd, 0xfffff06f},  // j .-2
      {0xdd7d, 0xfe050fe3},  // beqz a0, .-2
      {0xfd7d, 0xfe051fe3},  // bnez a0, .-2
      {0x1502, 0x02051513},  // slli a0, a0, 32
      {0x2522, 0x00813507},  // fld fa0, 8(sp)
      {0x4522, 0x00812503},  // lw a0, 8(sp)
      {0x6522, 0x00813503},  // ld a0, 8(sp)
      {0x8082, 0x00008067},  // ret
      {0x852e, 0x00b00533},  // mv a0, a1
      {0x9002, 0x00100073},  // ebreak
      {0x9502, 0x000500e7},  // jalr a0
      {0x952e, 0x00b50533},  // add a0, a0, a1
      {0xa42a, 0x00a13427},  // fsd fa0, 8(sp)
      {0xc42a, 0x00a12423},  // sw a0, 8(sp)
      {0xe42a, 0x00a13423},  // sd a0, 8(sp)
      {0x0000, 0},           // defined illegal
      {0x0004, 0},           // c.addi4spn with immediate 0
      {0x8000, 0},           // reserved in quadrant 0
      {0x2001, 0},           // c.addiw with rd 0
      {0x6101, 0},           // c.addi16sp with immediate 0
      {0x6501, 0},           // c.lui with immediate 0
      {0x9d41, 0},           // reserved arithmetic
      {0x4002, 0},           // c.lwsp with rd 0
      {0x6002, 0},           // c.ldsp with rd 0
      {0x8002, 0},           // c.jr with rs1 0
  };
  for (const CompressedCase& c : cases) {
    EXPECT_EQ(expand_compressed(c.bits).value_or(0), c.word) << std::hex << c.bits;
  }
}

TEST(HartDecode, ReservedEncodings) {
  const std::uint32_t reserved[] = {
      0xffffffff,
      0x00007003,  // load with width 7
      0x00004023,  // store with width 4
      0x02001013 | 1u << 30,
      0x0200101b,               // slliw with shift amount 32
      0x00005053 | 0x0000d000,  // fadd.s, rounding mode 5
      0x00006053,               // fadd.s, rounding mode 6
      0x00002063,               // branch with condition 2
      0x00001067,               // jalr with function 1
      0x10200073,               // sret
      0x00200073,               // uret
      0x12000073,               // sfence.vma
      0x1000302f | 1u << 20,    // lr.d with rs2
      0x06000053,               // a quad-precision fadd
  };
  for (const std::uint32_t bits : reserved) EXPECT_EQ(decode(bits, 0).operation, Operation::illegal) << std::hex << bits;
  EXPECT_EQ(decode(0x0ff0000f, 0).operation, Operation::fence);
  EXPECT_EQ(decode(0x8330000f, 0).operation, Operation::fence);  // fence.tso
}

}  // namespace
}  // namespace lacuna::rv64
