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
}

void MemoryPhase::launch_requests(Tick end) {
  for (std::uint32_t cache = 0; cache < caches_.size(); ++cache) {
    L1Port& origin = caches_[cache];
    if (origin.cache->next_departure() >= end) continue;
    origin.departures.clear();
    origin.cache->departures(end, origin.departures);
    for (const FirstLevelCache::Departure& departure : origin.departures) {
      if (free_flights_.empty()) {
        free_flights_.push_back(static_cast<std::uint32_t>(flights_.size()));
        flights_.emplace_back().number = free_flights_.back();
      }
      SteppedFlight& flight = flights_[free_flights_.back()];
      free_flights_.pop_back();
      flight.served = false;
      flight.timing = {};
      prepare(cache, departure, flight);
      if (flight.timing.lost) report_lost(flight);
      launch(flight, VirtualNetwork::request, flight.request_flits, departure.at);
    }
  }
  for (Group& group : groups_) find_next_departure(group);
}

void MemoryPhase::launch(SteppedFlight& flight, VirtualNetwork network, unsigned flits, Tick at) {
  stepped_->launch(network, caches_[flight.cache].source, flight.destination, flits, at, flight.number);
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
    stepped_->count_arrival(arrival, caches_[flight.cache].source, flight.destination,
                            flight.served ? flight.reply_flits : flight.request_flits);
    flight.timing.noc_waiting += way.waiting;
    flight.timing.noc_passing += way.arrival - arrival.ready - way.waiting;
    if (flight.served) {
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
      launch(flight, VirtualNetwork::reply, flight.reply_flits, flight.timing.at);
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
  // Requests that wait in a cache wait for its responses.
  for (const L1Port& origin : caches_) origin.cache->resume();
}

}  // namespace lacuna
