// Tests the costs of a launch in addition to its packet: time before the first workgroup, cold pages, and flushed caches.
#include "tests/command/packet_bench.h"

namespace lacuna::test {
namespace {

PacketProcessorParameters launch_parameters() {
  PacketProcessorParameters parameters;
  parameters.launch_latency = Cycles{600};
  parameters.cold_dispatch = true;
  parameters.flush_before_dispatch = true;
  return parameters;
}

class LaunchBench : public PacketBench {
 public:
  explicit LaunchBench(sc_core::sc_module_name module_name)
      : PacketBench(module_name, 1, isa::Target::gfx803, launch_parameters()) {}
  void kernel_started(const Dispatch& dispatch) override { salts.push_back(dispatch.page_salt); }
  std::vector<std::uint64_t> salts;
};

LACUNA_TEST_BENCH(LaunchBench)

class PacketLaunchTest : public PacketProcessorTest {
 protected:
  void SetUp() override {
    PacketProcessorTest::SetUp();
    bench<LaunchBench>().salts.clear();
    open(0);
  }
};

TEST_F(PacketLaunchTest, ADispatchIsTimedFromBeforeItsLaunch) {
  put(0, dispatch(0, 0));
  ring(0);
  microseconds(5);
  ASSERT_EQ(b_.kernels.size(), 1U);
  // In cycles: launch latency 600, until the first fetch 16, fetch 100, until the SIMD's issue slot up to 3, s_endpgm 1.
  EXPECT_GE(b_.kernels[0].cycles, 600U + 16 + 100 + 1);
  EXPECT_LE(b_.kernels[0].cycles, 600U + 16 + 100 + 3 + 1);
  EXPECT_EQ(signal(0).value, 0);
}

TEST_F(PacketLaunchTest, EachLaunchIsTimedFromAfterItsFlush) {
  put(0, dispatch(0, 0));
  put(0, dispatch(0, 1));
  ring(0);
  microseconds(10);
  ASSERT_EQ(b_.kernels.size(), 2U);
  EXPECT_EQ(b_.l2.invalidations, 2U);
  EXPECT_GE(b_.l1.invalidations, 2U);
  for (const KernelRecord& kernel : b_.kernels) {
    EXPECT_LE(kernel.cycles, 600U + 16 + 100 + 3 + 1) << "no time of the flush, " << CountingCache::kDuration.ps << " ps";
  }
}

TEST_F(PacketLaunchTest, EachLaunchMissesInAllTlbs) {
  put(0, dispatch(0, 0));
  put(0, dispatch(0, 1));
  ring(0);
  microseconds(10);
  const std::vector<std::uint64_t>& salts = bench<LaunchBench>().salts;
  ASSERT_EQ(salts.size(), 2U);
  EXPECT_NE(salts[0], salts[1]);
  for (const std::uint64_t salt : salts) {
    EXPECT_NE(salt, 0U);
    EXPECT_EQ(salt << 16, 0U) << "virtual addresses have 48 bits";
  }
}

TEST_F(PacketLaunchTest, ALaunchDropsItsArgumentsAndItsPacketFromL2) {
  constexpr std::uint64_t kArguments = 0x3000;
  hsa::KernelDispatchPacket packet = dispatch(0, 0);
  packet.kernarg_address = kBase + kArguments + 0x40;
  put(0, packet);
  ring(0);
  microseconds(5);
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected{{kArguments, 4096}, {kRings, hsa::kPacketBytes}};
  EXPECT_EQ(b_.l2.dropped, expected);
  EXPECT_TRUE(b_.l1.dropped.empty()) << "an acquire drops L1 as a whole";
}

}  // namespace
}  // namespace lacuna::test
