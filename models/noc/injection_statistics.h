// Statistics of the packets that nodes have injected, and of the time that packets waited for injection.
//
// A packet waits in the injection queue of its node and virtual network from when it is ready until the following event:
//   crossbar         its first flit leaves through the node's port
//   booked routers   its last flit passes the node's first switch: there is no buffer between queue and switch
//   stepped routers  its last flit enters the buffer of the node's first switch
// The cycles that the packet's own flits take do not count as waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/time/units.h"
#include "models/noc/virtual_network.h"

namespace lacuna {

class StatisticsGroup;

/// Statistics of a virtual network's injection queue at a node.
struct InjectionQueueStatistics {
  std::uint64_t packets = 0;
  Tick queueing{};  ///< waiting time in the queue, summed over packets
};

class InjectionStatistics {
 public:
  InjectionStatistics() = default;
  InjectionStatistics(unsigned nodes, unsigned virtual_networks);

  /// Counts a packet that waited for `queueing`. Thread-safe for different nodes.
  void count(unsigned node, VirtualNetwork network, Tick queueing) {
    InjectionQueueStatistics& queue = queues_[index(node, network)];
    ++queue.packets;
    queue.queueing += queueing;
  }
  const InjectionQueueStatistics& of(unsigned node, VirtualNetwork network) const { return queues_[index(node, network)]; }
  /// Adds a group for each node, with a subgroup for each virtual network.
  void describe(StatisticsGroup& group) const;

 private:
  std::size_t index(unsigned node, VirtualNetwork network) const {
    return std::size_t{node} * stride_ + static_cast<unsigned>(network);
  }

  unsigned nodes_ = 0;
  unsigned networks_ = 0;
  unsigned stride_ = 0;  ///< queues per node, padded to whole host cache lines: threads count for different nodes
  std::vector<InjectionQueueStatistics> queues_;
};

}  // namespace lacuna
