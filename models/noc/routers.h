// Input-queued routers with virtual channels and credits, stepped cycle by cycle.
//
// Pipeline of a router, as in BookSim2 without the routing stage:
//   allocation of a virtual channel of the output   one cycle, heads only
//   allocation of the switch                        one cycle
//   switch                                          router_latency - 2 cycles
// Virtual channels are allocated input-first: an input channel requests one output channel, which grants one request. The
// switch is allocated by one iteration of iSLIP, as by default in BookSim2: each output grants one of the ports that have a
// flit for it, then each port accepts one grant. Arbiters are round-robin and move on when a grant is accepted; there is no
// age-based priority. A flit departs only if the buffer at the end of the link has room; a buffer entry can be used again two
// cycles after its flit has left. Nodes accept all arrivals.
//
// A virtual channel becomes free when the packet's last flit has left, or, with noc.wait_for_tail_credit, when that flit's
// credit has returned: then no buffer ever holds flits of two packets. An input has noc.input_speedup switch ports, among which
// its virtual channels are divided; an output always carries one flit per cycle. Both parameters are BookSim2's.
//
// A node injects one flit per cycle, from its virtual networks in turn; packets of a virtual network depart in the order in
// which they were ready. models/noc/network.h has the formula of a packet's unloaded time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/common/containers/bit_set.h"
#include "models/common/containers/pooled_records.h"
#include "models/common/containers/ring.h"
#include "models/noc/fabric_parameters.h"
#include "models/noc/output_flits.h"
#include "models/noc/topology.h"
#include "models/noc/virtual_network.h"

namespace lacuna {

class Routers {
 public:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  /// `topology` must outlive the routers. Throws std::invalid_argument if router_latency is too short for the two allocators,
  /// if interface_latency is 0, or if an input has more than 64 virtual channels or fewer than switch ports.
  Routers(const Topology& topology, const FabricParameters& parameters);

  struct Packet {
    unsigned from;         ///< sending node
    unsigned to;           ///< receiving node
    unsigned network;      ///< virtual network
    unsigned alternative;  ///< number of the path, if the topology offers several
    unsigned flits;
    std::uint64_t cycle;  ///< cycle in which the packet is ready to depart
    std::uint32_t tag;    ///< the caller's identification, returned in Delivery
  };
  struct Delivery {
    std::uint32_t tag;
    unsigned links;
    std::uint64_t ready;  ///< cycle in which the packet was ready (Packet::cycle)

    std::uint64_t arrival;    ///< cycle in which the last flit arrives at the node
    std::uint64_t waiting;    ///< cycles from `ready` to `arrival` beyond those of an idle network
    std::uint64_t injection;  ///< part of `waiting` in the injection queue
  };

  /// Adds a packet. If packet.cycle has passed, the packet is ready in the next simulated cycle.
  void send(const Packet& packet);
  /// Simulates the cycles before `until`. Appends to `delivered` the packets whose last flit has passed the last switch, in the
  /// order of arrival, which is delivery_latency() cycles later.
  void advance(std::uint64_t until, std::vector<Delivery>& delivered);
  /// The next cycle to be simulated.
  std::uint64_t now() const { return now_; }
  /// Cycles from when a flit passes its last switch until it arrives at the node.
  std::uint64_t delivery_latency() const { return router_ + interface_ - 2; }
  /// The next cycle with an event, or kNever if no packet or credit is in flight.
  std::uint64_t next() const {
    if (packets_.taken() != later_.size() || credits_in_flight_ != 0) return now_;
    return later_.empty() ? kNever : std::max(now_, later_.front().cycle);
  }
  const OutputFlits& output(unsigned output) const { return output_flits_[output]; }
  /// Restores the initial state, except output().
  void reset();

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Flit {
    std::uint32_t packet;  ///< index in packets_
    std::uint16_t pass;    ///< index of the flit's switch in the packet's path
    bool tail;             ///< last flit of the packet
  };
  struct InFlight {
    Packet packet;
    unsigned kind;            ///< virtual network * alternatives + alternative
    std::uint64_t injection;  ///< Delivery::injection, once the last flit is injected
    std::vector<SwitchPass> path;
  };
  /// A virtual channel of an input; its index is input * channels_ + channel.
  struct InputChannel {
    std::uint32_t output = kNone;  ///< output channel allocated to the packet at the front
    std::uint16_t wanted = 0;      ///< output requested by the head at the front, while no channel is allocated
    std::uint16_t first = 0;       ///< position of the front flit in the buffer (ring)
    std::uint16_t count = 0;       ///< number of flits in the buffer
    std::uint8_t preferred = 0;    ///< round robin: channel of the output to be requested first
  };
  /// A virtual channel of an output; its index is output * channels_ + channel. It leads to the downstream input's channel of
  /// the same number.
  struct OutputChannel {
    std::uint32_t owner = kNone;  ///< input channel to which the output channel is allocated
    std::uint32_t preferred = 0;  ///< round robin: input channel to be granted first
    std::uint32_t best = kNone;   ///< round robin: first of the input channels with a request in this cycle
    std::uint32_t distance = 0;   ///< round-robin distance from `preferred` to `best`
    std::uint16_t credits = 0;
    bool tail_sent = false;  ///< the channel waits for the credit of its packet's last flit
  };
  /// A port of the switch for one group of an input's channels; its index is input * speedup_ + group.
  struct SwitchPort {
    std::uint8_t preferred = 0;       ///< round robin: channel to be sent first, of those with a flit for the accepted output
    std::uint8_t sends = 0;           ///< channel whose flit passes in this cycle
    std::uint32_t accepts_first = 0;  ///< round robin: output whose grant is accepted first
    std::uint32_t best = kNone;       ///< round robin: first of the outputs that granted in this cycle
    std::uint32_t distance = 0;       ///< round-robin distance from `accepts_first` to `best`
  };
  struct Input {
    std::uint64_t unrouted = 0;      ///< set of channels whose front is a head without an output channel
    std::uint64_t sendable = 0;      ///< set of channels whose front flit may pass the switch
    std::uint32_t upstream = kNone;  ///< output at the other end of the input's link; kNone: a node
  };
  struct Output {
    std::uint64_t free = 0;            ///< set of free channels
    std::uint32_t downstream = kNone;  ///< input at the other end of the output's link; kNone: a node
    std::uint32_t preferred = 0;       ///< round robin: switch port to be granted first
    std::uint32_t best = kNone;        ///< round robin: first of the switch ports that bid in this cycle
    std::uint32_t distance = 0;        ///< round-robin distance from `preferred` to `best`
  };
  /// Injection queue of a virtual network at a node.
  struct Queue {
    Ring<std::uint32_t> packets;
    std::uint32_t channel = kNone;  ///< input channel that the first packet is injected into
    std::uint32_t sent = 0;         ///< number of injected flits of the first packet
  };
  struct Node {
    std::uint32_t input = kNone;  ///< input into which the node injects
    std::uint32_t preferred = 0;  ///< round robin: virtual network to inject first
    std::uint32_t waiting = 0;    ///< number of packets in the node's queues
  };
  /// A flit on a link, and the input channel at which it will arrive.
  struct Landing {
    std::uint32_t channel;
    Flit flit;
  };
  /// A packet that is not ready yet.
  struct Later {
    std::uint64_t cycle;
    std::uint64_t number;
    std::uint32_t packet;
    bool operator<(const Later& other) const { return cycle != other.cycle ? cycle > other.cycle : number > other.number; }
  };

  void step(std::vector<Delivery>& delivered);
  void start_packets();
  void return_credits();
  void land();
  void inject();
  bool inject_of(unsigned node, unsigned network);
  void allocate_channels();
  void allocate_switches(std::vector<Delivery>& delivered);
  void pass(std::uint32_t port, std::vector<Delivery>& delivered);
  void free_channel(std::uint32_t output_channel);
  void start_bidding();
  void push(std::uint32_t channel, const Flit& flit);
  const Flit& front(std::uint32_t channel) const {
    return flits_[std::size_t{channel} * buffer_ + input_channels_[channel].first];
  }
  void note_links(const std::vector<SwitchPass>& path);
  bool has_room(std::uint32_t output_channel) const {
    return outputs_[output_channel / channels_].downstream == kNone || output_channels_[output_channel].credits > 0;
  }
  void request_channel(std::uint32_t channel);
  void set_sendable(std::uint32_t input, std::uint64_t bit);
  void clear_sendable(std::uint32_t input, std::uint64_t bit);

  const Topology& topology_;
  const std::uint64_t router_;     // router latency in cycles
  const std::uint64_t link_;       // link latency in cycles
  const std::uint64_t interface_;  // interface latency in cycles
  const unsigned networks_;        // number of virtual networks
  const unsigned alternatives_;    // number of paths between two nodes
  const unsigned kind_channels_;   // channels of a virtual network and alternative
  const unsigned channels_;        // channels of an input or output
  const unsigned buffer_;          // flits in a channel's buffer
  const unsigned speedup_;         // switch ports of an input
  const bool waits_for_tail_;      // a channel becomes free with the last credit of its packet
  std::vector<InputChannel> input_channels_;
  std::vector<OutputChannel> output_channels_;
  std::vector<Flit> flits_;  // buffers of the input channels
  std::vector<Input> inputs_;
  std::vector<SwitchPort> ports_;
  std::vector<std::uint64_t> port_channels_;  // set of channels that use each switch port of an input
  std::vector<Output> outputs_;
  std::vector<std::uint16_t> node_credits_;   // credits of nodes, by input channel that the node injects into
  std::vector<std::uint8_t> node_preferred_;  // round robin: channel to inject into first, by node * kinds + kind
  std::vector<Queue> queues_;                 // injection queues, by node * networks + network
  std::vector<Node> nodes_;
  std::vector<OutputFlits> output_flits_;  // flits carried by each output
  BitSet unrouted_inputs_;                 // inputs whose `unrouted` is not empty
  BitSet sendable_inputs_;                 // inputs whose `sendable` is not empty
  BitSet waiting_nodes_;                   // nodes with packets in their queues
  RecordPool<InFlight> packets_;
  std::vector<Later> later_;  // heap of packets that are not ready yet
  std::uint64_t sent_ = 0;    // number of packets sent
  std::size_t credits_in_flight_ = 0;
  std::vector<std::vector<Landing>> landings_;  // flits on links, by cycle of arrival modulo the size
  // Credits by cycle of arrival, modulo the size. A credit is the number of an output channel, or, for a node, the number of
  // output channels plus that of the input channel.
  std::vector<std::vector<std::uint32_t>> credits_;
  std::vector<std::uint32_t> requested_;  // output channels requested in this cycle
  std::vector<std::uint32_t> granted_;    // input channels that were granted an output channel in this cycle
  std::vector<std::uint32_t> bids_;       // outputs with a bid in this cycle
  std::vector<std::uint32_t> accepting_;  // switch ports with a grant in this cycle
  std::uint64_t now_ = 0;
};

}  // namespace lacuna
