// Shape and timing of a fabric (models/noc/fabric.h).
#pragma once

#include <string>

#include "models/common/config/parameters.h"
#include "models/common/time/units.h"
#include "models/noc/fabric_topology.h"

namespace lacuna {

/// Order of dimensions. o1turn: each packet takes xy or yx with equal probability (Seo et al., "Near-Optimal Worst-Case
/// Throughput Routing for Two-Dimensional Mesh Networks", ISCA 2005).
enum class MeshRouting : int { xy, yx, o1turn };

/// Model of contention in a network of switches (models/noc/network.h).
enum class RouterModel : int { booked, stepped };

struct FabricParameters {
  Frequency clock{1'000'000'000};
  unsigned width = 32;
  unsigned header = 0;
  Choice<FabricTopology> topology = FabricTopology::crossbar;
  Cycles hop_latency{10};
  unsigned destination_flits = 1;
  unsigned columns = 8;
  unsigned rows = 8;
  MeshRouting routing = MeshRouting::xy;
  std::string placement{};
  std::string source_placement{};
  unsigned radix = 4;
  unsigned stages = 3;
  Cycles router_latency{3};
  Cycles link_latency{1};
  Cycles interface_latency{3};
  unsigned injection_queue = 16;
  unsigned virtual_networks = 2;
  unsigned virtual_channels = 4;
  unsigned channel_buffer = 8;
  RouterModel routers = RouterModel::booked;
  unsigned input_speedup = 1;
  bool wait_for_tail_credit = false;
  bool switch_nodes = false;  ///< the last switches of a butterfly are nodes as well; set by the device, not by configurations

  void describe(ParameterSection& section);
};

}  // namespace lacuna
