// Input-queued routers with virtual channels and credits, stepped cycle by cycle.
//
// Pipeline of a router, as BookSim2's without a stage for routing:
//   allocation of a virtual channel of the output   one cycle, heads only
//   allocation of the switch                        one cycle
//   switch                                          router_latency - 2 cycles
// Both allocators are separable, input first, with round-robin arbiters that move on after a grant: age counts nowhere. A flit
// leaves for a link only when it has a place at its end; the place is free again two cycles after the flit in it has left.
// Nodes accept what arrives.
//
// A virtual channel is given away when the packet's last flit has left, or, with noc.wait_for_tail_credit, when that flit's
// credit has returned: then no buffer ever holds flits of two packets. An input has noc.input_speedup ports of its switch,
// between which its virtual channels are divided; an output carries a flit a cycle always. Both are BookSim2's parameters of
// these names.
//
// A node injects a flit a cycle, of its virtual networks in turn; packets of one leave in the order in which they were ready.
// The unloaded time of a packet is the law of models/noc/network.h.
//
// The cost of a cycle is that of the switches in which something waits; cycles in which nothing is under way cost nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/common/containers/bit_set.h"
#include "models/common/containers/pooled_records.h"
#include "models/common/containers/ring.h"
#include "models/noc/fabric_parameters.h"
#include "models/noc/topology.h"

namespace lacuna {

class Routers {
 public:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  /// `topology` outlives the routers. std::invalid_argument: a pipeline without a cycle for each allocator, no interface, or
  /// more virtual channels at an input than 64.
  Routers(const Topology& topology, const FabricParameters& parameters);

  struct Packet {
    unsigned from;  ///< nodes
    unsigned to;
    unsigned network;
    unsigned alternative;  ///< of the topology's ways
    unsigned flits;
    std::uint64_t cycle;  ///< in which it is ready to leave
    std::uint32_t tag;    ///< the caller's
  };
  struct Delivery {
    std::uint32_t tag;
    unsigned links;
    std::uint64_t ready;    ///< Packet::cycle
    std::uint64_t arrival;  ///< of the last flit at the node
    std::uint64_t waiting;  ///< cycles of that time that an idle network would not have taken
  };

  /// A packet whose cycle is over already leaves in the next one.
  void send(const Packet& packet);
  /// Steps the cycles before `until`. Adds the packets whose last flit has passed its last switch, in the order of their
  /// arrival, which is delivery_latency() cycles later.
  void advance(std::uint64_t until, std::vector<Delivery>& delivered);
  /// The next cycle to be stepped.
  std::uint64_t now() const { return now_; }
  std::uint64_t delivery_latency() const { return router_ + interface_ - 2; }
  /// The next cycle in which something is to be done; kNever: nothing is under way.
  std::uint64_t next() const {
    if (packets_.taken() != later_.size() || credits_under_way_ != 0) return now_;
    return later_.empty() ? kNever : std::max(now_, later_.front().cycle);
  }
  /// Flits that an output of a switch has carried.
  const std::uint64_t& output_flits(unsigned output) const { return output_flits_[output]; }
  /// As new; what outputs have carried stays counted.
  void reset();

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Flit {
    std::uint32_t packet;  ///< of packets_
    std::uint16_t pass;    ///< of its way: the switch that it is at
    bool tail;
  };
  struct UnderWay {
    Packet packet;
    unsigned kind;
    std::vector<SwitchPass> way;
  };
  /// A virtual channel of an input, by input * channels_ + channel.
  struct InputChannel {
    std::uint32_t output = kNone;  ///< virtual channel of the packet at the front
    std::uint16_t wanted = 0;      ///< output of the head at the front that has no channel yet
    std::uint16_t first = 0;       ///< flit of its buffer
    std::uint16_t count = 0;
    std::uint8_t preferred = 0;  ///< channel of the output's
  };
  /// A virtual channel of an output, by output * channels_ + channel: its place behind the link is an input's of that number.
  struct OutputChannel {
    std::uint32_t owner = kNone;  ///< input channel that it has been given to
    std::uint32_t preferred = 0;  ///< input channel
    std::uint32_t best = kNone;   ///< of those that ask for it in this cycle
    std::uint32_t distance = 0;   ///< of that one from the preferred
    std::uint16_t credits = 0;
    bool tail_sent = false;  ///< waits for the credit of its packet's last flit
  };
  /// A port of the switch for one of an input's parts of channels, by input * speedup_ + part.
  struct SwitchPort {
    std::uint8_t preferred = 0;  ///< channel
    std::uint8_t bid = 0;        ///< channel, in this cycle
  };
  struct Input {
    std::uint64_t unrouted = 0;      ///< channels with a head in front that has no channel of its output
    std::uint64_t sendable = 0;      ///< channels whose front may pass the switch
    std::uint32_t upstream = kNone;  ///< output at the other end of its link; kNone: a node
  };
  struct Output {
    std::uint64_t free = 0;            ///< channels
    std::uint32_t downstream = kNone;  ///< input at the other end of its link; kNone: a node
    std::uint32_t preferred = 0;       ///< port of the switch
    std::uint32_t best = kNone;        ///< port of those that bid for it in this cycle
    std::uint32_t distance = 0;
  };
  /// Where packets of a virtual network wait at a node.
  struct Queue {
    Ring<std::uint32_t> packets;
    std::uint32_t channel = kNone;  ///< that the packet in front goes to
    std::uint32_t sent = 0;         ///< of its flits
  };
  struct Node {
    std::uint32_t input = kNone;  ///< where it injects
    std::uint32_t preferred = 0;  ///< virtual network
    std::uint32_t waiting = 0;    ///< packets in its queues
  };
  /// A flit that reaches an input channel.
  struct Landing {
    std::uint32_t channel;
    Flit flit;
  };
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
  void give_away(std::uint32_t output_channel);
  void give_channels();
  void push(std::uint32_t channel, const Flit& flit);
  const Flit& front(std::uint32_t channel) const {
    return flits_[std::size_t{channel} * buffer_ + input_channels_[channel].first];
  }
  void learn_links(const std::vector<SwitchPass>& way);
  bool has_place(std::uint32_t output_channel) const {
    return outputs_[output_channel / channels_].downstream == kNone || output_channels_[output_channel].credits > 0;
  }
  void want_channel(std::uint32_t channel);
  void set_sendable(std::uint32_t input, std::uint64_t bit);
  void clear_sendable(std::uint32_t input, std::uint64_t bit);

  const Topology& topology_;
  const std::uint64_t router_;  // cycles
  const std::uint64_t link_;
  const std::uint64_t interface_;
  const unsigned networks_;
  const unsigned alternatives_;
  const unsigned kind_channels_;  // of a virtual network and alternative
  const unsigned channels_;       // of an input or output
  const unsigned buffer_;         // flits of a channel
  const unsigned speedup_;        // switch ports of an input
  const bool waits_for_tail_;     // a channel is given away with its last credit
  std::vector<InputChannel> input_channels_;
  std::vector<OutputChannel> output_channels_;
  std::vector<Flit> flits_;  // buffers of the input channels
  std::vector<Input> inputs_;
  std::vector<SwitchPort> ports_;
  std::vector<std::uint64_t> port_channels_;  // of an input's part: the channels that use its port
  std::vector<Output> outputs_;
  std::vector<std::uint16_t> node_credits_;   // of input channels that a node injects into
  std::vector<std::uint8_t> node_preferred_;  // channel of a kind, by node * kinds + kind
  std::vector<Queue> queues_;                 // by node * networks + network
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> output_flits_;
  BitSet unrouted_inputs_;
  BitSet sendable_inputs_;
  BitSet waiting_nodes_;
  RecordPool<UnderWay> packets_;
  std::vector<Later> later_;  // heap of packets that are not ready yet
  std::uint64_t sent_ = 0;
  std::size_t credits_under_way_ = 0;
  // What happens in a cycle, by cycle modulo the rings' sizes.
  std::vector<std::vector<Landing>> landings_;
  std::vector<std::vector<std::uint32_t>> credits_;  // output channels, or behind those a node's input channels
  std::vector<std::uint32_t> asked_;                 // output channels that are asked for in this cycle,
  std::vector<std::uint32_t> given_;                 // input channels that have been given one,
  std::vector<std::uint32_t> bids_;                  // and outputs that are bid for
  std::uint64_t now_ = 0;
};

}  // namespace lacuna
