// Tests that a device that is reset in the middle of its work behaves afterwards like a new device: it computes the same bits
// in the same cycles.
//
// The devices run one after the other: SystemC's event queue is a heap, so if two devices ran together, the order of processes
// that wake at the same time could differ. Each run begins at the same time between two DRAM refreshes.
#include <gtest/gtest.h>

#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "include/lacuna/abi/gpu_registers.h"
#include "include/lacuna/abi/hsa.h"
#include "include/lacuna/abi/memory_map.h"
#include "models/gpu/gpu_device.h"
#include "tests/gpu/statistic_counts.h"
#include "tests/harness/harness.h"
#include "tests/harness/test_initiator.h"

namespace lacuna::test {
namespace {

constexpr std::uint64_t kBase = 0x100000;  // GPU virtual address of byte 0 of VRAM
constexpr std::uint64_t kMapped = 4 << 20;
constexpr std::uint64_t kRingPackets = 8;
// Offsets in VRAM. Queue q has its descriptor at + 0x100 q and its ring at + 0x1000 q; signal i is at + 64 i.
constexpr std::uint64_t kQueues = 0x0, kRings = 0x1000, kSignals = 0x4000, kKernel = 0x5000;
constexpr std::uint64_t kSdmaRing = 0x6000, kSdmaPointer = 0x7000, kFence = 0x7040, kNeverWritten = 0x7080;
constexpr std::uint64_t kSignalBytes = 0x1000;
constexpr std::uint64_t kData = 0x100000, kSource = 0x200000, kTarget = 0x280000;
constexpr std::uint32_t kCopied = 0x7f000;

/// 256 work-items load, store and add atomically in steps of 1 KiB, with scalar loads, LDS and barriers. All workgroups use the
/// same memory, so the result depends on their order. Encodings by llvm-mc-16 -mcpu=gfx803.
constexpr std::uint32_t kProgram[] = {0xbe8400ff, 0x00000080,  // s_mov_b32 s4, 128
                                      0x24020082,              // v_lshlrev_b32 v1, 2, v0
                                      0x240c0082,              // v_lshlrev_b32 v6, 2, v0
                                      0x32020200,              // v_add_u32 v1, vcc, s0, v1
                                      0x7e040201,              // v_mov_b32 v2, s1
                                      0x7e0602f2,              // v_mov_b32 v3, 1.0
                                      0xbefc00c1,              // s_mov_b32 m0, -1
                                      0xdc500000, 0x04000001,  // flat_load_dword v4, v[1:2]
                                      0xc0060180, 0x00000000,  // s_load_dwordx2 s[6:7], s[0:1], 0x0
                                      0x2c060703,              // v_mac_f32 v3, v3, v3
                                      0xd81a0000, 0x00000306,  // ds_write_b32 v6, v3
                                      0xbf8c0070,              // s_waitcnt vmcnt(0) lgkmcnt(0)
                                      0xbf8a0000,              // s_barrier
                                      0x32080804,              // v_add_u32 v4, vcc, s4, v4
                                      0x2a080806,              // v_xor_b32 v4, s6, v4
                                      0xdc700000, 0x00000401,  // flat_store_dword v[1:2], v4
                                      0xdd080000, 0x00000301,  // flat_atomic_add v[1:2], v3
                                      0x320202ff, 0x00000400,  // v_add_u32 v1, vcc, 0x400, v1
                                      0x80848104,              // s_sub_u32 s4, s4, 1
                                      0xbf068004,              // s_cmp_eq_u32 s4, 0
                                      0xbf84ffec,              // s_cbranch_scc0 back to the load
                                      0xbf810000};             // s_endpgm

/// A device with a driver: registers, rings, doorbells.
class Gpu : public sc_core::sc_module, public KernelObserver {
 public:
  Gpu(sc_core::sc_module_name module_name, const GpuDeviceParameters& parameters)
      : sc_module(module_name), device("device", parameters) {
    host_.socket.bind(device.mmio());
    device.host().bind(nothing_);
    device.interrupt().bind(interrupt_);
    device.add_observer(*this);
    nothing_.register_b_transport(this, &Gpu::refuse);
    device.describe_statistics(statistics_);
  }

  void kernel_started(const Dispatch&) override {}
  void kernel_ended(const KernelRecord& record) override { kernels.push_back(record); }

  template <class T>
  T& at(std::uint64_t offset) {
    return *reinterpret_cast<T*>(device.vram().data() + offset);
  }
  std::uint32_t reg(std::uint64_t offset) { return host_.load<std::uint32_t>(offset, now() - host_.epoch()); }
  void set_reg(std::uint64_t offset, std::uint32_t value) { host_.store<std::uint32_t>(offset, value, now() - host_.epoch()); }
  void set_pair(std::uint64_t offset, std::uint64_t value) {
    set_reg(offset, static_cast<std::uint32_t>(value));
    set_reg(offset + 4, static_cast<std::uint32_t>(value >> 32));
  }
  void reset() {
    set_reg(LACUNA_GPU_CONTROL, 1);
    sdma_queue_ = 0;
  }

  /// Sets memory to its initial contents, maps it, and creates two AQL queues and a queue of SDMA engine 0. Takes no
  /// simulated time.
  void open() {
    std::uint64_t* words = &at<std::uint64_t>(0);
    for (std::uint64_t i = 0; i < kMapped / 8; ++i) words[i] = i * 0x9e3779b97f4a7c15ULL;
    set_pair(LACUNA_GPU_VM_VA_LO, kBase);
    set_pair(LACUNA_GPU_VM_PA_LO, LACUNA_VRAM_BASE);
    set_pair(LACUNA_GPU_VM_SIZE_LO, kMapped);
    set_reg(LACUNA_GPU_VM_FLAGS, LACUNA_VM_READ | LACUNA_VM_WRITE | LACUNA_VM_EXECUTE);
    set_reg(LACUNA_GPU_VM_COMMAND, LACUNA_VM_MAP);
    EXPECT_EQ(reg(LACUNA_GPU_VM_STATUS), LACUNA_VM_OK);
    std::memset(&at<std::byte>(kKernel), 0, 0x100);
    at<std::int64_t>(kKernel + 16) = 0x100;
    at<std::uint32_t>(kKernel + 48) = 1 | 1u << 6;  // 8 VGPRs, 16 SGPRs
    at<std::uint32_t>(kKernel + 52) = 2u << 1;      // 2 user SGPRs: the kernarg pointer
    at<std::uint16_t>(kKernel + 56) = 1u << 3;
    std::memcpy(&at<std::byte>(kKernel + 0x100), kProgram, sizeof kProgram);
    for (unsigned i = 0; i < 16; ++i) {
      at<hsa::Signal>(kSignals + 64 * i) = {};
      at<hsa::Signal>(kSignals + 64 * i).value = 1;
    }
    for (unsigned q = 0; q < 2; ++q) {
      written_[q] = 0;
      at<hsa::Queue>(kQueues + 0x100 * q) = {};
      at<hsa::Queue>(kQueues + 0x100 * q).base_address = kBase + kRings + 0x1000 * q;
      at<hsa::Queue>(kQueues + 0x100 * q).size = kRingPackets;
      set_reg(LACUNA_GPU_QUEUE_SELECT, q);
      set_pair(LACUNA_GPU_QUEUE_AQL_LO, kBase + kQueues + 0x100 * q);
      set_reg(LACUNA_GPU_QUEUE_COMMAND, LACUNA_QUEUE_CREATE);
      EXPECT_EQ(reg(LACUNA_GPU_QUEUE_STATUS), LACUNA_QUEUE_ACTIVE);
    }
    const auto queue = engine().create_queue(
        {.ring = kBase + kSdmaRing, .ring_bytes = 0x1000, .read_pointer = kBase + kSdmaPointer, .name = "test"});
    ASSERT_TRUE(queue);
    sdma_queue_ = *queue;
    sdma_written_ = 0;
    at<std::uint32_t>(kFence) = at<std::uint32_t>(kNeverWritten) = 0;
  }
  void put_kernel(unsigned queue, unsigned signal, std::uint32_t workgroups, bool barrier = false) {
    hsa::KernelDispatchPacket packet{};
    packet.header = static_cast<std::uint16_t>(2 | (barrier ? 1u << 8 : 0) | 2u << 9 | 2u << 11);  // system scope
    packet.setup = 1;
    packet.workgroup_size[0] = 256;
    packet.grid_size[0] = workgroups * 256;
    packet.group_segment_size = 1024;
    packet.kernel_object = kBase + kKernel;
    packet.kernarg_address = kBase + kData;
    packet.completion_signal = kBase + kSignals + 64 * signal;
    at<hsa::KernelDispatchPacket>(slot(queue)) = packet;
  }
  void put_barrier(unsigned queue, unsigned dependency, unsigned signal) {
    hsa::BarrierPacket packet{};
    packet.header = 3;
    packet.dependencies[0] = kBase + kSignals + 64 * dependency;
    packet.completion_signal = kBase + kSignals + 64 * signal;
    at<hsa::BarrierPacket>(slot(queue)) = packet;
  }
  void ring(unsigned queue) {
    host_.store<std::uint64_t>(LACUNA_DOORBELL_OFFSET + LACUNA_DOORBELL_STRIDE * queue, written_[queue] - 1,
                               now() - host_.epoch());
  }
  void put_sdma(const std::vector<std::uint32_t>& words) {
    for (const std::uint32_t word : words) {
      at<std::uint32_t>(kSdmaRing + sdma_written_) = word;
      sdma_written_ += 4;
    }
  }
  void ring_sdma() { EXPECT_TRUE(engine().ring(sdma_queue_, sdma_written_)); }
  SdmaEngine& engine() { return *device.sdma_engines()[0]; }

  /// Submits three kernels to two queues, the third after a barrier packet, and an SDMA copy followed by a fence.
  void work() {
    put_kernel(0, 0, 23);
    put_kernel(0, 1, 6, true);
    ring(0);
    put_barrier(1, 0, 2);
    put_kernel(1, 3, 10, true);
    ring(1);
    copy(1);
  }
  void copy(std::uint32_t fence) {
    const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
    put_sdma({1, kCopied, 0, low(kBase + kSource), 0, low(kBase + kTarget), 0});  // gfx8: the size itself, not size - 1
    put_sdma({5, low(kBase + kFence), 0, fence});
    ring_sdma();
  }
  bool done(std::uint32_t fence = 1) {
    for (unsigned i = 0; i < 4; ++i) {
      if (at<hsa::Signal>(kSignals + 64 * i).value != 0) return false;
    }
    return at<std::uint32_t>(kFence) == fence;
  }
  /// Does the work, followed by a copy that runs alone, so that the copy is first sampled and then continued in bulk.
  void work_to_the_end() {
    work();
    for (int i = 0; i < 1000 && !done(); ++i) wait_for(Tick{10'000'000});
    EXPECT_TRUE(done()) << diagnosis();
    copy(2);
    for (int i = 0; i < 1000 && !done(2); ++i) wait_for(Tick{10'000'000});
    EXPECT_TRUE(done(2)) << diagnosis();
  }

  std::vector<std::byte> memory() { return {&at<std::byte>(0), &at<std::byte>(0) + kMapped}; }
  std::string diagnosis() const {
    std::ostringstream text;
    device.diagnose(text);
    return text.str();
  }
  /// Names of all counters, with their increments since mark().
  Counts growth() const { return growth_of(statistics_, marked_); }
  void mark() {
    marked_ = counts_of(statistics_);
    kernels.clear();
  }

  GpuDevice device;
  std::vector<KernelRecord> kernels;

 private:
  std::uint64_t slot(unsigned queue) { return kRings + 0x1000 * queue + written_[queue]++ % kRingPackets * hsa::kPacketBytes; }
  void refuse(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }

  TestInitiator host_{"host"};
  tlm_utils::simple_target_socket<Gpu> nothing_{"nothing"};
  sc_core::sc_signal<bool> interrupt_{"interrupt"};
  StatisticsGroup statistics_{"device"};
  Counts marked_;
  std::uint64_t written_[2]{};
  std::uint32_t sdma_queue_ = 0;
  std::uint64_t sdma_written_ = 0;
};

/// A device that is reset repeatedly, and new devices, each of which is compared once with the first device.
struct Devices {
  static constexpr unsigned kNew = 10;
  Devices(const std::string& name, const GpuDeviceParameters& parameters) : gpu(name.c_str(), parameters) {
    for (unsigned i = 0; i < kNew; ++i)
      unused.push_back(std::make_unique<Gpu>((name + "_new" + std::to_string(i)).c_str(), parameters));
  }
  Gpu gpu;
  std::vector<std::unique_ptr<Gpu>> unused;
  unsigned used = 0;  ///< number of new devices used so far
};

GpuDeviceParameters parameters() {
  GpuDeviceParameters p;
  p.gpu.shader_arrays = 2;
  p.gpu.cus_per_shader_array = 2;
  p.gpu.cus_per_l1v = 1;
  p.gpu.memory_partitions = 4;
  p.vram.size = Bytes{64 << 20};
  return p;
}

/// Parameters with which requests are in flight for many windows.
GpuDeviceParameters stepped_parameters() {
  GpuDeviceParameters p = parameters();
  p.noc.topology = FabricTopology::mesh;
  p.noc.columns = p.noc.rows = 4;
  p.noc.routers = RouterModel::stepped;
  return p;
}

class ResetBench : public sc_core::sc_module {
 public:
  explicit ResetBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  Devices crossbar{"crossbar", parameters()};
  Devices stepped{"stepped", stepped_parameters()};
};

LACUNA_TEST_BENCH(ResetBench)

struct Outcome {
  std::vector<KernelRecord> kernels;  ///< kernel records, with times relative to the start of the work
  Counts growth;
  std::vector<std::byte> memory;
};

class DeviceReset : public testing::TestWithParam<Devices ResetBench::*> {
 protected:
  Devices& b_ = bench<ResetBench>().*GetParam();
  Gpu& gpu_ = b_.gpu;

  void expect_nothing_left() {
    EXPECT_TRUE(gpu_.device.idle());
    EXPECT_FALSE(gpu_.device.busy());
    EXPECT_EQ(gpu_.diagnosis(), "");
    EXPECT_EQ(gpu_.reg(LACUNA_GPU_INTERRUPT_STATUS), 0u);
    for (unsigned q = 0; q < 2; ++q) {
      gpu_.set_reg(LACUNA_GPU_QUEUE_SELECT, q);
      EXPECT_EQ(gpu_.reg(LACUNA_GPU_QUEUE_STATUS), LACUNA_QUEUE_INACTIVE);
    }
    EXPECT_EQ(gpu_.device.vm().find(kBase).size, 0u);
  }

  /// Waits until `before` before a multiple of the period after which a device behaves identically, a whole number of DRAM
  /// refreshes.
  static void wait_for_interval(const Gpu& gpu, Tick before = {}) {
    const DramParameters& dram = gpu.device.parameters().dram;
    const Tick interval = dram.clock.period() * dram.tREFI.n * 64;
    wait_for(Tick{interval.ps - (now().ps + before.ps) % interval.ps});
  }
  /// Runs the work on a device, starting now, and returns its effects.
  static Outcome outcome(Gpu& gpu) {
    const Tick start = now();
    gpu.open();
    gpu.mark();
    gpu.work_to_the_end();
    Outcome outcome{.kernels = gpu.kernels, .growth = gpu.growth(), .memory = gpu.memory()};
    for (KernelRecord& record : outcome.kernels) {
      record.start -= start;
      record.end -= start;
    }
    // Time stamps are absolute.
    std::fill_n(outcome.memory.begin() + kSignals, kSignalBytes, std::byte{});
    return outcome;
  }

  void compare_with_new() {
    ASSERT_LT(b_.used, b_.unused.size());
    const Outcome mine = outcome(gpu_);
    Gpu& other = *b_.unused[b_.used++];
    wait_for_interval(other);
    const Outcome others = outcome(other);
    ASSERT_EQ(mine.kernels.size(), 3u);
    ASSERT_EQ(others.kernels.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      const KernelRecord& a = mine.kernels[i];
      const KernelRecord& b = others.kernels[i];
      EXPECT_EQ(a.start, b.start) << i;
      EXPECT_EQ(a.end, b.end) << i;
      EXPECT_EQ(a.cycles, b.cycles) << i;
      EXPECT_EQ(a.wavefront_instructions, b.wavefront_instructions) << i;
      EXPECT_EQ(a.activity.used, b.activity.used) << i;
      EXPECT_FALSE(a.failed);
    }
    ASSERT_EQ(mine.growth.size(), others.growth.size());
    std::uint64_t sum = 0;
    for (const auto& [name, count] : mine.growth) {
      // A channel counts its refreshes from time zero when it is used for the first time.
      if (name.ends_with(".refreshes")) continue;
      EXPECT_EQ(count, others.growth.at(name)) << name;
      sum += count;
    }
    EXPECT_GT(sum, 100'000u);
    EXPECT_TRUE(mine.memory == others.memory);
    EXPECT_EQ(std::memcmp(&mine.memory[kTarget], &mine.memory[kSource], kCopied), 0);
  }
};

// Resets between the fetch of the first packet and the third kernel, with a copy in flight. Aborted work must not delay work
// that follows immediately. If wavefronts are running, time passes until SystemC's event heap has dropped the cancelled events.
TEST_P(DeviceReset, InTheMiddleOfKernelsAndCopies) {
  struct Row {
    std::uint64_t nanoseconds;
    std::uint64_t rest;
  };
  for (const Row& row : {Row{30, 0}, {110, 0}, {330, 0}, {2'000, 20'000}, {15'001, 20'000}, {60'000, 20'000}}) {
    SCOPED_TRACE(row.nanoseconds);
    wait_for_interval(gpu_, Tick{(row.nanoseconds + row.rest) * 1000});
    gpu_.open();
    gpu_.work();
    wait_for(Tick{row.nanoseconds * 1000});
    EXPECT_FALSE(gpu_.device.idle());
    gpu_.mark();
    gpu_.reset();
    for (const KernelRecord& record : gpu_.kernels) EXPECT_TRUE(record.failed);
    expect_nothing_left();
    wait_for(Tick{row.rest * 1000});
    compare_with_new();
    gpu_.reset();
  }
}

TEST_P(DeviceReset, NothingIsWrittenAfterwards) {
  gpu_.open();
  gpu_.work();
  wait_for(Tick{15'000'000});
  gpu_.reset();
  const auto before = gpu_.memory();
  wait_for(Tick{50'000'000});
  EXPECT_TRUE(gpu_.memory() == before);
}

// Resets with full rings, packets that wait for signals and memory, and an engine that polls.
TEST_P(DeviceReset, WithFullQueues) {
  gpu_.open();
  for (unsigned queue = 0; queue < 2; ++queue) {
    gpu_.put_barrier(queue, 15, 14);  // a signal that is not zero before the reset
    for (unsigned i = 1; i < kRingPackets; ++i) gpu_.put_kernel(queue, i, 4);
    gpu_.ring(queue);
  }
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  // Polls until kNeverWritten is 1.
  gpu_.put_sdma({8 | 3u << 28 | 1u << 31, low(kBase + kNeverWritten), 0, 1, ~0u, 4 | 0xfffu << 16});
  while (gpu_.engine().idle()) gpu_.ring_sdma();
  for (unsigned i = 0; i < 64; ++i) gpu_.put_sdma({5, low(kBase + kFence), 0, 1});
  gpu_.ring_sdma();
  wait_for(Tick{5'000'000});
  EXPECT_FALSE(gpu_.device.idle());
  gpu_.reset();
  expect_nothing_left();
  gpu_.at<hsa::Signal>(kSignals + 64 * 15).value = 0;
  gpu_.at<std::uint32_t>(kNeverWritten) = 1;
  wait_for_interval(gpu_);
  EXPECT_EQ(gpu_.at<std::uint32_t>(kFence), 0u);
  compare_with_new();
  gpu_.reset();
}

// Completed work leaves cached lines, translations, open rows and dirty lines.
TEST_P(DeviceReset, BetweenKernels) {
  gpu_.open();
  gpu_.work_to_the_end();
  EXPECT_TRUE(gpu_.device.idle());
  wait_for_interval(gpu_);
  gpu_.reset();
  expect_nothing_left();
  compare_with_new();
  gpu_.reset();
}

// Drivers start with a reset.
TEST_P(DeviceReset, ResetsOfANewDeviceAndTwiceInARowLeaveItAsNew) {
  ASSERT_LT(b_.used, b_.unused.size());
  b_.unused[b_.used]->reset();
  gpu_.reset();
  gpu_.reset();
  wait_for_interval(gpu_);
  compare_with_new();
  gpu_.reset();
}

INSTANTIATE_TEST_SUITE_P(Networks, DeviceReset, testing::Values(&ResetBench::crossbar, &ResetBench::stepped),
                         [](const auto& network) { return network.param == &ResetBench::crossbar ? "crossbar" : "stepped"; });

}  // namespace
}  // namespace lacuna::test
