// Control and status registers of the hart, exception causes and the fields that the models use.
//
// Source: The RISC-V Instruction Set Manual, volume II: Privileged Architecture, version 1.12, tables 2.2 to 2.5 and 3.6.
#pragma once

#include <cstdint>

namespace lacuna::rv64 {

enum class Privilege : std::uint8_t { user = 0, machine = 3 };

// X(name, number): the CSRs that a debugger lists individually. Ranges (hpmcounters, PMP) are defined below by their ends.
#define LACUNA_RV64_CSRS(X) \
  X(fflags, 0x001)          \
  X(frm, 0x002)             \
  X(fcsr, 0x003)            \
  X(mstatus, 0x300)         \
  X(misa, 0x301)            \
  X(mie, 0x304)             \
  X(mtvec, 0x305)           \
  X(mcounteren, 0x306)      \
  X(menvcfg, 0x30a)         \
  X(mcountinhibit, 0x320)   \
  X(mscratch, 0x340)        \
  X(mepc, 0x341)            \
  X(mcause, 0x342)          \
  X(mtval, 0x343)           \
  X(mip, 0x344)             \
  X(pmpcfg0, 0x3a0)         \
  X(pmpcfg2, 0x3a2)         \
  X(pmpaddr0, 0x3b0)        \
  X(pmpaddr1, 0x3b1)        \
  X(pmpaddr2, 0x3b2)        \
  X(pmpaddr3, 0x3b3)        \
  X(pmpaddr4, 0x3b4)        \
  X(pmpaddr5, 0x3b5)        \
  X(pmpaddr6, 0x3b6)        \
  X(pmpaddr7, 0x3b7)        \
  X(pmpaddr8, 0x3b8)        \
  X(pmpaddr9, 0x3b9)        \
  X(pmpaddr10, 0x3ba)       \
  X(pmpaddr11, 0x3bb)       \
  X(pmpaddr12, 0x3bc)       \
  X(pmpaddr13, 0x3bd)       \
  X(pmpaddr14, 0x3be)       \
  X(pmpaddr15, 0x3bf)       \
  X(mcycle, 0xb00)          \
  X(minstret, 0xb02)        \
  X(cycle, 0xc00)           \
  X(time, 0xc01)            \
  X(instret, 0xc02)         \
  X(mvendorid, 0xf11)       \
  X(marchid, 0xf12)         \
  X(mimpid, 0xf13)          \
  X(mhartid, 0xf14)         \
  X(mconfigptr, 0xf15)

namespace csr {
#define LACUNA_RV64_CSR_NUMBER(name, number) inline constexpr unsigned name = number;
LACUNA_RV64_CSRS(LACUNA_RV64_CSR_NUMBER)
#undef LACUNA_RV64_CSR_NUMBER
inline constexpr unsigned mhpmevent3 = 0x323;
inline constexpr unsigned mhpmevent31 = 0x33f;
inline constexpr unsigned pmpcfg15 = 0x3af;
inline constexpr unsigned pmpaddr63 = 0x3ef;
inline constexpr unsigned mhpmcounter3 = 0xb03;
inline constexpr unsigned mhpmcounter31 = 0xb1f;
inline constexpr unsigned hpmcounter3 = 0xc03;
inline constexpr unsigned hpmcounter31 = 0xc1f;
}  // namespace csr

namespace cause {
inline constexpr std::uint64_t instruction_access_fault = 1;
inline constexpr std::uint64_t illegal_instruction = 2;
inline constexpr std::uint64_t breakpoint = 3;
inline constexpr std::uint64_t load_address_misaligned = 4;
inline constexpr std::uint64_t load_access_fault = 5;
inline constexpr std::uint64_t store_address_misaligned = 6;
inline constexpr std::uint64_t store_access_fault = 7;
inline constexpr std::uint64_t user_ecall = 8;
inline constexpr std::uint64_t machine_ecall = 11;
inline constexpr std::uint64_t interrupt = std::uint64_t{1} << 63;
}  // namespace cause

/// Bits of mie and mip, and interrupt numbers in mcause.
namespace interrupt {
inline constexpr unsigned software = 3;
inline constexpr unsigned timer = 7;
inline constexpr unsigned external = 11;
inline constexpr std::uint64_t mask = 1u << software | 1u << timer | 1u << external;
}  // namespace interrupt

namespace mstatus {
inline constexpr std::uint64_t mie = 1u << 3;
inline constexpr std::uint64_t mpie = 1u << 7;
inline constexpr unsigned mpp_shift = 11;
inline constexpr std::uint64_t mpp = 3u << mpp_shift;
inline constexpr std::uint64_t fs = 3u << 13;
inline constexpr std::uint64_t mprv = 1u << 17;
inline constexpr std::uint64_t tw = 1u << 21;
inline constexpr std::uint64_t uxl_64 = std::uint64_t{2} << 32;
inline constexpr std::uint64_t sd = std::uint64_t{1} << 63;
inline constexpr std::uint64_t writable = mie | mpie | mpp | fs | mprv | tw;
}  // namespace mstatus

}  // namespace lacuna::rv64
