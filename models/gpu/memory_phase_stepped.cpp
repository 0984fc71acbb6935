// The memory phase with a stepped network.
#include "models/common/time/tlm_time.h"
#include "models/gpu/memory_phase.h"

namespace lacuna {

void MemoryPhase::resolve_steps(Tick end) {
  const Tick now = kernel_time();
  fabric_.advance(now);
  for (unsigned group = 0; group < groups_.size(); ++group) translations_.deliver(group);
  launch_requests(end);
  receive(end);
  find_serving(now, false);
  serve_arrivals(end);
  complete_replies();
  deliver_messages();
  stepped_to_ = end;
}

void MemoryPhase::launch_requests(Tick end) {
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    Port& port = ports_[i];
    const auto number = static_cast<std::uint16_t>(i);
    if (port.cache == nullptr) {
      for (const NodeRequester::Departure& departure : departures(*port.requester, end, scratch_.front().departures))
        launch_request(number, departure);
      scratch_.front().messages.clear();
      port.requester->messages(end, scratch_.front().messages);
      for (const NodeRequester::Message& message : scratch_.front().messages) launch_message(number, message);
      continue;
    }
    if (port.cache->next_departure() >= end) continue;
    port.departures.clear();
    port.cache->departures(end, port.departures);
    for (const FirstLevelCache::Departure& departure : port.departures) launch_request(number, departure);
  }
  for (Group& group : groups_) find_next_departure(group);
}

MemoryPhase::SteppedFlight& MemoryPhase::new_flight() {
  if (free_flights_.empty()) {
    free_flights_.push_back(static_cast<std::uint32_t>(flights_.size()));
    flights_.emplace_back().number = free_flights_.back();
  }
  SteppedFlight& flight = flights_[free_flights_.back()];
  free_flights_.pop_back();
  flight.served = flight.message = false;
  flight.timing = {};
  return flight;
}

template <typename Departure>
void MemoryPhase::launch_request(std::uint16_t port, const Departure& departure) {
  SteppedFlight& flight = new_flight();
  prepare(port, departure, flight);
  if (flight.timing.lost) report_lost(flight);
  if (is_local(port, flight.destination)) {
    const Tick at = later(departure.at, stepped_to_);
    memories_[destinations_[flight.destination].memory].arrivals.push_back({at, &flight});
    return;
  }
  stepped_->launch(ends(flight, VirtualNetwork::request), VirtualNetwork::request, flight.request_flits, departure.at,
                   flight.number);
}

void MemoryPhase::launch_message(std::uint16_t port, const NodeRequester::Message& message) {
  SteppedFlight& flight = new_flight();
  flight.message = true;
  flight.sender = port;
  flight.receiver = message.receiver->port_;
  flight.tag = message.tag;
  flight.reply_flits = message.flits;
  flight.served = message.network == VirtualNetwork::reply;
  stepped_->launch(ends(SentMessage{.message = message, .sender = port}), message.network, message.flits, message.at,
                   flight.number);
}

// Steps the network to the end of the window.
void MemoryPhase::receive(Tick end) {
  arrived_.clear();
  stepped_->advance_to(end, arrived_);
  replies_.clear();
  count_ = arrived_.size();
  for (const SteppedNetwork::Arrival& arrival : arrived_) {
    SteppedFlight& flight = flights_[arrival.tag];
    const Fabric::Traversal& way = arrival.traversal;
    if (flight.message) {
      stepped_->count_arrival(arrival, {ports_[flight.sender].network_node, ports_[flight.receiver].network_node},
                              flight.network(), flight.reply_flits);
      messages_.push_back({.message = {.receiver = ports_[flight.receiver].requester, .tag = flight.tag},
                           .passage = {way.arrival, way.waiting, way.arrival - arrival.ready - way.waiting, way.injection}});
      free_flights_.push_back(flight.number);
      continue;
    }
    stepped_->count_arrival(arrival, ends(flight, flight.network()), flight.network(), flight.flits());
    flight.timing.noc_waiting += way.waiting;
    flight.timing.noc_passing += way.arrival - arrival.ready - way.waiting;
    if (flight.served) {
      flight.timing.injection = way.injection;
      flight.timing.at = way.arrival;
      replies_.push_back(&flight);
    } else {
      memories_[destinations_[flight.destination].memory].arrivals.push_back({way.arrival, &flight});
    }
  }
}

void MemoryPhase::serve_arrivals(Tick horizon) {
  share(serving_, memories_.size(), [&](unsigned memory, ThreadScratch& scratch) { serve(memory, horizon, scratch); });
  for (const unsigned number : serving_) {
    if (memories_[number].caches.empty()) serve_by_sockets(memories_[number]);
  }
  check_lost();
  for (const unsigned number : serving_) {
    const Memory& memory = memories_[number];
    for (const TimedFlight& reply : memory.replies) {
      auto& flight = static_cast<SteppedFlight&>(*reply.flight);
      if (flight.timing.below != kNone) flight.below = memory.below[flight.timing.below];
      flight.served = true;
      if (is_local(flight.receiver, flight.destination)) {
        replies_.push_back(&flight);
      } else {
        stepped_->launch(ends(flight, VirtualNetwork::reply), VirtualNetwork::reply, flight.reply_flits, flight.timing.at,
                         flight.number);
      }
    }
  }
}

void MemoryPhase::complete_replies() {
  if (replies_.empty()) return;
  LatencyBreakdown latency;
  for (SteppedFlight* flight : replies_) {
    complete(*flight, flight->timing.below != kNone ? &flight->below : nullptr, latency);
    free_flights_.push_back(flight->number);
  }
  // When all responses have been delivered, each cache resumes the requests that wait in it.
  for (const Port& port : ports_) {
    if (port.cache != nullptr) port.cache->resume();
  }
}

}  // namespace lacuna
