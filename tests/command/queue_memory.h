// Memory with an amd_queue_t, its ring and signals, for tests of the packet processor's parts: no SystemC, no registers.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "include/lacuna/abi/gpu_registers.h"
#include "models/command/host_notifier.h"
#include "models/command/queue_table.h"
#include "models/command/signals.h"

namespace lacuna::test {

struct QueueMemory {
  static constexpr std::uint64_t kBase = 0x100000;  ///< GPU virtual address of the memory
  static constexpr std::uint64_t kBytes = 0x4000;
  static constexpr std::uint64_t kSignals = 0x1000;  ///< offset of signal i: + 64 i
  static constexpr std::uint64_t kRings = 0x2000;    ///< offset of ring q: + 0x200 q
  static constexpr std::uint32_t kRingSize = 8;      ///< packets

  QueueMemory() : bytes(kBytes) {
    EXPECT_EQ(vm.map(kBase, kBytes, 0, bytes.data(), isa::Access::read_write), GpuVm::Status::ok);
  }
  template <class T>
  T& at(std::uint64_t offset) {
    return *reinterpret_cast<T*>(bytes.data() + offset);
  }
  hsa::Queue& aql(unsigned q) { return at<hsa::Queue>(256 * q); }
  static std::uint64_t aql_address(unsigned q) { return kBase + 256 * q; }
  /// Initialises the amd_queue_t of queue q and returns its address.
  std::uint64_t lay_out(unsigned q) {
    aql(q) = {};
    aql(q).base_address = kBase + kRings + 0x200 * q;
    aql(q).size = kRingSize;
    for (unsigned i = 0; i < kRingSize; ++i) header(q, i) = static_cast<std::uint16_t>(hsa::PacketType::invalid);
    return aql_address(q);
  }
  std::byte* packet(unsigned q, std::uint64_t index) {
    return &at<std::byte>(kRings + 0x200 * q + index % kRingSize * hsa::kPacketBytes);
  }
  std::uint16_t& header(unsigned q, std::uint64_t index) { return *reinterpret_cast<std::uint16_t*>(packet(q, index)); }
  hsa::Signal& signal(unsigned i) { return at<hsa::Signal>(kSignals + 64 * i); }
  static std::uint64_t signal_handle(unsigned i) { return kBase + kSignals + 64 * i; }

  std::vector<std::byte> bytes;
  GpuVm vm;
  Signals signals{vm};
};

/// Interrupts and faults in the order in which they were raised.
struct RecordingInterrupts : InterruptSink {
  std::vector<std::uint32_t> raised;
  std::vector<std::pair<std::uint32_t, WavefrontFault>> faults;  // queue slot, fault
  void raise(std::uint32_t interrupts, Tick) override { raised.push_back(interrupts); }
  void record_fault(std::uint32_t slot, const WavefrontFault& fault) override { faults.emplace_back(slot, fault); }
};

}  // namespace lacuna::test
