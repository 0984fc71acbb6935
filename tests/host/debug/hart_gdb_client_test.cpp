// Tests the GDB remote stub with misbehaving clients: noise, bad packets, and disconnections while the hart runs or is halted.
#include <gtest/gtest.h>

#include <thread>

#include "models/host/debug/gdb_stub.h"
#include "tests/host/debug/gdb_client.h"
#include "tests/host/hart_environment.h"

namespace lacuna::test {
namespace {

/// Attaches while the hart is held at reset, sends requests of all kinds, and disconnects while the hart runs.
void first_client(std::uint16_t port) {
  GdbClient client(port);
  ASSERT_TRUE(client.connected());
  client.send("noise+-\x03");
  EXPECT_EQ(client.ask("?"), "T05thread:1;");
  EXPECT_NE(client.ask("qSupported:swbreak+").find("PacketSize="), std::string::npos);
  EXPECT_EQ(client.ask("no such request"), "");
  EXPECT_EQ(client.ask("p20"), hex64(0x80000000));
  EXPECT_EQ(client.ask("pffff"), "E16");
  EXPECT_EQ(client.ask("p"), "E16");
  EXPECT_EQ(client.ask("P5=" + hex64(0x1122334455667788)), "OK");
  EXPECT_EQ(client.ask("p5"), hex64(0x1122334455667788));
  EXPECT_EQ(client.ask("P5=12"), "E16");
  const std::string all = client.ask("g");
  EXPECT_EQ(all.size(), 33u * 16);
  EXPECT_EQ(all.substr(5 * 16, 16), hex64(0x1122334455667788));
  EXPECT_EQ(client.ask("G" + all.substr(16)), "E16");
  EXPECT_EQ(client.ask("G" + all), "OK");
  EXPECT_EQ(client.ask("M80300000,4:01020304"), "OK");
  EXPECT_EQ(client.ask("m80300000,4"), "01020304");
  EXPECT_EQ(client.ask(std::string("X80300000,3:\x7d\x03\x7d\x5d\x7d\x0a", 18)), "OK");  // the escaped bytes # } *
  EXPECT_EQ(client.ask("m80300000,4"), "237d2a04");
  EXPECT_EQ(client.ask("X80300000,0:"), "OK");
  EXPECT_EQ(client.ask("M80300000,4:0102"), "E16");
  EXPECT_EQ(client.ask("m40000000,4"), "E0e");
  EXPECT_EQ(client.ask("m80300000"), "E16");
  EXPECT_EQ(client.ask("Z9,0,4"), "");
  EXPECT_EQ(client.ask("Z0,zz"), "E16");
  EXPECT_EQ(client.ask("qXfer:features:read:target.xml:0,20").front(), 'm');
  EXPECT_EQ(client.ask("qXfer:features:read:target.xml:ffffff,20"), "E16");
  EXPECT_EQ(client.ask("qfThreadInfo"), "m1");
  // The reply to a packet with a wrong checksum is '-', which requests retransmission.
  client.send("$g#00");
  char answer = client.acknowledgement();
  while (answer == '+') answer = client.acknowledgement();
  EXPECT_EQ(answer, '-');
  // Steps over one instruction, then runs to a breakpoint that is never reached.
  EXPECT_EQ(client.ask("s").substr(0, 3), "T05");
  EXPECT_NE(client.ask("p20"), hex64(0x80000000));
  EXPECT_EQ(client.ask("Z0,80310000,4"), "OK");
  client.send(GdbClient::frame("vCont;c:1"));
  EXPECT_EQ(client.acknowledgement(), '+') << "the hart runs";
}

/// Attaches to the running hart, lets the program finish, and disconnects while the hart is halted.
void second_client(std::uint16_t port) {
  GdbClient client(port);
  ASSERT_TRUE(client.connected());
  EXPECT_EQ(client.ask("?"), "T05thread:1;");
  EXPECT_EQ(client.ask("QStartNoAckMode"), "OK");
  EXPECT_EQ(client.ask("M80380000,8:0400000000000000"), "OK");
}

TEST(HartGdbClient, NeverHangsTheHart) {
  HartEnvironment environment("environment", {});
  environment.load(LACUNA_DEBUGGEE_IMAGE);
  environment.hart.attach_semihosting({});
  const std::uint16_t port = environment.hart.attach_gdb(0);
  std::thread clients([port] {
    first_client(port);
    second_client(port);
  });
  sc_core::sc_start();
  clients.join();
  EXPECT_EQ(environment.exit_code, 4);
  EXPECT_EQ(environment.console, "sum 147 counter 15\n");
}

TEST(HartGdbStub, DescribesEveryPmpRegister) {
  const std::string& description = gdb_target_description();
  const auto lists = [&](const std::string& name, unsigned csr) {
    return description.find("<reg name=\"" + name + "\" bitsize=\"64\" type=\"int\" regnum=\"" + std::to_string(65 + csr) +
                            "\"/>") != std::string::npos;
  };
  for (unsigned entry = 0; entry < rv64::Pmp::kEntries; ++entry) {
    EXPECT_TRUE(lists("pmpaddr" + std::to_string(entry), 0x3b0 + entry)) << entry;
  }
  // RV64 has only the even pmpcfg registers, with eight entries each.
  EXPECT_TRUE(lists("pmpcfg0", 0x3a0));
  EXPECT_TRUE(lists("pmpcfg2", 0x3a2));
}

TEST(HartGdbStub, RefusesAPortThatIsTaken) {
  struct NoTarget : GdbTarget {
    bool read_gdb_register(unsigned, std::uint64_t&) override { return false; }
    bool write_gdb_register(unsigned, std::uint64_t) override { return false; }
    bool read_gdb_memory(std::uint64_t, std::span<std::byte>) override { return false; }
    bool write_gdb_memory(std::uint64_t, std::span<const std::byte>) override { return false; }
    void set_gdb_breakpoints(std::vector<std::uint64_t>) override {}
    void set_gdb_watchpoints(std::vector<rv64::Watchpoint>) override {}
  } target;
  const GdbStub first(0, target);
  EXPECT_THROW(GdbStub(first.port(), target), std::system_error);
  GdbStub stub(0, target);
  EXPECT_EQ(stub.serve(false, {}), GdbResume::detached);
  EXPECT_EQ(stub.serve(true, [] { return true; }), GdbResume::stop_requested);
}

}  // namespace
}  // namespace lacuna::test
