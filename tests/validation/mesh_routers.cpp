#include "tests/validation/mesh_routers.h"

#include <algorithm>

namespace lacuna::validation {
namespace {

constexpr unsigned kSwitchAndLink = 3;  // cycles from the grant of the switch to the next router
constexpr unsigned kCredit = 2;         // cycles from there until the credit can be used
constexpr unsigned kEjection = 4;       // cycles from the last grant to the node

}  // namespace

MeshRouters::MeshRouters(const MeshRoutersParameters& parameters)
    : parameters_(parameters), nodes_(parameters.side * parameters.side) {
  for (Node& node : nodes_) {
    node.credits.assign(parameters.virtual_channels, parameters.buffer);
    node.inputs.resize(kPorts * parameters.virtual_channels);
    node.outputs.assign(kPorts * parameters.virtual_channels, OutputChannel{.credits = parameters.buffer});
  }
}

void MeshRouters::inject(unsigned from, unsigned to, unsigned flits) {
  nodes_[from].queue.push_back(packets_.size());
  packets_.push_back({to, flits, now_});
}

void MeshRouters::begin_measurement() {
  first_measured_ = packets_.size();
  delivered_flits_ = latency_ = measured_ = 0;
}

void MeshRouters::step() {
  for (; !credits_.empty() && credits_.front().at <= now_; credits_.pop_front()) ++*credits_.front().counter;
  for (Node& node : nodes_) send_from_queue(node);
  for (unsigned at = 0; at < nodes_.size(); ++at) allocate_channels(nodes_[at], at);
  for (unsigned at = 0; at < nodes_.size(); ++at) allocate_switch(nodes_[at], at);
  ++now_;
}

void MeshRouters::send_from_queue(Node& node) {
  if (node.queue.empty()) return;
  const unsigned channels = parameters_.virtual_channels;
  for (unsigned i = 0; i < channels && node.channel == kNone; ++i) {
    const unsigned channel = (node.next_channel + i) % channels;
    if (node.credits[channel] > 0) node.channel = channel;
  }
  if (node.channel == kNone || node.credits[node.channel] == 0) return;
  --node.credits[node.channel];
  const std::size_t packet = node.queue.front();
  const bool tail = ++node.sent == packets_[packet].flits;
  node.inputs[kLocal * channels + node.channel].flits.push_back({packet, tail, now_ + 1});
  if (!tail) return;
  node.queue.pop_front();
  node.next_channel = (node.channel + 1) % channels;
  node.channel = kNone;
  node.sent = 0;
}

// Each input channel whose front is a packet without a channel of its output asks for one; each output channel takes one of
// them.
void MeshRouters::allocate_channels(Node& node, unsigned at) {
  const unsigned channels = parameters_.virtual_channels;
  std::vector<std::pair<unsigned, unsigned>> requests;  // output channel, input channel
  for (unsigned i = 0; i < node.inputs.size(); ++i) {
    const InputChannel& input = node.inputs[i];
    if (input.output != kNone || input.flits.empty() || input.flits.front().ready > now_ || input.next > now_) continue;
    const unsigned port = route(at, packets_[input.flits.front().packet].to);
    for (unsigned k = 0; k < channels; ++k) {
      const unsigned wanted = port * channels + (input.preferred + k) % channels;
      if (node.outputs[wanted].taken) continue;
      requests.emplace_back(wanted, i);
      break;
    }
  }
  const auto inputs = static_cast<unsigned>(node.inputs.size());
  for (const auto& [wanted, unused] : requests) {
    OutputChannel& output = node.outputs[wanted];
    if (output.taken) continue;  // by the one that came first in turn
    unsigned winner = kNone;
    unsigned best = inputs;
    for (const auto& [other, asks] : requests) {
      const unsigned turn = (asks + inputs - output.preferred) % inputs;
      if (other == wanted && turn < best) {
        best = turn;
        winner = asks;
      }
    }
    output.taken = true;
    output.preferred = (winner + 1) % inputs;
    node.inputs[winner].output = wanted;
    node.inputs[winner].next = now_ + 1;
    node.inputs[winner].preferred = (wanted + 1) % channels;
  }
}

bool MeshRouters::may_pass(const Node& node, const InputChannel& channel) const {
  if (channel.output == kNone || channel.next > now_ || channel.flits.empty() || channel.flits.front().ready > now_)
    return false;
  return channel.output / parameters_.virtual_channels == kLocal || node.outputs[channel.output].credits > 0;
}

void MeshRouters::allocate_switch(Node& node, unsigned at) {
  const unsigned channels = parameters_.virtual_channels;
  unsigned bids[kPorts];  // input channel of each port
  for (unsigned port = 0; port < kPorts; ++port) {
    bids[port] = kNone;
    for (unsigned k = 0; k < channels && bids[port] == kNone; ++k) {
      const unsigned i = port * channels + (node.preferred_channel[port] + k) % channels;
      if (may_pass(node, node.inputs[i])) bids[port] = i;
    }
  }
  for (unsigned output = 0; output < kPorts; ++output) {
    for (unsigned k = 0; k < kPorts; ++k) {
      const unsigned port = (node.preferred_input[output] + k) % kPorts;
      if (bids[port] == kNone || node.inputs[bids[port]].output / channels != output) continue;
      node.preferred_input[output] = (port + 1) % kPorts;
      node.preferred_channel[port] = (bids[port] + 1) % channels;
      move(node, at, bids[port]);
      bids[port] = kNone;
      break;
    }
  }
}

void MeshRouters::move(Node& node, unsigned at, unsigned i) {
  const unsigned channels = parameters_.virtual_channels;
  InputChannel& input = node.inputs[i];
  const Flit flit = input.flits.front();
  input.flits.pop_front();
  const unsigned from = i / channels;
  unsigned& credits = from == kLocal ? node.credits[i % channels]
                                     : nodes_[neighbour(at, from)].outputs[opposite(from) * channels + i % channels].credits;
  credits_.push_back({now_ + kCredit, &credits});
  OutputChannel& output = node.outputs[input.output];
  const unsigned to = input.output / channels;
  if (to == kLocal) {
    ++delivered_flits_;
    if (flit.tail && flit.packet >= first_measured_) {
      latency_ += now_ + kEjection - packets_[flit.packet].born;
      ++measured_;
    }
  } else {
    --output.credits;
    const unsigned there = opposite(to) * channels + input.output % channels;
    nodes_[neighbour(at, to)].inputs[there].flits.push_back({flit.packet, flit.tail, now_ + kSwitchAndLink});
  }
  if (!flit.tail) return;
  output.taken = false;
  input.output = kNone;
  input.next = now_ + 1;
}

unsigned MeshRouters::route(unsigned at, unsigned to) const {
  const unsigned side = parameters_.side;
  if (at % side != to % side) return at % side < to % side ? kEast : kWest;
  if (at / side != to / side) return at / side < to / side ? kSouth : kNorth;
  return kLocal;
}

unsigned MeshRouters::neighbour(unsigned at, unsigned port) const {
  switch (port) {
    case kEast:
      return at + 1;
    case kWest:
      return at - 1;
    case kNorth:
      return at - parameters_.side;
    default:
      return at + parameters_.side;
  }
}

unsigned MeshRouters::opposite(unsigned port) {
  switch (port) {
    case kEast:
      return kWest;
    case kWest:
      return kEast;
    case kNorth:
      return kSouth;
    default:
      return kNorth;
  }
}

}  // namespace lacuna::validation
