// Network that books a packet's path when the packet is sent: no later packet delays it, the oldest goes first everywhere. The
// arrival time is known immediately, and a packet costs the host time in proportion to its switches.
//
// Flits of a packet stay in order; flits of different packets share a link cycle by cycle, as virtual channels allow.
//
// Lost throughput: a separable switch allocator grants an input to one of its virtual channels before it knows whether the
// output will be granted too, and its round-robin arbiters move on only after a grant. A flit whose output is busy therefore
// keeps bidding, and costs its input cycles in which another packet could have moved (as in BookSim2's separable input-first
// allocator, and in iSLIP: McKeown 1999). The model charges these lost bids to the input. Virtual networks have separate packet
// queues at the injecting node and share the links.
//
// With four or more virtual channels for each virtual network (and each order of O1TURN), neither their number nor their
// buffers change the throughput, and the model omits them. With fewer:
//   buffers      a flit passes a switch when the buffer at the end of the link has room; room for a flit is available two
//                cycles after the previous flit has left. A full buffer stops the switch upstream, and so on backwards
//   one channel  belongs to a packet from the cycle of its allocation, one before it passes the switch, until its last flit has
//                left: a cycle is lost between packets, no other packet interleaves on the link, and packets that follow at the
//                input wait whatever their path
#pragma once

#include <vector>

#include "models/common/time/calendar.h"
#include "models/common/time/slot_calendars.h"
#include "models/noc/network.h"

namespace lacuna {

class BookedNetwork : public Network {
 public:
  /// Throws std::invalid_argument if shape or placement is invalid.
  BookedNetwork(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count,
                AddressRoutes routes, const FabricGuests& guests = {});
  void reset() override;
  const OutputFlits& output(unsigned output) const override { return outputs_[output]; }

  /// Public for benchmarks that load the network without a device.
  void retire(Tick horizon) override;

 private:
  Traversal transfer(unsigned from, unsigned to, VirtualNetwork network, unsigned flits, Tick at) override;
  /// Cycles in which the last flit of a packet passes the first and the last switch of its path.
  struct Passage {
    std::uint64_t first_switch;
    std::uint64_t last_switch;
  };

  /// Books path_ for a packet that is ready in cycle `start`, with many virtual channels. `replies`: its flits if it is of
  /// VirtualNetwork::reply, else 0.
  Passage pass_freely(std::uint64_t start, unsigned flits, unsigned replies);
  /// Books path_ for a packet that is ready in cycle `start`, with few virtual channels.
  Passage pass_channels(std::uint64_t start, unsigned flits, unsigned replies, unsigned kind);
  void count_output(unsigned output, unsigned flits, unsigned replies) {
    outputs_[output].all += flits;
    outputs_[output].replies += replies;
  }

  const std::uint64_t router_;        // router latency in cycles
  const std::uint64_t link_;          // link latency in cycles
  const std::uint64_t interface_;     // interface latency in cycles
  SlotCalendars ports_;               // ports of the switches: inputs, then outputs
  std::vector<PoolCalendar> queues_;  // injection queues, by node * virtual networks + virtual network
  std::vector<OutputFlits> outputs_;
  // State of few virtual channels. Each kind of traffic (virtual network and alternative of the routing) has separate channels.
  std::vector<SlotCalendars> channels_;  // by kind, if it has a single channel: inputs, then outputs; booked a cycle later than
                                         // in ports_
  std::vector<PoolCalendar> buffers_;    // by kind and input: occupied buffer entries; times are cycles
  // Scratch state of the packet that is being sent.
  SwitchPath path_;
  std::vector<std::uint64_t> ready_;     // by switch: cycle in which the head is at the front of its channel
  std::vector<std::uint64_t> departs_;   // by switch: cycle in which the head passes
  std::vector<std::uint64_t> passed_;    // by switch: cycle in which the last flit so far passes
  std::vector<std::uint64_t> arrivals_;  // cycles of the flits, if they are not consecutive
};

}  // namespace lacuna
