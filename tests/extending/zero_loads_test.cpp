// Tests the research machine of docs/guide/extending.md: two of its load stages in a chain, its parameter and its column.
#include "tests/extending/zero_loads.h"

#include <gtest/gtest.h>

#include <sstream>

#include "models/gpu/gpu_parameters.h"
#include "platform/run/kernel_activity_report.h"
#include "tests/compute/compute_unit_bench.h"

namespace lacuna::test {
namespace {

struct ZeroLoadsBench : ComputeUnitBench {
  explicit ZeroLoadsBench(sc_core::sc_module_name module_name) : ComputeUnitBench(module_name) {
    const auto make = [this](const LoadStageContext& unit) { return machine.make_stage(unit); };
    const LoadStageFactory stages[] = {make, make};
    add_unit(TimingMode::loose, ComputeUnitParameters{}, Cycles{200}, stages);
  }
  const ExtensionSlots slots = register_extension(kZeroLoadsTexts);
  ZeroLoads machine{slots};
};
LACUNA_TEST_BENCH(ZeroLoadsBench)

TEST(ZeroLoads, CountsWordsAndChangesNoTime) {
  auto& b = bench<ZeroLoadsBench>();
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) b.data()[lane] = lane % 4;  // 16 of 64 words are zero
  // v[0:1] = kernarg pointer + 4 * lane; flat_load_dword v2, v[0:1]; s_waitcnt vmcnt(0) lgkmcnt(0); s_endpgm
  const std::vector<std::uint32_t> words{0x24000082, 0x32000000, 0x7e020201, 0xdc500000, 0x02000000, 0xbf8c0070, 0xbf810000};
  const auto without = b.program(words);
  const std::uint64_t cycles = b.run(b.loose(), *without);
  const auto with = b.program(words);
  EXPECT_EQ(b.run(*b.units.back(), *with), cycles);
  EXPECT_EQ(with->activity.extension[b.slots.first_count], 2 * 16U) << "two stages in a chain, 16 words each";
  StatisticsGroup unit("cu");
  b.units.back()->describe(unit);
  EXPECT_EQ(unit.group("zero_loads").statistics().front().count(), 16U);
}

TEST(ZeroLoads, HasAParameterAndAColumn) {
  GpuDeviceParameters device;
  device.extensions.add(std::make_unique<ZeroLoadsParameters>());
  EXPECT_FALSE(device.extensions.all().front()->is_on());
  device.extensions.get<ZeroLoadsParameters>().count = true;
  const GpuDeviceParameters copy = device;
  EXPECT_TRUE(copy.extensions.all().front()->is_on());
  EXPECT_TRUE(copy.check().empty());
  std::ostringstream header;
  write_activity_csv_header(header);
  EXPECT_NE(header.str().find(",zero_loads_words"), std::string::npos);
}

}  // namespace
}  // namespace lacuna::test
