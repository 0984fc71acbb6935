// Tests the hart as a SystemC module: parameters, HTIF, time, transactions at the bus, and sleep until an interrupt.
#include <gtest/gtest.h>

#include "tests/host/core_machine.h"
#include "tests/host/hart_environment.h"

namespace lacuna::test {
namespace {

using namespace rv64;
using enum rv64::Operation;

void place(Hart& hart, std::uint64_t address, std::initializer_list<std::uint32_t> words) {
  for (const std::uint32_t word : words) {
    ASSERT_TRUE(hart.write_memory(address, std::as_bytes(std::span(&word, 1))));
    address += 4;
  }
}

std::uint64_t doubleword(Hart& hart, std::uint64_t address) {
  std::uint64_t value = 0;
  EXPECT_TRUE(hart.read_memory(address, std::as_writable_bytes(std::span(&value, 1))));
  return value;
}

TEST(HartParameters, AreValidated) {
  HartParameters no_quantum;
  no_quantum.quantum = {0};
  EXPECT_THROW(Hart("no_quantum", no_quantum), std::invalid_argument);
}

TEST(HartParameters, ParametersAndStatisticsAreDescribed) {
  HartParameters parameters;
  ParameterSection section("hart");
  parameters.describe(section);
  EXPECT_EQ(section.parameters().size(), 15u);
  HartStatistics statistics;
  StatisticsGroup group("hart");
  statistics.describe(group);
  EXPECT_EQ(group.statistics().size(), 10u);
}

constexpr std::uint64_t kModuleRam = HartEnvironment::kRamBase;
constexpr std::uint64_t kModuleToHost = kModuleRam + 0x10000, kFromHost = kModuleRam + 0x10040, kDelay = 0x5000;

TEST(HartModule, RunsATinyProgram) {
  HartParameters parameters;
  parameters.quantum = {5'000};
  HartEnvironment environment("environment", parameters);
  Hart& hart = environment.hart;
  hart.attach_htif(kModuleToHost, kFromHost);
  hart.set_reset_pc(kModuleRam + 0x100);
  // a0 = tohost, a1 = console command, a2 = device.
  place(hart, kModuleRam + 0x100,
        {traits(auipc).match | kA0 << 7 | 0x10000, encode_i(addi, kA0, kA0, -0x100), encode_i(addi, kA1, 0, 0x101),
         encode_i(slli, kA1, kA1, 48), encode_i(addi, kA1, kA1, 'H'), encode_s(sd, kA0, kA1, 0),
         encode_i(addi, kA1, kA1, 'i' - 'H'), encode_s(sd, kA0, kA1, 0), traits(lui).match | kA2 << 7 | 0x10000000,
         // Schedule an interrupt after kDelay ns, sleep until it arrives, and read the clocks.
         traits(lui).match | kA3 << 7 | static_cast<std::uint32_t>(kDelay), encode_csr(csrrwi, 0, csr::mie, 0),
         encode_i(addi, kT0, 0, 0x80), encode_csr(csrrw, 0, csr::mie, kT0), encode_s(sd, kA2, kA3, 8), kWfi,
         encode_csr(csrrs, kT1, csr::time, 0), encode_i(ld, kRa, kA2, 8),
         // Exit with code 21: (21 << 1 | 1) to tohost.
         encode_i(addi, kA1, 0, 43), encode_s(sw, kA0, kA1, 0), encode_j(0, 0)});

  sc_core::sc_start();

  EXPECT_EQ(environment.console, "Hi");
  EXPECT_EQ(environment.exit_code, 21);
  EXPECT_EQ(environment.exits, 1u);
  EXPECT_TRUE(hart.halted());
  EXPECT_FALSE(hart.waiting_for_interrupt());
  EXPECT_EQ(hart.pc(), kModuleRam + 0x100 + 19 * 4);  // directly after the store that ended the program
  EXPECT_EQ(doubleword(hart, kFromHost), std::uint64_t{0x0101} << 48);
  EXPECT_EQ(doubleword(hart, kModuleToHost), 43u);
  EXPECT_EQ(environment.device_writes, 1u);
  EXPECT_EQ(environment.device_reads, 1u);
  EXPECT_EQ(hart.read_register(kRa), kDelay);
  const HartStatistics& s = hart.statistics();
  EXPECT_EQ(s.instructions, 19u);
  EXPECT_EQ(s.waiting, Tick{kDelay * 1000 - 5'000});  // kDelay less one cycle of the store and four of wfi
  // `time` ticks every 100 ns.
  const std::uint64_t now = sc_core::sc_time_stamp().value();
  EXPECT_EQ(hart.read_register(kT1), (now - HartEnvironment::kDeviceLatency.ps - 4'000) / 100'000);
  std::uint64_t cycles = 0;
  EXPECT_TRUE(hart.read_csr(csr::mcycle, cycles));
  EXPECT_EQ(cycles, now / 1000);
}

}  // namespace
}  // namespace lacuna::test
