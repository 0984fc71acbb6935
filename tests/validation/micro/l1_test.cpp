// Size, line size, associativity, transfer size and latency of the L1, recovered by timing chains of loads and compared with
// the configured values.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "tests/validation/micro/cache_prober.h"
#include "tests/validation/micro/machine.h"
#include "tests/validation/micro/micro.h"

namespace lacuna::validation {
namespace {

/// Rounds cycles up to the next issue slot of the wavefront's SIMD, the earliest time at which a load's data can be used.
double at_issue(const Machine& machine, double cycles) {
  const double turn = machine.configured("cu.simds");
  return std::ceil(cycles / turn) * turn;
}

struct MicroL1 : Micro {
  MicroL1() : Micro("micro_l1.csv") {}
};

TEST_F(MicroL1, ParametersAreRecoveredByMicrobenchmarks) {
  const std::vector<Variant> variants{
      {"r9nano", "r9nano", {}},
      // The variants have one shader array only, since the chain is executed by a single wavefront.
      {"six_ways", "r9nano", {"gpu.shader_arrays=1", "l1v.size=24KiB", "l1v.ways=6", "l1v.hit_latency=29cycles"}},
      {"long_lines", "r9nano", {"gpu.shader_arrays=1", "l1v.size=32KiB", "l1v.ways=8", "l1v.line=128B"}},
      {"short_lines",
       "r9nano",
       {"gpu.shader_arrays=1", "l1v.size=8KiB", "l1v.ways=2", "l1v.line=32B", "cu.transaction_bytes=32"}},
      {"plru", "r9nano", {"gpu.shader_arrays=1", "l1v.size=16KiB", "l1v.replacement=plru"}},
      {"mesh56", "mesh56", {}},
  };
  for (const Variant& variant : variants) {
    Machine machine("l1_" + variant.name, variant.configuration, variant.settings);
    const Calibration calibration = calibrate(machine);
    const Transfer transfer = measure_transfer(machine, calibration);
    CacheProber prober(machine, calibration, calibration.l1_latency, 1024, 128 << 10);
    const std::uint64_t size = prober.size(static_cast<std::uint64_t>(transfer.bytes));
    const std::uint64_t distance = std::bit_ceil(size);
    const unsigned ways = prober.ways(distance);
    const std::uint64_t line = prober.line(distance, ways);

    const auto configured = [&machine](const std::string& parameter) { return machine.configured(parameter); };
    expect(machine, "latency", calibration.l1_latency,
           at_issue(machine, configured("cu.vmem_address_latency") + configured("l1v.hit_latency") +
                                 configured("cu.vmem_return_latency")));
    expect(machine, "transfer", transfer.bytes, std::min(configured("l1v.line"), configured("l1v.sector")));
    expect(machine, "size", static_cast<double>(size), configured("l1v.size"));
    expect(machine, "ways", ways, configured("l1v.ways"));
    expect(machine, "line", static_cast<double>(line), configured("l1v.line"));
  }
}

}  // namespace
}  // namespace lacuna::validation
