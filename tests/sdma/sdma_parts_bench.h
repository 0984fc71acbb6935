// Test bench for the parts of an SDMA engine, without the engine: memory of fixed latency, a timeline with 50 ns lookahead, and
// one queue.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include "models/sdma/sdma_data_mover.h"
#include "models/sdma/sdma_memory.h"
#include "tests/sdma/sdma_bench.h"

namespace lacuna::test {

class SdmaPartsBench : public sc_core::sc_module {
 public:
  explicit SdmaPartsBench(sc_core::sc_module_name module_name) : sc_module(module_name), bytes(kBytes) {
    socket.bind(memory.socket);
    EXPECT_EQ(vm.map(kBase, kBytes, kPhysical, bytes.data(), isa::Access::read_write), GpuVm::Status::ok);
    EXPECT_EQ(vm.map(kReadOnly, 0x1000, kPhysical + kSource, bytes.data() + kSource, isa::Access::read), GpuVm::Status::ok);
    EXPECT_EQ(vm.map(kNoBus, 0x1000, 0x1000, bytes.data() + kSource, isa::Access::read_write), GpuVm::Status::ok);
  }
  template <class T>
  T& at(std::uint64_t offset) {
    return *reinterpret_cast<T*>(bytes.data() + offset);
  }
  std::vector<std::byte> bytes;
  GpuVm vm;
  tlm_utils::simple_initiator_socket<SdmaPartsBench> socket{"socket"};
  Memory memory{"memory"};
  TimingPort port{socket};
};

class SdmaPartsTest : public testing::Test {
 protected:
  SdmaPartsTest() {
    notifier_.set_listener(listener_);
    parameters_.request_bytes = 64;
    b_.memory.requests.clear();
    for (std::size_t i = 0; i < b_.bytes.size(); ++i) b_.bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
    timeline_.advance_to(now());
    queue_.id = 5;
    queue_.description = {.ring = kBase, .ring_bytes = kRingBytes, .read_pointer = kBase + kPointers, .name = "test"};
  }
  /// Code of the only fault; ~0 if there is no fault or there are several.
  std::uint32_t fault() const { return listener_.faults.size() == 1 ? listener_.faults[0].code : ~0U; }

  SdmaPartsBench& b_ = bench<SdmaPartsBench>();
  Listener listener_;
  SdmaParameters parameters_;
  SdmaStatistics statistics_;
  SdmaNotifier notifier_{"engine", statistics_};
  std::vector<Tick> retired_;
  SdmaTimeline timeline_{Tick{50'000}, [this](Tick at) { retired_.push_back(at); }};
  SdmaMemory memory_{b_.vm, b_.port, TimingMode::loose, timeline_, notifier_};
  SdmaQueue queue_;
};

}  // namespace lacuna::test
