// The scalar memory unit: loads and stores of scalar registers through the scalar cache.
//
// An instruction occupies the unit for kIssueCycles; its lines leave at one per cycle. Data are in the registers smem_latency
// after the last response; different instructions may complete in any order.
#pragma once

#include "models/common/time/calendar.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/compute/memory/memory_tokens.h"
#include "models/compute/memory/physical_addresses.h"

namespace lacuna {

class ScalarMemory : private MemoryClient {
 public:
  static constexpr unsigned kLineBytes = 64;
  static constexpr std::uint64_t kIssueCycles = 4;

  ScalarMemory(const ComputeUnitParameters& parameters, Clock clock, GpuVm& vm, MemoryTokens& tokens, MemoryTarget& memory,
               std::uint16_t requester)
      : parameters_(parameters), clock_(clock), tokens_(tokens), port_(*this, memory), physical_(vm), requester_(requester) {}

  MemoryPort& port() { return port_; }
  /// Begins an access, whose requests are made from `cycle` on, and returns its token. The caller calls issued() for it.
  MemoryTokens::Token access(WavefrontSlot& slot, Cycles cycle);
  /// Number of line transactions so far.
  const std::uint64_t& requests() const { return requests_; }
  void retire(Tick horizon) { unit_.retire(horizon); }
  void reset() {
    port_.reset();
    unit_.reset();
  }

 private:
  void on_response(std::uint32_t tag, const MemoryResponse& response) override { tokens_.add(tag, response, response.done); }

  const ComputeUnitParameters& parameters_;
  Clock clock_;
  MemoryTokens& tokens_;
  MemoryPort port_;
  PhysicalAddresses physical_;
  std::uint16_t requester_;
  Calendar unit_;
  std::uint64_t requests_ = 0;
};

}  // namespace lacuna
