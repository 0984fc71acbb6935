#include "models/noc/injection_statistics.h"

#include <string>

#include "models/common/config/statistics.h"

namespace lacuna {
namespace {

constexpr unsigned kQueuesInHostLine = 64 / sizeof(InjectionQueueStatistics);

std::string name_of(unsigned network) {
  switch (static_cast<VirtualNetwork>(network)) {
    case VirtualNetwork::request:
      return "request";
    case VirtualNetwork::reply:
      return "reply";
  }
  return "network" + std::to_string(network);
}

}  // namespace

InjectionStatistics::InjectionStatistics(unsigned nodes, unsigned virtual_networks)
    : nodes_(nodes),
      networks_(virtual_networks),
      stride_((virtual_networks + kQueuesInHostLine - 1) / kQueuesInHostLine * kQueuesInHostLine),
      queues_(std::size_t{nodes} * stride_) {}

void InjectionStatistics::describe(StatisticsGroup& group) const {
  for (unsigned node = 0; node < nodes_; ++node) {
    StatisticsGroup& of_node = group.group("node" + std::to_string(node));
    for (unsigned network = 0; network < networks_; ++network) {
      StatisticsGroup& queue = of_node.group(name_of(network));
      const InjectionQueueStatistics& counts = of(node, static_cast<VirtualNetwork>(network));
      queue.add("packets", counts.packets, "packets sent by the node", "packets");
      queue.add("queueing", counts.queueing, "time that these packets waited in the injection queue");
    }
  }
}

}  // namespace lacuna
