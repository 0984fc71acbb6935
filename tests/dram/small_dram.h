// A small DRAM channel for tests: few banks, and mostly different values for the timing parameters.
#pragma once

#include "models/dram/dram_parameters.h"

namespace lacuna::test {

/// Cycles of 1 ns. 2 groups of 2 banks: banks 0 and 1 are in the first group.
inline DramParameters small_dram() {
  using namespace literals;
  DramParameters p;
  p.clock = 1000_MHz;
  p.bytes_per_cycle = 16;
  p.burst = 4_cycles;
  p.bank_groups = 2;
  p.banks_per_group = 2;
  p.row_size = 1024_B;
  p.address_map = "row bank group column";
  p.tRCDRD = 5_cycles;
  p.tRCDWR = 4_cycles;
  p.tRP = 7_cycles;
  p.tCL = 11_cycles;
  p.tCWL = 3_cycles;
  p.tRAS = 15_cycles;
  p.tRC = 24_cycles;
  p.tRTP = 4_cycles;
  p.tWR = 9_cycles;
  p.tCCDS = 4_cycles;
  p.tCCDL = 6_cycles;
  p.tRRDS = 2_cycles;
  p.tRRDL = 3_cycles;
  p.tFAW = 30_cycles;
  p.tWTR = 5_cycles;
  p.tWTRS = 3_cycles;
  p.tRTRS = 2_cycles;
  p.write_queue = 8;
  p.write_high = 0.5;
  p.write_low = 0.25;
  p.tREFI = 0_cycles;
  return p;
}

}  // namespace lacuna::test
