// Sizes, lines, associativity and latencies of the caches, recovered from outside by chains of loads and compared with what
// the machine was configured to be.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "tests/validation/micro/cache_prober.h"
#include "tests/validation/micro/machine.h"
#include "tests/validation/reference_table.h"

namespace lacuna::validation {
namespace {

struct Variant {
  std::string name;
  std::string configuration;
  std::vector<std::string> settings;
};

class Micro : public testing::Test {
 protected:
  explicit Micro(const std::string& table) : results_(table, {"machine"}) {}
  void expect(const Machine& machine, const std::string& quantity, double recovered, double configured) {
    results_.add({machine.name()}, quantity, recovered, configured, 0);
    EXPECT_EQ(recovered, configured) << machine.name() << ": " << quantity;
  }

 private:
  Comparison results_;
};

/// A load's data can be used when its wavefront's SIMD issues next.
double at_issue(const Machine& machine, double cycles) {
  const double turn = machine.configured("cu.simds");
  return std::ceil(cycles / turn) * turn;
}

struct MicroL1 : Micro {
  MicroL1() : Micro("micro_l1.csv") {}
};

TEST_F(MicroL1, IsRecovered) {
  const std::vector<Variant> variants{
      {"r9nano", "r9nano", {}},
      {"six_ways", "r9nano", {"l1v.size=24KiB", "l1v.ways=6", "l1v.hit_latency=29cycles"}},
      {"long_lines", "r9nano", {"l1v.size=32KiB", "l1v.ways=8", "l1v.line=128B"}},
      {"short_lines", "r9nano", {"l1v.size=8KiB", "l1v.ways=2", "l1v.line=32B", "cu.transaction_bytes=32"}},
      {"plru", "r9nano", {"l1v.size=16KiB", "l1v.replacement=plru"}},
      {"mesh56", "mesh56", {}},
  };
  for (const Variant& variant : variants) {
    Machine machine("l1_" + variant.name, variant.configuration, variant.settings);
    const Calibration calibration = calibrate(machine);
    const Transfer transfer = measure_transfer(machine, calibration);
    CacheProber prober(machine, calibration, calibration.l1_latency, 1024);
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

struct MicroLatency : Micro {
  MicroLatency() : Micro("micro_latency.csv") {}
};

// LazyGPU (ISCA '25), section 5.1.
TEST_F(MicroLatency, OfR9NanoIsThePapers) {
  Machine machine("latency_r9nano", "r9nano", {});
  const Calibration calibration = calibrate(machine);
  expect(machine, "L1", calibration.l1_latency, 60);
  expect(machine, "L2", measure_transfer(machine, calibration).l2_latency, 112);
}

}  // namespace
}  // namespace lacuna::validation
