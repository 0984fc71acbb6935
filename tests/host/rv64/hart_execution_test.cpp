// Tests the hart's core beyond single instructions: traps, time, interrupts, windows, blocks, debugging.
#include <gtest/gtest.h>

#include "tests/host/core_program.h"

namespace lacuna::rv64 {
namespace {

using enum Operation;

CoreTiming distinct_cycles() {
  CoreTiming timing;
  for (std::size_t i = 0; i < timing.cycles.size(); ++i) timing.cycles[i] = static_cast<std::uint8_t>(10 + i);
  return timing;
}

// --- traps ----------------------------------------------------------------------------------------------------------------

TEST(HartTraps, AreExactInTheMiddleOfABlock) {
  Machine machine;
  install_handler(machine);
  machine.x(kA0) = kNowhere;
  machine.x(kA1) = 5;
  machine.run({encode_i(addi, kA2, 0, 1), encode_i(addi, kA3, 0, 2), encode_i(ld, kA1, kA0, 8), encode_i(addi, kA2, 0, 3)});
  EXPECT_EQ(machine.core.csrs().mcause, cause::load_access_fault);
  EXPECT_EQ(machine.core.csrs().mepc, kRam + 8);
  EXPECT_EQ(machine.core.csrs().mtval, kNowhere + 8);
  EXPECT_EQ(machine.x(kA1), 5u);
  EXPECT_EQ(machine.x(kA2), 1u);
  EXPECT_EQ(machine.x(kA3), 2u);
  EXPECT_EQ(machine.core.statistics().instructions, 3u);  // two addi and the handler's wfi
  EXPECT_EQ(machine.core.statistics().exceptions, 1u);
}

struct TrapCase {
  std::uint32_t word;
  std::uint64_t base;  // base address of the access, in a0
  std::uint64_t trap_cause;
  std::uint64_t value;
};

TEST(HartTraps, CausesAndValues) {
  const TrapCase cases[] = {
      {encode_i(lw, kA1, kA0, 0), kNowhere, cause::load_access_fault, kNowhere},
      {encode_s(sw, kA0, kA1, 4), kNowhere, cause::store_access_fault, kNowhere + 4},
      {encode_i(lw, kA1, kA0, 1), Machine::kDevice, cause::load_address_misaligned, Machine::kDevice + 1},
      {encode_s(sd, kA0, kA1, 4), Machine::kDevice, cause::store_address_misaligned, Machine::kDevice + 4},
      {encode_i(lw, kA1, kA0, -2), kRam + Machine::kRamSize, cause::load_address_misaligned, kRam + Machine::kRamSize - 2},
      {encode(lr_d, kA1, kA0, 0), kData + 4, cause::load_address_misaligned, kData + 4},
      {encode(sc_d, kA1, kA0, kA2), kData + 4, cause::store_address_misaligned, kData + 4},
      {encode(amoadd_w, kA1, kA0, kA2), kData + 2, cause::store_address_misaligned, kData + 2},
      {encode(amoadd_w, kA1, kA0, kA2), kNowhere, cause::store_access_fault, kNowhere},
      {encode(lr_w, kA1, kA0, 0), kNowhere, cause::load_access_fault, kNowhere},
      {0xffffffff, 0, cause::illegal_instruction, 0xffffffff},
      {0x00000000, 0, cause::illegal_instruction, 0},                                 // an illegal 16-bit instruction
      {encode_csr(csrrs, kA1, 0x180, 0), 0, cause::illegal_instruction, 0x180025f3},  // satp
      {encode_csr(csrrw, 0, csr::mhartid, kA0), 0, cause::illegal_instruction, 0xf1451073},
      {encode(fadd_d, 0, 0, 0), 0, cause::illegal_instruction, 0x02000053},  // FS = 0
      {kEcall, 0, cause::machine_ecall, 0},
      {kEbreak, 0, cause::breakpoint, kRam},
  };
  for (const TrapCase& c : cases) {
    Machine machine;
    install_handler(machine);
    machine.x(kA0) = c.base;
    machine.run({c.word});
    EXPECT_EQ(machine.core.csrs().mcause, c.trap_cause) << std::hex << c.word;
    EXPECT_EQ(machine.core.csrs().mtval, c.value) << std::hex << c.word;
    EXPECT_EQ(machine.core.csrs().mepc, kRam) << std::hex << c.word;
  }
}

TEST(HartTraps, FetchFaultNamesTheMissingHalf) {
  Machine machine;
  install_handler(machine);
  const std::uint64_t last = kRam + Machine::kRamSize - 2;
  machine.store<std::uint16_t>(last, 0x0513);  // the first half of a 32-bit instruction
  machine.x(kA0) = last;
  machine.run({encode_i(jalr, 0, kA0, 0)});
  EXPECT_EQ(machine.core.csrs().mcause, cause::instruction_access_fault);
  EXPECT_EQ(machine.core.csrs().mepc, last);
  EXPECT_EQ(machine.core.csrs().mtval, last + 2);
}

TEST(HartTraps, UnreachableHandlerStopsTheHartAndKeepsTheTrap) {
  const TrapCase cases[] = {{0xffffffff, 0, cause::illegal_instruction, 0xffffffff},
                            {kEcall, 0, cause::machine_ecall, 0},
                            {encode_i(ld, kA1, kA0, 0), kNowhere, cause::load_access_fault, kNowhere},
                            {encode_s(sd, kA0, kA1, 0), kData, cause::store_access_fault, kData}};  // denied by the PMP
  for (const TrapCase& row : cases) {
    Machine machine;  // mtvec = 0
    CsrFile& csrs = machine.core.csrs();
    csrs.pmp.write_address(0, kData >> 2 | 1);
    csrs.pmp.write_configuration(0, 0x99);  // locked, 16 bytes at kData, read only
    machine.x(kA0) = row.base;
    EXPECT_EQ(machine.run({kNop, row.word}), StopReason::trap_unreachable) << row.trap_cause;
    EXPECT_EQ(csrs.mcause, row.trap_cause);
    EXPECT_EQ(csrs.mepc, kRam + 4) << row.trap_cause;
    EXPECT_EQ(csrs.mtval, row.value) << row.trap_cause;
    EXPECT_EQ(machine.core.registers().pc, 0u) << row.trap_cause;
    EXPECT_EQ(machine.core.statistics().exceptions, 1u) << row.trap_cause;
  }
}

TEST(HartTraps, AJumpToAnUnreachableHandlerIsATrapOfItsOwn) {
  Machine machine;
  CsrFile& csrs = machine.core.csrs();
  csrs.mtvec = kNowhere;
  csrs.mcause = cause::breakpoint;  // left by an earlier trap
  machine.x(kA0) = kNowhere;
  EXPECT_EQ(machine.run({encode_i(jalr, 0, kA0, 0)}), StopReason::trap_unreachable);
  EXPECT_EQ(csrs.mcause, cause::instruction_access_fault);
  EXPECT_EQ(csrs.mepc, kNowhere);
  EXPECT_EQ(csrs.mtval, kNowhere);
}

TEST(HartTraps, AnUnreachableVectorKeepsTheInterrupt) {
  Machine machine;
  CsrFile& csrs = machine.core.csrs();
  csrs.mtvec = kNowhere | 1;
  csrs.mie = csrs.mip = 1u << interrupt::timer;
  csrs.mstatus |= mstatus::mie;
  EXPECT_EQ(machine.run({kNop}), StopReason::trap_unreachable);
  EXPECT_EQ(csrs.mcause, cause::interrupt | interrupt::timer);
  EXPECT_EQ(csrs.mepc, kRam);
  EXPECT_EQ(machine.core.registers().pc, kNowhere + 4 * interrupt::timer);
}

TEST(HartTraps, HaveTheManualsNames) {
  EXPECT_EQ(trap_name(cause::instruction_access_fault), "instruction access fault");
  EXPECT_EQ(trap_name(cause::store_access_fault), "store/AMO access fault");
  EXPECT_EQ(trap_name(cause::machine_ecall), "environment call from M-mode");
  EXPECT_EQ(trap_name(24), "reserved exception");
  EXPECT_EQ(trap_name(cause::interrupt | interrupt::external), "machine external interrupt");
  EXPECT_EQ(trap_name(cause::interrupt | 1), "reserved interrupt");
}

TEST(HartTraps, MretRestoresAndNestsStatus) {
  Machine machine;
  CsrFile& csrs = machine.core.csrs();
  machine.core.csrs().mtvec = kHandler;
  machine.place(kHandler, {encode_csr(csrrs, kA3, csr::mstatus, 0), kMret});
  csrs.mstatus |= mstatus::mie;
  csrs.mepc = kRam + 8;
  csrs.mstatus &= ~mstatus::mpp;  // mret returns to U mode
  csrs.mstatus |= mstatus::mpie | mstatus::mprv;
  csrs.pmp.write_address(0, ~std::uint64_t{0});
  csrs.pmp.write_configuration(0, 0x1f);
  machine.run({kMret, kNop, kWfi});
  EXPECT_EQ(csrs.privilege, Privilege::user);
  EXPECT_EQ(csrs.mstatus & mstatus::mprv, 0u);  // mret to U mode clears MPRV
  EXPECT_NE(csrs.mstatus & mstatus::mie, 0u);
  EXPECT_NE(csrs.mstatus & mstatus::mpie, 0u);
}

// --- time -----------------------------------------------------------------------------------------------------------------

TEST(HartTime, EveryClassIsChargedItsCycles) {
  const CoreTiming timing = distinct_cycles();
  const auto cycles = [&](Class klass) { return std::uint64_t{timing.cycles[static_cast<std::size_t>(klass)]}; };
  const std::pair<std::uint32_t, Class> cases[] = {{encode_i(addi, kA1, 0, 1), Class::alu},
                                                   {encode_i(ld, kA1, kA0, 0), Class::load},
                                                   {encode_s(sd, kA0, kA1, 0), Class::store},
                                                   {encode_b(beq, 0, 0, 4), Class::branch},
                                                   {encode_j(0, 4), Class::jump},
                                                   {encode(mul, kA1, kA1, kA1), Class::multiply},
                                                   {encode(divu, kA1, kA1, kA1), Class::divide},
                                                   {encode(amoadd_d, kA1, kA0, 0), Class::atomic},
                                                   {encode_csr(csrrs, kA1, csr::mscratch, 0), Class::system},
                                                   {encode(fadd_d, 0, 0, 0), Class::floating},
                                                   {encode(fdiv_d, 0, 0, 0), Class::float_divide}};
  for (const auto& [word, klass] : cases) {
    Machine machine(timing);
    machine.core.csrs().mstatus |= mstatus::fs;
    machine.x(kA0) = kData;
    machine.run({word});
    EXPECT_EQ(machine.core.local_ps(), (cycles(klass) + cycles(Class::system)) * timing.period_ps) << std::hex << word;
  }
}

TEST(HartTime, DirectMemoryLatencyIsChargedPerAccess) {
  Machine machine;
  machine.read_ps = 300;
  machine.write_ps = 700;
  machine.x(kA0) = kData;
  // The first access goes through the bus (no time in RAM), which grants direct access.
  machine.run({encode_i(ld, kA1, kA0, 0), encode_s(sd, kA0, kA1, 0)});
  machine.run({encode_i(ld, kA1, kA0, 0), encode_i(ld, kA1, kA0, 8), encode_s(sd, kA0, kA1, 0), encode(amoadd_d, kA1, kA0, 0)});
  EXPECT_EQ(machine.core.local_ps(), 5'000u + 2 * 300u + 2 * 700u);
  EXPECT_EQ(machine.direct_requests, 1u);  // code and data are in the same region
}

TEST(HartTime, DeviceIsReachedAtTheRightInstant) {
  Machine machine;
  machine.x(kA0) = Machine::kDevice;
  machine.run({kNop, kNop, kNop, encode_i(lw, kA1, kA0, 0), kNop});
  EXPECT_EQ(machine.last_access_ps, 3'000u);
  EXPECT_EQ(machine.core.local_ps(), 6'000u + Machine::kDevicePs);
}

TEST(HartTime, DeviceStoreEndsTheSliceAfterIt) {
  Machine machine;
  machine.x(kA0) = Machine::kDevice;
  EXPECT_EQ(machine.run({kNop, encode_s(sw, kA0, kA1, 0), kNop, kNop}), StopReason::synchronise);
  EXPECT_EQ(machine.core.registers().pc, kRam + 8);
  EXPECT_EQ(machine.core.local_ps(), 2'000u + Machine::kDevicePs);
  EXPECT_EQ(machine.core.statistics().instructions, 2u);
  EXPECT_EQ(machine.core.run(Machine::kForever), StopReason::wait_for_interrupt);
  EXPECT_EQ(machine.core.statistics().instructions, 5u);
}

TEST(HartTime, DeviceLoadEndsTheSliceAfterItWhenALineChanges) {
  // Every kind of load: integer, floating-point, load-reserved.
  for (const std::uint32_t load :
       {encode_i(lw, kA1, kA0, 0), encode_i(lbu, kA1, kA0, 0), encode_i(flw, 1, kA0, 0), encode(lr_w, kA1, kA0, 0)}) {
    for (const bool changes : {false, true}) {
      Machine machine;
      machine.core.csrs().mstatus |= mstatus::fs;
      machine.x(kA0) = Machine::kDevice;
      machine.line_changes = changes;
      const StopReason reason = machine.run({kNop, load, kNop, kNop});
      EXPECT_EQ(reason, changes ? StopReason::synchronise : StopReason::wait_for_interrupt);
      EXPECT_EQ(machine.core.statistics().instructions, changes ? 2u : 5u);
      if (!changes) continue;
      EXPECT_EQ(machine.core.registers().pc, kRam + 8);
      EXPECT_EQ(machine.core.local_ps(), 2'000u + Machine::kDevicePs);
      EXPECT_EQ(machine.core.run(Machine::kForever), StopReason::wait_for_interrupt);
      EXPECT_EQ(machine.core.statistics().instructions, 5u);
      EXPECT_EQ(machine.reads, 1u);
    }
  }
}

TEST(HartTime, TimeCsrReadsThePlatformsTimerOrTraps) {
  Machine machine;
  const std::uint32_t read_time = encode_csr(csrrs, kA1, csr::time, 0);
  machine.run({read_time});
  EXPECT_EQ(machine.core.csrs().mcause, cause::illegal_instruction);
  machine.mtime = 0x1'0000'0000;
  machine.run({read_time});
  EXPECT_EQ(machine.x(kA1), 0x1'0000'0000u);
  EXPECT_EQ(machine.core.read_csr(csr::time), 0x1'0000'0000u);
}

TEST(HartTime, SliceEndsAtItsLimit) {
  Machine machine;
  machine.place(kRam, {encode_i(addi, kA0, kA0, 1), encode_j(0, -4)});
  for (const std::uint64_t limit : {1'000u, 1'999u, 2'000u, 2'001u, 100'000u}) {
    machine.x(kA0) = 0;
    machine.core.registers().pc = kRam;
    machine.core.begin_slice(0);
    EXPECT_EQ(machine.core.run(limit), StopReason::time_limit);
    // A run ends at the first block boundary at or after the limit; each block has two instructions, which take 2 ns.
    EXPECT_EQ(machine.core.local_ps(), (limit + 1'999) / 2'000 * 2'000) << limit;
    EXPECT_EQ(machine.x(kA0), machine.core.local_ps() / 2'000);
  }
}

TEST(HartTime, CountersReadExactValues) {
  Machine machine;
  machine.core.csrs().mcounteren = 7;
  machine.run({kNop, kNop, encode_csr(csrrs, kA0, csr::instret, 0), kNop, encode_csr(csrrs, kA1, csr::minstret, 0),
               encode_csr(csrrs, kA2, csr::mcycle, 0)});
  EXPECT_EQ(machine.x(kA0), 2u);
  EXPECT_EQ(machine.x(kA1), 4u);
  EXPECT_EQ(machine.x(kA2), 6u);  // includes the cycle of this csrrs
}

// --- interrupts -----------------------------------------------------------------------------------------------------------

TEST(HartInterrupts, AreTakenWhenEnabledAndNotBefore) {
  Machine machine;
  CsrFile& csrs = machine.core.csrs();
  csrs.mtvec = kHandler;
  machine.place(kHandler, {encode_j(0, 0)});
  csrs.mip = 1u << interrupt::timer;
  machine.x(kA0) = 1u << interrupt::timer;
  machine.place(kRam, {kNop, encode_csr(csrrw, 0, csr::mie, kA0), kNop, encode_csr(csrrsi, 0, csr::mstatus, 8), kNop});
  EXPECT_EQ(machine.core.run(20'000), StopReason::time_limit);
  EXPECT_EQ(csrs.mcause, cause::interrupt | interrupt::timer);
  EXPECT_EQ(csrs.mepc, kRam + 16);  // directly after the csrrsi that enables interrupts
  EXPECT_EQ(machine.core.registers().pc, kHandler);
  EXPECT_EQ(machine.core.statistics().interrupts, 1u);
}

TEST(HartInterrupts, WfiReturnsWhenAnInterruptIsPending) {
  Machine machine;
  machine.core.csrs().mip = machine.core.csrs().mie = 1u << interrupt::external;  // wfi ends although mstatus.MIE = 0
  machine.place(kRam, {kWfi, encode_i(addi, kA0, 0, 1), encode_j(0, 0)});
  EXPECT_EQ(machine.core.run(10'000), StopReason::time_limit);
  EXPECT_EQ(machine.x(kA0), 1u);
}

// --- blocks and windows ---------------------------------------------------------------------------------------------------

TEST(HartBlocks, OldCodeRunsUntilFenceI) {
  Machine machine;
  machine.x(kA0) = kData;
  machine.place(kData, {encode_i(addi, kA1, 0, 1), encode_i(jalr, 0, kRa, 0)});
  machine.run({encode_i(jalr, kRa, kA0, 0)});
  EXPECT_EQ(machine.x(kA1), 1u);
  machine.place(kData, {encode_i(addi, kA1, 0, 2)});
  machine.core.registers().pc = kRam;
  machine.core.run(Machine::kForever);
  EXPECT_EQ(machine.x(kA1), 1u);  // the cached block runs until fence.i
  machine.place(kRam + 0x100, {kFenceI, encode_i(jalr, kRa, kA0, 0), kWfi});
  machine.core.registers().pc = kRam + 0x100;
  machine.core.run(Machine::kForever);
  EXPECT_EQ(machine.x(kA1), 2u);
  EXPECT_GE(machine.core.statistics().block_cache_flushes, 1u);
}

TEST(HartBlocks, MoreCodeThanTheCacheHolds) {
  Machine machine;
  // 1 MiB of compressed additions, twice as many instructions as the block cache holds, executed twice.
  const std::uint64_t start = kRam + 0x1000, count = 512 * 1024;
  for (std::uint64_t i = 0; i < count; ++i) machine.store<std::uint16_t>(start + 2 * i, 0x0505);  // c.addi a0, 1
  machine.place(start + 2 * count, {encode_i(jalr, 0, kRa, 0)});
  machine.x(kA1) = start;
  machine.run({encode_i(jalr, kRa, kA1, 0), encode_i(jalr, kRa, kA1, 0)});
  EXPECT_EQ(machine.x(kA0), 2 * count);
  EXPECT_GE(machine.core.statistics().block_cache_flushes, 3u);
}

TEST(HartBlocks, RunFromMemoryWithoutDirectAccess) {
  Machine machine(Machine::one_cycle_each(), false);
  machine.x(kA0) = kData;
  machine.run({encode_i(addi, kA1, 0, 7), encode_s(sd, kA0, kA1, 0)});
  EXPECT_EQ(machine.core.run(Machine::kForever), StopReason::wait_for_interrupt);
  EXPECT_EQ(machine.load<std::uint64_t>(kData), 7u);
  EXPECT_EQ(machine.direct_requests, 0u);
}

TEST(HartWindows, AreAskedForAgainAfterInvalidation) {
  Machine machine;
  machine.x(kA0) = kData;
  machine.run({encode_i(ld, kA1, kA0, 0)});
  EXPECT_EQ(machine.direct_requests, 1u);
  machine.core.drop_regions(kData, kData);  // drops every region that overlaps the range
  machine.run({encode_i(ld, kA1, kA0, 0)});
  EXPECT_EQ(machine.direct_requests, 2u);
  machine.core.drop_regions(0, kRam - 1);
  machine.run({encode_i(ld, kA1, kA0, 0)});
  EXPECT_EQ(machine.direct_requests, 2u);
}

TEST(HartHtif, OnlyStoresToTheMailboxAreObserved) {
  Machine machine;
  machine.core.watch_htif(kData + 8);
  machine.x(kA0) = kData;
  machine.run({encode_s(sd, kA0, kA1, 0), encode_s(sd, kA0, kA1, 16), encode_i(ld, kA1, kA0, 8)});
  EXPECT_EQ(machine.htif_stores, 0u);
  machine.run({encode_s(sd, kA0, kA1, 0), encode_s(sw, kA0, kA1, 8), encode_s(sd, kA0, kA1, 16), encode_s(sb, kA0, kA1, 15)});
  EXPECT_EQ(machine.htif_stores, 2u);
}

TEST(HartSemihosting, NeedsTheWholeSequence) {
  constexpr std::uint32_t kEntry = 0x01f01013, kExit = 0x40705013;
  Machine machine;
  install_handler(machine);
  machine.run({kEntry, kEbreak, kExit});
  EXPECT_EQ(machine.semihosting_calls, 0u);  // semihosting is not enabled yet
  EXPECT_EQ(machine.core.csrs().mcause, cause::breakpoint);
  machine.core.enable_semihosting();
  machine.core.csrs().mcause = 0;
  machine.run({kEntry, kEbreak, kExit});
  EXPECT_EQ(machine.semihosting_calls, 1u);
  EXPECT_EQ(machine.core.csrs().mcause, 0u);
  machine.run({kNop, kEbreak, kExit});
  EXPECT_EQ(machine.semihosting_calls, 1u);
  EXPECT_EQ(machine.core.csrs().mcause, cause::breakpoint);
}

// --- debugging ------------------------------------------------------------------------------------------------------------

TEST(HartDebug, BreakpointsStopBeforeTheInstruction) {
  Machine machine;
  machine.core.set_breakpoints({kRam + 8});
  EXPECT_EQ(machine.run({encode_i(addi, kA0, 0, 1), kNop, encode_i(addi, kA0, 0, 2), kNop}), StopReason::breakpoint);
  EXPECT_EQ(machine.core.registers().pc, kRam + 8);
  EXPECT_EQ(machine.x(kA0), 1u);
  EXPECT_EQ(machine.core.statistics().instructions, 2u);
  EXPECT_EQ(machine.core.run(Machine::kForever), StopReason::breakpoint);  // stops again without executing the instruction
  EXPECT_EQ(machine.core.step(), StopReason::time_limit);
  EXPECT_EQ(machine.x(kA0), 2u);
  EXPECT_EQ(machine.core.registers().pc, kRam + 12);
  EXPECT_EQ(machine.core.run(Machine::kForever), StopReason::wait_for_interrupt);
  machine.core.set_breakpoints({});
  EXPECT_EQ(machine.run({kNop, kNop, kNop}), StopReason::wait_for_interrupt);
}

TEST(HartDebug, WatchpointsStopAfterTheAccess) {
  struct Case {
    Watchpoint watchpoint;
    std::uint64_t stops_at;  // offset of pc after the run; 20 = the watchpoint is not hit
  };
  const Case cases[] = {{{kData + 8, 8, false, true}, 12}, {{kData + 8, 8, true, false}, 8},  {{kData + 8, 8, true, true}, 8},
                        {{kData + 15, 1, true, false}, 8}, {{kData + 16, 8, true, true}, 20}, {{kData + 7, 1, true, true}, 20}};
  for (const Case& c : cases) {
    Machine machine;
    machine.x(kA0) = kData;
    machine.core.set_watchpoints({c.watchpoint});
    const StopReason reason = machine.run({kNop, encode_i(ld, kA1, kA0, 8), encode_s(sd, kA0, kA1, 8), kNop});
    EXPECT_EQ(reason, c.stops_at == 20 ? StopReason::wait_for_interrupt : StopReason::watchpoint);
    EXPECT_EQ(machine.core.registers().pc, kRam + c.stops_at) << c.watchpoint.address;
    if (reason == StopReason::watchpoint) {
      EXPECT_EQ(machine.core.hit_watchpoint().address, c.watchpoint.address);
    }
  }
}

TEST(HartDebug, EbreakStopsForADebuggerThenTraps) {
  Machine machine;
  install_handler(machine);
  machine.core.set_stop_at_ebreak(true);
  EXPECT_EQ(machine.run({kNop, kEbreak}), StopReason::ebreak);
  EXPECT_EQ(machine.core.registers().pc, kRam + 4);
  machine.core.step();
  EXPECT_EQ(machine.core.registers().pc, kHandler);
  EXPECT_EQ(machine.core.csrs().mcause, cause::breakpoint);
}

TEST(HartDebug, StepFollowsBranchesAndTraps) {
  Machine machine;
  install_handler(machine);
  machine.place(kRam, {encode_b(beq, 0, 0, 8), kNop, kEcall});
  machine.core.registers().pc = kRam;
  machine.core.step();
  EXPECT_EQ(machine.core.registers().pc, kRam + 8);
  machine.core.step();
  EXPECT_EQ(machine.core.registers().pc, kHandler);
}

}  // namespace
}  // namespace lacuna::rv64
