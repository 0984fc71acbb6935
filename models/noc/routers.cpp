#include "models/noc/routers.h"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>
#include <utility>

#include "models/noc/flow_control.h"

namespace lacuna {
namespace {

constexpr unsigned kMaxChannels = 64;

// Round robin: the first element of a non-empty set from `preferred` on, cyclically.
unsigned first_in_turn(std::uint64_t set, unsigned preferred) {
  const std::uint64_t ahead = set >> preferred << preferred;
  return static_cast<unsigned>(std::countr_zero(ahead != 0 ? ahead : set));
}

// Round robin: distance from `preferred` to `number`, modulo `count`.
std::uint32_t turns(std::uint32_t number, std::uint32_t preferred, std::uint32_t count) {
  return number >= preferred ? number - preferred : number + count - preferred;
}

}  // namespace

Routers::Routers(const Topology& topology, const FabricParameters& parameters)
    : topology_(topology),
      router_(parameters.router_latency.n),
      link_(parameters.link_latency.n),
      interface_(parameters.interface_latency.n),
      networks_(parameters.virtual_networks),
      alternatives_(topology.alternatives()),
      kind_channels_(parameters.virtual_channels / topology.alternatives()),
      channels_(parameters.virtual_networks * topology.alternatives() * kind_channels_),
      buffer_(parameters.channel_buffer),
      speedup_(parameters.input_speedup),
      waits_for_tail_(parameters.wait_for_tail_credit) {
  if (router_ < 2 || interface_ < 1) {
    throw std::invalid_argument(
        fmt::format("stepped routers need a noc.router_latency of 2 cycles at least, for their two allocators, and a "
                    "noc.interface_latency of 1, not {} and {}",
                    router_, interface_));
  }
  if (channels_ > kMaxChannels) {
    throw std::invalid_argument(
        fmt::format("stepped routers have {} virtual channels at an input at most, not noc.virtual_networks x "
                    "noc.virtual_channels = {}",
                    kMaxChannels, channels_));
  }
  if (speedup_ > channels_) {
    throw std::invalid_argument(fmt::format(
        "noc.input_speedup = {}: an input has {} virtual channels to divide between ports of its switch", speedup_, channels_));
  }
  landings_.resize(std::bit_ceil(router_ + link_));
  credits_.resize(std::bit_ceil(delivery_latency() + kCreditCycles + 1));
  port_channels_.assign(speedup_, 0);
  for (unsigned channel = 0; channel < channels_; ++channel) port_channels_[channel % speedup_] |= std::uint64_t{1} << channel;
  flits_.resize(std::size_t{topology.inputs()} * channels_ * buffer_);
  output_flits_.resize(topology.outputs());
  reset();
}

void Routers::reset() {
  const std::size_t input_channels = std::size_t{topology_.inputs()} * channels_;
  const std::size_t nodes = topology_.nodes();
  input_channels_.assign(input_channels, {});
  output_channels_.assign(std::size_t{topology_.outputs()} * channels_, {});
  for (OutputChannel& channel : output_channels_) channel.credits = static_cast<std::uint16_t>(buffer_);
  inputs_.assign(topology_.inputs(), {});
  ports_.assign(std::size_t{topology_.inputs()} * speedup_, {});
  outputs_.assign(topology_.outputs(), {});
  for (Output& output : outputs_) output.free = ~std::uint64_t{0} >> (kMaxChannels - channels_);
  node_credits_.assign(input_channels, static_cast<std::uint16_t>(buffer_));
  node_preferred_.assign(nodes * networks_ * alternatives_, 0);
  queues_.clear();
  queues_.resize(nodes * networks_);
  nodes_.assign(nodes, {});
  unrouted_inputs_.assign(topology_.inputs(), false);
  sendable_inputs_.assign(topology_.inputs(), false);
  waiting_nodes_.assign(topology_.nodes(), false);
  packets_.clear();
  later_.clear();
  for (auto& landings : landings_) landings.clear();
  for (auto& credits : credits_) credits.clear();
  credits_in_flight_ = 0;
  now_ = 0;
}

void Routers::send(const Packet& packet) {
  const std::uint32_t number = packets_.take();
  InFlight& record = packets_[number];
  record.packet = packet;
  record.kind = packet.network * alternatives_ + packet.alternative;
  SwitchPath path;
  topology_.find_path(packet.from, packet.to, packet.alternative, path);
  record.path.assign(path.begin(), path.end());
  note_links(record.path);
  nodes_[packet.from].input = record.path.front().input;
  later_.push_back({packet.cycle, sent_++, number});
  std::push_heap(later_.begin(), later_.end());
}

// Records for each link of a path the output at its beginning and the input at its end.
void Routers::note_links(const std::vector<SwitchPass>& path) {
  for (std::size_t i = 1; i < path.size(); ++i) {
    outputs_[path[i - 1].output].downstream = path[i].input;
    inputs_[path[i].input].upstream = path[i - 1].output;
  }
}

void Routers::advance(std::uint64_t until, std::vector<Delivery>& delivered) {
  while (now_ < until) {
    now_ = std::min(next(), until);
    if (now_ < until) step(delivered);
  }
}

void Routers::step(std::vector<Delivery>& delivered) {
  return_credits();
  land();
  start_packets();
  allocate_channels();
  allocate_switches(delivered);
  start_bidding();
  inject();
  ++now_;
}

void Routers::return_credits() {
  std::vector<std::uint32_t>& due = credits_[now_ & (credits_.size() - 1)];
  for (const std::uint32_t number : due) {
    if (number >= output_channels_.size()) {
      ++node_credits_[number - output_channels_.size()];
      continue;
    }
    OutputChannel& channel = output_channels_[number];
    if (outputs_[number / channels_].downstream == kNone) {
      free_channel(number);  // a node returns credits for last flits only, and only if waits_for_tail_
      continue;
    }
    if (channel.tail_sent && channel.credits + 1U == buffer_) free_channel(number);
    if (channel.credits++ != 0 || channel.owner == kNone || input_channels_[channel.owner].count == 0) continue;
    set_sendable(channel.owner / channels_, std::uint64_t{1} << channel.owner % channels_);
  }
  credits_in_flight_ -= due.size();
  due.clear();
}

void Routers::land() {
  std::vector<Landing>& due = landings_[now_ & (landings_.size() - 1)];
  for (const Landing& landing : due) push(landing.channel, landing.flit);
  due.clear();
}

void Routers::push(std::uint32_t number, const Flit& flit) {
  InputChannel& channel = input_channels_[number];
  unsigned place = channel.first + channel.count;
  if (place >= buffer_) place -= buffer_;
  flits_[std::size_t{number} * buffer_ + place] = flit;
  if (channel.count++ != 0) return;
  if (channel.output == kNone) {
    request_channel(number);
  } else if (has_room(channel.output)) {
    set_sendable(number / channels_, std::uint64_t{1} << number % channels_);
  }
}

void Routers::start_packets() {
  while (!later_.empty() && later_.front().cycle <= now_) {
    std::pop_heap(later_.begin(), later_.end());
    const std::uint32_t number = later_.back().packet;
    later_.pop_back();
    const Packet& packet = packets_[number].packet;
    queues_[std::size_t{packet.from} * networks_ + packet.network].packets.push(number);
    ++nodes_[packet.from].waiting;
    waiting_nodes_.insert(packet.from);
  }
}

// Injects at most one flit from each node that has a packet. The switch can forward the flit from the next cycle on.
void Routers::inject() {
  for (unsigned node = waiting_nodes_.next(0); node < waiting_nodes_.size(); node = waiting_nodes_.next(node + 1)) {
    for (unsigned i = 0; i < networks_; ++i) {
      const unsigned network = (nodes_[node].preferred + i) % networks_;
      if (!inject_of(node, network)) continue;
      nodes_[node].preferred = (network + 1) % networks_;
      break;
    }
    if (nodes_[node].waiting == 0) waiting_nodes_.erase(node);
  }
}

bool Routers::inject_of(unsigned node, unsigned network) {
  Queue& queue = queues_[std::size_t{node} * networks_ + network];
  if (queue.packets.empty()) return false;
  const std::uint32_t number = queue.packets[0];
  InFlight& packet = packets_[number];
  std::uint8_t& preferred = node_preferred_[std::size_t{node} * networks_ * alternatives_ + packet.kind];
  const std::uint32_t first = nodes_[node].input * channels_ + packet.kind * kind_channels_;
  for (unsigned i = 0; i < kind_channels_ && queue.channel == kNone; ++i) {
    const std::uint32_t channel = first + (preferred + i) % kind_channels_;
    if (node_credits_[channel] >= (waits_for_tail_ ? buffer_ : 1)) queue.channel = channel;
  }
  if (queue.channel == kNone || node_credits_[queue.channel] == 0) return false;
  --node_credits_[queue.channel];
  const bool tail = ++queue.sent == packet.packet.flits;
  push(queue.channel, {number, 0, tail});
  if (!tail) return true;
  packet.injection = now_ - packet.packet.cycle - (packet.packet.flits - 1);
  preferred = static_cast<std::uint8_t>((queue.channel - first + 1) % kind_channels_);
  queue.packets.drop(1);
  queue.channel = kNone;
  queue.sent = 0;
  --nodes_[node].waiting;
  return true;
}

// Each head flit without an output channel requests one; each output channel grants one request.
void Routers::allocate_channels() {
  const auto input_channels = static_cast<std::uint32_t>(input_channels_.size());
  const std::uint64_t of_kind = ~std::uint64_t{0} >> (kMaxChannels - kind_channels_);
  requested_.clear();
  for (unsigned input = unrouted_inputs_.next(0); input < inputs_.size(); input = unrouted_inputs_.next(input + 1)) {
    for (std::uint64_t left = inputs_[input].unrouted; left != 0; left &= left - 1) {
      const std::uint32_t number = input * channels_ + static_cast<unsigned>(std::countr_zero(left));
      const unsigned output = input_channels_[number].wanted;
      const unsigned first = number % channels_ / kind_channels_ * kind_channels_;
      const std::uint64_t free = outputs_[output].free >> first & of_kind;
      if (free == 0) continue;
      const std::uint32_t wanted = output * channels_ + first + first_in_turn(free, input_channels_[number].preferred);
      OutputChannel& channel = output_channels_[wanted];
      const std::uint32_t distance = turns(number, channel.preferred, input_channels);
      if (channel.best == kNone) requested_.push_back(wanted);
      if (channel.best != kNone && distance > channel.distance) continue;
      channel.best = number;
      channel.distance = distance;
    }
  }
  granted_.clear();
  for (const std::uint32_t wanted : requested_) {
    OutputChannel& channel = output_channels_[wanted];
    const std::uint32_t winner = std::exchange(channel.best, kNone);
    channel.owner = winner;
    channel.preferred = winner + 1 == input_channels ? 0 : winner + 1;
    outputs_[wanted / channels_].free &= ~(std::uint64_t{1} << wanted % channels_);
    input_channels_[winner].output = wanted;
    input_channels_[winner].preferred = static_cast<std::uint8_t>((wanted % channels_ + 1) % kind_channels_);
    const unsigned input = winner / channels_;
    inputs_[input].unrouted &= ~(std::uint64_t{1} << winner % channels_);
    if (inputs_[input].unrouted == 0) unrouted_inputs_.erase(input);
    granted_.push_back(winner);
  }
}

// Each switch port of an input bids at every output for which it has a flit; each output grants one port, and each port accepts
// one grant.
void Routers::allocate_switches(std::vector<Delivery>& delivered) {
  const auto inputs = static_cast<std::uint32_t>(inputs_.size());
  const auto ports = static_cast<std::uint32_t>(ports_.size());
  const auto outputs = static_cast<std::uint32_t>(outputs_.size());
  bids_.clear();
  for (unsigned input = sendable_inputs_.next(0); input < inputs; input = sendable_inputs_.next(input + 1)) {
    for (unsigned part = 0; part < speedup_; ++part) {
      const std::uint32_t number = input * speedup_ + part;
      for (std::uint64_t left = inputs_[input].sendable & port_channels_[part]; left != 0; left &= left - 1) {
        const auto channel = static_cast<unsigned>(std::countr_zero(left));
        const std::uint32_t wanted = input_channels_[input * channels_ + channel].output / channels_;
        Output& output = outputs_[wanted];
        if (output.best == number) continue;
        const std::uint32_t distance = turns(number, output.preferred, ports);
        if (output.best == kNone) bids_.push_back(wanted);
        if (output.best != kNone && distance > output.distance) continue;
        output.best = number;
        output.distance = distance;
      }
    }
  }
  accepting_.clear();
  for (const std::uint32_t granting : bids_) {
    const std::uint32_t number = std::exchange(outputs_[granting].best, kNone);
    SwitchPort& port = ports_[number];
    const std::uint32_t distance = turns(granting, port.accepts_first, outputs);
    if (port.best == kNone) accepting_.push_back(number);
    if (port.best != kNone && distance > port.distance) continue;
    port.best = granting;
    port.distance = distance;
  }
  for (const std::uint32_t number : accepting_) {
    SwitchPort& port = ports_[number];
    const std::uint32_t output = std::exchange(port.best, kNone);
    const std::uint32_t input = number / speedup_;
    std::uint64_t matching = 0;
    for (std::uint64_t left = inputs_[input].sendable & port_channels_[number % speedup_]; left != 0; left &= left - 1) {
      const auto channel = static_cast<unsigned>(std::countr_zero(left));
      if (input_channels_[input * channels_ + channel].output / channels_ == output) matching |= std::uint64_t{1} << channel;
    }
    port.sends = static_cast<std::uint8_t>(first_in_turn(matching, port.preferred));
    port.preferred = static_cast<std::uint8_t>((port.sends + 1) % channels_);
    port.accepts_first = output + 1 == outputs ? 0 : output + 1;
    outputs_[output].preferred = number + 1 == ports ? 0 : number + 1;
    pass(number, delivered);
  }
}

// Moves a flit whose port has accepted a grant.
void Routers::pass(std::uint32_t port, std::vector<Delivery>& delivered) {
  const std::uint32_t input = port / speedup_;
  const std::uint32_t number = input * channels_ + ports_[port].sends;
  const std::uint64_t bit = std::uint64_t{1} << ports_[port].sends;
  InputChannel& channel = input_channels_[number];
  const Flit flit = front(number);
  channel.first = static_cast<std::uint16_t>(channel.first + 1U == buffer_ ? 0 : channel.first + 1U);
  --channel.count;
  const std::uint32_t upstream = inputs_[input].upstream;
  credits_[(now_ + kCreditCycles) & (credits_.size() - 1)].push_back(
      upstream == kNone ? static_cast<std::uint32_t>(output_channels_.size()) + number
                        : upstream * channels_ + ports_[port].sends);
  ++credits_in_flight_;

  const std::uint32_t wanted = channel.output;
  Output& output = outputs_[wanted / channels_];
  OutputFlits& carried = output_flits_[wanted / channels_];
  ++carried.all;
  const unsigned of_network = alternatives_ * kind_channels_;
  if (wanted % channels_ / of_network == static_cast<unsigned>(VirtualNetwork::reply)) ++carried.replies;
  if (output.downstream != kNone) {
    --output_channels_[wanted].credits;
    landings_[(now_ + router_ + link_ - 1) & (landings_.size() - 1)].push_back(
        {output.downstream * channels_ + wanted % channels_,
         {flit.packet, static_cast<std::uint16_t>(flit.pass + 1), flit.tail}});
  } else if (flit.tail) {
    const Packet& packet = packets_[flit.packet].packet;
    const auto links = static_cast<unsigned>(packets_[flit.packet].path.size() - 1);
    const std::uint64_t arrival = now_ + delivery_latency();
    const std::uint64_t unloaded = interface_ + (links + 1) * router_ + links * link_ + packet.flits - 1;
    delivered.push_back({.tag = packet.tag,
                         .links = links,
                         .ready = packet.cycle,
                         .arrival = arrival,
                         .waiting = arrival - packet.cycle - unloaded,
                         .injection = packets_[flit.packet].injection});
    packets_.release(flit.packet);
  }

  if (flit.tail) {
    output_channels_[wanted].owner = kNone;
    if (!waits_for_tail_) {
      free_channel(wanted);
    } else if (output.downstream != kNone) {
      output_channels_[wanted].tail_sent = true;
    } else {
      credits_[(now_ + delivery_latency() + kCreditCycles) & (credits_.size() - 1)].push_back(wanted);
      ++credits_in_flight_;
    }
    channel.output = kNone;
    clear_sendable(input, bit);
    if (channel.count != 0) request_channel(number);
  } else if (channel.count == 0 || !has_room(wanted)) {
    clear_sendable(input, bit);
  }
}

// Frees the channel for the next packet.
void Routers::free_channel(std::uint32_t output_channel) {
  output_channels_[output_channel].tail_sent = false;
  outputs_[output_channel / channels_].free |= std::uint64_t{1} << output_channel % channels_;
}

// Lets input channels that were granted an output channel bid from the next cycle on.
void Routers::start_bidding() {
  for (const std::uint32_t number : granted_) {
    if (has_room(input_channels_[number].output)) set_sendable(number / channels_, std::uint64_t{1} << number % channels_);
  }
}

// Requests an output channel for the packet that has reached the front of an input channel.
void Routers::request_channel(std::uint32_t number) {
  const Flit& head = front(number);
  input_channels_[number].wanted = packets_[head.packet].path[head.pass].output;
  const std::uint32_t input = number / channels_;
  inputs_[input].unrouted |= std::uint64_t{1} << number % channels_;
  unrouted_inputs_.insert(input);
}

void Routers::set_sendable(std::uint32_t input, std::uint64_t bit) {
  inputs_[input].sendable |= bit;
  sendable_inputs_.insert(input);
}

void Routers::clear_sendable(std::uint32_t input, std::uint64_t bit) {
  inputs_[input].sendable &= ~bit;
  if (inputs_[input].sendable == 0) sendable_inputs_.erase(input);
}

}  // namespace lacuna
