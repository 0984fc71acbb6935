#include "models/noc/fabric_parameters.h"

namespace lacuna {

void FabricParameters::describe(ParameterSection& section) {
  section.add("clock", clock, "Clock", {.range = {1e6, 1e12}});
  section.add("width", width, "Bytes of a flit; a link carries one a cycle", {.range = {1, 1024}, .unit = "bytes"});
  section.add("header", header, "Header bytes in front of a packet's data; 0: the header has separate wires",
              {.range = {0, 1024}, .unit = "bytes"});
  section.add("topology", topology, "How sources and destinations are connected", fabric_topologies());
  section.add("hop_latency", hop_latency, "Crossbar: router and link of a hop, without the flits' own cycles",
              {.range = {0, 1e4}});
  section.add(
      "destination_flits", destination_flits,
      "Crossbar: flits that the node of a destination, such as an L2 bank, sends and accepts per cycle; that of a source "
      "one",
      {.range = {1, 64}, .power_of_two = true, .unit = "flits"});
  section.add("columns", columns, "Mesh: nodes in a row", {.range = {1, 64}});
  section.add("rows", rows, "Mesh: nodes in a column", {.range = {1, 64}});
  section.add("routing", routing,
              "Mesh: dimension that is routed first; o1turn: either, with equal probability for each packet",
              {{"xy", static_cast<int>(MeshRouting::xy)},
               {"yx", static_cast<int>(MeshRouting::yx)},
               {"o1turn", static_cast<int>(MeshRouting::o1turn)}});
  section.add("placement", placement,
              "Nodes of the destinations, each at most once, taken in turn: \"x,y x,y ...\" of a mesh, numbers of other "
              "topologies. Empty: spread evenly; of a crossbar, the nodes after the sources");
  section.add(
      "source_placement", source_placement,
      "Nodes of the sources, as `placement`, but a node may be named again and may be a destination's. Empty: the nodes "
      "without a destination; all nodes when each has one");
  section.add("radix", radix, "Butterfly: inputs and outputs of a switch", {.range = {2, 64}});
  section.add("stages", stages, "Butterfly: stages of switches", {.range = {1, 12}});
  section.add("router_latency", router_latency, "With routers: pipeline of a router",
              {.range = {0, 1e4}, .source = "BookSim2's input-queued router without routing delay"});
  section.add("link_latency", link_latency, "With routers: a link between routers", {.range = {0, 1e4}});
  section.add("interface_latency", interface_latency, "With routers: injection and ejection together",
              {.range = {0, 1e4}, .source = "BookSim2's channels to and from a node"});
  section.add("injection_queue", injection_queue, "With routers: packets that wait at a node, for each virtual network",
              {.range = {1, 65536}});
  section.add("virtual_networks", virtual_networks, "Virtual networks: requests, replies, and those used by further agents",
              {.range = {2, 16}});
  section.add("virtual_channels", virtual_channels,
              "With routers: virtual channels of an input for each virtual network; o1turn halves them between its two "
              "orders. Booked, 4 and more for each order carry the same",
              {.range = {1, 64}, .source = "BookSim2's mesh of the validation: 8 for requests and replies together"});
  section.add("channel_buffer", channel_buffer,
              "With routers: flits that a virtual channel buffers at an input; booked, of fewer than 4 virtual channels",
              {.range = {1, 1024}, .unit = "flits", .source = "BookSim2's vc_buf_size"});
  section.add("routers", routers,
              "With routers: booked: a packet's path is booked when it is sent, with the oldest first everywhere; stepped: "
              "routers are simulated cycle by cycle, with round-robin arbitration and back-pressure of full buffers. "
              "Stepped simulation is several times slower; it is intended for networks loaded to saturation",
              {{"booked", static_cast<int>(RouterModel::booked)}, {"stepped", static_cast<int>(RouterModel::stepped)}});
  section.add("input_speedup", input_speedup,
              "Stepped routers: ports of the switch for each input, among which its virtual channels are divided: the "
              "number of flits that can leave it in a cycle, for different outputs",
              {.range = {1, 64}, .source = "BookSim2's input_speedup"});
  section.add("wait_for_tail_credit", wait_for_tail_credit,
              "Stepped routers: a virtual channel is given to the next packet only when the credit of the last one's last flit "
              "has returned, so that a buffer holds flits of one packet at a time; otherwise when that flit has left",
              {.source = "BookSim2's wait_for_tail_credit"});
}

}  // namespace lacuna
