// The memory phase: responses from destinations to the ports of their receivers.
#include <vector>

#include "models/cache/detail/host_prefetch.h"
#include "models/common/time/sort_by_time.h"
#include "models/gpu/memory_phase.h"

namespace lacuna {

// Sends the replies to served requests from the destinations into the network.
void MemoryPhase::send_replies(Memory& memory, TimedFlights& space) {
  sort_nearly_sorted(memory.replies, space);
  for (const TimedFlight& next : memory.replies) {
    Flight& flight = *next.flight;
    if (is_local(flight.receiver, flight.destination)) [[unlikely]] {
      flight.timing.injection = Tick{};
      continue;
    }
    const unsigned node = destinations_[flight.destination].node;
    flight.timing.injection =
        private_ports_->injection_wait(next.at, private_ports_->depart(node, flight.reply_flits, next.at));
    fabric_.count_injected(node, VirtualNetwork::reply, flight.timing.injection);
  }
}

void MemoryPhase::sort_out(Memory& memory) {
  for (const TimedFlight& next : memory.replies) memory.replied[ports_[next.flight->receiver].group].push_back(next);
}

void MemoryPhase::receive_group(unsigned number, ThreadScratch& scratch) {
  Group& group = groups_[number];
  for (const unsigned serving : serving_) {
    TimedFlights& replied = memories_[serving].replied[number];
    for (const TimedFlight& next : replied)
      group.nodes[ports_[next.flight->receiver].node].replies.push_back({next.flight->timing.at, next.flight});
    replied.clear();
  }
  std::vector<GroupRequest>& received = scratch.requests;
  received.clear();
  group.receivers.clear();
  for (GroupNode& node : group.nodes) {
    if (node.replies.empty()) continue;
    sort_by_time(node.replies, scratch.space);
    if (!node.requesters.empty()) list_node_replies(group, node);
    if (private_ports_ != nullptr) receive_replies(node, scratch);
    for (const TimedFlight& next : node.replies) {
      Flight& flight = *next.flight;
      Port& origin = ports_[flight.receiver];
      if (origin.cache == nullptr) [[unlikely]]
        continue;
      if (origin.responses++ == 0) group.receivers.push_back(flight.receiver);
      received.push_back({.origin = &origin,
                          .port = flight.receiver,
                          .miss = flight.tag,
                          .orders = nullptr,
                          .at = {},
                          .flight = &flight,
                          .number = origin.responses - 1});
    }
    node.replies.clear();
  }
  LatencyBreakdown latency;  // scratch for requests that a cache served
  in_stages(
      received.size(), [&](std::size_t i) { detail::CachePrefetch::miss(*received[i].origin->cache, received[i].miss); },
      [&](std::size_t i) {
        detail::CachePrefetch::fill(*received[i].origin->cache, received[i].miss);
        detail::CachePrefetch::waiting(*received[i].origin->cache, received[i].number);
      },
      [&](std::size_t i) {
        const Flight& flight = *received[i].flight;
        const RequestTiming& timing = flight.timing;
        const std::vector<LatencyBreakdown>& below = memories_[destinations_[flight.destination].memory].below;
        received[i].origin->flights.release(received[i].flight);
        complete(flight, timing.below != kNone ? &below[timing.below] : nullptr, latency);
      });
  // When all responses have been delivered, each cache resumes the requests that wait in it.
  for (const std::uint16_t port : group.receivers) {
    ports_[port].responses = 0;
    ports_[port].cache->resume();
  }
  for (const NodeReply& reply : group.node_replies) {
    const std::uint32_t below = reply.flight->timing.below;
    complete(*reply.flight, below != kNone ? &memories_[destinations_[reply.flight->destination].memory].below[below] : nullptr,
             latency);
  }
}

void MemoryPhase::list_node_replies(Group& group, const GroupNode& node) const {
  for (const TimedFlight& next : node.replies) {
    const RequestTiming& timing = next.flight->timing;
    if (ports_[next.flight->receiver].cache == nullptr)
      group.node_replies.push_back({next.flight, timing.noc_waiting, timing.noc_passing});
  }
}

void MemoryPhase::collect_received() {
  for (const unsigned number : receiving_) {
    Group& group = groups_[number];
    for (const NodeReply& reply : group.node_replies) {
      const Flight& flight = *reply.flight;
      Port& sender = ports_[flight.sender];
      if (private_ports_ != nullptr && !is_local(flight.sender, flight.destination)) {
        fabric_.count_passed(sender.source, flight.destination,
                             {.packets = 1, .flits = flight.request_flits, .queueing = reply.request_waiting},
                             reply.request_waiting + reply.request_passing, scratch_.front().tally);
      }
      sender.flights.release(reply.flight);
    }
    group.node_replies.clear();
  }
}

void MemoryPhase::receive_replies(GroupNode& node, ThreadScratch& scratch) {
  for (const TimedFlight& next : node.replies) {
    Flight& flight = *next.flight;
    RequestTiming& timing = flight.timing;
    if (is_local(flight.receiver, flight.destination)) [[unlikely]]
      continue;
    const Cycles head = private_ports_->head(next.at, timing.injection);
    const NodePorts::Arrival passed = private_ports_->arrive(node.number, flight.reply_flits, next.at, head);
    timing.noc_waiting += passed.waiting;
    timing.noc_passing += passed.at - next.at - passed.waiting;
    timing.at = passed.at;
    if (ports_[flight.receiver].cache == nullptr) [[unlikely]] {
      fabric_.count_passed(ports_[flight.receiver].source, flight.destination,
                           {.packets = 1, .flits = flight.reply_flits, .queueing = passed.waiting}, passed.at - next.at,
                           scratch.tally);
      continue;
    }
    fabric_.count_passed(
        ports_[flight.receiver].source, flight.destination,
        {.packets = 2, .flits = std::uint64_t{flight.request_flits} + flight.reply_flits, .queueing = timing.noc_waiting},
        timing.noc_waiting + timing.noc_passing, scratch.tally);
  }
}

void MemoryPhase::complete(const Flight& flight, const LatencyBreakdown* below, LatencyBreakdown& latency) {
  const RequestTiming& timing = flight.timing;
  const Destination& destination = destinations_[flight.destination];
  if (below != nullptr) [[unlikely]] {
    LatencyBreakdown further = *below;
    further.add(MemoryLevel::noc, timing.noc_waiting, timing.noc_passing);
    if (destination.cache != nullptr) further.add(destination.cache->level(), timing.waiting, timing.service);
    further.mshr += timing.mshr;
    further.injection += timing.injection;
    complete(flight, further);
    return;
  }
  latency.set(MemoryLevel::noc, timing.noc_waiting, timing.noc_passing);
  latency.set(destination.cache->level(), timing.waiting, timing.service);
  latency.mshr = timing.mshr;
  latency.injection = timing.injection;
  complete(flight, latency);
}

void MemoryPhase::complete(const Flight& flight, const LatencyBreakdown& latency) {
  const Port& receiver = ports_[flight.receiver];
  if (receiver.cache != nullptr) [[likely]] {
    receiver.cache->complete(flight.tag, flight.timing.at, latency);
  } else {
    receiver.requester->complete(flight.tag, flight.timing.at, latency);
  }
}

}  // namespace lacuna
