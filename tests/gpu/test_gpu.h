// A device and its driver: kernels assembled by LLVM are dispatched one after the other on an AQL queue. Tests of research
// machines add their extension to small_gpu().
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "include/lacuna/abi/gpu_registers.h"
#include "include/lacuna/abi/hsa.h"
#include "include/lacuna/abi/memory_map.h"
#include "models/command/kernel_record.h"
#include "models/common/config/statistics.h"
#include "models/gpu/gpu_device.h"
#include "tests/gpu/statistic_counts.h"
#include "tests/harness/harness.h"
#include "tests/harness/test_initiator.h"
#include "tests/neardata/assembled_kernel.h"

namespace lacuna::test {

/// Caches and DRAM transfer lines of 128 bytes as a whole. There are no refreshes, and rows are closed after each access, so
/// DRAM takes the same time whenever a kernel runs.
inline GpuDeviceParameters small_gpu() {
  GpuDeviceParameters p;
  p.gpu.shader_arrays = 6;
  p.gpu.cus_per_shader_array = 1;
  p.gpu.cus_per_l1v = 1;
  p.gpu.memory_partitions = 4;
  p.gpu.partition_interleave = Bytes{128};
  p.gpu.translation = Translation::free;
  p.cu.transaction_bytes = 128;
  for (CacheParameters* const cache : {&p.l1v, &p.l2}) cache->line = cache->sector = Bytes{128};
  p.noc.header = 8;
  p.dram.bytes_per_cycle = 32;  // a line is one burst
  p.dram.tREFI = Cycles{0};
  p.dram.page_policy = DramPagePolicy::closed;
  p.vram.size = Bytes{64 << 20};
  return p;
}

class TestGpu : public sc_core::sc_module, private KernelObserver {
 public:
  static constexpr std::uint64_t kBase = 0x100000;  ///< GPU virtual address of byte 0 of VRAM
  static constexpr std::uint64_t kMapped = 8 << 20;
  /// Offset in VRAM of memory for kernels' data.
  static constexpr std::uint64_t kData = 0x100000;

  TestGpu(sc_core::sc_module_name module_name, const GpuDeviceParameters& parameters, WorkerThreads* threads = nullptr)
      : sc_module(module_name), device("device", parameters, threads) {
    host_.socket.bind(device.mmio());
    device.host().bind(nothing_);
    device.interrupt().bind(interrupt_);
    device.add_observer(*this);
    nothing_.register_b_transport(this, &TestGpu::refuse);
    device.describe_statistics(statistics_);
  }

  template <class T>
  T& at(std::uint64_t offset) {
    return *reinterpret_cast<T*>(device.vram().data() + offset);
  }
  std::uint32_t* words(std::uint64_t offset) { return &at<std::uint32_t>(offset); }

  /// Resets the device, fills memory, and creates a queue. After each start() the timing of the same work is the same.
  void start() {
    set_reg(LACUNA_GPU_CONTROL, 1);
    wait_for(Tick{kInterval.ps - now().ps % kInterval.ps});
    std::uint64_t* const all = &at<std::uint64_t>(0);
    for (std::uint64_t i = 0; i < kMapped / 8; ++i) all[i] = i * 0x9e3779b97f4a7c15ULL;
    set_pair(LACUNA_GPU_VM_VA_LO, kBase);
    set_pair(LACUNA_GPU_VM_PA_LO, LACUNA_VRAM_BASE);
    set_pair(LACUNA_GPU_VM_SIZE_LO, kMapped);
    set_reg(LACUNA_GPU_VM_FLAGS, LACUNA_VM_READ | LACUNA_VM_WRITE | LACUNA_VM_EXECUTE);
    set_reg(LACUNA_GPU_VM_COMMAND, LACUNA_VM_MAP);
    EXPECT_EQ(reg(LACUNA_GPU_VM_STATUS), LACUNA_VM_OK);
    dispatched_ = 0;
    create_queue();
  }
  /// Creates an empty AQL queue. Unlike start(), does not reuse the addresses of kernels that have already been dispatched.
  void create_queue() {
    written_ = 0;
    at<hsa::Signal>(kSignal) = {};
    at<hsa::Queue>(kQueue) = {};
    at<hsa::Queue>(kQueue).base_address = kBase + kRing;
    at<hsa::Queue>(kQueue).size = kRingPackets;
    set_reg(LACUNA_GPU_QUEUE_SELECT, 0);
    set_pair(LACUNA_GPU_QUEUE_AQL_LO, kBase + kQueue);
    set_reg(LACUNA_GPU_QUEUE_COMMAND, LACUNA_QUEUE_CREATE);
    EXPECT_EQ(reg(LACUNA_GPU_QUEUE_STATUS), LACUNA_QUEUE_ACTIVE);
  }

  /// Offset in VRAM of the descriptor that the next dispatch() writes.
  std::uint64_t next_descriptor() const { return kKernels + kKernelBytes * dispatched_; }

  /// Dispatches a kernel with s[0:1] = address of the arguments, s2 = number of the workgroup, v0 = number of the work-item.
  void dispatch(const AssembledKernel& kernel, const std::vector<std::uint64_t>& arguments, unsigned workgroups = 1,
                unsigned workgroup_size = 64, unsigned lds_bytes = 0) {
    const std::uint64_t descriptor = kKernels + kKernelBytes * dispatched_++;
    ASSERT_LT(descriptor, kData) << "too many kernels since start()";
    std::memset(&at<std::byte>(descriptor), 0, 0x100);
    at<std::int64_t>(descriptor + 16) = 0x100;
    // 32 VGPRs and 32 SGPRs; on gfx90a 64 vector registers, of which the second half are accumulation registers.
    at<std::uint32_t>(descriptor + 44) = kernel.target() == isa::Target::gfx803 ? 0 : 7;
    at<std::uint32_t>(descriptor + 48) = 7 | 3U << 6;
    at<std::uint32_t>(descriptor + 52) = 2U << 1 | 1U << 7;  // two user SGPRs, and the workgroup's number
    at<std::uint16_t>(descriptor + 56) = 1U << 3;            // the pointer to the arguments
    ASSERT_LT(0x100 + 4 * kernel.words().size(), kArguments);
    std::memcpy(&at<std::byte>(descriptor + 0x100), kernel.words().data(), 4 * kernel.words().size());
    std::memcpy(&at<std::byte>(descriptor + kArguments), arguments.data(), 8 * arguments.size());
    hsa::KernelDispatchPacket packet{};
    packet.header = kernel_header.bits;
    packet.setup = 1;
    packet.workgroup_size[0] = static_cast<std::uint16_t>(workgroup_size);
    packet.grid_size[0] = workgroups * workgroup_size;
    packet.group_segment_size = lds_bytes;
    packet.kernel_object = kBase + descriptor;
    packet.kernarg_address = kBase + descriptor + kArguments;
    packet.completion_signal = kBase + kSignal;
    submit(packet);
  }
  /// Writes a packet whose completion signal is signal() to the queue and rings its doorbell.
  template <class Packet>
  void submit(const Packet& packet) {
    static_assert(sizeof packet == hsa::kPacketBytes);
    ++at<hsa::Signal>(kSignal).value;
    std::memcpy(&at<std::byte>(kRing + written_ % kRingPackets * hsa::kPacketBytes), &packet, sizeof packet);
    host_.store<std::uint64_t>(LACUNA_DOORBELL_OFFSET, written_++, now() - host_.epoch());
  }
  static std::uint64_t signal() { return kBase + kSignal; }
  /// Places the next kernel at the address of the first kernel since start().
  void reuse_code() { dispatched_ = 0; }
  /// Address of the first instruction of a kernel, by its number since start().
  static std::uint64_t code_address(std::uint64_t number) { return kBase + kKernels + kKernelBytes * number + 0x100; }
  /// Destroys the queue, which must have failed.
  void destroy_queue() {
    set_reg(LACUNA_GPU_QUEUE_SELECT, 0);
    EXPECT_EQ(reg(LACUNA_GPU_QUEUE_STATUS), LACUNA_QUEUE_FAILED);
    set_reg(LACUNA_GPU_QUEUE_COMMAND, LACUNA_QUEUE_DESTROY);
    EXPECT_EQ(reg(LACUNA_GPU_QUEUE_STATUS), LACUNA_QUEUE_INACTIVE);
  }
  bool done() { return at<hsa::Signal>(kSignal).value == 0; }
  /// A register of lacuna/abi/gpu_registers.h.
  std::uint32_t reg(std::uint64_t offset) { return host_.load<std::uint32_t>(offset, now() - host_.epoch()); }
  /// Lets time pass until the kernel has ended and nothing is in flight. Returns its record.
  KernelRecord finish() {
    for (int i = 0; i < 2000 && !done(); ++i) wait_for(Tick{10'000'000});
    EXPECT_TRUE(done()) << diagnosis();
    wait_for(Tick{10'000'000});
    return records.empty() ? KernelRecord{} : records.back();
  }
  KernelRecord run(const AssembledKernel& kernel, const std::vector<std::uint64_t>& arguments, unsigned workgroups = 1,
                   unsigned workgroup_size = 64, unsigned lds_bytes = 0) {
    dispatch(kernel, arguments, workgroups, workgroup_size, lds_bytes);
    return finish();
  }

  void reset() { set_reg(LACUNA_GPU_CONTROL, 1); }

  /// Increments of the device's counters since mark().
  Counts growth() const { return growth_of(statistics_, marked_); }
  void mark() {
    marked_ = counts_of(statistics_);
    records.clear();
  }
  std::vector<std::uint32_t> memory(std::uint64_t offset, std::uint64_t bytes) {
    return {words(offset), words(offset) + bytes / 4};
  }
  std::string diagnosis() const {
    std::ostringstream text;
    device.diagnose(text);
    return text.str();
  }

  GpuDevice device;
  std::vector<KernelRecord> records;
  hsa::PacketHeader kernel_header = hsa::PacketHeader::of(hsa::PacketType::kernel_dispatch);  ///< header of dispatch()

 private:
  static constexpr std::uint64_t kRingPackets = 8;
  static constexpr std::uint64_t kQueue = 0x0, kRing = 0x1000, kSignal = 0x4000, kKernels = 0x10000, kKernelBytes = 0x4000,
                                 kArguments = 0x3c00;
  static constexpr Tick kInterval{10'000'000};

  void kernel_started(const Dispatch&) override {}
  void kernel_ended(const KernelRecord& record) override { records.push_back(record); }
  void set_reg(std::uint64_t offset, std::uint32_t value) { host_.store<std::uint32_t>(offset, value, now() - host_.epoch()); }
  void set_pair(std::uint64_t offset, std::uint64_t value) {
    set_reg(offset, static_cast<std::uint32_t>(value));
    set_reg(offset + 4, static_cast<std::uint32_t>(value >> 32));
  }
  void refuse(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }

  TestInitiator host_{"host"};
  tlm_utils::simple_target_socket<TestGpu> nothing_{"nothing"};
  sc_core::sc_signal<bool> interrupt_{"interrupt"};
  StatisticsGroup statistics_{"device"};
  Counts marked_;
  std::uint64_t written_ = 0;
  std::uint64_t dispatched_ = 0;  ///< kernels since start()
};

}  // namespace lacuna::test
