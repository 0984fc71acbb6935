// Tests an SDMA engine's windows, requests, faults and local time.
#include "include/lacuna/abi/gpu_registers.h"
#include "tests/sdma/sdma_parts_bench.h"

namespace lacuna::test {
namespace {

LACUNA_TEST_BENCH(SdmaPartsBench)

class SdmaMemoryTest : public SdmaPartsTest {};
class SdmaTimelineTest : public SdmaPartsTest {};

struct Observer : WriteObserver {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  void written(std::uint64_t address, std::uint64_t bytes, bool by_wavefronts) override {
    EXPECT_FALSE(by_wavefronts);
    ranges.emplace_back(address, bytes);
  }
};

TEST_F(SdmaMemoryTest, WindowsNeedAMappingAndPermission) {
  EXPECT_TRUE(memory_.window(queue_, kReadOnly, 64, false));
  EXPECT_FALSE(memory_.window(queue_, kReadOnly, 64, true));
  EXPECT_EQ(fault(), static_cast<std::uint32_t>(LACUNA_FAULT_NOT_PERMITTED));
  EXPECT_TRUE(queue_.stopped);
  EXPECT_EQ(listener_.faults[0].queue, 5U);
  EXPECT_TRUE(listener_.faults[0].write);
  listener_.faults.clear();
  EXPECT_FALSE(memory_.window(queue_, kBase - 64, 64, false));
  EXPECT_EQ(fault(), static_cast<std::uint32_t>(LACUNA_FAULT_NOT_MAPPED));
  EXPECT_EQ(statistics_.errors, 2U);
}

TEST_F(SdmaMemoryTest, UnmappedWindowsAreNotCached) {
  GpuVm vm;
  ASSERT_EQ(vm.map(kBase, 0x1000, 0, b_.bytes.data(), isa::Access::read), GpuVm::Status::ok);
  SdmaMemory memory(vm, b_.port, TimingMode::loose, timeline_, notifier_);
  EXPECT_TRUE(memory.window(queue_, kBase, 4, false));
  vm.clear();
  EXPECT_FALSE(memory.window(queue_, kBase, 4, false));
}

TEST_F(SdmaMemoryTest, WritesAreObserved) {
  Observer observer;
  memory_.add_write_observer(observer);
  memory_.window(queue_, kBase + 0x100, 64, false);
  memory_.window(queue_, kBase + 0x200, 32, true);
  EXPECT_EQ(observer.ranges, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{kPhysical + 0x200, 32}}));
}

TEST_F(SdmaMemoryTest, RequestsTakeTheMemorysTime) {
  const auto window = memory_.window(queue_, kBase + 0x40, 64, false);
  ASSERT_TRUE(window);
  const Tick at = now() + Tick{3'000};
  EXPECT_EQ(memory_.access(queue_, *window, kBase + 0x40, 64, false, at), at + Tick{100'000});
  ASSERT_EQ(b_.memory.requests.size(), 1U);
  EXPECT_EQ(b_.memory.requests[0].address, kPhysical + 0x40);
  EXPECT_EQ(b_.memory.requests[0].at, at);
  SdmaMemory functional(b_.vm, b_.port, TimingMode::functional, timeline_, notifier_);
  EXPECT_EQ(functional.access(queue_, *window, kBase + 0x40, 64, false, at), at);
  EXPECT_EQ(b_.memory.requests.size(), 1U);
  const auto nowhere = memory_.window(queue_, kNoBus, 4, true);
  ASSERT_TRUE(nowhere);
  EXPECT_FALSE(memory_.access(queue_, *nowhere, kNoBus, 4, true, now()));
  EXPECT_EQ(fault(), static_cast<std::uint32_t>(LACUNA_FAULT_NOT_MAPPED));
}

TEST_F(SdmaMemoryTest, ObjectsAreAlignedAndTakeTheirTime) {
  const Tick start = now();
  EXPECT_EQ(memory_.object(queue_, kBase + kWords, 8, true, "object"), &b_.at<std::byte>(kWords));
  EXPECT_EQ(now() - start, Tick{100'000});
  EXPECT_EQ(memory_.object(queue_, kBase + kWords + 4, 8, true, "object"), nullptr);
  EXPECT_EQ(fault(), static_cast<std::uint32_t>(LACUNA_FAULT_MISALIGNED));
  queue_.alive = false;
  EXPECT_EQ(memory_.object(queue_, kBase + kWords, 8, true, "object"), nullptr) << "destroyed while time passed";
}

TEST_F(SdmaTimelineTest, RunsAheadByTheLookahead) {
  const Tick start = now();
  timeline_.advance(Tick{50'000});
  EXPECT_TRUE(timeline_.keep_up(queue_));
  EXPECT_EQ(now(), start);
  timeline_.advance(Tick{1});
  EXPECT_TRUE(timeline_.keep_up(queue_));
  EXPECT_EQ(now() - start, Tick{50'001});
  EXPECT_EQ(retired_, std::vector<Tick>{now()});
  timeline_.advance_to(start);
  EXPECT_EQ(timeline_.at(), now()) << "time does not go back";
  queue_.alive = false;
  EXPECT_FALSE(timeline_.wait(queue_));
}

}  // namespace
}  // namespace lacuna::test
