// Tests the library's functions, called as the runtime calls them, with two GPUs of the smallest kind, gfx803 and gfx90a.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hsakmt.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "include/lacuna/abi/hsa.h"

namespace lacuna {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr HSAuint32 kGpus = 2;

/// Sets the environment, which the library reads when it is first opened, and opens the library for all tests.
class Opened : public testing::Environment {
 public:
  void SetUp() override {
    setenv("LACUNA_CONFIG", "tiny;rocm.gpus=gfx803,gfx90a", 1);
    setenv("LACUNA_OUT", "none", 1);
    HsaSystemProperties system{};
    EXPECT_EQ(hsaKmtAcquireSystemProperties(&system), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED) << "not open yet";
    ASSERT_EQ(hsaKmtOpenKFD(), HSAKMT_STATUS_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(hsaKmtCloseKFD(), HSAKMT_STATUS_SUCCESS); }
};
[[maybe_unused]] const auto* const kOpened = testing::AddGlobalTestEnvironment(new Opened);

HsaMemFlags host_flags(bool executable = false) {
  HsaMemFlags flags{};
  flags.ui32.HostAccess = 1;
  flags.ui32.ExecuteAccess = executable ? 1 : 0;
  return flags;
}
HsaMemFlags vram_flags() {
  HsaMemFlags flags{};
  flags.ui32.NonPaged = 1;
  flags.ui32.NoSubstitute = 1;
  flags.ui32.CoarseGrain = 1;
  return flags;
}

/// Host memory that all GPUs can access.
class Shared {
 public:
  explicit Shared(std::uint64_t size, HsaMemFlags flags = host_flags()) : size_(size) {
    EXPECT_EQ(hsaKmtAllocMemory(0, size, flags, &memory_), HSAKMT_STATUS_SUCCESS);
    HSAuint64 seen_at = 0;
    EXPECT_EQ(hsaKmtMapMemoryToGPU(memory_, size, &seen_at), HSAKMT_STATUS_SUCCESS);
    EXPECT_EQ(seen_at, reinterpret_cast<HSAuint64>(memory_)) << "GPUs see it where the program does";
  }
  ~Shared() {
    EXPECT_EQ(hsaKmtUnmapMemoryToGPU(memory_), HSAKMT_STATUS_SUCCESS);
    EXPECT_EQ(hsaKmtFreeMemory(memory_, size_), HSAKMT_STATUS_SUCCESS);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  template <class T>
  T* at(std::uint64_t offset) {
    return reinterpret_cast<T*>(static_cast<std::byte*>(memory_) + offset);
  }
  void* data() { return memory_; }

 private:
  std::uint64_t size_;
  void* memory_ = nullptr;
};

/// Time limit for events in milliseconds, long enough for a busy machine.
constexpr HSAuint32 kHangs = 600'000;

template <class Condition>
bool eventually(Condition condition) {
  for (HSAuint32 i = 0; i < kHangs; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

/// Queries the clock 100 times. Each query is answered between two polls of the doorbells and advances simulated time by 1 us.
void let_the_simulator_look() {
  HsaClockCounters unused{};
  for (int i = 0; i < 100; ++i) hsaKmtGetClockCounters(1, &unused);
}

/// An AQL queue as created by the runtime, used for barrier packets.
class AqlQueue {
 public:
  static constexpr std::uint32_t kPackets = 64;

  explicit AqlQueue(HSAuint32 node) : node_(node), memory_(2 * kPage), ring_(kPage) {
    queue().base_address = reinterpret_cast<std::uint64_t>(ring_.data());
    queue().size = kPackets;
    for (std::uint32_t i = 0; i < kPackets; ++i) *ring_.at<std::uint16_t>(i * 64) = 1;  // INVALID
    resource_.Queue_read_ptr_aql = &queue().read_dispatch_id;
    resource_.Queue_write_ptr_aql = node == 1 ? &queue().max_legacy_doorbell_dispatch_id_plus_1 : &queue().write_dispatch_id;
    EXPECT_EQ(hsaKmtCreateQueue(node, HSA_QUEUE_COMPUTE_AQL, 100, HSA_QUEUE_PRIORITY_NORMAL, ring_.data(), kPage, nullptr,
                                &resource_),
              HSAKMT_STATUS_SUCCESS);
  }
  ~AqlQueue() {
    if (resource_.QueueId != 0) destroy();
  }
  AqlQueue(const AqlQueue&) = delete;
  AqlQueue& operator=(const AqlQueue&) = delete;

  /// Submits a barrier-AND packet that waits for `dependency` (0 = nothing) and decrements signal `number` of this queue.
  void barrier(unsigned number, std::uint64_t dependency = 0) {
    const std::uint64_t index = written_++;
    auto* packet = ring_.at<hsa::BarrierPacket>((index % kPackets) * 64);
    packet->dependencies[0] = dependency;
    packet->completion_signal = reinterpret_cast<std::uint64_t>(&signal(number));
    std::atomic_ref(packet->header).store(3, std::memory_order_release);
    std::atomic_ref(*resource_.Queue_write_ptr_aql).store(index + 1, std::memory_order_release);
    *resource_.Queue_DoorBell_aql = node_ == 1 ? index + 1 : index;
  }
  hsa::Signal& signal(unsigned number) { return *memory_.at<hsa::Signal>(kPage + number * 64); }
  bool signalled(unsigned number) {
    return eventually([&] { return std::atomic_ref(signal(number).value).load(std::memory_order_acquire) == 0; });
  }
  hsa::Queue& queue() { return *memory_.at<hsa::Queue>(0); }
  HSA_QUEUEID id() const { return resource_.QueueId; }
  const HsaQueueResource& resource() const { return resource_; }
  void destroy() {
    EXPECT_EQ(hsaKmtDestroyQueue(resource_.QueueId), HSAKMT_STATUS_SUCCESS);
    resource_.QueueId = 0;
  }

 private:
  HSAuint32 node_;
  Shared memory_;
  Shared ring_;
  HsaQueueResource resource_{};
  std::uint64_t written_ = 0;
};

// -- system

TEST(Library, VersionAndNodes) {
  HsaVersionInfo version{};
  ASSERT_EQ(hsaKmtGetVersion(&version), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(HSAuint32{version.KernelInterfaceMajorVersion}, 1U);
  EXPECT_GE(HSAuint32{version.KernelInterfaceMinorVersion}, 4U);
  EXPECT_EQ(hsaKmtReleaseSystemProperties(), HSAKMT_STATUS_SUCCESS) << "precedes the first acquire";
  HsaSystemProperties system{};
  ASSERT_EQ(hsaKmtAcquireSystemProperties(&system), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(HSAuint32{system.NumNodes}, kGpus + 1);
  HsaNodeProperties node{};
  EXPECT_EQ(hsaKmtGetNodeProperties(kGpus, &node), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(hsaKmtGetNodeProperties(kGpus + 1, &node), HSAKMT_STATUS_INVALID_NODE_UNIT);
  EXPECT_EQ(hsaKmtGetNodeProperties(0, nullptr), HSAKMT_STATUS_INVALID_PARAMETER);
}

TEST(Library, ArraysAreNotWrittenBeyondTheirEnd) {
  std::array<HsaMemoryProperties, 4> banks{};
  std::memset(banks.data(), 0xee, sizeof banks);
  ASSERT_EQ(hsaKmtGetNodeMemoryProperties(1, 3, banks.data()), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(HSA_HEAPTYPE{banks[2].HeapType}, HSA_HEAPTYPE_GPU_SCRATCH);
  HsaMemoryProperties untouched{};
  std::memset(&untouched, 0xee, sizeof untouched);
  EXPECT_EQ(std::memcmp(&banks[3], &untouched, sizeof untouched), 0);
  EXPECT_EQ(hsaKmtGetNodeMemoryProperties(1, 2, banks.data()), HSAKMT_STATUS_BUFFER_TOO_SMALL);
}

TEST(Library, OpeningIsCounted) {
  ASSERT_EQ(hsaKmtOpenKFD(), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(hsaKmtCloseKFD(), HSAKMT_STATUS_SUCCESS);
  HsaSystemProperties system{};
  EXPECT_EQ(hsaKmtAcquireSystemProperties(&system), HSAKMT_STATUS_SUCCESS) << "still open";
}

TEST(Library, ClocksAdvanceBetweenSamples) {
  HsaClockCounters before{};
  ASSERT_EQ(hsaKmtGetClockCounters(1, &before), HSAKMT_STATUS_SUCCESS);
  for (int i = 0; i < 10; ++i) {
    HsaClockCounters now{};
    ASSERT_EQ(hsaKmtGetClockCounters(static_cast<HSAuint32>(i) % 3, &now), HSAKMT_STATUS_SUCCESS);
    EXPECT_GT(HSAuint64{now.GPUClockCounter}, HSAuint64{before.GPUClockCounter});
    EXPECT_GT(HSAuint64{now.SystemClockCounter}, HSAuint64{before.SystemClockCounter});
    EXPECT_EQ(HSAuint64{now.SystemClockFrequencyHz}, 1'000'000'000U);
    before = now;
  }
}

TEST(Library, HostSleepDoesNotAdvanceSimulatedTime) {
  HsaClockCounters before{};
  HsaClockCounters after{};
  hsaKmtGetClockCounters(1, &before);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  hsaKmtGetClockCounters(1, &after);
  EXPECT_LT(after.SystemClockCounter - before.SystemClockCounter, 10'000U) << "ns";
}

TEST(Library, UnsupportedCallsReturnAnError) {
  EXPECT_EQ(hsaKmtRuntimeEnable(nullptr, false), HSAKMT_STATUS_NOT_SUPPORTED);
  HsaSharedMemoryHandle handle{};
  EXPECT_EQ(hsaKmtShareMemory(nullptr, 0, &handle), HSAKMT_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(hsaKmtSVMSetAttr(nullptr, 0, 0, nullptr), HSAKMT_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(hsaKmtDbgRegister(1), HSAKMT_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(hsaKmtSetXNACKMode(1), HSAKMT_STATUS_NOT_SUPPORTED);
  HSAint32 mode = 1;
  EXPECT_EQ(hsaKmtGetXNACKMode(&mode), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(mode, 0);
  HsaQueueResource resource{};
  EXPECT_EQ(
      hsaKmtCreateQueue(1, HSA_QUEUE_MULTIMEDIA_DECODE, 100, HSA_QUEUE_PRIORITY_NORMAL, nullptr, kPage, nullptr, &resource),
      HSAKMT_STATUS_NOT_SUPPORTED);
}

// -- memory

TEST(Library, BadRequestsForMemoryAreRefused) {
  void* memory = nullptr;
  EXPECT_EQ(hsaKmtAllocMemory(kGpus + 1, kPage, vram_flags(), &memory), HSAKMT_STATUS_INVALID_NODE_UNIT);
  EXPECT_EQ(hsaKmtAllocMemory(1, 0, vram_flags(), &memory), HSAKMT_STATUS_INVALID_PARAMETER);
  EXPECT_EQ(hsaKmtAllocMemory(1, kPage + 1, vram_flags(), &memory), HSAKMT_STATUS_INVALID_PARAMETER);
  EXPECT_EQ(hsaKmtAllocMemory(1, kPage, vram_flags(), nullptr), HSAKMT_STATUS_INVALID_PARAMETER);
  int local = 0;
  HSAuint64 seen_at = 0;
  EXPECT_EQ(hsaKmtFreeMemory(&local, kPage), HSAKMT_STATUS_INVALID_PARAMETER);
  EXPECT_EQ(hsaKmtMapMemoryToGPU(&local, kPage, &seen_at), HSAKMT_STATUS_INVALID_PARAMETER);
  EXPECT_EQ(hsaKmtUnmapMemoryToGPU(&local), HSAKMT_STATUS_INVALID_PARAMETER);
  EXPECT_EQ(hsaKmtDeregisterMemory(&local), HSAKMT_STATUS_MEMORY_NOT_REGISTERED);
}

TEST(Library, GpuMemoryRunsOutAndComesBack) {
  HsaNodeProperties node{};
  hsaKmtGetNodeProperties(1, &node);
  const std::uint64_t half = node.LocalMemSize / 2;
  void* first = nullptr;
  void* second = nullptr;
  void* third = nullptr;
  ASSERT_EQ(hsaKmtAllocMemory(1, half, vram_flags(), &first), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(hsaKmtAllocMemory(1, half, vram_flags(), &second), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(hsaKmtAllocMemory(1, kPage, vram_flags(), &third), HSAKMT_STATUS_NO_MEMORY);
  EXPECT_EQ(hsaKmtFreeMemory(first, half), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(hsaKmtAllocMemory(1, half, vram_flags(), &third), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(hsaKmtFreeMemory(second, half), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(hsaKmtFreeMemory(third, half), HSAKMT_STATUS_SUCCESS);
}

TEST(Library, GpuMemoryIsMemoryOfTheProgram) {
  void* memory = nullptr;
  ASSERT_EQ(hsaKmtAllocMemory(2, kPage, vram_flags(), &memory), HSAKMT_STATUS_SUCCESS);
  std::memset(memory, 1, kPage);
  HsaPointerInfo info{};
  EXPECT_EQ(hsaKmtQueryPointerInfo(static_cast<std::byte*>(memory) + 100, &info), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(HSA_POINTER_TYPE{info.Type}, HSA_POINTER_ALLOCATED);
  EXPECT_EQ(HSAuint32{info.Node}, 2U);
  EXPECT_EQ(info.CPUAddress, memory);
  EXPECT_EQ(HSAuint64{info.GPUAddress}, reinterpret_cast<HSAuint64>(memory));
  EXPECT_EQ(HSAuint64{info.SizeInBytes}, kPage);
  EXPECT_EQ(HSAuint32{info.NMappedNodes}, 0U);
  EXPECT_EQ(HSAuint32{info.MemFlags.Value}, HSAuint32{vram_flags().Value});
  EXPECT_EQ(hsaKmtFreeMemory(memory, kPage), HSAKMT_STATUS_SUCCESS);
}

TEST(Library, MappingsAreForTheNodesNamed) {
  Shared memory(kPage);
  const auto mapped = [&] {
    HsaPointerInfo info{};
    EXPECT_EQ(hsaKmtQueryPointerInfo(memory.data(), &info), HSAKMT_STATUS_SUCCESS);
    return std::vector<HSAuint32>(info.MappedNodes, info.MappedNodes + info.NMappedNodes);
  };
  EXPECT_EQ(mapped(), (std::vector<HSAuint32>{1, 2}));
  std::array<HSAuint32, 1> second{2};
  HSAuint64 seen_at = 0;
  EXPECT_EQ(hsaKmtMapMemoryToGPUNodes(memory.data(), kPage, &seen_at, {}, 1, second.data()), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(mapped(), std::vector<HSAuint32>{2}) << "the others lose it";
  std::array<HSAuint32, 1> none{kGpus + 1};
  EXPECT_EQ(hsaKmtMapMemoryToGPUNodes(memory.data(), kPage, &seen_at, {}, 1, none.data()), HSAKMT_STATUS_INVALID_NODE_UNIT);
}

TEST(Library, UnknownPointersAreUnknown) {
  int local = 0;
  HsaPointerInfo info{};
  std::memset(&info, 0xff, sizeof info);
  EXPECT_NE(hsaKmtQueryPointerInfo(&local, &info), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(HSA_POINTER_TYPE{info.Type}, HSA_POINTER_UNKNOWN);
}

TEST(Library, RegisteredMemoryHasAnAlias) {
  std::vector<std::byte> memory(3 * kPage);
  void* address = memory.data() + 100;
  ASSERT_EQ(hsaKmtRegisterMemoryWithFlags(address, 2 * kPage, host_flags()), HSAKMT_STATUS_SUCCESS);
  HSAuint64 alias = 0;
  ASSERT_EQ(hsaKmtMapMemoryToGPU(address, 2 * kPage, &alias), HSAKMT_STATUS_SUCCESS);
  EXPECT_NE(alias, reinterpret_cast<HSAuint64>(address)) << "the runtime wants the two to differ";
  EXPECT_EQ(alias % kPage, reinterpret_cast<HSAuint64>(address) % kPage);
  const void* const pointers[] = {address, reinterpret_cast<void*>(alias), reinterpret_cast<void*>(alias + 2 * kPage - 1)};
  for (const void* pointer : pointers) {
    HsaPointerInfo info{};
    ASSERT_EQ(hsaKmtQueryPointerInfo(pointer, &info), HSAKMT_STATUS_SUCCESS);
    EXPECT_EQ(HSA_POINTER_TYPE{info.Type}, HSA_POINTER_REGISTERED_USER);
    EXPECT_EQ(info.CPUAddress, address);
    EXPECT_EQ(HSAuint64{info.GPUAddress}, alias);
    EXPECT_EQ(HSAuint64{info.SizeInBytes}, 2 * kPage);
  }
  // A second registration of the same memory is counted separately.
  EXPECT_EQ(hsaKmtRegisterMemoryWithFlags(address, 2 * kPage, host_flags()), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(hsaKmtUnmapMemoryToGPU(address), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(hsaKmtDeregisterMemory(address), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(hsaKmtDeregisterMemory(address), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(hsaKmtDeregisterMemory(address), HSAKMT_STATUS_MEMORY_NOT_REGISTERED);
}

// The runtime pins memory for a copy while another copy of the same memory is in flight.
TEST(Library, MemoryStaysMappedUntilItsLastRegistrationEnds) {
  std::vector<std::byte> memory(3 * kPage);
  const auto mapped_nodes = [&] {
    HsaPointerInfo info{};
    EXPECT_EQ(hsaKmtQueryPointerInfo(memory.data(), &info), HSAKMT_STATUS_SUCCESS);
    return HSAuint32{info.NMappedNodes};
  };
  HSAuint64 first = 0;
  HSAuint64 second = 0;
  ASSERT_EQ(hsaKmtRegisterMemoryWithFlags(memory.data(), 2 * kPage, host_flags()), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(hsaKmtMapMemoryToGPU(memory.data(), 2 * kPage, &first), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(hsaKmtRegisterMemoryWithFlags(memory.data(), 2 * kPage, host_flags()), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(hsaKmtMapMemoryToGPU(memory.data(), 2 * kPage, &second), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(first, second);
  const HSAuint32 all = mapped_nodes();
  EXPECT_GT(all, 0U);
  EXPECT_EQ(hsaKmtUnmapMemoryToGPU(memory.data()), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(mapped_nodes(), all);
  EXPECT_EQ(hsaKmtDeregisterMemory(memory.data()), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(mapped_nodes(), all);
  EXPECT_EQ(hsaKmtUnmapMemoryToGPU(memory.data()), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(mapped_nodes(), 0U);
  EXPECT_EQ(hsaKmtDeregisterMemory(memory.data()), HSAKMT_STATUS_SUCCESS);
}

TEST(Library, RegistrationsMayShareAPage) {
  std::vector<std::byte> memory(2 * kPage);
  HSAuint64 first = 0;
  HSAuint64 second = 0;
  ASSERT_EQ(hsaKmtRegisterMemoryWithFlags(memory.data(), 1000, host_flags()), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(hsaKmtRegisterMemoryWithFlags(memory.data() + 1000, 3000, host_flags()), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(hsaKmtMapMemoryToGPU(memory.data(), 1000, &first), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(hsaKmtMapMemoryToGPU(memory.data() + 1000, 3000, &second), HSAKMT_STATUS_SUCCESS);
  EXPECT_NE(first & ~(kPage - 1), second & ~(kPage - 1));
  EXPECT_EQ(hsaKmtDeregisterMemory(memory.data()), HSAKMT_STATUS_SUCCESS);
  HsaPointerInfo info{};
  EXPECT_EQ(hsaKmtQueryPointerInfo(memory.data() + 1500, &info), HSAKMT_STATUS_SUCCESS);
  EXPECT_NE(hsaKmtQueryPointerInfo(memory.data() + 500, &info), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(hsaKmtDeregisterMemory(memory.data() + 1000), HSAKMT_STATUS_SUCCESS);
}

TEST(Library, RingsOfGfx8AreSeenTwice) {
  HsaMemFlags flags = host_flags(true);
  flags.ui32.AQLQueueMemory = 1;
  Shared ring(kPage, flags);
  *ring.at<int>(8) = 42;
  EXPECT_EQ(*ring.at<int>(kPage + 8), 42);
}

TEST(Library, ScratchIsMappedInParts) {
  HsaMemFlags flags{};
  flags.ui32.Scratch = 1;
  flags.ui32.HostAccess = 1;
  constexpr std::uint64_t kPool = std::uint64_t{1} << 30;
  void* pool = nullptr;
  ASSERT_EQ(hsaKmtAllocMemory(1, kPool, flags, &pool), HSAKMT_STATUS_SUCCESS);
  auto* part = static_cast<std::byte*>(pool) + 16 * kPage;
  HSAuint64 seen_at = 0;
  ASSERT_EQ(hsaKmtMapMemoryToGPU(part, 8 * kPage, &seen_at), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(seen_at, reinterpret_cast<HSAuint64>(part));
  EXPECT_EQ(hsaKmtMapMemoryToGPU(pool, kPool + kPage, &seen_at), HSAKMT_STATUS_INVALID_PARAMETER) << "beyond the pool";
  EXPECT_EQ(hsaKmtUnmapMemoryToGPU(part), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(hsaKmtUnmapMemoryToGPU(part), HSAKMT_STATUS_INVALID_PARAMETER) << "it is not mapped any more";
  EXPECT_EQ(hsaKmtFreeMemory(pool, kPool), HSAKMT_STATUS_SUCCESS);
}

TEST(Library, ThreadsMayMapAtTheSameTime) {
  std::vector<std::thread> threads;
  std::latch all_there(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      all_there.arrive_and_wait();
      for (int i = 0; i < 200; ++i) Shared memory((static_cast<std::uint64_t>(i) % 5 + 1) * kPage);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// -- queues

class LibraryQueues : public testing::TestWithParam<HSAuint32> {};

TEST_P(LibraryQueues, PacketsAreCarriedOutAndRetired) {
  AqlQueue queue(GetParam());
  EXPECT_NE(queue.id(), 0U);
  EXPECT_EQ(queue.resource().QueueDoorBell % 8, 0U);
  for (unsigned i = 0; i < 3; ++i) queue.signal(i).value = 1;
  for (unsigned i = 0; i < 3; ++i) queue.barrier(i);
  for (unsigned i = 0; i < 3; ++i) EXPECT_TRUE(queue.signalled(i)) << i;
  EXPECT_TRUE(eventually([&] { return std::atomic_ref(queue.queue().read_dispatch_id).load() == 3; }));
}

TEST_P(LibraryQueues, ASignalWakesItsEvent) {
  HsaEventDescriptor descriptor{};
  descriptor.EventType = HSA_EVENTTYPE_SIGNAL;
  HsaEvent* event = nullptr;
  ASSERT_EQ(hsaKmtCreateEvent(&descriptor, false, false, &event), HSAKMT_STATUS_SUCCESS);
  AqlQueue queue(GetParam());
  hsa::Signal& signal = queue.signal(0);
  signal.value = 1;
  signal.event_id = event->EventId;
  signal.event_mailbox = event->EventData.HWData2;
  queue.barrier(0);
  EXPECT_EQ(hsaKmtWaitOnEvent(event, kHangs), HSAKMT_STATUS_SUCCESS);
  EXPECT_TRUE(queue.signalled(0));
  EXPECT_EQ(hsaKmtWaitOnEvent(event, 0), HSAKMT_STATUS_WAIT_TIMEOUT) << "once";
  EXPECT_EQ(hsaKmtDestroyEvent(event), HSAKMT_STATUS_SUCCESS);
}

TEST_P(LibraryQueues, AQueueWaitsForTheHost) {
  AqlQueue queue(GetParam());
  queue.signal(0).value = 1;
  queue.signal(1).value = 1;
  queue.barrier(1, reinterpret_cast<std::uint64_t>(&queue.signal(0)));
  let_the_simulator_look();
  EXPECT_EQ(std::atomic_ref(queue.signal(1).value).load(), 1);
  std::atomic_ref(queue.signal(0).value).store(0, std::memory_order_release);
  EXPECT_TRUE(queue.signalled(1));
}

TEST_P(LibraryQueues, ASuspendedQueueProcessesNoPackets) {
  AqlQueue queue(GetParam());
  queue.signal(0).value = 1;
  ASSERT_EQ(hsaKmtUpdateQueue(queue.id(), 0, HSA_QUEUE_PRIORITY_NORMAL, nullptr, 0, nullptr), HSAKMT_STATUS_SUCCESS);
  queue.barrier(0);
  let_the_simulator_look();
  EXPECT_EQ(std::atomic_ref(queue.signal(0).value).load(), 1);
  ASSERT_EQ(hsaKmtUpdateQueue(queue.id(), 100, HSA_QUEUE_PRIORITY_HIGH, nullptr, 0, nullptr), HSAKMT_STATUS_SUCCESS);
  EXPECT_TRUE(queue.signalled(0));
}

TEST_P(LibraryQueues, ADestroyedQueueIsNotTouched) {
  AqlQueue queue(GetParam());
  queue.destroy();
  queue.signal(0).value = 1;
  queue.barrier(0);
  let_the_simulator_look();
  EXPECT_EQ(std::atomic_ref(queue.signal(0).value).load(), 1);
  EXPECT_EQ(hsaKmtDestroyQueue(queue.id()), HSAKMT_STATUS_INVALID_HANDLE);
}

TEST_P(LibraryQueues, MasksOfComputeUnits) {
  AqlQueue queue(GetParam());
  std::array<HSAuint32, 1> mask{1};
  EXPECT_EQ(hsaKmtSetQueueCUMask(queue.id(), 32, mask.data()), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(hsaKmtSetQueueCUMask(queue.id(), 31, mask.data()), HSAKMT_STATUS_INVALID_PARAMETER);
  EXPECT_EQ(hsaKmtSetQueueCUMask(queue.id(), 32, nullptr), HSAKMT_STATUS_INVALID_PARAMETER);
  EXPECT_EQ(hsaKmtSetQueueCUMask(12345, 32, mask.data()), HSAKMT_STATUS_INVALID_HANDLE);
}

TEST_P(LibraryQueues, ManyQueuesRunConcurrently) {
  std::vector<std::unique_ptr<AqlQueue>> queues;
  for (int i = 0; i < 20; ++i) queues.push_back(std::make_unique<AqlQueue>(GetParam()));
  for (const auto& queue : queues) queue->signal(0).value = 1;
  for (const auto& queue : queues) queue->barrier(0);
  for (const auto& queue : queues) EXPECT_TRUE(queue->signalled(0));
}

INSTANTIATE_TEST_SUITE_P(Targets, LibraryQueues, testing::Values(1, 2),
                         [](const auto& node) { return node.param == 1 ? "gfx803" : "gfx90a"; });

TEST(Library, QueuesWithoutMemoryAreRefused) {
  HsaQueueResource resource{};
  std::array<std::uint64_t, 64> local{};
  resource.Queue_read_ptr_aql = local.data() + 16;
  EXPECT_EQ(
      hsaKmtCreateQueue(1, HSA_QUEUE_COMPUTE_AQL, 100, HSA_QUEUE_PRIORITY_NORMAL, local.data(), kPage, nullptr, &resource),
      HSAKMT_STATUS_INVALID_PARAMETER);
  EXPECT_EQ(hsaKmtCreateQueue(0, HSA_QUEUE_COMPUTE_AQL, 100, HSA_QUEUE_PRIORITY_NORMAL, nullptr, kPage, nullptr, &resource),
            HSAKMT_STATUS_INVALID_NODE_UNIT);
}

// SDMA: a fence packet (op 5: address, data) writes 42.
TEST(Library, CopyEnginesTakePackets) {
  for (HSAuint32 node = 1; node <= kGpus; ++node) {
    Shared ring(1 << 20);
    Shared data(kPage);
    HsaQueueResource resource{};
    ASSERT_EQ(hsaKmtCreateQueue(node, HSA_QUEUE_SDMA, 100, HSA_QUEUE_PRIORITY_NORMAL, ring.data(), 1 << 20, nullptr, &resource),
              HSAKMT_STATUS_SUCCESS);
    const auto address = reinterpret_cast<std::uint64_t>(data.data());
    const std::uint32_t fence[] = {5, static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(address >> 32), 42};
    std::memcpy(ring.data(), fence, sizeof fence);
    std::atomic_ref(*resource.Queue_write_ptr_aql).store(sizeof fence, std::memory_order_release);
    EXPECT_TRUE(eventually([&] { return std::atomic_ref(*data.at<std::uint32_t>(0)).load() == 42; })) << node;
    EXPECT_TRUE(eventually([&] { return std::atomic_ref(*resource.Queue_read_ptr_aql).load() == sizeof fence; })) << node;
    EXPECT_EQ(hsaKmtDestroyQueue(resource.QueueId), HSAKMT_STATUS_SUCCESS);
  }
}

// -- processes

TEST(Library, AChildProcessHasNoGpu) {
  const pid_t child = fork();
  if (child == 0) {
    HsaSystemProperties system{};
    const bool refused = hsaKmtAcquireSystemProperties(&system) == HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED &&
                         hsaKmtOpenKFD() == HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace lacuna
