// Tests the hart's physical memory protection, the permission checks of SC, and legal values of CSRs.
#include <gtest/gtest.h>

#include "tests/host/core_program.h"

namespace lacuna::rv64 {
namespace {

using enum Operation;

TEST(HartPmp, MatchingModes) {
  Pmp pmp;
  const auto allows = [&](std::uint64_t address, unsigned size, Access access) {
    return pmp.allows(address, size, access, Privilege::user);
  };
  EXPECT_FALSE(allows(0x1000, 4, Access::load));  // no entry matches
  EXPECT_TRUE(pmp.allows(0x1000, 4, Access::load, Privilege::machine));
  // Entry 0: NA4 at 0x1000, read. Entry 1: off, only the base of entry 2. Entry 2: TOR [0x2000, 0x3000), all rights. Entry 3:
  // NAPOT, execute.
  pmp.write_address(0, 0x1000 >> 2);
  pmp.write_address(1, 0x2000 >> 2);
  pmp.write_address(2, 0x3000 >> 2);
  pmp.write_address(3, (0x8000 >> 2) | 0x1ff);  // 4 KiB at 0x8000
  pmp.write_configuration(0, 0x11 | 0x00 << 8 | 0x0f << 16 | 0x1cu << 24);
  EXPECT_TRUE(allows(0x1000, 4, Access::load));
  EXPECT_FALSE(allows(0x1000, 4, Access::store));
  EXPECT_FALSE(allows(0x1000, 8, Access::load));  // the entry matches only a part of the access
  EXPECT_FALSE(allows(0x1004, 4, Access::load));
  EXPECT_FALSE(allows(0x1ffc, 4, Access::load));
  EXPECT_TRUE(allows(0x2000, 8, Access::store));
  EXPECT_TRUE(allows(0x2ff8, 8, Access::fetch));
  EXPECT_FALSE(allows(0x3000, 4, Access::load));
  EXPECT_FALSE(allows(0x2ffc, 8, Access::load));
  EXPECT_TRUE(allows(0x8000, 4, Access::fetch));
  EXPECT_TRUE(allows(0x8ffc, 4, Access::fetch));
  EXPECT_FALSE(allows(0x9000, 4, Access::fetch));
  EXPECT_FALSE(allows(0x8000, 4, Access::load));
  EXPECT_EQ(pmp.homogeneous(0x2800, {}).first, 0x2000u);
  EXPECT_EQ(pmp.homogeneous(0x2800, {}).last, 0x2fffu);
  EXPECT_EQ(pmp.homogeneous(0x5000, {}).first, 0x3000u);
  EXPECT_EQ(pmp.homogeneous(0x5000, {}).last, 0x7fffu);
}

TEST(HartPmp, LocksAndReservedCombinations) {
  Pmp pmp;
  pmp.write_configuration(0, 0x9a);  // locked, NAPOT, write without read: write is dropped
  EXPECT_EQ(pmp.read_configuration(0), 0x98u);
  pmp.write_address(0, 0x123);
  EXPECT_EQ(pmp.read_address(0), 0u);
  pmp.write_configuration(0, 0x1f);
  EXPECT_EQ(pmp.read_configuration(0), 0x98u);
  EXPECT_FALSE(pmp.allows(0, 4, Access::load, Privilege::machine));  // locked entries also apply to M mode
  EXPECT_TRUE(pmp.allows(8, 4, Access::load, Privilege::machine));
  // A locked top-of-range entry locks its base.
  pmp.write_address(4, 0x400);
  pmp.write_address(5, 0x800);
  pmp.write_configuration(0, 0x89ull << 40);
  pmp.write_address(4, 0x500);
  EXPECT_EQ(pmp.read_address(4), 0x400u);
  EXPECT_EQ(pmp.read_address(16), 0u);
  pmp.write_address(6, ~std::uint64_t{0});
  EXPECT_EQ(pmp.read_address(6), (std::uint64_t{1} << 54) - 1);
}

TEST(HartPmp, FastPathNeverCrossesABorder) {
  Machine machine;
  install_handler(machine);
  Pmp& pmp = machine.core.csrs().pmp;
  pmp.write_address(0, kData >> 2);
  pmp.write_address(1, (kData + 0x100) >> 2);
  pmp.write_configuration(0, 0x88u << 8);  // locked, top of range, no rights: [kData, kData + 0x100)
  machine.x(kA0) = kData;
  EXPECT_EQ(machine.run({encode_i(ld, kA1, kA0, -8), encode_i(ld, kA1, kA0, 0x100), encode_i(ld, kA1, kA0, -8)}),
            StopReason::wait_for_interrupt);
  EXPECT_EQ(machine.core.statistics().exceptions, 0u);
  for (const int offset : {-7, -1, 0, 0xf8, 0xff}) {
    machine.core.csrs().mcause = 0;
    machine.run({encode_i(ld, kA1, kA0, -8), encode_i(ld, kA1, kA0, offset)});
    EXPECT_EQ(machine.core.csrs().mcause, cause::load_access_fault) << offset;
  }
}

// An access with the rights of U mode must not use a window that an access in M mode has opened. No PMP entry permits accesses
// in U mode.
TEST(HartPmp, WindowsDoNotOutliveTheirPrivilege) {
  struct Case {
    const char* what;
    std::uint32_t change;
    std::uint64_t mstatus_at_start;
  };
  const Case cases[] = {
      {"mret to M mode that leaves MPP = U under MPRV", kMret, mstatus::mprv | mstatus::mpp},
      {"csrc of MPP under MPRV", encode_csr(csrrc, 0, csr::mstatus, kA2), mstatus::mprv | mstatus::mpp},
      {"csrs of MPRV with MPP = U", encode_csr(csrrs, 0, csr::mstatus, kA3), 0},
  };
  for (const Case& row : cases) {
    for (const bool store : {false, true}) {
      Machine machine;
      install_handler(machine);
      CsrFile& csrs = machine.core.csrs();
      csrs.mstatus = mstatus::uxl_64 | row.mstatus_at_start;
      csrs.mepc = kRam + 8;
      machine.x(kA0) = kData;
      machine.x(kA2) = mstatus::mpp;
      machine.x(kA3) = mstatus::mprv;
      const std::uint32_t access = store ? encode_s(sd, kA0, kA1, 0) : encode_i(ld, kA1, kA0, 0);
      machine.run({access, row.change, access});
      EXPECT_EQ(csrs.mcause, store ? cause::store_access_fault : cause::load_access_fault) << row.what;
      EXPECT_EQ(csrs.mepc, kRam + 8) << row.what;
    }
  }
}

TEST(HartPmp, ATrapReturnsDataAccessesToMachineMode) {
  Machine machine;
  CsrFile& csrs = machine.core.csrs();
  csrs.mtvec = kHandler;
  csrs.mstatus = mstatus::uxl_64 | mstatus::mprv;  // MPP = U: the load below faults, the load in the handler does not
  machine.x(kA0) = kData;
  machine.store<std::uint64_t>(kData, 77);
  machine.place(kHandler, {encode_i(ld, kA1, kA0, 0), kWfi});
  machine.run({encode_i(ld, kA2, kA0, 0)});
  EXPECT_EQ(machine.x(kA1), 77u);
  EXPECT_EQ(machine.core.statistics().exceptions, 1u);
}

// A failing SC is checked like a successful SC, as the manual requires and Spike does.
TEST(HartAtomics, AnScWithoutReservationIsCheckedAsAStore) {
  struct Case {
    std::uint64_t address;
    std::uint64_t trap_cause;
  };
  const std::uint64_t read_only = kData + 0x100;
  for (const Case& row : {Case{kData + 4, cause::store_address_misaligned}, Case{kNowhere, cause::store_access_fault},
                          Case{read_only, cause::store_access_fault}}) {
    Machine machine;
    install_handler(machine);
    CsrFile& csrs = machine.core.csrs();
    csrs.pmp.write_address(0, read_only >> 2 | 1);
    csrs.pmp.write_configuration(0, 0x99);
    machine.x(kA0) = row.address;
    machine.x(kA1) = 7;
    machine.run({encode(sc_d, kA1, kA0, kA2)});
    EXPECT_EQ(csrs.mcause, row.trap_cause) << std::hex << row.address;
    EXPECT_EQ(csrs.mtval, row.address);
    EXPECT_EQ(machine.x(kA1), 7u);
  }
  Machine machine;
  install_handler(machine);
  machine.x(kA0) = kData;
  machine.x(kA2) = 5;
  machine.run({encode(sc_d, kA1, kA0, kA2)});
  EXPECT_EQ(machine.core.statistics().exceptions, 0u);
  EXPECT_EQ(machine.x(kA1), 1u);
  EXPECT_EQ(machine.load<std::uint64_t>(kData), 0u);
}

TEST(HartCsr, LegalValues) {
  CsrFile csrs;
  CsrEffect effect;
  const auto written = [&](unsigned number, std::uint64_t value) {
    EXPECT_TRUE(csrs.write(number, value, Privilege::machine, {}, effect)) << number;
    return csrs.read(number, Privilege::machine, {}).value_or(~std::uint64_t{0});
  };
  EXPECT_EQ(written(csr::mtvec, 0x8000'0003), 0x8000'0001u);
  EXPECT_EQ(written(csr::mepc, 0x8000'0003), 0x8000'0002u);
  EXPECT_EQ(written(csr::misa, 0), std::uint64_t{2} << 62 | 0x10112d);
  EXPECT_EQ(written(csr::mstatus, ~std::uint64_t{0}), mstatus::writable | mstatus::uxl_64 | mstatus::sd);
  EXPECT_EQ(written(csr::mstatus, 0x800),
            0x800u | (csrs.mstatus & mstatus::mpp) | mstatus::uxl_64);  // MPP = 1 is reserved: the old MPP stays
  EXPECT_EQ(written(csr::mhpmcounter3, 5), 0u);
  EXPECT_EQ(written(csr::mhpmevent31, 5), 0u);
  EXPECT_EQ(written(csr::pmpaddr63, 5), 0u);
  EXPECT_FALSE(csrs.read(csr::pmpcfg0 + 1, Privilege::machine, {}).has_value());
  EXPECT_FALSE(csrs.write(csr::cycle, 0, Privilege::machine, {}, effect));
  EXPECT_FALSE(csrs.read(csr::cycle, Privilege::user, {}).has_value());
  EXPECT_FALSE(csrs.read(csr::fcsr, Privilege::machine, {}).has_value());  // the write to mstatus has set FS to 0
  csrs.mstatus |= mstatus::fs;
  EXPECT_EQ(written(csr::fcsr, 0xfff), 0xffu);
  EXPECT_EQ(csrs.read(csr::frm, Privilege::user, {}), 7u);
  EXPECT_EQ(csrs.read(csr::fflags, Privilege::user, {}), 31u);
}

}  // namespace
}  // namespace lacuna::rv64
