// Tests the report on kernels that have not ended, and the records of kernels that are running when the simulation ends.
#include <gmock/gmock.h>

#include <sstream>

#include "tests/command/packet_bench.h"

namespace lacuna::test {
namespace {

using testing::HasSubstr;
using testing::Not;

LACUNA_TEST_BENCH(PacketBench)

constexpr std::uint32_t kEnd = 0xbf810000;
constexpr std::uint64_t kArguments = kMailbox;  // the kernels' argument: a flag that they wait for

class RunningKernelsTest : public PacketProcessorTest {
 protected:
  void SetUp() override {
    PacketProcessorTest::SetUp();
    open(0);
    open(1);
  }
  /// Writes a kernel whose argument address is in s[0:1].
  void kernel_with_argument(unsigned k, const std::vector<std::uint32_t>& words) {
    kernel(k, words);
    b_.at<std::uint32_t>(kKernels + 0x1000 * k + 52) = 2u << 1;
    b_.at<std::uint16_t>(kKernels + 0x1000 * k + 56) = 1u << 3;
    b_.code.revalidate();
  }
  static hsa::KernelDispatchPacket launch(unsigned k, unsigned workgroups, std::uint16_t workgroup = 64) {
    hsa::KernelDispatchPacket p = dispatch(k, k);
    p.workgroup_size[0] = workgroup;
    p.grid_size[0] = workgroups * workgroup;
    p.kernarg_address = kBase + kArguments;
    return p;
  }
  std::string report() {
    std::ostringstream text;
    b_.dispatcher.diagnose(text);
    return text.str();
  }
  unsigned lines(const std::string& text, const std::string& with) {
    std::istringstream all(text);
    unsigned count = 0;
    for (std::string line; std::getline(all, line);) count += line.find(with) != std::string::npos ? 1 : 0;
    return count;
  }
};

TEST_F(RunningKernelsTest, WavefrontsAtOnePlaceAreOneLine) {
  put(0, launch(2, 5));  // s_branch to itself
  ring(0);
  microseconds(3);
  const std::string text = report();
  EXPECT_THAT(text, HasSubstr("(dispatch ")) << text;
  EXPECT_THAT(text, HasSubstr("queue 0, packet 0): grid 320x1x1, workgroup 64x1x1; of 5 workgroups: 0 finished, 5 running, 0 "
                              "not started; "));
  EXPECT_THAT(text, HasSubstr("5 wavefronts at PC 0x122100 (+0x0), s_branch 65535: running; e.g. workgroup (0, 0, 0), "
                              "wavefront 0, compute unit 0 SIMD 0"));
  EXPECT_THAT(text, HasSubstr("registers are the same again after every 1 instruction;"));
  EXPECT_THAT(text, HasSubstr("it reads no memory: nothing can end it"));
  EXPECT_EQ(lines(text, "wavefronts at PC"), 1U) << text;
  EXPECT_EQ(report(), text) << "a report changes nothing";
}

TEST_F(RunningKernelsTest, ADivergentBarrierIsNamed) {
  // Wavefront 0 waits at the barrier, wavefront 1 for the flag.
  kernel_with_argument(4, {0x7d9800c0, 0xbf860002, 0xbf8a0000, kEnd, 0xc0020100, 0, 0xbf8c007f, 0xbf068004, 0xbf85fffb, kEnd});
  put(0, launch(4, 2, 128));
  ring(0);
  microseconds(5);
  const std::string text = report();
  EXPECT_THAT(text, HasSubstr("2 wavefronts at PC 0x124108 (+0x8), s_barrier: waits at a barrier: 1 of 2 wavefronts of the "
                              "workgroup have arrived, 0 ended; e.g. workgroup (0, 0, 0), wavefront 0"));
  EXPECT_THAT(text,
              HasSubstr("2 wavefronts in a loop from PC 0x124110 (+0x10) to PC 0x124120 (+0x20): with memory as it is now, "
                        "registers are the same again after every 4 instructions; e.g. workgroup (0, 0, 0), wavefront 1"));
  EXPECT_THAT(text,
              HasSubstr("waits on 4 bytes at 0x102000, value 0x0 (load at PC 0x124110 (+0x10), lane 0), inside the mapping "
                        "[0x100000, 0x140000); no running wavefront changes it within its next 20000 instructions"));
  EXPECT_THAT(text,
              HasSubstr("divergent barrier in 2 workgroups: in workgroup (0, 0, 0) 1 of 2 wavefronts have arrived, 0 ended, "
                        "1 is elsewhere and not on the way to a barrier, wavefront 1 at PC "));
  // Once the flag is set, wavefront 1 can continue, and the barrier is not divergent.
  b_.at<std::uint32_t>(kArguments) = 1;
  EXPECT_THAT(report(), Not(HasSubstr("divergent")));
}

TEST_F(RunningKernelsTest, AnotherKernelThatWouldEndTheWaitIsNamed) {
  kernel_with_argument(4, {0xc0020100, 0, 0xbf8c007f, 0xbf068004, 0xbf85fffb, kEnd});
  // Sleeps, then stores 7 to the flag.
  kernel_with_argument(
      5, {0xbf8e007f, 0xbf8e007f, 0xbf8e007f, 0x7e000200, 0x7e020201, 0x7e040287, 0xdc700000, 0x00000200, 0xbf8c0f70, kEnd});
  put(0, launch(4, 3));
  put(1, launch(5, 1));
  ring(0);
  ring(1);
  microseconds(4);
  const std::string text = report();
  EXPECT_THAT(text, HasSubstr("within their next 20000 instructions 1 wavefront would change it, e.g. workgroup (0, 0, 0), "
                              "wavefront 0"));
  EXPECT_THAT(text, HasSubstr("queue 1, packet 0)"));
  EXPECT_THAT(text, HasSubstr("s_sleep 0x7f: sleeps"));
  EXPECT_THAT(text, Not(HasSubstr("no running wavefront")));
  microseconds(60);
  EXPECT_EQ(report(), "") << "as it was said";
}

TEST_F(RunningKernelsTest, WaitsForMemoryAreAtTheirInstruction) {
  b_.memories[0]->latency = Tick{20'000'000};
  kernel_with_argument(4, {0xc0020100, 0, 0xbf8c007f, kEnd});
  put(0, launch(4, 1));
  ring(0);
  microseconds(30);  // reaches the load's wait; each memory access takes 20 us
  const std::string text = report();
  b_.memories[0]->latency = Tick{100'000};
  EXPECT_THAT(text, HasSubstr("1 wavefront at PC 0x124108 (+0x8), s_waitcnt lgkmcnt(0): waits for memory"));
  EXPECT_THAT(text, Not(HasSubstr("in a loop")));
  microseconds(40);
}

TEST_F(RunningKernelsTest, WaitReasonOfTheNextWorkgroup) {
  hsa::KernelDispatchPacket large = launch(2, 3);
  large.group_segment_size = 40'000;
  put(0, large);
  put(1, launch(2, 45));
  ring(0);
  microseconds(3);
  EXPECT_THAT(report(), HasSubstr("of 3 workgroups: 0 finished, 1 running, 2 not started;"));
  EXPECT_THAT(report(), HasSubstr("next workgroup: waits for LDS on 1 of 1 compute units"));
  ring(1);
  microseconds(3);
  EXPECT_THAT(report(), HasSubstr("of 45 workgroups: 0 finished, 39 running, 6 not started;"));
  EXPECT_THAT(report(), HasSubstr("next workgroup: waits for wavefront slots on 1 of 1 compute units"));
  ASSERT_EQ(b_.cp.packets.suspend_queue(1), LACUNA_QUEUE_ERROR_NONE);
  EXPECT_THAT(report(), HasSubstr("next workgroup: the queue is suspended"));
}

TEST_F(RunningKernelsTest, PlacesBeyondSixteenAreSummedUpInOneLine) {
  // The wavefronts of 20 workgroups jump to 20 endless loops, 8 bytes apart, selected by the workgroup's number in s2. They
  // sleep in the loops, because busy loops would keep younger wavefronts from issuing.
  std::vector<std::uint32_t> words{
      0xbe841c00,              // s_getpc_b64 s[4:5]
      0x8e028302,              // s_lshl_b32 s2, s2, 3
      0x80040204,              // s_add_u32 s4, s4, s2
      0x82058005,              // s_addc_u32 s5, s5, 0
      0x80049804, 0x82058005,  // s_add_u32 s4, s4, 24; s_addc_u32 s5, s5, 0
      0xbe801d04,              // s_setpc_b64 s[4:5]
  };
  for (unsigned i = 0; i < 32; ++i) words.insert(words.end(), {0xbf8e007f, 0xbf82fffe});  // s_sleep 127; s_branch to it
  kernel_with_argument(4, words);
  b_.at<std::uint32_t>(kKernels + 0x4000 + 52) |= 1u << 7;  // the workgroup's number follows the user SGPRs
  put(0, launch(4, 20));
  ring(0);
  microseconds(20);
  const std::string text = report();
  EXPECT_EQ(lines(text, "1 wavefront at PC"), 16U) << text;
  EXPECT_THAT(text, HasSubstr("4 other wavefronts at 4 more places"));
  EXPECT_THAT(text, HasSubstr("4 other wavefronts at 4 more loops"));
}

TEST_F(RunningKernelsTest, UnfinishedKernelsHaveRecords) {
  put(0, dispatch(0, 0));
  put(0, launch(2, 2));
  ring(0);
  microseconds(5);
  ASSERT_EQ(b_.kernels.size(), 1U);
  EXPECT_FALSE(b_.kernels[0].unfinished);
  b_.cp.packets.report_unfinished();
  ASSERT_EQ(b_.kernels.size(), 2U);
  const KernelRecord& record = b_.kernels[1];
  EXPECT_TRUE(record.unfinished);
  EXPECT_FALSE(record.failed);
  EXPECT_EQ(record.end, now());
  EXPECT_EQ(record.workgroups, 0U);
  EXPECT_EQ(record.wavefronts, 2U);
  EXPECT_GT(record.wavefront_instructions, 100U);
  const WavefrontClass all = record.activity.all();
  std::uint64_t cycles = 0;
  for (const std::uint64_t of_cause : all.cycles) cycles += of_cause;
  EXPECT_GT(cycles, 1000U);
  EXPECT_EQ(cycles, all.resident) << "each cycle that a wavefront has been resident has a cause";
}

}  // namespace
}  // namespace lacuna::test
