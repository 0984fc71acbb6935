// Size, line size, associativity and latency of the L2, recovered by timing chains of loads and compared with the configured
// values; unloaded latencies of the R9 Nano compared with published latencies.
#include <gtest/gtest.h>

#include <bit>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/validation/micro/cache_prober.h"
#include "tests/validation/micro/machine.h"
#include "tests/validation/micro/micro.h"

namespace lacuna::validation {
namespace {

struct MicroL2 : Micro {
  MicroL2() : Micro("micro_l2.csv") {}
};

TEST_F(MicroL2, ParametersAreRecoveredByMicrobenchmarks) {
  // Small caches, so that chains through all of a cache are short.
  const std::vector<Variant> variants{
      {"small", "r9nano", {"l1v.size=4KiB", "l2.size=16KiB"}},
      {"two_parts",
       "r9nano",
       {"l1v.size=4KiB", "l1v.ways=2", "gpu.memory_partitions=2", "l2.size=32KiB", "l2.ways=8", "l2.line=128B"}},
      {"twelve_ways", "r9nano", {"l1v.size=4KiB", "gpu.memory_partitions=1", "l2.size=96KiB", "l2.ways=12", "cu.simds=1"}},
      {"hashed", "r9nano", {"l1v.size=4KiB", "l2.size=16KiB", "gpu.partition_hash=xor", "l2.set_hash=xor"}},
      {"hashed_sets", "r9nano", {"l1v.size=4KiB", "gpu.memory_partitions=1", "l2.size=64KiB", "l2.set_hash=xor"}},
  };
  for (const Variant& variant : variants) {
    const bool hashed = variant.name.starts_with("hashed");
    std::vector<std::string> settings = variant.settings;
    // One shader array is sufficient, since the chain is executed by a single wavefront; MicroLatency measures the whole
    // machine.
    settings.emplace_back("gpu.shader_arrays=1");
    if (!hashed) settings.insert(settings.end(), {"gpu.partition_hash=none", "l2.set_hash=none"});
    Machine machine("l2_" + variant.name, variant.configuration, settings);
    const Calibration calibration = calibrate(machine);
    const double latency = measure_transfer(machine, calibration).l2_latency;
    constexpr std::uint64_t kAboveL1 = 8192;
    CacheProber prober(machine, calibration, latency, kAboveL1, 512 << 10);
    const std::uint64_t size = prober.size(64);
    const std::uint64_t distance = std::bit_ceil(size);
    expect(machine, "latency", latency, 112);
    expect(machine, "size", static_cast<double>(size),
           machine.configured("l2.size") * machine.configured("gpu.memory_partitions"));
    if (hashed) {
      EXPECT_THROW(prober.ways(distance), std::runtime_error)
          << "no power of two brings more lines into a set than it has ways";
      continue;
    }
    const unsigned ways = prober.ways(distance);
    const std::uint64_t line = prober.line(distance, ways);
    expect(machine, "ways", ways, machine.configured("l2.ways"));
    expect(machine, "line", static_cast<double>(line), machine.configured("l2.line"));
  }
}

struct MicroLatency : Micro {
  MicroLatency() : Micro("micro_latency.csv") {}
};

// Latencies of LazyGPU (ISCA '25), section 5.1.
TEST_F(MicroLatency, OfR9NanoEqualsThePaper) {
  Machine machine("latency_r9nano", "r9nano", {});
  const Calibration calibration = calibrate(machine);
  expect(machine, "L1", calibration.l1_latency, 60);
  expect(machine, "L2", measure_transfer(machine, calibration).l2_latency, 112);
}

}  // namespace
}  // namespace lacuna::validation
