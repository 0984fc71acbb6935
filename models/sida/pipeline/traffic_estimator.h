// The control stage's estimate of the step in which E-wise processes sub-tensor I (thesis, section 4.4.4).
//
//   load = ceil(bytes / bandwidth)     bytes: columns of I + 2 without eagerly fetched entries, offsets, x of I + 2, E-wise
//                                      vectors of I + 1, outputs of E-wise on I and of finished sums
//   X    = max(load, OS of I + 1, E-wise of I)
//   R    = (X - load) bandwidth / bytes of an entry if a core determines X, otherwise 0
//
// X is the minimum time until the next step begins; R is the number of entries that the CSR loader may fetch in this step.
// PassPipeline determines the actual time of a step; memory latency, conflicts of IS and reloads are not included in X. The
// thesis prints no formula for R. The terms for outputs and offsets are our addition: they use the same bandwidth.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/sida/pipeline/pass_memory.h"

namespace lacuna::sida {

struct TrafficEstimate {
  Time load = 0;        ///< cycles of memory traffic
  Time x = 0;           ///< X: minimum cycles until the next step begins
  std::uint64_t r = 0;  ///< R: entries that the CSR loader may fetch
};

inline TrafficEstimate estimate_traffic(std::uint64_t bytes, Time os, Time ewise, std::uint64_t bytes_per_cycle,
                                        unsigned entry_bytes) {
  TrafficEstimate estimate;
  estimate.load = (bytes + bytes_per_cycle - 1) / bytes_per_cycle;
  estimate.x = std::max({estimate.load, os, ewise});
  estimate.r = (estimate.x - estimate.load) * bytes_per_cycle / entry_bytes;
  return estimate;
}

}  // namespace lacuna::sida
