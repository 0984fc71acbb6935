#include "models/gpu/memory_edge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <span>
#include <utility>

#include "models/common/host_prefetch.h"
#include "models/common/sort_by_time.h"
#include "models/common/tlm_time.h"

namespace lacuna {
MemoryEdge::MemoryEdge(Fabric& fabric, TranslationLevel* l2_tlb, WorkerThreads* threads)
    : fabric_(fabric),
      stepped_(fabric.stepped()),
      l2_tlb_(l2_tlb),
      threads_(threads),
      destinations_(fabric.destinations.size()),
      memories_(destinations_.size()),
      workplaces_(threads != nullptr ? threads->threads() : 1) {
  for (unsigned i = 0; i < destinations_.size(); ++i) destinations_[i] = {nullptr, fabric.destination_node(i), i};
  for (Workplace& workplace : workplaces_) workplace.tally.destinations.resize(destinations_.size());
  all_memories_.resize(memories_.size());
  std::iota(all_memories_.begin(), all_memories_.end(), 0U);
}

void MemoryEdge::add(FirstLevelCache& cache, unsigned source, unsigned group) {
  const unsigned node = fabric_.source_node(source);
  std::vector<Sender>& senders = group_of(group).senders;
  auto sender = std::find_if(senders.begin(), senders.end(), [node](const Sender& other) { return other.node == node; });
  if (sender == senders.end()) sender = senders.insert(sender, {node, {}, {}});
  sender->caches.push_back(static_cast<std::uint32_t>(caches_.size()));
  cache.announce_departures(group_of(group).next_departure);
  caches_.push_back({&cache, source, {}, {}});
}

void MemoryEdge::add(FirstLevelTlb& tlb, unsigned group) {
  tlbs_.push_back({&tlb, group});
  group_of(group).tlbs.push_back(&tlb);
  tlb.announce_departures(group_of(group).asks);
}

MemoryEdge::Group& MemoryEdge::group_of(unsigned number) {
  while (groups_.size() <= number) groups_.emplace_back().sent.resize(destinations_.size());
  return groups_[number];
}

void MemoryEdge::add_destination(unsigned destination, Cache& cache, unsigned memory_of) {
  destinations_[destination].cache = &cache;
  destinations_[destination].memory = memory_of;
}

// What leaves depends on the edge where translations or what it learns of zero masks lead to further requests. Else it leaves
// at once, while it is in the caches of the thread that has made it.
void MemoryEdge::worked(unsigned number, unsigned thread, Tick end) {
  Group& group = groups_[number];
  if (!ports_known_ || stepped_ != nullptr || masks_ != nullptr || group.asks || group.next_departure >= end) return;
  leave(group, end, workplaces_[thread]);
  group.left = true;
}

void MemoryEdge::settle(Tick end) {
  if (masks_ != nullptr) masks_->settle();
  translate();
  if (stepped_ != nullptr) {
    settle_steps(end);
    return;
  }
  if (!std::exchange(ports_known_, true)) ports_ = private_ports();
  late_.clear();
  for (unsigned i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    if (!group.left && (!group.translated.empty() || group.next_departure < end)) late_.push_back(i);
  }
  // How many requests there are is known only when they have left: about as many as at the last edge.
  share(late_, groups_.size(), [&](unsigned number, Workplace& workplace) {
    Group& group = groups_[number];
    learn_translations(group);
    group.left = group.next_departure < end;
    if (group.left) leave(group, end, workplace);
  });
  leaving_.clear();
  for (unsigned i = 0; i < groups_.size(); ++i) {
    if (std::exchange(groups_[i].left, false)) leaving_.push_back(i);
  }
  if (leaving_.empty()) return;
  const Tick now = to_tick(sc_core::sc_time_stamp());
  fabric_.advance(now);
  for (const Destination& destination : destinations_) {
    if (destination.cache != nullptr) destination.cache->advance(now);
  }
  count_ = 0;
  for (const unsigned group : leaving_) {
    for (const Sender& sender : groups_[group].senders) count_ += sender.orders.size();
  }
  if (lost_) report_lost();
  if (ports_ == nullptr) carry(VirtualNetwork::request);
  share(all_memories_, memories_.size(), [this](unsigned memory, Workplace& workplace) { serve(memory, workplace); });
  for (std::size_t i = 0; i < memories_.size(); ++i) {
    if (destinations_[i].cache != nullptr) continue;
    for (Order& arrival : memories_[i].arrivals) serve_by_socket(arrival);
    if (ports_ != nullptr) send_replies(memories_[i].arrivals, workplaces_.front().space);
  }
  if (lost_) report_lost();
  if (ports_ == nullptr) carry(VirtualNetwork::reply);
  share(leaving_, groups_.size(), [this](unsigned group, Workplace& workplace) { answer(groups_[group], workplace); });
  if (ports_ == nullptr) return;
  for (Workplace& workplace : workplaces_) {
    if (workplace.tally.latency != Tick{}) fabric_.count(workplace.tally);
  }
}

// Then the ends of packets can be left to groups and memories.
NodePorts* MemoryEdge::private_ports() const {
  if (fabric_.ports() == nullptr) return nullptr;
  constexpr std::size_t kNobody = ~std::size_t{0};
  std::vector<std::size_t> owners(fabric_.nodes(), kNobody);
  const auto take = [&](unsigned node, std::size_t owner) {
    if (owners[node] == kNobody) owners[node] = owner;
    return owners[node] == owner;
  };
  for (const Destination& destination : destinations_) {
    if (!take(destination.node, destination.memory)) return nullptr;
  }
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    for (const Sender& sender : groups_[group].senders) {
      if (!take(sender.node, destinations_.size() + group)) return nullptr;
    }
  }
  return fabric_.ports();
}

Tick MemoryEdge::next() const {
  Tick first = kNever;
  for (const Group& group : groups_) {
    if (group.asks) return Tick{};
    first = earlier(first, group.next_departure);
  }
  return stepped_ != nullptr ? earlier(first, stepped_->next()) : first;
}

void MemoryEdge::reset() {
  flights_.clear();
  free_flights_.clear();
  for (Group& group : groups_) {
    group.asks = false;
    find_next_departure(group);
  }
}

void MemoryEdge::find_next_departure(Group& group) {
  group.next_departure = kNever;
  for (const Sender& sender : group.senders) {
    for (const std::uint32_t cache : sender.caches)
      group.next_departure = earlier(group.next_departure, caches_[cache].cache->next_departure());
  }
}

void MemoryEdge::retire(Tick horizon) {
  for (const Origin& origin : caches_) origin.cache->retire(horizon);
  if (l2_tlb_ != nullptr) l2_tlb_->retire(horizon);
}

void MemoryEdge::report_lost() const {
  for (const unsigned group : leaving_) {
    for (const Sender& sender : groups_[group].senders) {
      for (const Order& order : sender.orders) {
        if (order.request->fare.lost) report_lost(*order.request);
      }
    }
  }
  std::abort();
}

void MemoryEdge::report_lost(const Request& request) const {
  const Cache* cache = destinations_[request.destination].cache;
  SC_REPORT_FATAL(cache != nullptr ? cache->name() : fabric_.name(),
                  fmt::format("no memory answers at bus address {:#x} of a mapped page", request.access.address).c_str());
  std::abort();
}

// -- translations

void MemoryEdge::translate() {
  translations_.clear();
  for (const Translator& from : tlbs_) {
    if (!groups_[from.group].asks || !from.tlb->busy()) continue;
    tlb_departures_.clear();
    from.tlb->departures(tlb_departures_);
    for (const FirstLevelTlb::Departure& departure : tlb_departures_)
      translations_.push_back({departure.at, static_cast<std::uint32_t>(translations_.size()), departure.miss, from});
  }
  for (Group& group : groups_) group.asks = false;
  sort_by_time(translations_, sorted_);
  for (const Translation& next : translations_) {
    FirstLevelTlb& tlb = *next.from.tlb;
    groups_[next.from.group].translated.push_back({&tlb, next.miss, tlb.ask(next.miss)});
  }
}

// The first requests that translations lead to, to caches, may leave before the window ends: before those leave.
void MemoryEdge::learn_translations(Group& group) {
  for (const Translated& known : group.translated) known.tlb->resolve(known.miss, known.answer);
  group.translated.clear();
}

// -- requests

void MemoryEdge::leave(Group& group, Tick end, Workplace& workplace) {
  std::vector<GroupRequest>& leaving = workplace.requests;
  leaving.clear();
  for (Sender& sender : group.senders) {
    sender.orders.clear();
    for (const std::uint32_t cache : sender.caches) {
      Origin& origin = caches_[cache];
      origin.departures.clear();
      origin.cache->departures(end, origin.departures);
      const auto count = static_cast<std::uint32_t>(origin.departures.size());
      if (origin.requests.size() < count) origin.requests.resize(count);
      for (std::uint32_t i = 0; i < count; ++i) leaving.push_back({&origin, &sender.orders, cache, i});
    }
  }
  find_next_departure(group);
  in_stages(
      leaving.size(), [&](std::size_t i) { leaving[i].prefetch_miss(); },
      [&](std::size_t i) {
        const GroupRequest& one = leaving[i];
        make_request(one.cache, one.departure(), one.request());
        one.orders->push_back({one.departure().at, &one.request()});
      });
  if (ports_ == nullptr) return;
  for (Sender& sender : group.senders) {
    sort_nearly_sorted(sender.orders, workplace.space);
    for (const Order& next : sender.orders) {
      Request& request = *next.request;
      request.head = ports_->leave(sender.node, request.request_flits, next.at);
      group.sent[destinations_[request.destination].memory].push_back(next);
    }
  }
}

void MemoryEdge::make_request(std::uint32_t cache, const FirstLevelCache::Departure& departure, Request& request) {
  request.access = caches_[cache].cache->request(departure.miss);
  request.access.made = departure.at;
  request.miss = departure.miss;
  request.cache = cache;
  const LineAccess& access = request.access;
  unsigned destination = 0;
  if (!fabric_.route(access.address, access.bytes, destination)) [[unlikely]] {
    request.fare.lost = true;
    lost_ = true;
  }
  request.destination = static_cast<std::uint16_t>(destination);
  request.request_flits = static_cast<std::uint16_t>(fabric_.request_flits(access.bytes, access.write, access.atomic));
  request.reply_flits = static_cast<std::uint16_t>(fabric_.reply_flits(access.bytes, access.write, access.atomic));
}

// All packets of a way, by one thread.
void MemoryEdge::carry(VirtualNetwork network) {
  const bool there = network == VirtualNetwork::request;
  order_.clear();
  for (const unsigned group : leaving_) {
    for (const Sender& sender : groups_[group].senders) {
      for (const Order& order : sender.orders) {
        Request& request = *order.request;
        if (there) request.fare.noc_waiting = request.fare.noc_passing = Tick{};
        order_.push_back({there ? request.access.made : request.fare.at, &request});
      }
    }
  }
  sort_by_time(order_, workplaces_.front().space);
  if (there) {
    for (Memory& memory : memories_) memory.arrivals.clear();
  }
  for (const Order& next : order_) {
    Request& request = *next.request;
    const unsigned flits = there ? request.request_flits : request.reply_flits;
    const Fabric::Traversal passed = fabric_.carry(network, caches_[request.cache].source, request.destination, flits, next.at);
    request.fare.noc_waiting += passed.waiting;
    request.fare.noc_passing += passed.arrival - next.at - passed.waiting;
    if (there) {
      memories_[destinations_[request.destination].memory].arrivals.push_back({passed.arrival, &request});
    } else {
      request.fare.at = passed.arrival;
    }
  }
}

// -- service

void MemoryEdge::serve(unsigned number, Workplace& workplace) {
  Memory& memory = memories_[number];
  memory.below.clear();
  if (ports_ != nullptr) {
    memory.arrivals.clear();
    for (const unsigned leaving : leaving_) {
      Orders& sent = groups_[leaving].sent[number];
      memory.arrivals.insert(memory.arrivals.end(), sent.begin(), sent.end());
      for (const Order& order : sent) {
        fetch_to_host(order.request);
        fetch_to_host(&order.request->fare);
      }
      sent.clear();
    }
    sort_by_time(memory.arrivals, workplace.space);
    arrive(memory.arrivals);
  }
  sort_nearly_sorted(memory.arrivals, workplace.space);
  if (destinations_[number].cache == nullptr) return;
  serve_by_caches(memory, workplace.places);
  if (ports_ != nullptr) send_replies(memory.arrivals, workplace.space);
}

// The packets reach the destinations' ports.
void MemoryEdge::arrive(Orders& arrivals) {
  for (Order& arrival : arrivals) {
    Request& request = *arrival.request;
    const NodePorts::Arrival passed =
        ports_->arrive(destinations_[request.destination].node, request.request_flits, arrival.at, request.head);
    request.fare.noc_waiting = passed.waiting;
    request.fare.noc_passing = passed.at - arrival.at - passed.waiting;
    arrival.at = passed.at;
  }
}

void MemoryEdge::serve_by_caches(Memory& memory, std::vector<Place>& places) {
  Orders& arrivals = memory.arrivals;
  if (places.size() < arrivals.size()) places.resize(arrivals.size());
  in_stages(
      arrivals.size(),
      [&](std::size_t i) {
        const Request& request = *arrivals[i].request;
        Cache& cache = *destinations_[request.destination].cache;
        places[i] = {&cache, cache.local_line(request.access.address), TagArray::kNone};
        cache.prefetch_set(places[i].line);
      },
      [&](std::size_t i) {
        places[i].slot = places[i].cache->prefetch_line(arrivals[i].request->access.address, places[i].line);
      },
      [&](std::size_t i) {
        Request& request = *arrivals[i].request;
        const Cache::Served served = places[i].cache->serve(request.access, places[i].line, arrivals[i].at, places[i].slot);
        arrivals[i].at = served.done;
        Fare& fare = request.fare;
        fare.at = served.done;
        fare.waiting = served.queueing;
        fare.service = served.service;
        fare.mshr = served.mshr;
        fare.below = kNone;
        fare.lost = served.failed;
        if (served.failed) lost_ = true;
        if (served.below == nullptr) return;
        fare.below = static_cast<std::uint32_t>(memory.below.size());
        memory.below.push_back(*served.below);
      });
}

void MemoryEdge::serve_by_socket(Order& arrival) {
  const Request& request = *arrival.request;
  payload_.renew(request.access);
  const Tick now = to_tick(sc_core::sc_time_stamp());
  sc_core::sc_time delay = to_sc_time(later(arrival.at, now) - now);
  fabric_.destinations[request.destination]->b_transport(*payload_, delay);
  Fare& fare = arrival.request->fare;
  fare.at = arrival.at = now + to_tick(delay);
  fare.waiting = fare.service = fare.mshr = Tick{};
  fare.lost = payload_->is_response_error();
  if (fare.lost) lost_ = true;
  std::vector<LatencyBreakdown>& below = memories_[destinations_[request.destination].memory].below;
  fare.below = static_cast<std::uint32_t>(below.size());
  below.push_back(payload_.latency());
}

// -- replies

// Those of requests that have been served, from their destinations.
void MemoryEdge::send_replies(Orders& arrivals, Orders& space) {
  sort_nearly_sorted(arrivals, space);
  for (const Order& next : arrivals) {
    Request& request = *next.request;
    request.fare.head = ports_->leave(destinations_[request.destination].node, request.reply_flits, next.at);
  }
}

void MemoryEdge::answer(Group& group, Workplace& workplace) {
  std::vector<GroupRequest>& told = workplace.requests;
  told.clear();
  for (Sender& sender : group.senders) {
    if (sender.orders.empty()) continue;
    if (ports_ != nullptr) receive_replies(sender, workplace);
    for (const std::uint32_t cache : sender.caches) {
      const auto count = static_cast<std::uint32_t>(caches_[cache].departures.size());
      for (std::uint32_t i = 0; i < count; ++i) told.push_back({&caches_[cache], nullptr, cache, i});
    }
  }
  LatencyBreakdown latency;  // of those that went no further than a cache: little of it changes from one to the next
  in_stages(
      told.size(), [&](std::size_t i) { told[i].prefetch_miss(); },
      [&](std::size_t i) {
        told[i].origin->cache->prefetch_fill(told[i].departure().miss);
        told[i].origin->cache->prefetch_waiting(told[i].number);
      },
      [&](std::size_t i) {
        const Request& request = told[i].request();
        const Fare& fare = request.fare;
        const std::vector<LatencyBreakdown>& below = memories_[destinations_[request.destination].memory].below;
        tell(request, fare.below != kNone ? &below[fare.below] : nullptr, latency);
      });
  // What waits in a cache waits for its answers.
  for (const Sender& sender : group.senders) {
    if (sender.orders.empty()) continue;
    for (const std::uint32_t cache : sender.caches) {
      if (!caches_[cache].departures.empty()) caches_[cache].cache->resume();
    }
  }
}

void MemoryEdge::receive_replies(Sender& sender, Workplace& workplace) {
  for (Order& order : sender.orders) order.at = order.request->fare.at;
  sort_by_time(sender.orders, workplace.space);
  for (const Order& next : sender.orders) {
    Request& request = *next.request;
    Fare& fare = request.fare;
    const NodePorts::Arrival passed = ports_->arrive(sender.node, request.reply_flits, next.at, fare.head);
    fare.noc_waiting += passed.waiting;
    fare.noc_passing += passed.at - next.at - passed.waiting;
    fare.at = passed.at;
    fabric_.count_passed(caches_[request.cache].source, request.destination,
                         unsigned{request.request_flits} + request.reply_flits, fare.noc_waiting,
                         fare.noc_waiting + fare.noc_passing, workplace.tally);
  }
}

void MemoryEdge::tell(const Request& request, const LatencyBreakdown* below, LatencyBreakdown& latency) {
  FirstLevelCache& cache = *caches_[request.cache].cache;
  const std::uint32_t miss = request.miss;
  const Fare& fare = request.fare;
  const Destination& destination = destinations_[request.destination];
  if (below != nullptr) [[unlikely]] {
    LatencyBreakdown further = *below;
    further.add(MemoryLevel::noc, fare.noc_waiting, fare.noc_passing);
    if (destination.cache != nullptr) further.add(destination.cache->level(), fare.waiting, fare.service);
    further.mshr += fare.mshr;
    cache.answer(miss, fare.at, further);
    return;
  }
  latency.set(MemoryLevel::noc, fare.noc_waiting, fare.noc_passing);
  latency.set(destination.cache->level(), fare.waiting, fare.service);
  latency.mshr = fare.mshr;
  cache.answer(miss, fare.at, latency);
}

}  // namespace lacuna
