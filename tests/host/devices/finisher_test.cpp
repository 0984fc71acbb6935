#include "models/host/devices/finisher.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/harness/harness.h"
#include "tests/harness/tlm_contract.h"

namespace lacuna {
namespace {

using namespace literals;

struct FinisherBench : sc_core::sc_module {
  explicit FinisherBench(sc_core::sc_module_name n) : sc_module(n) {
    initiator.socket.bind(finisher.bus);
    finisher.set_exit_callback([this](int code) { exit_code = code; });
  }
  test::TestInitiator initiator{"initiator"};
  Finisher finisher{"finisher", {.clock = 100_MHz, .read_latency = 1_cycles, .write_latency = 2_cycles}};
  std::optional<int> exit_code;
};
LACUNA_TEST_BENCH(FinisherBench)

TEST(Finisher, ExitCodes) {
  auto& b = test::bench<FinisherBench>();
  struct Row {
    std::uint32_t value;
    std::optional<int> code;
  };
  const Row table[] = {{0x5555, 0}, {0x3333, 1},      {0x0001'3333, 1},       {0x002a'3333, 42}, {0xffff'3333, 65535},
                       {0x7777, 0}, {0x1234'5555, 0}, {0x1234, std::nullopt}, {0, std::nullopt}};
  for (const Row& row : table) {
    b.initiator.begin_epoch();
    b.exit_code.reset();
    b.initiator.store<std::uint32_t>(0, row.value);
    EXPECT_EQ(b.exit_code, row.code) << std::hex << row.value;
    EXPECT_EQ(b.initiator.load<std::uint32_t>(0), row.value);
  }
}

TEST(Finisher, ADebuggerDoesNotEndTheSimulation) {
  auto& b = test::bench<FinisherBench>();
  b.exit_code.reset();
  const std::uint32_t pass = 0x5555;
  EXPECT_EQ(b.initiator.debug_write(0, std::as_bytes(std::span(&pass, 1))), 4u);
  EXPECT_FALSE(b.exit_code.has_value());
}

TEST(Finisher, LatencyTable) {
  auto& b = test::bench<FinisherBench>();
  b.initiator.begin_epoch();
  std::array<std::byte, 4> data{};
  EXPECT_EQ(b.initiator.read(3_ns, 0, data).at, 13_ns);
  EXPECT_EQ(b.initiator.write(3_ns, 0, data).at, 23_ns);
}

}  // namespace

test::ContractTarget test::contract_target() {
  auto& b = bench<FinisherBench>();
  return {.initiator = b.initiator,
          .address = 0,
          .length = 4,
          .end = 0x1000,
          .byte_enables = false,
          .dmi = false,
          .reset = [&b] { b.finisher.reset(); },
          .keeps_data = false};
}

}  // namespace lacuna
