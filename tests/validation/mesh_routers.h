// A mesh of input-queued routers with virtual channels, cycle by cycle: what models/noc/network.h is compared with where
// BookSim2's reference curves say nothing.
//
// As BookSim2's router without routing delay: a cycle to allocate a virtual channel of the output, one to allocate the switch,
// one to pass it, one on the link. Both allocators are separable, input first, with round-robin arbiters that move on after a
// grant. A virtual channel is given away again when the packet's last flit has left (wait_for_tail_credit = 0). XY routing.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace lacuna::validation {

struct MeshRoutersParameters {
  unsigned side = 8;  ///< columns and rows
  unsigned virtual_channels = 8;
  unsigned buffer = 8;  ///< flits of a virtual channel
};

class MeshRouters {
 public:
  explicit MeshRouters(const MeshRoutersParameters& parameters);

  /// A packet joins its node's queue, which has no end.
  void inject(unsigned from, unsigned to, unsigned flits);
  void step();

  std::uint64_t now() const { return now_; }
  /// Latencies and flits are counted of packets injected, and flits delivered, from now on.
  void begin_measurement();
  std::uint64_t delivered_flits() const { return delivered_flits_; }
  /// Cycles from injection to the arrival of the last flit, of measured packets that are there.
  double mean_latency() const { return static_cast<double>(latency_) / static_cast<double>(measured_); }

 private:
  enum Port : unsigned { kLocal, kEast, kWest, kNorth, kSouth, kPorts };
  static constexpr unsigned kNone = ~0U;

  struct Packet {
    unsigned to;
    unsigned flits;
    std::uint64_t born;
  };
  struct Flit {
    std::size_t packet;
    bool tail;
    std::uint64_t ready;  ///< may be looked at
  };
  struct InputChannel {
    std::deque<Flit> flits;
    unsigned output = kNone;  ///< channel of the node's outputs that the packet at the front has been given
    std::uint64_t next = 0;   ///< may do its next step
    unsigned preferred = 0;   ///< of the output's channels
  };
  struct OutputChannel {
    bool taken = false;
    unsigned credits;
    unsigned preferred = 0;  ///< of the node's input channels
  };
  struct Node {
    std::deque<std::size_t> queue;
    unsigned channel = kNone;  ///< that the packet at the front of the queue goes to
    unsigned sent = 0;         ///< of its flits
    unsigned next_channel = 0;
    std::vector<unsigned> credits;         // of the injection port's channels
    std::vector<InputChannel> inputs;      // by port * channels + channel
    std::vector<OutputChannel> outputs;    // likewise
    unsigned preferred_channel[kPorts]{};  // of an input, for the switch
    unsigned preferred_input[kPorts]{};    // of an output
  };
  struct Credit {
    std::uint64_t at;
    unsigned* counter;
  };

  void send_from_queue(Node& node);
  void allocate_channels(Node& node, unsigned at);
  void allocate_switch(Node& node, unsigned at);
  void move(Node& node, unsigned at, unsigned input);
  unsigned route(unsigned at, unsigned to) const;
  unsigned neighbour(unsigned at, unsigned port) const;
  static unsigned opposite(unsigned port);
  bool may_pass(const Node& node, const InputChannel& channel) const;

  const MeshRoutersParameters parameters_;
  std::vector<Node> nodes_;
  std::vector<Packet> packets_;
  std::deque<Credit> credits_;
  std::uint64_t now_ = 0;
  std::size_t first_measured_ = 0;
  std::uint64_t delivered_flits_ = 0;
  std::uint64_t latency_ = 0;
  std::uint64_t measured_ = 0;
};

}  // namespace lacuna::validation
