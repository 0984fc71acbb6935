// State shared by the near-data units of a device: nodes of the network, and the units at the nodes.
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

/// Shared state, filled when the device has been built.
struct NearDataNetwork {
  NearDataParameters parameters;
  Clock clock;
  unsigned line_bytes = 128;
  unsigned flit_bytes = 32;
  const Fabric* fabric = nullptr;
  unsigned first_cache = 0;  ///< fabric destination of last-level cache 0
  std::optional<EmnTable> meeting{};
  std::vector<OffloadUnit*> cores{};
  std::vector<ServiceQueue*> queues{};  ///< service queue of each node; null: the node does not compute
  TaggedKernels kernels{};
  /// Whether LDS has no room for the operands of a core's service queue, because running kernels use it; changed only between
  /// windows.
  bool lds_full = false;
  /// NearDataCount::most_input of each running kernel, by dispatch index; never iterated, changed only between windows.
  std::unordered_map<std::uint64_t, std::uint64_t> most_input{};

  /// The last-level cache that serves a line; nullopt if no cache does.
  std::optional<unsigned> cache_of(std::uint64_t line) const {
    unsigned destination = 0;
    if (!fabric->route(line, 1, destination)) return std::nullopt;
    const unsigned cache = destination - first_cache;
    return cache < meeting->caches().size() ? std::optional(cache) : std::nullopt;
  }
  /// Ends the simulation: the hardware has reached an inconsistent state (`ndc.check`).
  [[noreturn]] static void fail(const std::string& what);
  /// Flits of a packet that carries a line's data.
  unsigned data_flits() const { return fabric->reply_flits(line_bytes, false, false); }
};

}  // namespace lacuna
