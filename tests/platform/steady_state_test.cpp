// Tests a whole GPU, controlled through its registers: longer kernels take more time, but no more allocations and no more
// memory.

#include <gtest/gtest.h>

#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <vector>

#include "include/lacuna/abi/gpu_registers.h"
#include "include/lacuna/abi/hsa.h"
#include "include/lacuna/abi/memory_map.h"
#include "models/gpu/gpu_device.h"
#include "tests/harness/allocation_counter.h"
#include "tests/harness/harness.h"
#include "tests/harness/test_initiator.h"

namespace lacuna::test {
namespace {

constexpr std::uint64_t kBase = 0x100000;  // GPU virtual address of byte 0 of VRAM
constexpr std::uint64_t kMapped = 64 << 20;
constexpr std::uint64_t kQueue = 0x0, kRing = 0x1000, kSignal = 0x2000, kKernel = 0x3000, kData = 0x100000;

class GpuBench : public sc_core::sc_module, public KernelObserver {
 public:
  explicit GpuBench(sc_core::sc_module_name module_name) : sc_module(module_name), gpu("gpu", parameters()) {
    host.socket.bind(gpu.mmio());
    gpu.host().bind(nothing);
    gpu.interrupt().bind(interrupt);
    gpu.add_observer(*this);
    nothing.register_b_transport(this, &GpuBench::refuse);
  }
  static GpuDeviceParameters parameters() {
    GpuDeviceParameters p;
    p.gpu.shader_arrays = 2;
    p.gpu.cus_per_shader_array = 4;
    return p;
  }
  void kernel_started(const Dispatch&) override {}
  void kernel_ended(const KernelRecord& record) override { last = record; }

  void set_reg(std::uint64_t offset, std::uint32_t value) { host.store<std::uint32_t>(offset, value, now() - host.epoch()); }
  void set_pair(std::uint64_t offset, std::uint64_t value) {
    set_reg(offset, static_cast<std::uint32_t>(value));
    set_reg(offset + 4, static_cast<std::uint32_t>(value >> 32));
  }
  template <class T>
  T& at(std::uint64_t offset) {
    return *reinterpret_cast<T*>(gpu.vram().data() + offset);
  }

  GpuDevice gpu;
  TestInitiator host{"host"};
  tlm_utils::simple_target_socket<GpuBench> nothing{"nothing"};
  sc_core::sc_signal<bool> interrupt{"interrupt"};
  KernelRecord last;

 private:
  void refuse(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
};

LACUNA_TEST_BENCH(GpuBench)

/// A kernel with a loop of `iterations` iterations: a vector load, a scalar load, arithmetic, an LDS write and a vector store
/// at addresses that advance by 256 bytes per iteration. Encodings by llvm-mc-16 -mcpu=gfx803.
std::vector<std::uint32_t> program(std::uint32_t iterations) {
  return {0xbe8400ff, iterations,  // s_mov_b32 s4, iterations
          0x24000082,              // v_lshlrev_b32 v0, 2, v0
          0x32000000,              // v_add_u32 v0, vcc, s0, v0
          0x7e020201,              // v_mov_b32 v1, s1
          0xbefc00c1,              // s_mov_b32 m0, -1
          0xdc500000, 0x02000000,  // flat_load_dword v2, v[0:1]
          0xc0060180, 0x00000000,  // s_load_dwordx2 s[6:7], s[0:1], 0x0
          0x2c060703,              // v_mac_f32 v3, v3, v3
          0xd81a0000, 0x00000300,  // ds_write_b32 v0, v3
          0xbf8c0070,              // s_waitcnt vmcnt(0) lgkmcnt(0)
          0x32040404,              // v_add_u32 v2, vcc, s4, v2
          0xdc700000, 0x00000200,  // flat_store_dword v[0:1], v2
          0x320000ff, 0x00000100,  // v_add_u32 v0, vcc, 0x100, v0
          0x80848104,              // s_sub_u32 s4, s4, 1
          0xbf068004,              // s_cmp_eq_u32 s4, 0
          0xbf84fff0,              // s_cbranch_scc0 back to the load
          0xbf810000};             // s_endpgm
}

/// A kernel in which each work-item of a workgroup loads a dword of another page, `iterations` times: 256 pages per workgroup.
std::vector<std::uint32_t> page_walk(std::uint32_t iterations) {
  return {0xbe8400ff, iterations,  // s_mov_b32 s4, iterations
          0x24000090,              // v_lshlrev_b32 v0, 16, v0
          0x32000000,              // v_add_u32 v0, vcc, s0, v0
          0x7e020201,              // v_mov_b32 v1, s1
          0xdc500000, 0x02000000,  // flat_load_dword v2, v[0:1]
          0xbf8c0070,              // s_waitcnt vmcnt(0) lgkmcnt(0)
          0x80848104,              // s_sub_u32 s4, s4, 1
          0xbf068004,              // s_cmp_eq_u32 s4, 0
          0xbf84fffa,              // s_cbranch_scc0 back to the load
          0xbf810000};             // s_endpgm
}

class SteadyState : public testing::Test {
 protected:
  GpuBench& b_ = bench<GpuBench>();
  std::uint64_t packets_ = 0;

  void SetUp() override {
    b_.host.begin_epoch();
    b_.set_reg(LACUNA_GPU_CONTROL, 1);
    b_.set_pair(LACUNA_GPU_VM_VA_LO, kBase);
    b_.set_pair(LACUNA_GPU_VM_PA_LO, LACUNA_VRAM_BASE);
    b_.set_pair(LACUNA_GPU_VM_SIZE_LO, kMapped);
    b_.set_reg(LACUNA_GPU_VM_FLAGS, LACUNA_VM_READ | LACUNA_VM_WRITE | LACUNA_VM_EXECUTE);
    b_.set_reg(LACUNA_GPU_VM_COMMAND, LACUNA_VM_MAP);
    auto& queue = b_.at<hsa::Queue>(kQueue);
    queue = {};
    queue.base_address = kBase + kRing;
    queue.size = 8;
    b_.set_pair(LACUNA_GPU_QUEUE_AQL_LO, kBase + kQueue);
    b_.set_reg(LACUNA_GPU_QUEUE_COMMAND, LACUNA_QUEUE_CREATE);
  }

  /// Runs `workgroups` workgroups of 256 work-items. Returns the number of allocations from doorbell to completion.
  std::uint64_t run(std::uint32_t iterations, std::uint32_t workgroups) { return run(program(iterations), workgroups); }
  std::uint64_t run(const std::vector<std::uint32_t>& words, std::uint32_t workgroups) {
    b_.at<std::int64_t>(kKernel + 16) = 0x100;
    b_.at<std::uint32_t>(kKernel + 48) = 1 | 1u << 6;  // 8 VGPRs, 16 SGPRs
    b_.at<std::uint32_t>(kKernel + 52) = 2u << 1;      // 2 user SGPRs: the kernarg pointer
    b_.at<std::uint16_t>(kKernel + 56) = 1u << 3;
    std::memcpy(&b_.at<std::byte>(kKernel + 0x100), words.data(), words.size() * 4);
    auto& signal = b_.at<hsa::Signal>(kSignal);
    signal = {};
    signal.value = 1;
    hsa::KernelDispatchPacket packet{};
    packet.header = 2 | 1u << 9 | 1u << 11;  // kernel dispatch, agent acquire and release
    packet.setup = 1;
    packet.workgroup_size[0] = 256;
    packet.grid_size[0] = workgroups * 256;
    packet.group_segment_size = 2048;
    packet.kernel_object = kBase + kKernel;
    packet.kernarg_address = kBase + kData;
    packet.completion_signal = kBase + kSignal;
    b_.at<hsa::KernelDispatchPacket>(kRing + packets_ % 8 * hsa::kPacketBytes) = packet;
    const std::uint64_t before = allocations();
    b_.host.store<std::uint64_t>(LACUNA_DOORBELL_OFFSET, packets_++, now() - b_.host.epoch());
    for (int i = 0; i < 1000 && signal.value != 0; ++i) wait_for(Tick{100'000'000});
    EXPECT_EQ(signal.value, 0) << "the kernel did not end";
    return allocations() - before;
  }
};

TEST_F(SteadyState, LongerKernelsAllocateNoMore) {
  run(2000, 64);  // pools and the calendars of every bank reach their final sizes
  const std::uint64_t once = run(200, 64);
  const std::uint64_t instructions = b_.last.wavefront_instructions;
  const std::uint64_t longer = run(2000, 64);
  EXPECT_GT(b_.last.wavefront_instructions, 9 * instructions);
  EXPECT_LE(longer, once + 50) << "nine times the instructions and transactions; waiting for the end allocates a little itself";
}

TEST_F(SteadyState, MoreWorkgroupsAllocateNoMore) {
  run(20, 64);
  const std::uint64_t few = run(20, 64);
  const std::uint64_t many = run(20, 1024);
  EXPECT_EQ(b_.last.workgroups, 1024u);
  EXPECT_LE(many, few + 50);
}

TEST_F(SteadyState, TranslationsCostNoMemory) {
  // The pages of a single wavefront fill an L1 TLB.
  run(page_walk(40), 8);
  const std::uint64_t before = allocated_bytes();
  run(page_walk(120), 8);
  EXPECT_GE(b_.last.activity.requests, 240'000u);
  // Each load misses its L1 TLB. Calendars may still grow because queues are longer than before.
  EXPECT_LT(allocated_bytes(), before + 512 * 1024) << "past bookings of TLBs and page walkers are dropped";
}

TEST_F(SteadyState, UntouchedGpuMemoryCostsNothing) {
  run(20, 64);
  EXPECT_EQ(b_.gpu.vram().size().n, std::uint64_t{4} << 30);
  // A host with huge pages allocates 2 MiB for each region that tests have accessed.
  EXPECT_LT(b_.gpu.vram().resident().n, b_.gpu.vram().size().n / 100);
}

}  // namespace
}  // namespace lacuna::test
