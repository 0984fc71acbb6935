// The device's resources: the amounts that its parts have used and the amounts available (ResourceMeter).

#include <cstdint>
#include <utility>

#include "models/gpu/gpu_device.h"

namespace lacuna {

namespace {
/// Bytes of the L1 that a group of lanes accesses in a cycle at most (LaneGroups::quads): four words of its data banks.
constexpr std::uint64_t kGroupBytes = 64;
}  // namespace

ResourceAmounts GpuDevice::used() const {
  // Counters of units and their caches change within windows only: kernels launched between the same two windows reuse the
  // sums.
  if (std::exchange(used_by_units_.windows, windows_.count()) != windows_.count()) used_by_units_.sum = used_by_units();
  ResourceAmounts sum = used_by_units_.sum;
  const auto of = [&sum](Resource r) -> std::uint64_t& { return sum[static_cast<std::size_t>(r)]; };
  for (const auto& cache : l2_) {
    of(Resource::l2) += (cache->statistics().reads + cache->statistics().writes) * parameters_.l2.sector.n;
  }
  const auto& ports = noc_->statistics().destinations;
  for (unsigned i = 0; i < destinations_.l2_banks; ++i) {
    of(Resource::noc) += ports[destinations_.first_l2 + i].flits * parameters_.noc.width;
    if (extension_memory_) of(Resource::noc) += ports[destinations_.first_of_extension + i].flits * parameters_.noc.width;
  }
  for (const auto& channel : dram_)
    of(Resource::dram) += channel->statistics().bytes_read + channel->statistics().bytes_written;
  for (std::size_t i = 0; i < kResources; ++i) sum[i] += copies_->used_in_bulk()[i];
  return sum;
}

ResourceAmounts GpuDevice::used_by_units() const {
  ResourceAmounts sum{};
  const auto of = [&sum](Resource r) -> std::uint64_t& { return sum[static_cast<std::size_t>(r)]; };
  for (const auto& unit : units_) {
    of(Resource::compute) += unit->statistics().valu_busy_cycles;
    of(Resource::matrix) += unit->matrix_units().busy_cycles();
  }
  if (parameters_.cu.lane_groups == LaneGroups::quads) {
    for (const auto& unit : units_) of(Resource::l1) += unit->vector_group_cycles() * kGroupBytes;
    return sum;
  }
  // L1s count atomics and bypasses separately, unlike write-back caches, which count atomics as reads.
  for (const auto& cache : l1v_) {
    const CacheStatistics& s = cache->statistics();
    of(Resource::l1) += (s.reads + s.writes + s.atomics + s.bypasses) * parameters_.l1v.sector.n;
  }
  return sum;
}

ResourceAmounts GpuDevice::available(Cycles cycles) const {
  ResourceAmounts most{};
  const auto of = [&most](Resource r) -> std::uint64_t& { return most[static_cast<std::size_t>(r)]; };
  const Tick time = Clock(parameters_.gpu.core_clock).ticks(cycles);
  const auto cycles_of = [time](Frequency clock) { return time.ps / clock.period().ps; };
  const std::uint64_t simds = units_.size() * parameters_.cu.simds;
  of(Resource::compute) = of(Resource::matrix) = simds * cycles.n;
  of(Resource::slots) = simds * parameters_.cu.wavefronts_per_simd * cycles.n;
  const auto cache_bytes = [&](const CacheParameters& p) {
    return std::uint64_t{p.ports} * p.banks * p.sector.n * cycles_of(p.clock);
  };
  of(Resource::l1) = parameters_.cu.lane_groups == LaneGroups::quads ? units_.size() * kGroupBytes * cycles.n
                                                                     : l1v_.size() * cache_bytes(parameters_.l1v);
  of(Resource::l2) = l2_.size() * cache_bytes(parameters_.l2);
  const unsigned noc_ports = destinations_.l2_banks * (extension_memory_ && !extension_memory_->shares_l2_nodes ? 2 : 1);
  const unsigned port_flits = noc_->ports() == nullptr ? 1 : parameters_.noc.destination_flits;
  of(Resource::noc) = 2ULL * noc_ports * port_flits * parameters_.noc.width * cycles_of(parameters_.noc.clock);
  of(Resource::dram) = dram_.size() * parameters_.dram.bus_bytes({cycles_of(parameters_.dram.clock)});
  return most;
}

MemoryCounts GpuDevice::memory_counts() const {
  MemoryCounts counts{};
  const auto of = [&counts](MemoryCount c) -> std::uint64_t& { return counts[static_cast<std::size_t>(c)]; };
  for (const auto& cache : l2_) {
    of(MemoryCount::l2_reads) += cache->statistics().reads;
    of(MemoryCount::l2_read_hits) += cache->statistics().read_hits;
  }
  for (const auto& channel : dram_) {
    const DramStatistics& s = channel->statistics();
    of(MemoryCount::dram_row_hits) += s.row_hits;
    of(MemoryCount::dram_row_empty) += s.row_empty;
    of(MemoryCount::dram_row_conflicts) += s.row_conflicts;
  }
  return counts;
}

std::uint64_t GpuDevice::reachable_dram_bytes(Cycles cycles) const {
  const Tick time = Clock(parameters_.gpu.core_clock).ticks(cycles);
  const Cycles dram_cycles{time.ps / Clock(parameters_.dram.clock).period().ps};
  return dram_.size() * parameters_.dram.reachable_bytes(dram_cycles, parameters_.l2.sector);
}

}  // namespace lacuna
