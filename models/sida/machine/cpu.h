// Analytical model of a CPU for comparison: memory bandwidth and last-level cache; its cores are not modelled.
//
// A pass has one product with its element-wise operations, as ALP/GraphBLAS executes them without blocking (thesis, section
// 4.6.2). Its bytes are those of the oracle machine. The first pass reads all bytes from memory; later passes read a share of
// them from the cache:
//
//   share = min(1, cache / working set)      working set: the matrix by columns, and all vectors
//   time  = bytes (1 - share) / bandwidth + bytes share / cache bandwidth
#pragma once

#include <cstdint>

#include "models/common/config/parameters.h"
#include "models/common/time/units.h"

namespace lacuna::sida {

struct CpuParameters {
  double bandwidth = 44;
  Bytes cache{std::uint64_t{96} << 20};
  double cache_bandwidth = 870;

  void describe(ParameterSection& s);
  /// Time of a pass in seconds. `bytes`, `working_set`: in bytes; `first`: all bytes are read from memory.
  double time(double bytes, double working_set, bool first) const;
};

}  // namespace lacuna::sida
