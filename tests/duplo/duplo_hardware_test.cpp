// Tests the number of bits of Duplo's parts against manual counts for the paper's machine: 4 SIMDs of 8 wavefronts and 256
// registers.
#include "models/duplo/duplo_hardware.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lacuna {
namespace {

ComputeUnitParameters titanv() {
  ComputeUnitParameters unit;
  unit.simds = 4;
  unit.wavefronts_per_simd = 8;
  unit.vgprs_per_simd = 256;
  return unit;
}

TEST(DuploHardware, BitsOfEachPartAreThoseOfThePaper) {
  const DuploHardware hardware = duplo_hardware({}, titanv());
  EXPECT_EQ(hardware.register_file_bits, 256U * 1024 * 8);
  // Bits of an entry: valid 1; ID 22, image 10, convolution 2, filter 16, form 2; SIMD 2, two pair numbers of 7 each, presence
  // of the second pair 1; loads 12.
  EXPECT_EQ(hardware.entry_bits, 1U + 22 + 10 + 2 + 16 + 2 + 2 + 14 + 1 + 12);
  EXPECT_EQ(hardware.history_bits, 1024U * hardware.entry_bits);
  EXPECT_EQ(hardware.map_bits, 32U * 128 * 7);
  EXPECT_EQ(hardware.reader_bits, 4U * 128 * 11);  // counts from 0 to 8 x 128 readers
  EXPECT_EQ(hardware.parameter_bits, 4U * 256);
}

TEST(DuploHardware, BitsFollowWaysEntriesAndIds) {
  const DuploHardware defaults = duplo_hardware({}, titanv());
  DuploParameters parameters;
  parameters.ways = 8;  // three more tag bits, since the index has three fewer; three bits for the LRU order
  EXPECT_EQ(duplo_hardware(parameters, titanv()).entry_bits, defaults.entry_bits + 6);
  parameters = {};
  parameters.entries = 2048;
  EXPECT_EQ(duplo_hardware(parameters, titanv()).history_bits, 2048U * (defaults.entry_bits - 1));
  parameters = {};
  parameters.ids = DatumIds::paper;  // tags without the filter's row and column
  EXPECT_EQ(duplo_hardware(parameters, titanv()).entry_bits, defaults.entry_bits - 16);
  parameters = {};
  parameters.entries = 0;
  EXPECT_EQ(duplo_hardware(parameters, titanv()).history_bits, 0U) << "a bound, no machine";
}

// The paper's own count of bits, whose area it gives as 0.77 % of the register file's.
TEST(DuploHardware, ThePapersBitsAreTwoPerCentOfTheRegisterFile) {
  EXPECT_NEAR(100.0 * 1024 * (22 + 10 + 10) / static_cast<double>(duplo_hardware({}, titanv()).register_file_bits), 2.05,
              0.005);
}

TEST(DuploHardware, LinesHaveSharesAndArea) {
  const DuploHardware hardware = duplo_hardware({}, titanv());
  const auto lines = cost_lines(hardware, 80);
  const auto value = [&](std::string_view name) {
    const auto found = std::find_if(lines.begin(), lines.end(), [&](const CostLine& line) { return line.name == name; });
    return found == lines.end() ? -1 : found->value;
  };
  const double bits = 83968 + 28672 + 5632 + 1024;
  EXPECT_DOUBLE_EQ(value("history_share"), 83968.0 / 2097152);
  EXPECT_DOUBLE_EQ(value("map_share"), 28672.0 / 2097152);
  EXPECT_DOUBLE_EQ(value("reader_share"), 5632.0 / 2097152);
  EXPECT_DOUBLE_EQ(value("parameter_share"), 1024.0 / 2097152);
  EXPECT_DOUBLE_EQ(value("total_share"), bits / 2097152);
  EXPECT_NEAR(value("area_mm2"), bits * 80 * 0.16e-6, 1e-9);
}

}  // namespace
}  // namespace lacuna
