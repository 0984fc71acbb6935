// The vector memory unit: turns a wavefront's load, store or atomic into transactions of one line each.
//
// An instruction's addresses take the unit 64 / lanes_per_simd cycles, or one for each of its lines when those are more. The
// first line leaves vmem_address_latency after the issue, one a cycle follows; each has its page translated and goes to the L1
// vector cache. The data are in the registers vmem_return_latency after the last answer.
//
// With a reorder buffer a line leaves when it has an entry, and answers return in the order of the requests.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/common/calendar.h"
#include "models/common/host_prefetch.h"
#include "models/compute/coalescer.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/compute/memory_tokens.h"
#include "models/compute/physical_addresses.h"
#include "models/compute/reorder_buffer.h"

namespace lacuna {

class VectorMemory : private PortClient {
 public:
  VectorMemory(const ComputeUnitParameters& parameters, Clock clock, GpuVm& vm, MemoryTokens& tokens, LineMemory& memory,
               std::uint16_t requester);

  MemoryPort& port() { return port_; }
  /// What to tell of the next requests; null: nothing.
  void attach(const HostPrefetch* prefetch) { prefetch_ = prefetch; }
  /// The lanes of the instruction that executes, global and LDS addresses.
  isa::LaneAddresses& addresses() { return addresses_; }

  /// A token for the access, whose requests are made from `cycle` on. issued() of the token is left to the caller.
  MemoryTokens::Token access(WavefrontSlot& slot, const isa::MemoryAccess& access, Counters counters, Cycles cycle);
  /// Of an instruction without lanes in global memory.
  MemoryTokens::Token no_access(WavefrontSlot& slot, Counters counters, Cycles cycle);
  /// Line transactions so far.
  const std::uint64_t& requests() const { return requests_; }
  void retire(Tick horizon) { unit_.retire(horizon); }
  void reset();

 private:
  /// A line that waits for an entry of the reorder buffer, or for those before it.
  struct Waiting {
    LineAccess access;
    std::uint64_t virtual_address;
    Tick wanted;
    MemoryTokens::Token token;
  };
  /// The request of an entry of the reorder buffer.
  struct Entered {
    MemoryTokens::Token token = 0;
    PortAnswer answer;
    LatencyBreakdown below;
  };

  void answered(std::uint32_t tag, const PortAnswer& answer) override;
  void send_in_order();
  void take_answer(ReorderBuffer::Entry entry, const PortAnswer& answer);

  const ComputeUnitParameters& parameters_;
  Clock clock_;
  MemoryTokens& tokens_;
  MemoryPort port_;
  PhysicalAddresses physical_;
  const HostPrefetch* prefetch_ = nullptr;
  std::uint16_t requester_;
  Calendar unit_;
  Coalescer coalescer_;
  isa::LaneAddresses addresses_;
  /// Bus addresses of an instruction's lines.
  std::array<std::uint64_t, 2 * isa::kLanes> line_addresses_;

  ReorderBuffer reorder_;
  std::vector<Entered> entered_;  // by entry
  std::vector<Waiting> waiting_;  // in order, from first_waiting_ on
  std::size_t first_waiting_ = 0;
  Tick last_made_{};
  std::uint64_t page_ = ~std::uint64_t{0};  // translated last for the reorder buffer
  bool sending_ = false;
  std::uint64_t requests_ = 0;
};

}  // namespace lacuna
