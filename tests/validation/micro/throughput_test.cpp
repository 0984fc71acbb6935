// Number of MSHRs of the L1, and bandwidths of the memory levels, measured by kernels and compared with the configuration.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/validation/micro/machine.h"
#include "tests/validation/micro/micro.h"

namespace lacuna::validation {
namespace {

struct MicroMshrs : Micro {
  MicroMshrs() : Micro("micro_mshrs.csv") {}
};

// Each further miss adds a little time, until the number of misses exceeds the number of MSHRs by one: the last of these misses
// waits for the data of the first one.
TEST_F(MicroMshrs, AreRecovered) {
  constexpr unsigned kMost = 200;
  constexpr unsigned kDistance = 128;
  const std::vector<Variant> variants{
      {"default", "r9nano", {"l2.hit_latency=400cycles"}},
      {"sixteen", "r9nano", {"l2.hit_latency=400cycles", "l1v.mshrs=16"}},
      {"many", "r9nano", {"l2.hit_latency=700cycles", "l1v.mshrs=150"}},
      {"six", "tiny", {"l1v.mshrs=6"}},
  };
  for (const Variant& variant : variants) {
    Machine machine("mshrs_" + variant.name, variant.configuration, variant.settings);
    machine.launch(fmt::format("[code]\nfile = {}/micro_throughput.co\n"
                               "[buffer table]\ncontents = zero:{}\n"
                               "[buffer cycles]\ncontents = zero:{}\nsave = cycles.bin\n"
                               "[dispatch misses]\ngrid = 64\narg = buf:table\narg = buf:cycles\narg = u32:{}\narg = u32:{}\n",
                               kernels(), kMost * kDistance, kMost * 4, kMost, kDistance),
                   {});
    const Words cycles = machine.saved("cycles.bin");
    // With N MSHRs there is such a wait after every N misses.
    std::vector<std::uint32_t> more;
    for (unsigned n = 1; n < kMost; ++n) more.push_back(cycles[n] - cycles[n - 1]);
    const std::uint32_t wait = *std::max_element(more.begin(), more.end()) / 2;
    const auto first = std::find_if(more.begin(), more.end(), [wait](std::uint32_t step) { return step > wait; });
    const auto mshrs = static_cast<double>(first - more.begin() + 1);
    expect(machine, "mshrs", mshrs, machine.configured("l1v.mshrs"));
  }
}

struct Stream {
  std::string level;
  unsigned workgroups;
  std::uint64_t vectors;  ///< number of vectors of 16 bytes that are read
  unsigned group_step;    ///< arguments of the kernel
  unsigned step;
  unsigned loads;
  unsigned dispatches;  ///< number of dispatches; the last one is measured
  double peak;          ///< peak bandwidth, GB/s
};

struct MicroBandwidth : Micro {
  MicroBandwidth() : Micro("micro_bandwidth.csv") {}
};

// Peaks as in LazyGPU (ISCA '25), section 5.1 (L1 2 TB/s, L2 512 GB/s, DRAM 256 GB/s), here with the exact values of the
// configuration. A higher bandwidth would mean that a level above held some of the lines. The time is that of the whole
// dispatch, start and end included.
TEST_F(MicroBandwidth, ReachesNineTenthsOfThePeak) {
  constexpr unsigned kItems = 256;
  constexpr unsigned kVector = 16;
  constexpr double kReached = 0.9;
  const std::vector<Stream> streams{
      // Every workgroup reads the same 16 KiB, which are in each L1 after the first loads. Peak: 16 L1s x 2 ports x 64 B per
      // cycle.
      {"L1", 640, 1024, 0, kItems, 32, 1, 2048},
      // 2 MiB, which the first dispatch loads into the L2. Workgroups never access lines that others on the same L1 have
      // loaded, so no load hits in the L1. Peak: 16 ports of the network x 32 B per cycle.
      {"L2", 512, 131072, kItems, 8 * kItems, 8, 2, 512},
      // 32 MiB, each byte read once. Peak: 16 channels x 16 B per cycle.
      {"DRAM", 1024, 1 << 21, kItems, 1024 * kItems, 8, 1, 256},
  };
  Machine machine("bandwidth", "r9nano", {});
  for (const Stream& stream : streams) {
    std::string text = fmt::format("[code]\nfile = {}/micro_throughput.co\n[buffer data]\ncontents = zero:{}\n", kernels(),
                                   stream.vectors * kVector);
    for (unsigned i = 0; i < stream.dispatches; ++i) {
      text += fmt::format("[dispatch stream]\ngrid = {}\narg = buf:data\narg = null\n", stream.workgroups * kItems);
      for (const std::uint64_t argument :
           {stream.vectors, std::uint64_t{stream.group_step}, std::uint64_t{stream.step}, std::uint64_t{stream.loads}}) {
        text += fmt::format("arg = u32:{}\n", argument);
      }
    }
    machine.launch(text, {});
    const double bytes = 1.0 * stream.workgroups * kItems * stream.loads * kVector;
    const double reached = bytes / machine.dispatch_times("stream").back();
    results().add({machine.name()}, stream.level + " GB/s", reached, stream.peak, 1 - kReached);
    EXPECT_GE(reached, kReached * stream.peak) << stream.level;
    EXPECT_LE(reached, stream.peak) << stream.level;
  }
}

}  // namespace
}  // namespace lacuna::validation
