// Tests the detection of packets that the runtime itself has submitted: their submitter spins until they are done.
#include "drivers/rocm/runtime_packets.h"

#include <gtest/gtest.h>
#include <cstring>

#include "include/lacuna/abi/hsa.h"

namespace lacuna::rocm {
namespace {

class RuntimePacketsTest : public testing::Test {
 protected:
  bool spins(hsa::PacketType type, const hsa::Signal* signal, hsa::VendorFormat format = {}) {
    hsa::BarrierPacket packet{};
    packet.header = static_cast<std::uint16_t>(type);
    packet.completion_signal = handle(signal);
    std::byte raw[sizeof packet];
    std::memcpy(raw, &packet, sizeof packet);
    if (type == hsa::PacketType::vendor_specific) raw[2] = static_cast<std::byte>(format);
    return packets_.submitter_spins(raw);
  }
  static std::uint64_t handle(const hsa::Signal* signal) { return reinterpret_cast<std::uint64_t>(signal); }

  RuntimePackets packets_;
  static hsa::Signal signal() {
    hsa::Signal signal{};
    signal.value = 1;
    return signal;
  }
  hsa::Signal of_program_ = signal();
  hsa::Signal of_runtime_ = signal();
};

TEST_F(RuntimePacketsTest, ASignalThatTheProgramHasNotCreatedIsTheRuntimes) {
  packets_.signal_created(handle(&of_program_));
  for (const auto type : {hsa::PacketType::kernel_dispatch, hsa::PacketType::barrier_and, hsa::PacketType::barrier_or}) {
    EXPECT_TRUE(spins(type, &of_runtime_));
    EXPECT_FALSE(spins(type, &of_program_));
    EXPECT_FALSE(spins(type, nullptr));
  }
  EXPECT_FALSE(spins(hsa::PacketType::invalid, &of_runtime_)) << "not written yet";
}

TEST_F(RuntimePacketsTest, TheSpinEndsWithTheSignal) {
  packets_.signal_created(handle(&of_program_));
  of_runtime_.value = 0;
  EXPECT_FALSE(spins(hsa::PacketType::kernel_dispatch, &of_runtime_));
}

// Before the first signal_created() no signal is considered the runtime's own: the runtime's calls may not be intercepted.
TEST_F(RuntimePacketsTest, WithoutASignalOfTheProgramNoneIsKnown) {
  EXPECT_FALSE(spins(hsa::PacketType::kernel_dispatch, &of_runtime_));
}

TEST_F(RuntimePacketsTest, AnAddressMayBeUsedAgain) {
  packets_.signal_created(handle(&of_program_));
  packets_.signal_destroyed(handle(&of_program_));
  EXPECT_TRUE(spins(hsa::PacketType::kernel_dispatch, &of_program_));
}

TEST_F(RuntimePacketsTest, Pm4CommandsAreWaitedForByTheReadIndex) {
  alignas(8) std::byte slot[hsa::kPacketBytes] = {};
  slot[3] = std::byte{0xc0};  // a type 3 command: the slot is not an AQL packet
  EXPECT_TRUE(packets_.submitter_spins(slot));
  EXPECT_TRUE(spins(hsa::PacketType::vendor_specific, nullptr, hsa::VendorFormat::pm4_indirect_buffer));
  EXPECT_FALSE(spins(hsa::PacketType::vendor_specific, nullptr, hsa::VendorFormat::barrier_value));
}

// The runtime yields between two polls of the read index, but not between two polls of a signal.
TEST_F(RuntimePacketsTest, WhereYieldsAreWaitsASubmitterOfPm4CommandsDoesNotSpin) {
  packets_.yields_are_waits();
  packets_.signal_created(handle(&of_program_));
  alignas(8) std::byte slot[hsa::kPacketBytes] = {};
  slot[3] = std::byte{0xc0};
  EXPECT_FALSE(packets_.submitter_spins(slot));
  EXPECT_FALSE(spins(hsa::PacketType::vendor_specific, nullptr, hsa::VendorFormat::pm4_indirect_buffer));
  EXPECT_TRUE(spins(hsa::PacketType::kernel_dispatch, &of_runtime_));
}

}  // namespace
}  // namespace lacuna::rocm
