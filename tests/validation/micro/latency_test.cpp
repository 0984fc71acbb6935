// Latency of DRAM for each state of the bank, and latency and bank conflicts of the LDS, measured by kernels and compared with
// the configuration. A compute unit with one SIMD issues in every cycle, so no latency is rounded up to a SIMD's issue slot.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/validation/micro/cache_prober.h"
#include "tests/validation/micro/machine.h"
#include "tests/validation/micro/micro.h"

namespace lacuna::validation {
namespace {

double most_frequent(const std::vector<double>& values) {
  std::map<double, unsigned> count;
  for (const double value : values) ++count[value];
  return std::max_element(count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
}

struct MicroDram : Micro {
  MicroDram() : Micro("micro_dram.csv") {}
};

/// Returns one load of each page, so that its translation is cached, then loads of random lines, all different, each followed
/// by a load of the adjacent line.
std::vector<Chain> random_pairs(std::uint64_t bytes, unsigned count) {
  constexpr std::uint64_t kLine = 64;
  constexpr std::uint64_t kPage = 65536;
  std::vector<Chain> loads;
  std::set<std::uint64_t> loaded;
  for (std::uint64_t address = 0; address < bytes; address += kPage) loads.push_back({address, 1});
  std::mt19937 random(1);
  while (loaded.size() < count) {
    const std::uint64_t pair = random() % (bytes / kLine / 2) * 2 * kLine;
    if (pair % kPage == 0 || !loaded.insert(pair).second) continue;
    loads.push_back({pair, 1});
    loads.push_back({pair + kLine, 1});
  }
  return loads;
}

// Single loads of lines that are in no cache. Refresh closes all rows more often than random loads return to a bank: most
// random loads find the bank closed, and the load of the adjacent line finds the row open. Without refresh each bank soon has
// some row open.
TEST_F(MicroDram, LatencyOfARowThatIsOpenClosedOrInTheWay) {
  constexpr std::uint64_t kBytes = 2 << 20;
  constexpr unsigned kPairs = 1500;
  const std::vector<Chain> loads = random_pairs(kBytes, kPairs);
  const std::size_t pairs_begin = loads.size() - 2 * kPairs;
  const auto latency = [&](Machine& machine, std::size_t begin) {
    const Calibration calibration = calibrate(machine);
    const std::vector<double> cycles = machine.chase({.bytes = kBytes, .stride = 0, .links = {}}, loads, 0);
    std::vector<double> values;
    for (std::size_t i = begin; i < cycles.size(); i += 2) values.push_back(cycles[i] - calibration.overhead);
    return most_frequent(values);
  };
  Machine machine("dram", "r9nano", {"cu.simds=1"});
  // LazyGPU (ISCA '25), section 5.1: 146 cycles, which we take to be those of a bank without an open row.
  expect(machine, "row closed", latency(machine, pairs_begin), 146);
  expect(machine, "row open", latency(machine, pairs_begin + 1), 146 - machine.configured("dram.tRCDRD"));
  Machine without_refresh("dram_without_refresh", "r9nano", {"cu.simds=1", "dram.tREFI=0cycles"});
  expect(without_refresh, "other row open", latency(without_refresh, pairs_begin + kPairs),
         146 + machine.configured("dram.tRP"));
}

struct MicroMgpusim : Micro {
  MicroMgpusim() : Micro("micro_mgpusim.csv") {}
};

// Cycles of MGPUSim v3.0.3 from the issue of a load to the issue of the next instruction after a wait for the load, summed over
// the stages in MGPUSim's sources (the sums are in configs/r9nano-mgpusim.cfg).
TEST_F(MicroMgpusim, LoadsTakeTheSumOfItsStages) {
  constexpr std::uint64_t kLine = 64;
  constexpr std::uint64_t kL1 = 16 << 10;
  constexpr std::uint64_t kL2 = 2 << 20;
  Machine machine("mgpusim", "r9nano-mgpusim", {});
  const Calibration calibration = calibrate(machine);
  expect(machine, "L1 hit", calibration.l1_latency, 145);
  // Measures a pass over four times the L1's size, after a pass that has filled the L2 and translated the pages.
  constexpr std::uint64_t kHops = 4 * kL1 / kLine;
  const auto per_load = [&](double cycles) { return (cycles - calibration.overhead) / kHops; };
  expect(machine, "L2 hit", per_load(machine.chase({.bytes = 4 * kL1, .stride = kLine, .links = {}}, {{0, kHops}}, 1)[0]), 98);
  // Loads the same lines again after more data than fit into the L2. Requests arrive at an edge of the DRAM clock or half a
  // cycle before it.
  const std::vector<double> cycles =
      machine.chase({.bytes = 4 * kL2, .stride = kLine, .links = {}}, {{0, 4 * kL2 / kLine - 1}, {0, kHops}}, 0);
  results().add({machine.name()}, "DRAM", per_load(cycles[1]), 137, 0);
  EXPECT_NEAR(per_load(cycles[1]), 137, 2);
}

struct MicroLds : Micro {
  MicroLds() : Micro("micro_lds.csv") {}
};

/// Returns the cycles of an LDS load by `lanes` lanes, for each stride from 0 to `largest` dwords.
std::vector<double> lds_latencies(Machine& machine, unsigned lanes, std::uint32_t largest) {
  constexpr unsigned kHops = 10;
  std::map<std::string, Words> inputs;
  for (std::uint32_t stride = 0; stride <= largest; ++stride) inputs["strides"].push_back(stride);
  inputs["strides"].insert(inputs["strides"].begin(), 0);  // fetches the instructions
  const std::size_t count = inputs["strides"].size();
  std::string text =
      fmt::format("[code]\nfile = {}/micro_latency.co\n[buffer strides]\ncontents = in:strides.bin\n", kernels());
  for (const unsigned hops : {kHops, 2 * kHops}) {
    text += fmt::format(
        "[buffer cycles{0}]\ncontents = zero:{1}\nsave = cycles{0}.bin\n"
        "[dispatch lds_chase]\ngrid = 64\n"
        "arg = buf:strides\narg = buf:cycles{0}\narg = u32:{2}\narg = u32:{3}\narg = u32:{0}\n",
        hops, count * 4, count, lanes);
  }
  machine.launch(text, inputs);
  const Words once = machine.saved(fmt::format("cycles{}.bin", kHops));
  const Words twice = machine.saved(fmt::format("cycles{}.bin", 2 * kHops));
  std::vector<double> latencies;
  for (std::size_t i = 1; i < count; ++i) latencies.push_back((1.0 * twice[i] - once[i]) / kHops);
  return latencies;
}

TEST_F(MicroLds, BanksAndConflictsAreRecovered) {
  constexpr unsigned kLanes = 64;
  constexpr std::uint32_t kLargest = 127;
  Machine machine("lds", "r9nano", {"cu.simds=1", "cu.lds_latency=53cycles"});
  const std::vector<double> all = lds_latencies(machine, kLanes, kLargest);
  // The smallest stride at which all lanes access the same bank.
  const auto banks = static_cast<unsigned>(std::max_element(all.begin(), all.end()) - all.begin());
  ASSERT_GT(banks, 1U);
  const std::vector<double> pass = lds_latencies(machine, banks, banks);
  const double conflict = (pass[banks] - pass[1]) / (banks - 1);
  // 32 banks of a dword each, which serve one access per cycle (GCN3 ISA manual, local data share); an odd stride in dwords
  // causes no conflicts, nor do lanes that read the same dword.
  expect(machine, "banks", banks, 32);
  expect(machine, "cycles of a conflict", conflict, 1);
  expect(machine, "cycles of a pass", all[1] - pass[1], 1);
  expect(machine, "latency before the first pass", pass[1] - conflict, machine.configured("cu.lds_latency"));
  for (std::uint32_t stride = 1; stride <= kLargest; ++stride) {
    const std::uint32_t together = std::min(stride & (0 - stride), banks);  // lanes of a pass that access the same bank
    EXPECT_EQ(all[stride], pass[1] + (2 * together - 1) * conflict) << "stride " << stride;
  }
  EXPECT_EQ(all[0], all[1]);
}

}  // namespace
}  // namespace lacuna::validation
