#include "models/host/devices/plic.h"

#include <gtest/gtest.h>

#include "tests/harness/harness.h"
#include "tests/harness/line_change.h"
#include "tests/harness/tlm_contract.h"

namespace lacuna {
namespace {

using namespace literals;

constexpr unsigned kSources = 40;
constexpr std::uint64_t kPending = 0x1000;
constexpr std::uint64_t kEnable = 0x2000;
constexpr std::uint64_t kEnableStride = 0x80;
constexpr std::uint64_t kThreshold = 0x200000;
constexpr std::uint64_t kClaim = 0x200004;
constexpr std::uint64_t kContextStride = 0x1000;

struct PlicBench : sc_core::sc_module {
  explicit PlicBench(sc_core::sc_module_name n) : sc_module(n) {
    initiator.socket.bind(plic.bus);
    for (unsigned s = 1; s <= kSources; ++s) plic.source(s).bind(lines[s - 1]);
    for (unsigned c = 0; c < 2; ++c) plic.interrupt[c].bind(interrupt[c]);
  }
  void raise(unsigned source, bool level = true) {
    lines[source - 1].write(level);
    test::settle();
  }
  void set(std::uint64_t address, std::uint32_t value) {
    initiator.store<std::uint32_t>(address, value);
    test::settle();
  }
  std::uint32_t get(std::uint64_t address) {
    const auto value = initiator.load<std::uint32_t>(address);
    test::settle();
    return value;
  }
  test::TestInitiator initiator{"initiator"};
  Plic plic{
      "plic", {.bus = {.clock = 100_MHz, .read_latency = 1_cycles, .write_latency = 2_cycles}, .max_priority = 7}, kSources, 2};
  sc_core::sc_vector<sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS>> lines{"lines", kSources};
  sc_core::sc_vector<sc_core::sc_signal<bool>> interrupt{"interrupt", 2};
};
LACUNA_TEST_BENCH(PlicBench)

PlicBench& fresh() {
  auto& b = test::bench<PlicBench>();
  for (unsigned i = 0; i < kSources; ++i) b.lines[i].write(false);
  test::settle();
  b.plic.reset();
  test::settle();
  b.initiator.begin_epoch();
  return b;
}

TEST(Plic, PriorityHoldsUpToTheMaximumAndSourceZeroHasNone) {
  auto& b = fresh();
  b.set(4 * 5, 3);
  EXPECT_EQ(b.get(4 * 5), 3u);
  b.set(4 * 5, 100);
  EXPECT_EQ(b.get(4 * 5), 7u);
  b.set(0, 3);
  EXPECT_EQ(b.get(0), 0u);
}

TEST(Plic, EnableHoldsExistingSourcesOnly) {
  auto& b = fresh();
  b.set(kEnable, 0xffff'ffff);
  b.set(kEnable + 4, 0xffff'ffff);
  EXPECT_EQ(b.get(kEnable), 0xffff'fffeu);
  EXPECT_EQ(b.get(kEnable + 4), 0x1ffu);
  EXPECT_EQ(b.get(kEnable + kEnableStride), 0u);
}

TEST(Plic, PendingFollowsTheLineUntilClaimed) {
  auto& b = fresh();
  b.raise(33);
  EXPECT_EQ(b.get(kPending + 4), 2u);
  b.raise(33, false);
  EXPECT_EQ(b.get(kPending + 4), 2u) << "a request once made stays";
}

TEST(Plic, InterruptsOnlyWhenEnabledAndAboveTheThreshold) {
  auto& b = fresh();
  b.raise(2);
  EXPECT_FALSE(b.interrupt[0].read());
  b.set(kEnable, 1u << 2);
  EXPECT_FALSE(b.interrupt[0].read()) << "priority 0 never interrupts";
  b.set(4 * 2, 3);
  EXPECT_TRUE(b.interrupt[0].read());
  EXPECT_FALSE(b.interrupt[1].read());
  b.set(kThreshold, 3);
  EXPECT_FALSE(b.interrupt[0].read());
  b.set(kThreshold, 2);
  EXPECT_TRUE(b.interrupt[0].read());
  b.set(kThreshold, 99);
  EXPECT_EQ(b.get(kThreshold), 7u);
}

TEST(Plic, ClaimTakesTheHighestPriorityThenTheLowestNumber) {
  auto& b = fresh();
  b.set(kEnable, 0xffff'fffe);
  b.set(kEnable + 4, 0x1ff);
  for (const unsigned s : {7u, 3u, 35u, 9u}) {
    b.set(4 * s, s == 35 ? 6 : s == 9 ? 1 : 4);
    b.raise(s);
  }
  for (const std::uint32_t expected : {35u, 3u, 7u, 9u, 0u}) EXPECT_EQ(b.get(kClaim), expected);
  EXPECT_FALSE(b.interrupt[0].read());
}

TEST(Plic, TellsOfAClaimThatLowersALineAndOfNoOtherRead) {
  auto& b = fresh();
  const auto reads = [&](std::uint64_t address) { return test::read_changes_line(b.initiator, address, 4); };
  const auto writes = [&](std::uint64_t address, std::uint32_t value) {
    return test::write_changes_line(b.initiator, address, 4, value);
  };
  EXPECT_FALSE(reads(kClaim));
  EXPECT_FALSE(writes(4 * 4, 1));
  EXPECT_FALSE(writes(4 * 5, 1));
  EXPECT_FALSE(writes(kEnable, 3u << 4));
  b.raise(4);
  b.raise(5);
  EXPECT_FALSE(reads(kPending));
  EXPECT_FALSE(reads(kClaim)) << "another source is pending";
  EXPECT_TRUE(reads(kClaim));
  EXPECT_FALSE(reads(kClaim));
  test::settle();
  EXPECT_FALSE(b.interrupt[0].read());
  EXPECT_TRUE(writes(kClaim, 4)) << "its level is still high";
  EXPECT_TRUE(writes(kThreshold, 7));
  EXPECT_FALSE(reads(kClaim)) << "the threshold has lowered the line before";
}

TEST(Plic, ClaimIgnoresTheThreshold) {
  auto& b = fresh();
  b.set(kEnable, 1u << 4);
  b.set(4 * 4, 1);
  b.set(kThreshold, 7);
  b.raise(4);
  EXPECT_FALSE(b.interrupt[0].read());
  EXPECT_EQ(b.get(kClaim), 4u);
}

TEST(Plic, TheGatewayHoldsTheSourceBackUntilCompletion) {
  auto& b = fresh();
  b.set(kEnable, 1u << 4);
  b.set(4 * 4, 1);
  b.raise(4);
  EXPECT_EQ(b.get(kClaim), 4u);
  EXPECT_EQ(b.get(kPending), 0u);
  EXPECT_FALSE(b.interrupt[0].read());
  EXPECT_EQ(b.get(kClaim), 0u);
  b.set(kClaim, 4);
  EXPECT_TRUE(b.interrupt[0].read()) << "the level is still high";
  EXPECT_EQ(b.get(kClaim), 4u);
  b.raise(4, false);
  b.set(kClaim, 4);
  EXPECT_FALSE(b.interrupt[0].read());
}

TEST(Plic, ACompletionOfASourceThatIsNotEnabledIsIgnored) {
  auto& b = fresh();
  b.set(kEnable, 1u << 4);
  b.set(4 * 4, 1);
  b.raise(4);
  EXPECT_EQ(b.get(kClaim), 4u);
  b.set(kClaim + kContextStride, 4);
  b.set(kClaim, 5);
  b.set(kClaim, 0);
  b.set(kClaim, 1000);
  EXPECT_EQ(b.get(kPending), 0u);
  b.set(kClaim, 4);
  EXPECT_EQ(b.get(kPending), 1u << 4);
}

TEST(Plic, ContextsAreIndependent) {
  auto& b = fresh();
  b.set(4 * 6, 2);
  b.set(kEnable + kEnableStride, 1u << 6);
  b.raise(6);
  EXPECT_FALSE(b.interrupt[0].read());
  EXPECT_TRUE(b.interrupt[1].read());
  EXPECT_EQ(b.get(kClaim), 0u);
  EXPECT_EQ(b.get(kClaim + kContextStride), 6u);
}

TEST(Plic, ADebugReadClaimsNothing) {
  auto& b = fresh();
  b.set(kEnable, 1u << 4);
  b.set(4 * 4, 1);
  b.raise(4);
  std::uint32_t value = 0;
  EXPECT_EQ(b.initiator.debug_read(kClaim, std::as_writable_bytes(std::span(&value, 1))), 4u);
  EXPECT_EQ(value, 4u);
  EXPECT_EQ(b.get(kClaim), 4u);
}

TEST(Plic, PendingIsReadOnlyAndHolesAreErrors) {
  auto& b = fresh();
  std::array<std::byte, 4> data{};
  EXPECT_EQ(b.initiator.write({}, kPending, data).response, tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(b.initiator.read({}, 4 * (kSources + 1), data).response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(b.initiator.read({}, kClaim + 2 * kContextStride, data).response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST(Plic, LatencyTable) {
  auto& b = fresh();
  std::array<std::byte, 4> data{};
  EXPECT_EQ(b.initiator.read(1_ns, kThreshold, data).at, 11_ns);
  EXPECT_EQ(b.initiator.write(1_ns, kThreshold, data).at, 21_ns);
}

}  // namespace

test::ContractTarget test::contract_target() {
  auto& b = bench<PlicBench>();
  // The first enable word implements all bits except the lowest, which is 0 in the suite's patterns.
  return {.initiator = b.initiator,
          .address = kEnable,
          .length = 4,
          .end = 0x4000000,
          .byte_enables = false,
          .dmi = false,
          .reset = [&b] { b.plic.reset(); },
          .keeps_data = false};
}

}  // namespace lacuna
