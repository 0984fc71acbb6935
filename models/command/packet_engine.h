// An engine that executes vendor-specific packets of one format from user-mode queues: research hardware outside the compute
// units.
//
// The packet processor starts an engine's packet like any other: in order, after the barrier bit, its latency and its acquire
// fence. The engine then executes it independently and reports its end, after which release fence, completion signal and
// interrupt follow as for any packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "include/lacuna/abi/hsa.h"
#include "models/command/packet_outcome.h"
#include "models/common/time/units.h"

namespace lacuna {

/// A packet that an engine executes.
struct EnginePacket {
  unsigned slot = 0;        ///< slot of its queue
  std::uint64_t index = 0;  ///< index in its queue
};

/// Receives the reports of an engine. Both functions may be called from any SystemC process.
class PacketEngineListener {
 public:
  virtual ~PacketEngineListener() = default;
  /// The packet is complete.
  virtual void packet_done(const EnginePacket& packet) = 0;
  /// The packet cannot be completed and stops its queue.
  virtual void packet_failed(const EnginePacket& packet, PacketRefusal refusal) = 0;
};

class PacketEngine {
 public:
  virtual ~PacketEngine() = default;
  virtual hsa::VendorFormat format() const = 0;
  virtual void set_listener(PacketEngineListener& listener) = 0;
  /// Whether the engine reads and writes GPU memory without L2. Acquire fences of its packets then write back L2, and their
  /// release fences also drop L2's lines, which may be older than what the engine has written.
  virtual bool bypasses_l2() const { return false; }
  /// Delay of each of its packets, added to the packet processor's latency.
  virtual Tick start_phase() const { return {}; }
  /// Checks a packet, 64 bytes, without starting it. nullopt: start() would accept it.
  virtual std::optional<PacketRefusal> check(const std::byte* raw) const = 0;
  /// Starts a packet. The engine reports the packet's end unless the packet is dropped, and calls CopyContext::work_begins()
  /// before it accesses memory.
  virtual void start(const std::byte* raw, const EnginePacket& packet) = 0;
  /// Drops all packets of a queue: their memory is not accessed afterwards, and they are not reported.
  virtual void drop(unsigned slot) = 0;
  /// Suspends or resumes a queue. Packets of a suspended queue do not begin; a packet that has begun runs to its end.
  virtual void suspend(unsigned slot, bool suspended) = 0;
  /// Value of a register of include/lacuna/abi/gpu_registers.h; nullopt: the register does not belong to the engine.
  virtual std::optional<std::uint32_t> read_register(std::uint64_t offset) const = 0;
};

}  // namespace lacuna
