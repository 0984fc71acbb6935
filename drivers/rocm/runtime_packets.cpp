#include "drivers/rocm/runtime_packets.h"

#include <atomic>
#include <cstring>

#include "include/lacuna/abi/hsa.h"
#include "models/command/pm4.h"

namespace lacuna::rocm {

void RuntimePackets::signal_created(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  known_ = true;
  of_program_.insert(handle);
}

void RuntimePackets::signal_destroyed(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  of_program_.erase(handle);
}

bool RuntimePackets::owns(std::uint64_t signal) {
  const std::lock_guard lock(mutex_);
  return known_ && !of_program_.contains(signal);
}

bool RuntimePackets::submitter_spins(const std::byte* packet) {
  std::uint32_t first = 0;
  std::memcpy(&first, packet, sizeof first);
  if (Pm4Reader::starts(first)) return !yields_are_waits_;
  hsa::BarrierPacket layout;  // header, format and completion signal have the same offsets in all packets
  std::memcpy(&layout, packet, sizeof layout);
  const hsa::PacketType type = hsa::PacketHeader{layout.header}.type();
  if (type == hsa::PacketType::invalid || type == hsa::PacketType::agent_dispatch) return false;
  if (layout.completion_signal == 0) {
    return !yields_are_waits_ && type == hsa::PacketType::vendor_specific &&
           static_cast<hsa::VendorFormat>(packet[2]) == hsa::VendorFormat::pm4_indirect_buffer;
  }
  if (!owns(layout.completion_signal)) return false;
  auto* const signal = reinterpret_cast<hsa::Signal*>(layout.completion_signal);  // NOLINT(performance-no-int-to-ptr)
  return std::atomic_ref(signal->value).load(std::memory_order_acquire) >= 1;
}

}  // namespace lacuna::rocm
