#include "models/noc/booked_network.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "models/noc/flow_control.h"

namespace lacuna {
namespace {

// From this number of virtual channels on, neither more channels nor larger buffers change the throughput of a mesh by more
// than 4 % (tests/validation/noc_routers_test.cpp).
constexpr unsigned kManyChannels = 4;

}  // namespace

BookedNetwork::BookedNetwork(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count,
                             AddressRoutes routes, const FabricGuests& guests)
    : Network(module_name, parameters, source_count, std::move(routes), guests),
      router_(parameters.router_latency.n),
      link_(parameters.link_latency.n),
      interface_(parameters.interface_latency.n),
      ports_(std::size_t{topology().inputs()} + topology().outputs()),
      queues_(std::size_t{topology().nodes()} * parameters.virtual_networks, PoolCalendar(parameters.injection_queue)),
      outputs_(topology().outputs()) {
  if (parameters.input_speedup != 1 || parameters.wait_for_tail_credit) {
    throw std::invalid_argument(
        "noc.input_speedup and noc.wait_for_tail_credit are of routers that are stepped cycle by cycle: set noc.routers = "
        "stepped as well");
  }
  const unsigned channels = parameters.virtual_channels / topology().alternatives();
  if (channels >= kManyChannels) return;
  const std::size_t kinds = std::size_t{parameters.virtual_networks} * topology().alternatives();
  buffers_.assign(kinds * topology().inputs(), PoolCalendar(channels * parameters.channel_buffer));
  if (channels == 1) channels_.assign(kinds, SlotCalendars(std::size_t{topology().inputs()} + topology().outputs()));
}

Fabric::Traversal BookedNetwork::transfer(unsigned from, unsigned to, VirtualNetwork network, unsigned flits, Tick at) {
  PoolCalendar& queue = queues_[std::size_t{from} * parameters().virtual_networks + static_cast<unsigned>(network)];
  const Tick enters = queue.acquire(at);
  const std::uint64_t start = clock().ceil(enters).n;
  const unsigned alternative = choose_alternative(from);
  topology().find_path(from, to, alternative, path_);
  const unsigned replies = network == VirtualNetwork::reply ? flits : 0;
  const unsigned kind = static_cast<unsigned>(network) * topology().alternatives() + alternative;
  const Passage passage = buffers_.empty() ? pass_freely(start, flits, replies) : pass_channels(start, flits, replies, kind);
  queue.occupy(enters, clock().ticks({passage.first_switch + 1}));

  const unsigned links = path_.size() - 1;
  const Tick arrival = clock().ticks({passage.last_switch + router_ + interface_});
  return {.arrival = arrival,
          .waiting = arrival - at - clock().ticks({unloaded(links, flits)}),
          .injection = clock().ticks({passage.first_switch - (flits - 1)}) - at,
          .links = links};
}

BookedNetwork::Passage BookedNetwork::pass_freely(std::uint64_t start, unsigned flits, unsigned replies) {
  if (arrivals_.size() < flits) arrivals_.resize(flits);
  std::uint64_t* const cycles = arrivals_.data();
  const std::uint64_t hop = router_ + link_;
  Passage result{start, start};
  std::uint64_t first = start;  // cycle in which the first flit arrives at the switch
  bool together = true;         // the flits arrive in consecutive cycles
  for (const SwitchPass& pass : path_) {
    const std::size_t output = topology().inputs() + pass.output;
    std::uint64_t passed = 0;
    if (together) {
      const auto passage = ports_.reserve_both(pass.input, output, first, flits, cycles);
      first = passage.first + hop;
      passed = passage.last;
      together = passed - passage.first == flits - 1;
    } else {
      std::uint64_t next = 0;
      for (unsigned f = 0; f < flits; ++f) {
        std::uint64_t own = 0;
        passed = ports_.reserve_both(pass.input, output, std::max(cycles[f] + hop, next), 1, &own).first;
        cycles[f] = passed;
        next = passed + 1;
      }
      first = cycles[0] + hop;
      together = passed - cycles[0] == flits - 1;
    }
    count_output(pass.output, flits, replies);
    if (&pass == &path_.front()) result.first_switch = passed;
    result.last_switch = passed;
  }
  return result;
}

BookedNetwork::Passage BookedNetwork::pass_channels(std::uint64_t start, unsigned flits, unsigned replies, unsigned kind) {
  const std::size_t switches = path_.size();
  const std::size_t inputs = topology().inputs();
  PoolCalendar* const buffers = buffers_.data() + kind * inputs;
  SlotCalendars* const channel = channels_.empty() ? nullptr : &channels_[kind];
  const std::uint64_t hop = router_ + link_;
  ready_.resize(switches);
  departs_.resize(switches);
  passed_.resize(switches);
  for (unsigned flit = 0; flit < flits; ++flit) {
    std::uint64_t cycle = start + flit;
    std::uint64_t left = 0;  // cycle in which the flit passed the previous switch
    for (std::size_t i = 0; i < switches; ++i) {
      const auto [input, output] = path_[i];
      if (flit == 0) {
        ready_[i] = cycle;
        if (channel != nullptr) cycle = channel->first_run(input, inputs + output, cycle, flits + 1);
      } else {
        cycle = std::max(cycle, passed_[i] + 1);
      }
      // A flit does not bid while the buffer at the end of the link is full.
      for (bool room = i + 1 == switches; !room;) {
        const std::uint64_t wins = ports_.first_run(input, inputs + output, cycle, 1);
        const std::uint64_t roomy = buffers[path_[i + 1].input].acquire({wins}).ps;
        room = roomy == wins;
        if (!room) cycle = roomy;
      }
      std::uint64_t own = 0;
      cycle = ports_.reserve_both(input, inputs + output, cycle, 1, &own).first;
      if (flit == 0) departs_[i] = cycle;
      if (i > 0) buffers[input].occupy({left}, {cycle + kCreditCycles});
      left = cycle;
      passed_[i] = cycle;
      cycle += hop;
    }
  }
  for (const SwitchPass& pass : path_) count_output(pass.output, flits, replies);
  if (channel != nullptr) {
    // Cycles of `channel` are one later than those of ports_. An output's channel is busy from its allocation on, an input's
    // channel from the cycle in which the packet reached the front.
    for (std::size_t i = 0; i < switches; ++i) {
      const auto [input, output] = path_[i];
      channel->fill(input, ready_[i], passed_[i] + 2 - ready_[i]);
      channel->fill(inputs + output, departs_[i], passed_[i] + 2 - departs_[i]);
    }
  }
  return {passed_.front(), passed_.back()};
}

void BookedNetwork::retire(Tick horizon) {
  if (!ports_.retire(clock().floor(horizon).n)) return;
  for (PoolCalendar& queue : queues_) queue.retire(horizon);
  const std::uint64_t cycle = clock().floor(horizon).n;
  for (SlotCalendars& channel : channels_) channel.retire(cycle);
  for (PoolCalendar& buffer : buffers_) buffer.retire({cycle});
}

void BookedNetwork::reset() {
  Network::reset();
  ports_.reset();
  for (PoolCalendar& queue : queues_) queue.reset();
  for (SlotCalendars& channel : channels_) channel.reset();
  for (PoolCalendar& buffer : buffers_) buffer.reset();
}

}  // namespace lacuna
