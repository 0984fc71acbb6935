// A memory without banks: one server of B bytes per cycle, which serves reads and writes in call order, and a fixed latency.
//
//   begin    = max(end of the previous request, earliest)      in units of 1 / B cycle
//   end      = begin + bytes
//   arrival  = ceil(end / B) + latency                       in cycles; a write is complete at ceil(end / B)
//
// Defaults: 512 GB/s (thesis, section 4.5.1) at 1 GHz are 512 bytes per cycle; clock and latency are our choice.
#pragma once

#include <array>

#include "models/sida/pipeline/pass_memory.h"

namespace lacuna::sida {

class IdealMemory : public ImmediateMemory {
 public:
  /// Throws PassError for a bandwidth of 0.
  explicit IdealMemory(std::uint64_t bytes_per_cycle = 512, Time latency = 150);

  Time read(const MemoryRequest& request, Time earliest) override;
  Time write(const MemoryRequest& request, Time earliest) override;

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t bytes(MemoryKind kind) const { return by_kind_[static_cast<std::size_t>(kind)]; }
  std::uint64_t requests() const { return requests_; }
  /// Number of requests whose `earliest` was less than that of an earlier request.
  std::uint64_t out_of_order() const { return out_of_order_; }
  /// Share of the bandwidth that was used until `end`; 0 if `end` is 0.
  double utilisation(Time end) const;

 private:
  Time serve(const MemoryRequest& request, Time earliest);

  std::uint64_t bytes_per_cycle_;
  Time latency_;
  std::uint64_t free_ = 0;  ///< time at which the server becomes free, in units of 1 / bytes_per_cycle_ cycles
  std::uint64_t bytes_ = 0, requests_ = 0, out_of_order_ = 0;
  Time last_earliest_ = 0;
  std::array<std::uint64_t, kMemoryKinds> by_kind_{};
};

}  // namespace lacuna::sida
