#include "models/sida/pipeline/ideal_memory.h"

#include <algorithm>

#include "models/sida/pipeline/pass_shape.h"

namespace lacuna::sida {

IdealMemory::IdealMemory(std::uint64_t bytes_per_cycle, Time latency) : bytes_per_cycle_(bytes_per_cycle), latency_(latency) {
  if (bytes_per_cycle == 0) throw PassError("a memory has a bandwidth of at least one byte a cycle");
}

Time IdealMemory::serve(const MemoryRequest& request, Time earliest) {
  out_of_order_ += earliest < last_earliest_ ? 1 : 0;
  last_earliest_ = std::max(last_earliest_, earliest);
  free_ = std::max(free_, earliest * bytes_per_cycle_) + request.bytes;
  bytes_ += request.bytes;
  by_kind_[static_cast<std::size_t>(request.kind)] += request.bytes;
  ++requests_;
  return (free_ + bytes_per_cycle_ - 1) / bytes_per_cycle_;
}

Time IdealMemory::read(const MemoryRequest& request, Time earliest) { return serve(request, earliest) + latency_; }
Time IdealMemory::write(const MemoryRequest& request, Time earliest) { return serve(request, earliest); }

double IdealMemory::utilisation(Time end) const {
  return end == 0 ? 0 : static_cast<double>(bytes_) / (static_cast<double>(bytes_per_cycle_) * static_cast<double>(end));
}

}  // namespace lacuna::sida
