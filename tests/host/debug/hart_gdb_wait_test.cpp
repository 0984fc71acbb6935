// Tests a debugger with a hart that sleeps in wfi: the debugger's requests are handled, its reads do not wake the hart, and the
// debugger receives the program's exit code.
#include <gtest/gtest.h>

#include <thread>

#include "tests/host/core_machine.h"
#include "tests/host/debug/gdb_client.h"
#include "tests/host/hart_environment.h"

namespace lacuna::test {
namespace {

using namespace rv64;
using enum rv64::Operation;

constexpr std::uint64_t kWaitingRam = HartEnvironment::kRamBase;
constexpr std::uint64_t kWaitingToHost = kWaitingRam + 0x1000;
constexpr std::uint64_t kBehindWfi = kWaitingRam + 16;
constexpr unsigned kCounterRegister = 8;  // s0

/// Stops the hart, repeatedly if necessary, until it is found in wfi.
void stop_in_wfi(GdbClient& client) {
  for (;;) {
    client.send("\x03");
    ASSERT_EQ(client.reply(), "T02thread:1;");
    if (client.ask("p20") == hex64(kBehindWfi)) return;
    client.send(GdbClient::frame("c"));
  }
}

void debug(std::uint16_t port) {
  GdbClient client(port);
  ASSERT_TRUE(client.connected());
  EXPECT_EQ(client.ask("?"), "T05thread:1;");
  client.send(GdbClient::frame("c"));
  stop_in_wfi(client);
  // The hart continues to sleep: no instruction after wfi executes, no matter how often the debugger reads.
  for (int i = 0; i < 3; ++i) {
    client.send(GdbClient::frame("c"));
    client.send("\x03");
    EXPECT_EQ(client.reply(), "T02thread:1;");
    EXPECT_EQ(client.ask("p20"), hex64(kBehindWfi));
    EXPECT_EQ(client.ask("p8"), hex64(0));
  }
  // A step leaves wfi, which the manual allows at any time, and the program continues.
  EXPECT_EQ(client.ask("s"), "T05thread:1;");
  EXPECT_EQ(client.ask("p20"), hex64(kBehindWfi + 4));
  EXPECT_EQ(client.ask("p8"), hex64(1));
  // Exit code 256 is reported as 1, because its low 8 bits would indicate success.
  EXPECT_EQ(client.ask("c"), "W01");
}

TEST(HartGdbWait, ADebuggerDoesNotWakeTheHart) {
  HartEnvironment environment("environment", {});
  Hart& hart = environment.hart;
  hart.attach_htif(kWaitingToHost);
  const std::uint32_t code[] = {traits(auipc).match | kA0 << 7 | 0x1000,
                                encode_i(addi, kA1, 0, 256 << 1 | 1),
                                encode_csr(csrrwi, 0, csr::mie, 1 << interrupt::software),
                                kWfi,
                                encode_i(addi, kCounterRegister, kCounterRegister, 1),
                                encode_s(sd, kA0, kA1, 0),
                                encode_j(0, 0)};
  ASSERT_TRUE(hart.write_memory(kWaitingRam, std::as_bytes(std::span(code))));
  hart.set_reset_pc(kWaitingRam);
  std::thread debugger(debug, hart.attach_gdb(0));
  sc_core::sc_start();
  debugger.join();
  EXPECT_EQ(environment.exit_code, 1);
  EXPECT_EQ(hart.read_register(kCounterRegister), 1u);
}

}  // namespace
}  // namespace lacuna::test
