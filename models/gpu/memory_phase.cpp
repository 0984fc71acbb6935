#include "models/gpu/memory_phase.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include "models/cache/detail/host_prefetch.h"
#include "models/common/time/sort_by_time.h"
#include "models/common/time/tlm_time.h"

namespace lacuna {
MemoryPhase::MemoryPhase(Fabric& fabric, TranslationLevel* l2_tlb, WorkerThreads* threads, Tick min_packet_time)
    : fabric_(fabric),
      stepped_(fabric.stepped()),
      l2_tlb_(l2_tlb),
      threads_(threads),
      min_packet_time_(fabric.stepped() != nullptr ? Tick{} : min_packet_time),
      destinations_(fabric.destinations.size()),
      memories_(destinations_.size()),
      scratch_(threads != nullptr ? threads->threads() : 1) {
  for (unsigned i = 0; i < destinations_.size(); ++i) destinations_[i] = {nullptr, fabric.destination_node(i), i};
  for (ThreadScratch& scratch : scratch_) scratch.tally.destinations.resize(destinations_.size());
}

MemoryPhase::Port& MemoryPhase::add_port(unsigned number, unsigned group) {
  if (ports_.size() > std::numeric_limits<decltype(Flight::sender)>::max())
    throw std::length_error(fmt::format("more than {} caches and units that send requests", ports_.size()));
  std::vector<GroupNode>& nodes = group_of(group).nodes;
  auto node = std::find_if(nodes.begin(), nodes.end(), [number](const GroupNode& other) { return other.number == number; });
  if (node == nodes.end()) node = nodes.insert(node, {number, {}, {}, {}, {}});
  Port& port = ports_.emplace_back();
  port.network_node = number;
  port.group = group;
  port.node = static_cast<unsigned>(node - nodes.begin());
  return port;
}

void MemoryPhase::add(FirstLevelCache& cache, unsigned source, unsigned group) {
  Port& port = add_port(fabric_.source_node(source), group);
  port.cache = &cache;
  port.source = source;
  groups_[group].nodes[port.node].caches.push_back(static_cast<std::uint16_t>(ports_.size() - 1));
  cache.announce_departures(groups_[group].next_departure);
  cache.keep_early_requests(far_, groups_[group].early);
}

void MemoryPhase::add(NodeRequester& requester, unsigned node, unsigned group, bool ahead) {
  Port& port = add_port(node, group);
  if (ahead) groups_[group].ahead = min_packet_time_;
  has_messages_ |= requester.sends_messages();
  port.requester = &requester;
  has_shared_nodes_ |= std::any_of(destinations_.begin(), destinations_.end(),
                                   [node](const Destination& destination) { return destination.node == node; });
  requester.port_ = static_cast<std::uint16_t>(ports_.size() - 1);
  requester.earliest_ = &groups_[group].next_departure;
  groups_[group].nodes[port.node].requesters.push_back(requester.port_);
}

MemoryPhase::Group& MemoryPhase::group_of(unsigned number) {
  while (groups_.size() <= number) groups_.emplace_back().sent.resize(destinations_.size());
  return groups_[number];
}

void MemoryPhase::add_destination(unsigned destination, LastLevelCache& cache, DeferredMemory* memory, unsigned memory_of) {
  destinations_[destination].cache = &cache;
  destinations_[destination].memory = memory_of;
  Memory& behind = memories_[memory_of];
  if (memory != nullptr) cache.attach(*memory);
  cache.attach(static_cast<MemoryClient&>(behind));
  behind.deferred = memory;
  behind.way = behind.caches.empty() ? cache.way_to_memory() : earlier(behind.way, cache.way_to_memory());
  behind.caches.push_back(&cache);
}

// Requests depart here while they are in the host caches of the thread that made them, unless translations or an observer may
// lead to further requests: then all requests depart in resolve().
void MemoryPhase::group_finished(unsigned number, unsigned thread, Tick end) {
  Group& group = groups_[number];
  if (!ports_known_ || stepped_ != nullptr || !observers_.empty() || translations_.has_requests(number) || !group.departs(end))
    return;
  send_requests(group, end, scratch_[thread]);
  group.left = true;
}

// Requests that have been held back for this window are admitted before the units run.
void MemoryPhase::begin(Tick far) {
  far_ = far;
  for (Group& group : groups_) {
    if (group.early.empty()) continue;
    for (FirstLevelCache* const cache : std::exchange(group.early, {})) cache->admit_early();
  }
}

void MemoryPhase::resolve(Tick end) {
  for (WindowObserver* const observer : observers_) observer->window_ended();
  translations_.translate();
  if (stepped_ != nullptr) {
    resolve_steps(end);
    return;
  }
  if (!std::exchange(ports_known_, true)) private_ports_ = find_private_ports();
  late_.clear();
  for (unsigned i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    if (!group.left && (translations_.has_results(i) || group.departs(end))) late_.push_back(i);
  }
  // The number of requests is known only after they have left; share() uses the number of the last phase as an estimate.
  share(late_, groups_.size(), [&](unsigned number, ThreadScratch& scratch) {
    Group& group = groups_[number];
    translations_.deliver(number);
    group.left = group.departs(end);
    if (group.left) send_requests(group, end, scratch);
  });
  const Tick now = kernel_time();
  fabric_.advance(now);
  exchange(end, now, false);
  // If a response before the window's end frees an MSHR or a way, a waiting request leaves within the window. It must be sent
  // in this phase: in the next phase it would be late, and a chain of such requests would accumulate delays.
  for (;;) {
    late_.clear();
    for (unsigned i = 0; i < groups_.size(); ++i) {
      if (groups_[i].departs(end)) late_.push_back(i);
    }
    if (late_.empty()) break;
    share(late_, groups_.size(), [&](unsigned number, ThreadScratch& scratch) {
      send_requests(groups_[number], end, scratch);
      groups_[number].left = true;
    });
    exchange(end, now, true);
  }
  if (private_ports_ == nullptr) return;
  for (ThreadScratch& scratch : scratch_) {
    if (scratch.tally.latency != Tick{}) fabric_.count(scratch.tally);
  }
}

// Sends departed requests through the network to their destinations, serves them and returns the responses. `again`: whether
// the phase has had an exchange before.
void MemoryPhase::exchange(Tick end, Tick now, bool again) {
  leaving_.clear();
  for (unsigned i = 0; i < groups_.size(); ++i) {
    if (std::exchange(groups_[i].left, false)) leaving_.push_back(i);
  }
  if (leaving_.empty() && in_flight_ == 0) return;
  count_ = 0;
  for (const unsigned group : leaving_) {
    for (const GroupNode& node : groups_[group].nodes) count_ += node.orders.size();
  }
  in_flight_ += count_;
  check_lost();
  messages_.clear();
  for (const unsigned group : leaving_) {
    std::vector<SentMessage>& sent = groups_[group].messages;
    messages_.insert(messages_.end(), sent.begin(), sent.end());
    sent.clear();
  }
  std::stable_sort(messages_.begin(), messages_.end(),
                   [](const SentMessage& a, const SentMessage& b) { return a.message.at < b.message.at; });
  if (private_ports_ == nullptr) carry(VirtualNetwork::request);
  find_serving(now, again);
  share(serving_, memories_.size(),
        [&](unsigned memory, ThreadScratch& scratch) { serve(memory, end + min_packet_time_, scratch); });
  for (const unsigned number : serving_) {
    if (memories_[number].caches.empty()) serve_by_sockets(memories_[number]);
  }
  check_lost();
  if (private_ports_ == nullptr) {
    carry(VirtualNetwork::reply);
    for (const unsigned number : serving_) sort_out(memories_[number]);
  }
  receiving_.clear();
  for (const unsigned number : serving_) in_flight_ -= memories_[number].replies.size();
  for (unsigned group = 0; group < groups_.size(); ++group) {
    const auto replies = [this, group](unsigned number) { return !memories_[number].replied[group].empty(); };
    if (std::any_of(serving_.begin(), serving_.end(), replies)) receiving_.push_back(group);
  }
  share(receiving_, groups_.size(), [this](unsigned group, ThreadScratch& scratch) { receive_group(group, scratch); });
  collect_received();
  deliver_messages();
}

void MemoryPhase::deliver_messages() {
  std::stable_sort(messages_.begin(), messages_.end(),
                   [](const SentMessage& a, const SentMessage& b) { return a.passage.at < b.passage.at; });
  for (const SentMessage& sent : messages_) sent.message.receiver->receive(sent.message.tag, sent.passage);
  messages_.clear();
}

void MemoryPhase::find_serving(Tick now, bool only_fresh) {
  serving_.clear();
  for (unsigned number = 0; number < memories_.size(); ++number) {
    const auto sends = [this, number](unsigned group) { return !groups_[group].sent[number].empty(); };
    const bool fresh = std::any_of(leaving_.begin(), leaving_.end(), sends);
    if (!fresh && (memories_[number].is_idle() || (only_fresh && private_ports_ != nullptr))) continue;
    serving_.push_back(number);
    for (LastLevelCache* const cache : memories_[number].caches) cache->advance(now);
  }
}

// With private ports, groups and memories handle the two ends of a packet's path independently.
NodePorts* MemoryPhase::find_private_ports() const {
  if (fabric_.ports() == nullptr || has_messages_) return nullptr;
  constexpr std::size_t kUnowned = ~std::size_t{0};
  using Owners = std::vector<std::size_t>;
  Owners memories(fabric_.nodes(), kUnowned), groups(fabric_.nodes(), kUnowned);
  const auto claim = [&](Owners& owners, unsigned node, std::size_t owner) {
    if (owners[node] == kUnowned) owners[node] = owner;
    return owners[node] == owner;
  };
  for (const Destination& destination : destinations_) {
    if (!claim(memories, destination.node, destination.memory)) return nullptr;
  }
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    for (const GroupNode& node : groups_[group].nodes) {
      // A cache at a destination's node enters the network through the destination's port.
      if (!node.caches.empty() && memories[node.number] != kUnowned) return nullptr;
      if (!claim(groups, node.number, group)) return nullptr;
    }
  }
  return fabric_.ports();
}

Tick MemoryPhase::next() const {
  if (translations_.has_requests()) return Tick{};
  Tick first = kNever;
  for (const Group& group : groups_) {
    if (group.next_departure != kNever)
      first = earlier(first, group.next_departure - earlier(group.next_departure, group.ahead));
    for (const FirstLevelCache* const cache : group.early) first = earlier(first, cache->next_early());
  }
  for (const Memory& memory : memories_) {
    if (memory.is_idle()) continue;
    // The phase of the window that begins at the returned time decides up to `next`.
    Tick next = memory.arrivals.empty() ? kNever : memory.arrivals.front().at;
    if (memory.deferred != nullptr) {
      if (const Tick decision = memory.deferred->next_decision(); decision != kNever)
        next = earlier(next, decision - earlier(decision, memory.way));
    }
    if (next != kNever) first = earlier(first, next - earlier(next, min_packet_time_));
  }
  return stepped_ != nullptr ? earlier(first, stepped_->next()) : first;
}

void MemoryPhase::reset() {
  flights_.clear();
  free_flights_.clear();
  in_flight_ = 0;
  messages_.clear();
  stepped_to_ = {};
  for (Port& port : ports_) port.flights.clear();
  for (Memory& memory : memories_) {
    memory.arrivals.clear();
    memory.replies.clear();
    memory.waiting.clear();
    memory.free_tags.clear();
    memory.lost = nullptr;
  }
  translations_.reset();
  for (Group& group : groups_) {
    group.lost = nullptr;
    group.early.clear();
    group.messages.clear();
    find_next_departure(group);
  }
}

void MemoryPhase::find_next_departure(Group& group) {
  group.next_departure = kNever;
  for (const GroupNode& node : group.nodes) {
    for (const std::uint16_t port : node.caches)
      group.next_departure = earlier(group.next_departure, ports_[port].cache->next_departure());
    for (const std::uint16_t port : node.requesters)
      group.next_departure = earlier(group.next_departure, ports_[port].requester->next_departure());
  }
}

void MemoryPhase::retire(Tick horizon) {
  for (const Port& port : ports_) {
    if (port.cache != nullptr) port.cache->retire(horizon);
  }
  if (l2_tlb_ != nullptr) l2_tlb_->retire(horizon);
}

void MemoryPhase::check_lost() const {
  for (const unsigned group : leaving_) {
    if (groups_[group].lost != nullptr) report_lost(*groups_[group].lost);
  }
  for (const unsigned number : serving_) {
    if (memories_[number].lost != nullptr) report_lost(*memories_[number].lost);
  }
}

void MemoryPhase::report_lost(const Flight& flight) const {
  const Cache* cache = destinations_[flight.destination].cache;
  SC_REPORT_FATAL(cache != nullptr ? cache->name() : fabric_.name(),
                  fmt::format("no memory at bus address {:#x} of a mapped page", flight.request.address).c_str());
  std::abort();
}

// -- requests

const MemoryPhase::NodeDepartures& MemoryPhase::departures(NodeRequester& requester, Tick end, NodeDepartures& space) {
  space.clear();
  if (requester.next_departure() < end) requester.departures(end, space);
  return space;
}

void MemoryPhase::send_requests(Group& group, Tick end, ThreadScratch& scratch) {
  std::vector<GroupRequest>& leaving = scratch.requests;
  leaving.clear();
  for (GroupNode& node : group.nodes) {
    node.orders.clear();
    for (const std::uint16_t number : node.caches) {
      Port& port = ports_[number];
      port.departures.clear();
      port.cache->departures(end, port.departures);
      for (const FirstLevelCache::Departure& departure : port.departures)
        leaving.push_back({.origin = &port,
                           .port = number,
                           .miss = departure.miss,
                           .orders = &node.orders,
                           .at = departure.at,
                           .flight = nullptr,
                           .number = 0});
    }
    for (const std::uint16_t number : node.requesters) {
      for (const NodeRequester::Departure& departure :
           departures(*ports_[number].requester, end + group.ahead, scratch.departures)) {
        Flight* const flight = ports_[number].flights.take();
        prepare(number, departure, *flight);
        if (flight->timing.lost && group.lost == nullptr) group.lost = flight;
        node.orders.push_back({departure.at, flight});
      }
      if (!has_messages_) continue;
      scratch.messages.clear();
      ports_[number].requester->messages(end + group.ahead, scratch.messages);
      for (const NodeRequester::Message& message : scratch.messages)
        group.messages.push_back({.message = message, .sender = number});
    }
  }
  find_next_departure(group);
  in_stages(
      leaving.size(), [&](std::size_t i) { detail::CachePrefetch::miss(*leaving[i].origin->cache, leaving[i].miss); },
      [&](std::size_t i) {
        const GroupRequest& one = leaving[i];
        Flight* const flight = one.origin->flights.take();
        prepare(one.port, FirstLevelCache::Departure{one.at, one.miss}, *flight);
        if (flight->timing.lost && group.lost == nullptr) group.lost = flight;
        one.orders->push_back({one.at, flight});
      });
  if (private_ports_ == nullptr) return;
  for (GroupNode& node : group.nodes) {
    sort_nearly_sorted(node.orders, scratch.space);
    for (const TimedFlight& next : node.orders) {
      Flight& flight = *next.flight;
      if (!is_local(flight.sender, flight.destination)) [[likely]] {
        flight.head = private_ports_->depart(node.number, flight.request_flits, next.at);
        fabric_.count_injected(node.number, VirtualNetwork::request, private_ports_->injection_wait(next.at, flight.head));
      }
      group.sent[destinations_[flight.destination].memory].push_back(next);
    }
  }
}

void MemoryPhase::prepare(std::uint16_t port, const FirstLevelCache::Departure& departure, Flight& flight) {
  flight.request = ports_[port].cache->downstream_request(departure.miss);
  prepare(port, port, departure.miss, departure.at, flight);
}

void MemoryPhase::prepare(std::uint16_t port, const NodeRequester::Departure& departure, Flight& flight) {
  flight.request = departure.request;
  prepare(port, departure.receiver != nullptr ? departure.receiver->port_ : port, departure.tag, departure.at, flight);
}

void MemoryPhase::prepare(std::uint16_t sender, std::uint16_t receiver, std::uint32_t tag, Tick at, Flight& flight) {
  flight.request.made = at;
  flight.tag = tag;
  flight.sender = sender;
  flight.receiver = receiver;
  flight.departure = ports_[sender].next_departure++;
  const MemoryRequest& request = flight.request;
  unsigned destination = 0;
  flight.timing.lost = !fabric_.route(request.address, request.bytes, destination);
  flight.destination = static_cast<std::uint16_t>(destination);
  flight.request_flits = static_cast<std::uint16_t>(fabric_.request_flits(request.bytes, request.write, request.atomic));
  flight.reply_flits = static_cast<std::uint16_t>(fabric_.reply_flits(request.bytes, request.write, request.atomic));
}

// Sends all packets of one direction through the network, on one thread.
void MemoryPhase::carry(VirtualNetwork network) {
  const bool there = network == VirtualNetwork::request;
  order_.clear();
  if (there) {
    for (const unsigned group : leaving_) {
      for (const GroupNode& node : groups_[group].nodes) {
        for (const TimedFlight& order : node.orders) {
          order.flight->timing.noc_waiting = order.flight->timing.noc_passing = Tick{};
          order_.push_back(order);
        }
      }
    }
  } else {
    for (const unsigned number : serving_)
      order_.insert(order_.end(), memories_[number].replies.begin(), memories_[number].replies.end());
  }
  sort_by_time(order_, scratch_.front().space);
  std::size_t message = 0;
  for (const TimedFlight& next : order_) {
    message = carry_messages(network, message, next.at);
    carry(network, next);
  }
  carry_messages(network, message, kNever);
}

inline void MemoryPhase::carry(VirtualNetwork network, const TimedFlight& next) {
  const bool there = network == VirtualNetwork::request;
  Flight& flight = *next.flight;
  Fabric::Traversal passed{.arrival = next.at, .waiting = {}};
  if (!is_local(there ? flight.sender : flight.receiver, flight.destination)) [[likely]]
    passed = fabric_.carry(ends(flight, network), network, there ? flight.request_flits : flight.reply_flits, next.at);
  flight.timing.noc_waiting += passed.waiting;
  flight.timing.noc_passing += passed.arrival - next.at - passed.waiting;
  if (there) {
    memories_[destinations_[flight.destination].memory].arrivals.push_back({passed.arrival, &flight});
  } else {
    flight.timing.injection = passed.injection;
    flight.timing.at = passed.arrival;
  }
}

std::size_t MemoryPhase::carry_messages(VirtualNetwork network, std::size_t next, Tick end) {
  for (; next < messages_.size() && messages_[next].message.at < end; ++next) {
    SentMessage& sent = messages_[next];
    const NodeRequester::Message& message = sent.message;
    if (message.network != network) continue;
    const Fabric::Traversal passed = fabric_.carry(ends(sent), network, message.flits, message.at);
    sent.passage = {.at = passed.arrival,
                    .waiting = passed.waiting,
                    .passing = passed.arrival - message.at - passed.waiting,
                    .injection = passed.injection};
  }
  return next;
}

// -- service

void MemoryPhase::serve(unsigned number, Tick horizon, ThreadScratch& scratch) {
  Memory& memory = memories_[number];
  memory.below.clear();
  memory.replies.clear();
  if (memory.replied.size() < groups_.size()) memory.replied.resize(groups_.size());
  if (private_ports_ != nullptr) {
    TimedFlights& fresh = scratch.fresh;
    fresh.clear();
    for (const unsigned leaving : leaving_) {
      TimedFlights& sent = groups_[leaving].sent[number];
      fresh.insert(fresh.end(), sent.begin(), sent.end());
      for (const TimedFlight& order : sent) {
        fetch_to_host(order.flight);
        fetch_to_host(&order.flight->timing);
      }
      sent.clear();
    }
    sort_by_time(fresh, scratch.space);
    arrive(fresh);
    memory.arrivals.insert(memory.arrivals.end(), fresh.begin(), fresh.end());
  }
  sort_nearly_sorted(memory.arrivals, scratch.space);
  if (memory.caches.empty()) return;
  const auto later_ones = std::lower_bound(memory.arrivals.begin(), memory.arrivals.end(), horizon,
                                           [](const TimedFlight& order, Tick at) { return order.at < at; });
  const auto count = static_cast<std::size_t>(later_ones - memory.arrivals.begin());
  serve_by_caches(memory, count, scratch.places);
  memory.arrivals.erase(memory.arrivals.begin(), later_ones);
  if (memory.deferred != nullptr) memory.deferred->decide(horizon + memory.way);
  if (private_ports_ == nullptr) return;
  send_replies(memory, scratch.space);
  sort_out(memory);
}

// Passes packets through the destinations' ports.
void MemoryPhase::arrive(TimedFlights& arrivals) {
  for (TimedFlight& arrival : arrivals) {
    Flight& flight = *arrival.flight;
    if (is_local(flight.sender, flight.destination)) [[unlikely]] {
      flight.timing.noc_waiting = flight.timing.noc_passing = Tick{};
      continue;
    }
    const NodePorts::Arrival passed =
        private_ports_->arrive(destinations_[flight.destination].node, flight.request_flits, arrival.at, flight.head);
    flight.timing.noc_waiting = passed.waiting;
    flight.timing.noc_passing = passed.at - arrival.at - passed.waiting;
    arrival.at = passed.at;
  }
}

// Serves the first `count` arrivals.
void MemoryPhase::serve_by_caches(Memory& memory, std::size_t count, std::vector<LookupSlot>& places) {
  TimedFlights& arrivals = memory.arrivals;
  if (places.size() < count) places.resize(count);
  in_stages(
      count,
      [&](std::size_t i) {
        const Flight& flight = *arrivals[i].flight;
        LastLevelCache& cache = *destinations_[flight.destination].cache;
        places[i] = {&cache, cache.local_line(flight.request.address), TagArray::kNone};
        detail::CachePrefetch::set(cache, places[i].line);
      },
      [&](std::size_t i) {
        places[i].slot = detail::CachePrefetch::line(*places[i].cache, arrivals[i].flight->request.address, places[i].line);
      },
      [&](std::size_t i) {
        Flight& flight = *arrivals[i].flight;
        const std::uint32_t tag = take_record(memory.waiting, memory.free_tags);
        memory.waiting[tag] = &flight;
        const LookupSlot& place = places[i];
        MemoryResponse response;
        if (!place.cache->request(flight.request, place.line, arrivals[i].at, place.slot, tag, response)) return;
        memory.free_tags.push_back(tag);
        memory.complete(flight, response);
      });
}

[[gnu::always_inline]] inline void MemoryPhase::Memory::complete(Flight& flight, const MemoryResponse& response) {
  RequestTiming& timing = flight.timing;
  timing.at = response.done;
  timing.waiting = response.queueing;
  timing.service = response.service;
  timing.mshr = response.mshr;
  timing.below = kNone;
  timing.lost = response.failed;
  if (response.below != nullptr) {
    timing.below = static_cast<std::uint32_t>(below.size());
    below.push_back(*response.below);
  }
  replies.push_back({response.done, &flight});
  if (response.failed && lost == nullptr) lost = &flight;
}

void MemoryPhase::Memory::on_response(std::uint32_t tag, const MemoryResponse& response) {
  free_tags.push_back(tag);
  complete(*waiting[tag], response);
}

void MemoryPhase::serve_by_sockets(Memory& memory) {
  for (const TimedFlight& arrival : memory.arrivals) serve_by_socket(memory, arrival);
  memory.arrivals.clear();
  if (private_ports_ == nullptr) return;
  send_replies(memory, scratch_.front().space);
  sort_out(memory);
}

void MemoryPhase::serve_by_socket(Memory& memory, const TimedFlight& arrival) {
  Flight& flight = *arrival.flight;
  payload_.renew(flight.request);
  const Tick now = kernel_time();
  sc_core::sc_time delay = delay_until(arrival.at);
  fabric_.destinations[flight.destination]->b_transport(*payload_, delay);
  memory.complete(flight,
                  {.done = now + to_tick(delay), .failed = payload_->is_response_error(), .below = &payload_.latency()});
}

}  // namespace lacuna
