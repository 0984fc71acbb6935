// The RV64GC instruction table: one row per instruction. The table drives decoder, block builder and executor.
//
// Source: The RISC-V Instruction Set Manual, volume I, version 20191213, chapter 24 (opcode listings); volume II, version
// 1.12, section 3.3 (mret, wfi). Compressed instructions are expanded to these rows (rv64_decode_compressed.cpp).
#pragma once

#include <cstdint>

namespace lacuna::rv64 {

/// Operand fields and immediate of an encoding. The decoder replaces an integer destination x0 by a register that is never
/// read.
enum class Format : std::uint8_t {
  none,
  r,          // x[rd], x[rs1], x[rs2]
  i,          // x[rd], x[rs1], imm12
  s,          // x[rs1], x[rs2], imm12
  b,          // x[rs1], x[rs2], pc-relative target
  u,          // x[rd], imm20 << 12
  pc_u,       // x[rd], pc + (imm20 << 12)
  j,          // x[rd], pc-relative target
  shift,      // x[rd], x[rs1], shift amount of 6 bits
  csr,        // x[rd], x[rs1] or 5-bit immediate, CSR number
  f_load,     // f[rd], x[rs1], imm12
  f_store,    // x[rs1], f[rs2], imm12
  f_r,        // f[rd], f[rs1], f[rs2]
  f_rm,       // f[rd], f[rs1], f[rs2], rounding mode
  f_r4,       // f[rd], f[rs1], f[rs2], f[rs3], rounding mode
  f_to_x,     // x[rd], f[rs1], f[rs2]
  f_to_x_rm,  // x[rd], f[rs1], rounding mode
  x_to_f,     // f[rd], x[rs1]
  x_to_f_rm,  // f[rd], x[rs1], rounding mode
};

/// Instruction class: determines the cycles (HartParameters), and whether the instruction ends a decoded block.
enum class Class : std::uint8_t {
  alu,
  load,
  store,
  branch,  // ends a block
  jump,    // ends a block
  multiply,
  divide,
  atomic,
  system,  // a separate block
  floating,
  float_divide,
  count,
};

// X(operation, match, mask, format, class)
#define LACUNA_RV64_OPERATIONS(X)                           \
  X(lui, 0x00000037, 0x0000007f, u, alu)                    \
  X(auipc, 0x00000017, 0x0000007f, pc_u, alu)               \
  X(jal, 0x0000006f, 0x0000007f, j, jump)                   \
  X(jalr, 0x00000067, 0x0000707f, i, jump)                  \
  X(beq, 0x00000063, 0x0000707f, b, branch)                 \
  X(bne, 0x00001063, 0x0000707f, b, branch)                 \
  X(blt, 0x00004063, 0x0000707f, b, branch)                 \
  X(bge, 0x00005063, 0x0000707f, b, branch)                 \
  X(bltu, 0x00006063, 0x0000707f, b, branch)                \
  X(bgeu, 0x00007063, 0x0000707f, b, branch)                \
  X(lb, 0x00000003, 0x0000707f, i, load)                    \
  X(lh, 0x00001003, 0x0000707f, i, load)                    \
  X(lw, 0x00002003, 0x0000707f, i, load)                    \
  X(ld, 0x00003003, 0x0000707f, i, load)                    \
  X(lbu, 0x00004003, 0x0000707f, i, load)                   \
  X(lhu, 0x00005003, 0x0000707f, i, load)                   \
  X(lwu, 0x00006003, 0x0000707f, i, load)                   \
  X(sb, 0x00000023, 0x0000707f, s, store)                   \
  X(sh, 0x00001023, 0x0000707f, s, store)                   \
  X(sw, 0x00002023, 0x0000707f, s, store)                   \
  X(sd, 0x00003023, 0x0000707f, s, store)                   \
  X(addi, 0x00000013, 0x0000707f, i, alu)                   \
  X(slti, 0x00002013, 0x0000707f, i, alu)                   \
  X(sltiu, 0x00003013, 0x0000707f, i, alu)                  \
  X(xori, 0x00004013, 0x0000707f, i, alu)                   \
  X(ori, 0x00006013, 0x0000707f, i, alu)                    \
  X(andi, 0x00007013, 0x0000707f, i, alu)                   \
  X(slli, 0x00001013, 0xfc00707f, shift, alu)               \
  X(srli, 0x00005013, 0xfc00707f, shift, alu)               \
  X(srai, 0x40005013, 0xfc00707f, shift, alu)               \
  X(add, 0x00000033, 0xfe00707f, r, alu)                    \
  X(sub, 0x40000033, 0xfe00707f, r, alu)                    \
  X(sll, 0x00001033, 0xfe00707f, r, alu)                    \
  X(slt, 0x00002033, 0xfe00707f, r, alu)                    \
  X(sltu, 0x00003033, 0xfe00707f, r, alu)                   \
  X(xor_, 0x00004033, 0xfe00707f, r, alu)                   \
  X(srl, 0x00005033, 0xfe00707f, r, alu)                    \
  X(sra, 0x40005033, 0xfe00707f, r, alu)                    \
  X(or_, 0x00006033, 0xfe00707f, r, alu)                    \
  X(and_, 0x00007033, 0xfe00707f, r, alu)                   \
  X(addiw, 0x0000001b, 0x0000707f, i, alu)                  \
  X(slliw, 0x0000101b, 0xfe00707f, shift, alu)              \
  X(srliw, 0x0000501b, 0xfe00707f, shift, alu)              \
  X(sraiw, 0x4000501b, 0xfe00707f, shift, alu)              \
  X(addw, 0x0000003b, 0xfe00707f, r, alu)                   \
  X(subw, 0x4000003b, 0xfe00707f, r, alu)                   \
  X(sllw, 0x0000103b, 0xfe00707f, r, alu)                   \
  X(srlw, 0x0000503b, 0xfe00707f, r, alu)                   \
  X(sraw, 0x4000503b, 0xfe00707f, r, alu)                   \
  X(fence, 0x0000000f, 0x0000707f, none, alu)               \
  X(fence_i, 0x0000100f, 0x0000707f, none, system)          \
  X(ecall, 0x00000073, 0xffffffff, none, system)            \
  X(ebreak, 0x00100073, 0xffffffff, none, system)           \
  X(mret, 0x30200073, 0xffffffff, none, system)             \
  X(wfi, 0x10500073, 0xffffffff, none, system)              \
  X(csrrw, 0x00001073, 0x0000707f, csr, system)             \
  X(csrrs, 0x00002073, 0x0000707f, csr, system)             \
  X(csrrc, 0x00003073, 0x0000707f, csr, system)             \
  X(csrrwi, 0x00005073, 0x0000707f, csr, system)            \
  X(csrrsi, 0x00006073, 0x0000707f, csr, system)            \
  X(csrrci, 0x00007073, 0x0000707f, csr, system)            \
  X(mul, 0x02000033, 0xfe00707f, r, multiply)               \
  X(mulh, 0x02001033, 0xfe00707f, r, multiply)              \
  X(mulhsu, 0x02002033, 0xfe00707f, r, multiply)            \
  X(mulhu, 0x02003033, 0xfe00707f, r, multiply)             \
  X(div, 0x02004033, 0xfe00707f, r, divide)                 \
  X(divu, 0x02005033, 0xfe00707f, r, divide)                \
  X(rem, 0x02006033, 0xfe00707f, r, divide)                 \
  X(remu, 0x02007033, 0xfe00707f, r, divide)                \
  X(mulw, 0x0200003b, 0xfe00707f, r, multiply)              \
  X(divw, 0x0200403b, 0xfe00707f, r, divide)                \
  X(divuw, 0x0200503b, 0xfe00707f, r, divide)               \
  X(remw, 0x0200603b, 0xfe00707f, r, divide)                \
  X(remuw, 0x0200703b, 0xfe00707f, r, divide)               \
  X(lr_w, 0x1000202f, 0xf9f0707f, r, atomic)                \
  X(lr_d, 0x1000302f, 0xf9f0707f, r, atomic)                \
  X(sc_w, 0x1800202f, 0xf800707f, r, atomic)                \
  X(sc_d, 0x1800302f, 0xf800707f, r, atomic)                \
  X(amoswap_w, 0x0800202f, 0xf800707f, r, atomic)           \
  X(amoswap_d, 0x0800302f, 0xf800707f, r, atomic)           \
  X(amoadd_w, 0x0000202f, 0xf800707f, r, atomic)            \
  X(amoadd_d, 0x0000302f, 0xf800707f, r, atomic)            \
  X(amoxor_w, 0x2000202f, 0xf800707f, r, atomic)            \
  X(amoxor_d, 0x2000302f, 0xf800707f, r, atomic)            \
  X(amoand_w, 0x6000202f, 0xf800707f, r, atomic)            \
  X(amoand_d, 0x6000302f, 0xf800707f, r, atomic)            \
  X(amoor_w, 0x4000202f, 0xf800707f, r, atomic)             \
  X(amoor_d, 0x4000302f, 0xf800707f, r, atomic)             \
  X(amomin_w, 0x8000202f, 0xf800707f, r, atomic)            \
  X(amomin_d, 0x8000302f, 0xf800707f, r, atomic)            \
  X(amomax_w, 0xa000202f, 0xf800707f, r, atomic)            \
  X(amomax_d, 0xa000302f, 0xf800707f, r, atomic)            \
  X(amominu_w, 0xc000202f, 0xf800707f, r, atomic)           \
  X(amominu_d, 0xc000302f, 0xf800707f, r, atomic)           \
  X(amomaxu_w, 0xe000202f, 0xf800707f, r, atomic)           \
  X(amomaxu_d, 0xe000302f, 0xf800707f, r, atomic)           \
  X(flw, 0x00002007, 0x0000707f, f_load, load)              \
  X(fld, 0x00003007, 0x0000707f, f_load, load)              \
  X(fsw, 0x00002027, 0x0000707f, f_store, store)            \
  X(fsd, 0x00003027, 0x0000707f, f_store, store)            \
  X(fmadd_s, 0x00000043, 0x0600007f, f_r4, floating)        \
  X(fmsub_s, 0x00000047, 0x0600007f, f_r4, floating)        \
  X(fnmsub_s, 0x0000004b, 0x0600007f, f_r4, floating)       \
  X(fnmadd_s, 0x0000004f, 0x0600007f, f_r4, floating)       \
  X(fadd_s, 0x00000053, 0xfe00007f, f_rm, floating)         \
  X(fsub_s, 0x08000053, 0xfe00007f, f_rm, floating)         \
  X(fmul_s, 0x10000053, 0xfe00007f, f_rm, floating)         \
  X(fdiv_s, 0x18000053, 0xfe00007f, f_rm, float_divide)     \
  X(fsqrt_s, 0x58000053, 0xfff0007f, f_rm, float_divide)    \
  X(fsgnj_s, 0x20000053, 0xfe00707f, f_r, floating)         \
  X(fsgnjn_s, 0x20001053, 0xfe00707f, f_r, floating)        \
  X(fsgnjx_s, 0x20002053, 0xfe00707f, f_r, floating)        \
  X(fmin_s, 0x28000053, 0xfe00707f, f_r, floating)          \
  X(fmax_s, 0x28001053, 0xfe00707f, f_r, floating)          \
  X(fcvt_w_s, 0xc0000053, 0xfff0007f, f_to_x_rm, floating)  \
  X(fcvt_wu_s, 0xc0100053, 0xfff0007f, f_to_x_rm, floating) \
  X(fcvt_l_s, 0xc0200053, 0xfff0007f, f_to_x_rm, floating)  \
  X(fcvt_lu_s, 0xc0300053, 0xfff0007f, f_to_x_rm, floating) \
  X(fmv_x_w, 0xe0000053, 0xfff0707f, f_to_x, floating)      \
  X(feq_s, 0xa0002053, 0xfe00707f, f_to_x, floating)        \
  X(flt_s, 0xa0001053, 0xfe00707f, f_to_x, floating)        \
  X(fle_s, 0xa0000053, 0xfe00707f, f_to_x, floating)        \
  X(fclass_s, 0xe0001053, 0xfff0707f, f_to_x, floating)     \
  X(fcvt_s_w, 0xd0000053, 0xfff0007f, x_to_f_rm, floating)  \
  X(fcvt_s_wu, 0xd0100053, 0xfff0007f, x_to_f_rm, floating) \
  X(fcvt_s_l, 0xd0200053, 0xfff0007f, x_to_f_rm, floating)  \
  X(fcvt_s_lu, 0xd0300053, 0xfff0007f, x_to_f_rm, floating) \
  X(fmv_w_x, 0xf0000053, 0xfff0707f, x_to_f, floating)      \
  X(fmadd_d, 0x02000043, 0x0600007f, f_r4, floating)        \
  X(fmsub_d, 0x02000047, 0x0600007f, f_r4, floating)        \
  X(fnmsub_d, 0x0200004b, 0x0600007f, f_r4, floating)       \
  X(fnmadd_d, 0x0200004f, 0x0600007f, f_r4, floating)       \
  X(fadd_d, 0x02000053, 0xfe00007f, f_rm, floating)         \
  X(fsub_d, 0x0a000053, 0xfe00007f, f_rm, floating)         \
  X(fmul_d, 0x12000053, 0xfe00007f, f_rm, floating)         \
  X(fdiv_d, 0x1a000053, 0xfe00007f, f_rm, float_divide)     \
  X(fsqrt_d, 0x5a000053, 0xfff0007f, f_rm, float_divide)    \
  X(fsgnj_d, 0x22000053, 0xfe00707f, f_r, floating)         \
  X(fsgnjn_d, 0x22001053, 0xfe00707f, f_r, floating)        \
  X(fsgnjx_d, 0x22002053, 0xfe00707f, f_r, floating)        \
  X(fmin_d, 0x2a000053, 0xfe00707f, f_r, floating)          \
  X(fmax_d, 0x2a001053, 0xfe00707f, f_r, floating)          \
  X(fcvt_s_d, 0x40100053, 0xfff0007f, f_rm, floating)       \
  X(fcvt_d_s, 0x42000053, 0xfff0007f, f_rm, floating)       \
  X(feq_d, 0xa2002053, 0xfe00707f, f_to_x, floating)        \
  X(flt_d, 0xa2001053, 0xfe00707f, f_to_x, floating)        \
  X(fle_d, 0xa2000053, 0xfe00707f, f_to_x, floating)        \
  X(fclass_d, 0xe2001053, 0xfff0707f, f_to_x, floating)     \
  X(fcvt_w_d, 0xc2000053, 0xfff0007f, f_to_x_rm, floating)  \
  X(fcvt_wu_d, 0xc2100053, 0xfff0007f, f_to_x_rm, floating) \
  X(fcvt_l_d, 0xc2200053, 0xfff0007f, f_to_x_rm, floating)  \
  X(fcvt_lu_d, 0xc2300053, 0xfff0007f, f_to_x_rm, floating) \
  X(fmv_x_d, 0xe2000053, 0xfff0707f, f_to_x, floating)      \
  X(fcvt_d_w, 0xd2000053, 0xfff0007f, x_to_f_rm, floating)  \
  X(fcvt_d_wu, 0xd2100053, 0xfff0007f, x_to_f_rm, floating) \
  X(fcvt_d_l, 0xd2200053, 0xfff0007f, x_to_f_rm, floating)  \
  X(fcvt_d_lu, 0xd2300053, 0xfff0007f, x_to_f_rm, floating) \
  X(fmv_d_x, 0xf2000053, 0xfff0707f, x_to_f, floating)

enum class Operation : std::uint8_t {
#define LACUNA_RV64_ENUMERATOR(operation, match, mask, format, klass) operation,
  LACUNA_RV64_OPERATIONS(LACUNA_RV64_ENUMERATOR)
#undef LACUNA_RV64_ENUMERATOR
  // Rows added for the block builder, which have no encoding.
  illegal,       // unknown encoding: illegal-instruction exception
  end_of_block,  // falls through to the next block; not an instruction of the guest
  breakpoint,    // a debugger's breakpoint in front of the instruction at this address
  count,
};

}  // namespace lacuna::rv64
