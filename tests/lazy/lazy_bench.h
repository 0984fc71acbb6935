// Test bench with compute units in all lazy modes, which share a zero cache.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "models/lazy/lazy_unit.h"
#include "tests/compute/compute_unit_bench.h"

namespace lacuna::test {

/// A zero cache that responds after `latency` and records its requests.
struct FixedLatencyZeroCache : MemoryTarget {
  Tick latency{50'000};
  std::vector<MemoryRequest> reads;
  std::vector<MemoryRequest> writes;
  bool request(const MemoryRequest& request, Tick at, MemoryClient&, std::uint32_t, MemoryResponse& response) override {
    (request.write ? writes : reads).push_back(request);
    response = {.made = request.made, .arrived = at, .done = at + latency, .service = latency};
    return true;
  }
};

/// Like ComputeUnitBench, with further units whose transactions have 32 bytes, and masks of all data memory in zero_cache.
class LazyBench : public ComputeUnitBench {
 public:
  explicit LazyBench(sc_core::sc_module_name module_name) : ComputeUnitBench(module_name) {
    ComputeUnitParameters small_lines;
    small_lines.transaction_bytes = 32;
    constexpr LazyParameters kInGroups{.mode = LazyMode::lazy, .first_use = FirstUse::all, .check = true};
    for (const LazyMode mode :
         {LazyMode::eager, LazyMode::eager_zero, LazyMode::lazy, LazyMode::lazy_zero, LazyMode::lazy_zero_otimes})
      add(small_lines, {.mode = mode, .check = true});
    for (const LazyMode mode : {LazyMode::lazy, LazyMode::lazy_zero, LazyMode::lazy_zero_otimes})
      add(small_lines, {.mode = mode, .address_unit = AddressUnit::twice, .check = true});
    add(small_lines, kInGroups);
  }

  ComputeUnit& lazy_unit(LazyMode mode, AddressUnit occupied = AddressUnit::once) { return *units[number(mode, occupied)]; }
  /// The lazy unit of the compute unit in mode `mode`; null in mode eager.
  LazyUnit* stage(LazyMode mode) { return stages_[static_cast<std::size_t>(mode)]; }
  /// The compute unit in mode lazy with FirstUse::all.
  ComputeUnit& lazy_in_groups() { return *units.back(); }
  FixedLatencyMemory& lazy_memory(LazyMode mode, AddressUnit occupied = AddressUnit::once) {
    return *memories[number(mode, occupied)];
  }

  FixedLatencyZeroCache zero_cache;
  ZeroMaskMap zero_map{AddressSlice(0x2000'0000, Bytes{kBytes}), 0x3000'0000, 32};

 private:
  /// A mode that does not hold loads has the same unit for both values of `occupied`.
  std::size_t number(LazyMode mode, AddressUnit occupied) const {
    const auto once = first_ + static_cast<std::size_t>(mode);
    return occupied == AddressUnit::twice && holds_loads(mode) ? once + 3 : once;
  }
  void add(const ComputeUnitParameters& parameters, const LazyParameters& lazy) {
    stages_.push_back(nullptr);
    const std::array<LoadStageFactory, 1> make{[&](const LoadStageContext& context) -> std::unique_ptr<LoadStage> {
      if (lazy.mode == LazyMode::eager) return nullptr;
      auto unit = std::make_unique<LazyUnit>(lazy, context, ZeroPath{.l1z = &zero_cache, .map = &zero_map});
      stages_.back() = unit.get();
      return unit;
    }};
    add_unit(TimingMode::loose, parameters, Cycles{50}, make);
  }

  const std::size_t first_ = units.size();
  std::vector<LazyUnit*> stages_;
};

}  // namespace lacuna::test
