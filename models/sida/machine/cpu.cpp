#include "models/sida/machine/cpu.h"

#include <algorithm>

namespace lacuna::sida {

void CpuParameters::describe(ParameterSection& s) {
  s.add("bandwidth", bandwidth, "Bandwidth of the memory of the CPU that --machine cpu is",
        {.range = {1e-6, 1e6}, .unit = "GB/s", .source = "thesis, section 4.5.2: 44 GB/s measured of a Ryzen 7 5800X3D"});
  s.add("cache", cache, "Capacity of its last-level cache", {.range = {0, 1e12}, .source = "the same: 96 MB"});
  s.add("cache_bandwidth", cache_bandwidth, "Bandwidth of its last-level cache",
        {.range = {1e-6, 1e6}, .unit = "GB/s", .source = "8 cores of Zen 3 with 32 bytes a cycle at 3.4 GHz"});
}

double CpuParameters::time(double bytes, double working_set, bool first) const {
  constexpr double kBytesPerGigabyte = 1e9;
  const double share = first || working_set == 0 ? 0 : std::min(1.0, static_cast<double>(cache.n) / working_set);
  return bytes * ((1 - share) / bandwidth + share / cache_bandwidth) / kBytesPerGigabyte;
}

}  // namespace lacuna::sida
