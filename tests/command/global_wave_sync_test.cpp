// Tests global wave sync: the counters alone, and wavefronts of two compute units that synchronise.
#include "models/compute/global_wave_sync.h"

#include "tests/command/packet_bench.h"

namespace lacuna::test {
namespace {

class SyncBench : public PacketBench {
 public:
  explicit SyncBench(sc_core::sc_module_name module_name) : PacketBench(module_name, 2, isa::Target::gfx90a) {}
};

LACUNA_TEST_BENCH(SyncBench)

using isa::WaveSync;

/// The counters alone, without a compute unit; wavefronts are identified by their slots.
class GlobalWaveSyncTest : public testing::Test {
 protected:
  bool perform(WaveSync operation, std::uint32_t value, unsigned wavefront, unsigned resource = 3) {
    return sync_.perform({operation, resource, value}, {&dispatch_, nullptr, 0, wavefront});
  }
  std::vector<unsigned> released() const {
    std::vector<unsigned> slots;
    for (const WavefrontTicket& ticket : sync_.released()) slots.push_back(ticket.slot);
    return slots;
  }
  using Slots = std::vector<unsigned>;

  Dispatch dispatch_;
  Dispatch other_;
  GlobalWaveSync sync_;
};

TEST_F(GlobalWaveSyncTest, BarrierHasTheSizeOfItsInitialisation) {
  EXPECT_TRUE(perform(WaveSync::init, 2, 0));
  for (unsigned round = 0; round < 3; ++round) {
    EXPECT_FALSE(perform(WaveSync::barrier, 2, 0));
    EXPECT_FALSE(perform(WaveSync::barrier, 2, 1));
    EXPECT_TRUE(released().empty());
    EXPECT_TRUE(perform(WaveSync::barrier, 2, 2));
    EXPECT_EQ(released(), (Slots{0, 1}));
  }
}

TEST_F(GlobalWaveSyncTest, TheLastWavefrontSetsTheNextSize) {
  EXPECT_TRUE(perform(WaveSync::init, 0, 0));
  EXPECT_TRUE(perform(WaveSync::barrier, 1, 0));
  EXPECT_FALSE(perform(WaveSync::barrier, 7, 0));
  EXPECT_TRUE(perform(WaveSync::barrier, 0, 1));
  EXPECT_EQ(released(), Slots{0});
  EXPECT_TRUE(perform(WaveSync::barrier, 0, 2));
}

TEST_F(GlobalWaveSyncTest, ResourcesAreIndependent) {
  perform(WaveSync::init, 1, 0, 3);
  perform(WaveSync::init, 1, 0, 4);
  EXPECT_FALSE(perform(WaveSync::barrier, 1, 0, 3));
  EXPECT_FALSE(perform(WaveSync::barrier, 1, 1, 4));
  EXPECT_TRUE(perform(WaveSync::barrier, 1, 2, 4));
  EXPECT_EQ(released(), Slots{1});
}

TEST_F(GlobalWaveSyncTest, Semaphore) {
  perform(WaveSync::init, 1, 0);
  EXPECT_TRUE(perform(WaveSync::semaphore_p, 0, 0));
  EXPECT_FALSE(perform(WaveSync::semaphore_p, 0, 1));
  EXPECT_FALSE(perform(WaveSync::semaphore_p, 0, 2));
  EXPECT_FALSE(perform(WaveSync::semaphore_p, 0, 3));
  EXPECT_FALSE(perform(WaveSync::semaphore_p, 0, 4));
  EXPECT_TRUE(perform(WaveSync::semaphore_v, 0, 0));
  EXPECT_EQ(released(), Slots{1});
  EXPECT_TRUE(perform(WaveSync::semaphore_add, 2, 0));
  EXPECT_EQ(released(), (Slots{2, 3}));
  EXPECT_TRUE(perform(WaveSync::semaphore_release_all, 0, 0));
  EXPECT_EQ(released(), Slots{4});
  EXPECT_TRUE(perform(WaveSync::semaphore_v, 0, 0));
  EXPECT_TRUE(released().empty());
  EXPECT_TRUE(perform(WaveSync::semaphore_p, 0, 5)) << "unawaited completions are kept";
}

TEST_F(GlobalWaveSyncTest, DroppedWavefrontsDoNotCount) {
  perform(WaveSync::init, 2, 0);
  perform(WaveSync::barrier, 2, 1);
  sync_.perform({WaveSync::barrier, 3, 2}, {&other_, nullptr, 0, 9});
  sync_.drop(dispatch_);
  EXPECT_TRUE(perform(WaveSync::barrier, 2, 3));
  EXPECT_EQ(released(), Slots{9});
}

// -- with wavefronts

constexpr unsigned kWorkgroups = 4;
constexpr unsigned kInit = 4;
constexpr unsigned kMeet = 5;

class GridSyncTest : public PacketProcessorTest {
 protected:
  static constexpr std::uint64_t kTimes = 0x3000;

  void SetUp() override {
    PacketProcessorTest::SetUp();
    // v_mov_b32 v0, 3; s_mov_b32 m0, 0; ds_gws_init v0 offset:5 gds; s_waitcnt lgkmcnt(0); s_endpgm
    kernel(kInit, {0x7e000283, 0xbefc0080, 0xd9330005, 0, 0xbf8cc07f, 0xbf810000});
    // Two barriers of four wavefronts. Workgroup 0 arrives late at the second barrier, the other workgroups at the first. Each
    // workgroup stores s_memtime before and after each barrier to its 32 bytes at kTimes.
    kernel(kMeet, {0x8e068500, 0x7e020206, 0xbe8200ff, 0x00103000, 0xbe830080, 0x7e000283, 0xbefc0080, 0xbf068000,
                   0xbf850001, 0xbf8e007f, 0xc0900100, 0x00000000, 0xbf8cc07f, 0x7e040204, 0x7e060205, 0xdc748000,
                   0x00020201, 0xd93b0005, 0x00000000, 0xbf8cc07f, 0xc0900100, 0x00000000, 0xbf8cc07f, 0x7e040204,
                   0x7e060205, 0xdc748008, 0x00020201, 0xbf068000, 0xbf840001, 0xbf8e007f, 0xc0900100, 0x00000000,
                   0xbf8cc07f, 0x7e040204, 0x7e060205, 0xdc748010, 0x00020201, 0xd93b0005, 0x00000000, 0xbf8cc07f,
                   0xc0900100, 0x00000000, 0xbf8cc07f, 0x7e040204, 0x7e060205, 0xdc748018, 0x00020201, 0xbf810000});
    b_.at<std::uint32_t>(kKernels + 0x1000 * kMeet + 52) = 0x80;  // workgroup_id_x in s0
    open(0);
  }
  static hsa::KernelDispatchPacket meet(unsigned workgroups, unsigned done_signal) {
    hsa::KernelDispatchPacket p = dispatch(kMeet, done_signal, true);
    p.grid_size[0] = 64 * workgroups;
    return p;
  }
  std::uint64_t time(unsigned workgroup, unsigned which) { return b_.at<std::uint64_t>(kTimes + workgroup * 32 + which * 8); }
};

TEST_F(GridSyncTest, WorkgroupsOfAGridMeet) {
  ASSERT_EQ(b_.cp.packets.allocate_gws(0), LACUNA_QUEUE_ERROR_NONE);
  put(0, dispatch(kInit, 0));
  put(0, meet(kWorkgroups, 1));
  ring(0);
  microseconds(30);
  ASSERT_EQ(signal(1).value, 0);
  for (const unsigned barrier : {0U, 2U}) {
    std::uint64_t last_arrival = 0;
    std::uint64_t first_departure = ~std::uint64_t{0};
    std::uint64_t first_arrival = ~std::uint64_t{0};
    for (unsigned w = 0; w < kWorkgroups; ++w) {
      first_arrival = std::min(first_arrival, time(w, barrier));
      last_arrival = std::max(last_arrival, time(w, barrier));
      first_departure = std::min(first_departure, time(w, barrier + 1));
    }
    EXPECT_GT(last_arrival, first_arrival + 8000) << "some are late";
    EXPECT_GE(first_departure, last_arrival);
    EXPECT_LT(first_departure, last_arrival + 1000);
  }
  EXPECT_GT(b_.units[0]->workgroups(), 0u);
  EXPECT_GT(b_.units[1]->workgroups(), 0u) << "they meet across compute units";
}

TEST_F(GridSyncTest, QueuesWithoutGlobalWaveSyncCannotUseIt) {
  put(0, dispatch(kInit, 0));
  ring(0);
  microseconds(5);
  EXPECT_EQ(error(0), LACUNA_QUEUE_ERROR_ILLEGAL_INSTRUCTION);
}

TEST_F(GridSyncTest, WaitingWavefrontsAreDroppedWithTheirQueue) {
  ASSERT_EQ(b_.cp.packets.allocate_gws(0), LACUNA_QUEUE_ERROR_NONE);
  put(0, dispatch(kInit, 0));
  put(0, meet(2, 1));  // 2 of the 4 wavefronts that the barrier waits for
  ring(0);
  microseconds(30);
  EXPECT_EQ(signal(1).value, 1);
  EXPECT_FALSE(b_.units_idle());
  EXPECT_EQ(b_.cp.packets.destroy_queue(0), LACUNA_QUEUE_ERROR_NONE);
  EXPECT_TRUE(b_.units_idle());
  open(0);
  ASSERT_EQ(b_.cp.packets.allocate_gws(0), LACUNA_QUEUE_ERROR_NONE);
  put(0, dispatch(kInit, 2));
  put(0, meet(kWorkgroups, 3));
  ring(0);
  microseconds(30);
  EXPECT_EQ(signal(3).value, 0);
}

}  // namespace
}  // namespace lacuna::test
