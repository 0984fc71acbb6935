// State shared by the near-data units of a device: positions of nodes, and the units at them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/common/time/units.h"
#include "models/neardata/emn_table.h"
#include "models/neardata/near_data_parameters.h"
#include "models/neardata/tagged_kernels.h"
#include "models/noc/fabric.h"

namespace lacuna {

class OffloadUnit;
class ServiceQueue;

/// Filled when the device has been built.
struct NearDataNetwork {
  NearDataParameters parameters;
  Clock clock;
  unsigned line_bytes = 128;
  unsigned flit_bytes = 32;
  const Fabric* fabric = nullptr;
  unsigned first_cache = 0;  ///< number of the fabric's destination that is last-level cache 0
  std::optional<EmnTable> meeting{};
  std::vector<OffloadUnit*> cores{};
  std::vector<ServiceQueue*> queues{};  ///< by node; null: the node does not compute
  TaggedKernels kernels{};
  /// NearDataCount::most_input of the running kernels, by index of the dispatch; never iterated. Changed between windows.
  std::unordered_map<std::uint64_t, std::uint64_t> most_input{};

  /// The last-level cache that serves a line; nullopt: none does.
  std::optional<unsigned> cache_of(std::uint64_t line) const {
    unsigned destination = 0;
    if (!fabric->route(line, 1, destination)) return std::nullopt;
    const unsigned cache = destination - first_cache;
    return cache < meeting->caches().size() ? std::optional(cache) : std::nullopt;
  }
  /// Ends the simulation: the hardware has reached an inconsistent state (`ndc.check`).
  [[noreturn]] static void fail(const std::string& what);
  /// Flits of a packet with a line's data.
  unsigned data_flits() const { return fabric->reply_flits(line_bytes, false, false); }
};

}  // namespace lacuna
