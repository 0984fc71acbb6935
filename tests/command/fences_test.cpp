// Tests acquire and release fences: which caches they maintain, and how long they take.
#include "models/command/fences.h"

#include "tests/command/queue_memory.h"
#include "tests/harness/harness.h"

namespace lacuna::test {
namespace {

/// Counts the maintenance operations, which take a fixed time.
struct Cache : CacheMaintenance {
  explicit Cache(Tick d) : duration(d) {}
  Tick duration;
  unsigned invalidations = 0;
  unsigned write_backs = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> dropped;  // bus address, bytes
  Tick invalidate(Tick at) override { return ++invalidations, at + duration; }
  Tick write_back(Tick at) override { return ++write_backs, at + duration; }
  void drop_clean(std::uint64_t address, std::uint64_t bytes) override { dropped.emplace_back(address, bytes); }
};

class FencesBench : public sc_core::sc_module {
 public:
  explicit FencesBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  QueueMemory memory;
  isa::DecodedCode code{memory.vm, isa::Target::gfx803};
  Dispatcher dispatcher{"dispatcher", DispatcherParameters{}, Clock(Frequency{}), Cycles{0}};
};

LACUNA_TEST_BENCH(FencesBench)

class FencesTest : public testing::Test {
 protected:
  FencesTest() {
    for (Fences* fences : {&timed_, &functional_}) fences->set_caches({&l1_, &slow_l1_}, {&l2_});
  }
  Fences make(TimingMode mode) {
    return Fences({.mode = mode, .vm = b_.memory.vm, .code = b_.code, .dispatcher = b_.dispatcher, .statistics = statistics_});
  }
  template <class Operation>
  Tick duration(const Operation& operation) {
    const Tick start = now();
    operation();
    return now() - start;
  }
  std::array<unsigned, 4> counts() const {
    return {l1_.invalidations, slow_l1_.invalidations, l2_.invalidations, l2_.write_backs};
  }
  using Counts = std::array<unsigned, 4>;

  FencesBench& b_ = bench<FencesBench>();
  PacketProcessorStatistics statistics_;
  Cache l1_{Tick{10'000}};
  Cache slow_l1_{Tick{30'000}};
  Cache l2_{Tick{70'000}};
  Fences timed_ = make(TimingMode::loose);
  Fences functional_ = make(TimingMode::functional);
};

TEST_F(FencesTest, ScopesDetermineCachesAndTime) {
  using Scope = hsa::FenceScope;
  EXPECT_EQ(duration([&] { timed_.acquire(Scope::none); }), Tick{});
  EXPECT_EQ(duration([&] { timed_.release(Scope::none); }), Tick{});
  EXPECT_EQ(duration([&] { timed_.release(Scope::agent); }), Tick{});
  EXPECT_EQ(counts(), (Counts{0, 0, 0, 0}));
  EXPECT_EQ(duration([&] { timed_.acquire(Scope::agent); }), Tick{30'000}) << "the slowest cache";
  EXPECT_EQ(duration([&] { timed_.acquire(Scope::system); }), Tick{30'000});
  EXPECT_EQ(counts(), (Counts{2, 2, 0, 0}));
  EXPECT_EQ(duration([&] { timed_.release(Scope::system); }), Tick{70'000});
  EXPECT_EQ(counts(), (Counts{2, 2, 0, 1}));
  EXPECT_EQ(statistics_.acquires, 2U);
  EXPECT_EQ(statistics_.releases, 1U);
}

TEST_F(FencesTest, AFlushEmptiesL1ThenL2) {
  EXPECT_EQ(duration([&] { timed_.flush(); }), Tick{100'000});
  EXPECT_EQ(counts(), (Counts{1, 1, 1, 0}));
  EXPECT_EQ(duration([&] { functional_.flush(); }), Tick{});
  EXPECT_EQ(counts(), (Counts{1, 1, 1, 0}));
  EXPECT_EQ(statistics_.acquires, 0U) << "no fence";
}

TEST_F(FencesTest, PacketsOfAnEngineThatBypassesL2MaintainIt) {
  using Scope = hsa::FenceScope;
  EXPECT_EQ(duration([&] { timed_.acquire(Scope::none, true); }), Tick{});
  EXPECT_EQ(duration([&] { timed_.release(Scope::none, true); }), Tick{});
  EXPECT_EQ(duration([&] { functional_.acquire(Scope::agent, true); }), Tick{});
  EXPECT_EQ(duration([&] { functional_.release(Scope::agent, true); }), Tick{});
  EXPECT_EQ(counts(), (Counts{0, 0, 0, 0}));
  EXPECT_EQ(duration([&] { timed_.acquire(Scope::agent, true); }), Tick{100'000}) << "L1 caches, then L2";
  EXPECT_EQ(counts(), (Counts{1, 1, 0, 1}));
  EXPECT_EQ(duration([&] { timed_.release(Scope::agent, true); }), Tick{70'000});
  EXPECT_EQ(duration([&] { timed_.release(Scope::system, true); }), Tick{70'000}) << "invalidation writes L2 back";
  EXPECT_EQ(counts(), (Counts{1, 1, 2, 1}));
  EXPECT_EQ(statistics_.releases, 1U);
}

TEST_F(FencesTest, CommandsMaintainL1ThenL2) {
  EXPECT_EQ(duration([&] { timed_.maintain({.error = ""}); }), Tick{});
  EXPECT_EQ(
      duration([&] { timed_.maintain({.invalidate_l1 = true, .invalidate_l2 = true, .write_back_l2 = true, .error = ""}); }),
      Tick{100'000});
  EXPECT_EQ(counts(), (Counts{1, 1, 1, 0})) << "invalidation of L2 writes it back";
  timed_.maintain({.write_back_l2 = true, .error = ""});
  EXPECT_EQ(counts(), (Counts{1, 1, 1, 1}));
  EXPECT_EQ(statistics_.acquires, 0U);
}

TEST_F(FencesTest, FunctionalModeTouchesNoCache) {
  EXPECT_EQ(duration([&] {
              functional_.acquire(hsa::FenceScope::system);
              functional_.release(hsa::FenceScope::system);
              functional_.maintain({.invalidate_l1 = true, .invalidate_l2 = true, .error = ""});
            }),
            Tick{});
  EXPECT_EQ(counts(), (Counts{0, 0, 0, 0}));
  EXPECT_EQ(statistics_.acquires, 1U);
}

TEST_F(FencesTest, AcquireRevalidatesCode) {
  auto& word = b_.memory.at<std::uint32_t>(0x3000);
  word = 0xbf810000;  // s_endpgm
  b_.memory.vm.clear();
  ASSERT_EQ(b_.memory.vm.map(QueueMemory::kBase, QueueMemory::kBytes, 0, b_.memory.bytes.data(),
                             isa::Access::read_write | isa::Access::execute),
            GpuVm::Status::ok);
  const isa::DecodedInstruction* before = b_.code.at(QueueMemory::kBase + 0x3000);
  ASSERT_NE(before, nullptr);
  word = 0xbf800000;  // s_nop
  EXPECT_EQ(b_.code.at(QueueMemory::kBase + 0x3000), before);
  functional_.acquire(hsa::FenceScope::agent);
  EXPECT_EQ(b_.code.revalidate(), 0U) << "done by the fence";
}

TEST_F(FencesTest, ColdDispatchesHaveNewPagesAndLines) {
  Dispatch dispatch;
  dispatch.index = 4;
  dispatch.packet.kernarg_address = QueueMemory::kBase + 0x1040;
  dispatch.packet_address = QueueMemory::kBase + 0x2040;
  EXPECT_EQ(duration([&] { timed_.make_cold(dispatch); }), Tick{});
  EXPECT_EQ(dispatch.page_salt, std::uint64_t{5} << 48);
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected{{0x1000, 4096}, {0x2040, hsa::kPacketBytes}};
  EXPECT_EQ(l2_.dropped, expected);
  EXPECT_TRUE(l1_.dropped.empty());
}

}  // namespace
}  // namespace lacuna::test
