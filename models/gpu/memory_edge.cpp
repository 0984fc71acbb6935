#include "models/gpu/memory_edge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "models/common/sort_by_time.h"
#include "models/common/tlm_time.h"

namespace lacuna {
namespace {

// Requests by which the host's fetch of what they will use runs ahead of their use: where to look, and then what is found
// there. About as many as it takes to fetch something from the host's memory.
constexpr std::size_t kFarAhead = 12;
constexpr std::size_t kNearAhead = 6;
// Requests from which on several threads are faster than one, and the pieces that each of them then has: as few as will do,
// since every piece begins with nothing fetched.
constexpr std::size_t kWorthSharing = 32;
constexpr std::size_t kPiecesPerThread = 3;

// Calls `use` for each of a range in order, `far` and then `near` for those ahead of it.
template <typename Far, typename Near, typename Use>
void fetching_ahead(std::size_t first, std::size_t end, const Far& far, const Near& near, const Use& use) {
  for (std::size_t step = first; step < end + kFarAhead; ++step) {
    if (step < end) far(step);
    if (step >= first + (kFarAhead - kNearAhead) && step < end + (kFarAhead - kNearAhead))
      near(step - (kFarAhead - kNearAhead));
    if (step >= first + kFarAhead) use(step - kFarAhead);
  }
}

}  // namespace

MemoryEdge::MemoryEdge(Fabric& fabric, TranslationLevel* l2_tlb, WorkerThreads* threads)
    : fabric_(fabric), l2_tlb_(l2_tlb), threads_(threads), destinations_(fabric.destinations.size()) {
  for (unsigned i = 0; i < destinations_.size(); ++i) destinations_[i].memory = i;
}

void MemoryEdge::add(FirstLevelCache& cache, unsigned source, unsigned group) {
  if (groups_.size() <= group) groups_.resize(group + 1);
  groups_[group].push_back(static_cast<std::uint32_t>(caches_.size()));
  caches_.push_back({&cache, source});
}

void MemoryEdge::add_destination(unsigned destination, Cache& cache, unsigned memory_of) {
  destinations_[destination] = {&cache, memory_of};
}

void MemoryEdge::settle(Tick end) {
  if (masks_ != nullptr) masks_->settle();
  translate();
  collect(end);
  if (count_ == 0) return;
  fabric_.advance(to_tick(sc_core::sc_time_stamp()));
  send();
  serve();
  reply();
  count();
}

// Whether the ends of packets can be left to groups and destinations: none uses a port of another one.
bool MemoryEdge::has_private_ports() const {
  // One thread does better by carry(), which books both ends at once.
  if (threads_ == nullptr || threads_->threads() == 1 || !fabric_.meets_at_ports_only()) return false;
  constexpr std::size_t kNobody = ~std::size_t{0};
  std::vector<std::size_t> owners(fabric_.nodes(), kNobody);
  const auto take = [&](unsigned node, std::size_t owner) {
    if (owners[node] != kNobody) return owners[node] == owner;
    owners[node] = owner;
    return true;
  };
  for (std::size_t destination = 0; destination < destinations_.size(); ++destination) {
    if (!take(fabric_.destination_node(static_cast<unsigned>(destination)), destinations_[destination].memory)) return false;
  }
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    for (const std::uint32_t cache : groups_[group]) {
      if (!take(fabric_.source_node(caches_[cache].source), destinations_.size() + group)) return false;
    }
  }
  return true;
}

Tick MemoryEdge::next() const {
  Tick first = kNever;
  for (const Origin& origin : caches_) first = earlier(first, origin.cache->next_departure());
  for (const FirstLevelTlb* tlb : tlbs_) {
    if (tlb->busy()) return Tick{};
  }
  return first;
}

void MemoryEdge::retire(Tick horizon) {
  for (const Origin& origin : caches_) origin.cache->retire(horizon);
  if (l2_tlb_ != nullptr) l2_tlb_->retire(horizon);
}

// The first requests that the answers lead to, to caches, may leave before the window ends: before collect().
void MemoryEdge::translate() {
  order_.clear();
  translations_.clear();
  for (FirstLevelTlb* tlb : tlbs_) {
    if (!tlb->busy()) continue;
    tlb_departures_.clear();
    tlb->departures(tlb_departures_);
    for (const FirstLevelTlb::Departure& departure : tlb_departures_) {
      order_.push_back({departure.at, static_cast<std::uint32_t>(translations_.size())});
      translations_.emplace_back(tlb, departure.miss);
    }
  }
  sort_by_time(order_, sorted_);
  for (const Order& next : order_) translations_[next.request].first->resolve(translations_[next.request].second);
}

void MemoryEdge::collect(Tick end) {
  if (!private_ports_) private_ports_ = has_private_ports();
  departures_.clear();
  for (Origin& origin : caches_) {
    origin.first = departures_.size();
    if (origin.cache->next_departure() < end) origin.cache->departures(end, departures_);
    origin.end = departures_.size();
  }
  count_ = departures_.size();
  if (requests_.size() < count_) {
    requests_.resize(count_);
    passages_.resize(count_);
  }
  group_places_.resize(groups_.size() + 1);
  group_line_.resize(count_);
  origins_.resize(count_);
  order_.resize(count_);
  std::size_t place = 0;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    group_places_[group] = place;
    for (const std::uint32_t cache : groups_[group]) {
      for (std::size_t i = caches_[cache].first; i < caches_[cache].end; ++i) {
        origins_[i] = cache;
        group_line_[place++] = static_cast<std::uint32_t>(i);
      }
    }
  }
  group_places_[groups_.size()] = place;
}

template <typename Piece>
void MemoryEdge::share(std::size_t items, const Piece& piece) {
  if (threads_ == nullptr || count_ < kWorthSharing) {
    piece(std::size_t{0}, items);
    return;
  }
  const std::size_t pieces = std::min(items, threads_->threads() * kPiecesPerThread);
  threads_->run(static_cast<unsigned>(pieces), [&](unsigned i) { piece(i * items / pieces, (i + 1) * items / pieces); });
}

void MemoryEdge::report_lost(const char* name, const Request& request) const {
  SC_REPORT_FATAL(name, fmt::format("no memory answers at bus address {:#x} of a mapped page", request.access.address).c_str());
  std::abort();
}

void MemoryEdge::send() {
  share(groups_.size(), [this](std::size_t first, std::size_t end) { leave(first, end); });
  if (lost_) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (requests_[i].lost) report_lost(caches_[requests_[i].origin].cache->name(), requests_[i]);
    }
  }
  arrivals_.resize(destinations_.size());
  for (std::vector<Order>& arrivals : arrivals_) arrivals.clear();
  if (*private_ports_) {
    for (std::uint32_t i = 0; i < count_; ++i) {
      arrivals_[destinations_[passages_[i].destination].memory].push_back({passages_[i].departs, i});
    }
    return;
  }
  carry(VirtualNetwork::request);
  for (const Order& sent : order_) {
    arrivals_[destinations_[passages_[sent.request].destination].memory].push_back({requests_[sent.request].at, sent.request});
  }
}

// The packets of order_, which gets sorted, both ends by one thread.
void MemoryEdge::carry(VirtualNetwork network) {
  sort_by_time(order_, sorted_);
  for (std::size_t i = 0; i < count_; ++i) {
    if (i + kNearAhead < count_) fetch_request(order_[i + kNearAhead].request);
    Request& request = requests_[order_[i].request];
    const Passage& passage = passages_[order_[i].request];
    request.at =
        fabric_.carry(network, passage.source, passage.destination, passage.flits(network), request.at, &request.latency);
  }
}

// What leaves some groups' caches, as far as it depends on them alone.
void MemoryEdge::leave(std::size_t first_group, std::size_t end_group) {
  fetching_ahead(
      group_places_[first_group], group_places_[end_group],
      [this](std::size_t place) {
        const std::uint32_t i = group_line_[place];
        caches_[origins_[i]].cache->prefetch_miss(departures_[i].miss);
      },
      [this](std::size_t place) { fetch_request(group_line_[place]); },
      [this](std::size_t place) {
        const std::uint32_t i = group_line_[place];
        Request& request = requests_[i];
        request.origin = origins_[i];
        request.miss = departures_[i].miss;
        request.access = caches_[request.origin].cache->request(request.miss);
        request.at = departures_[i].at;
        request.latency.clear();
        AddressRoutes::Hop hop;
        request.lost = !fabric_.route(request.access.address, hop) || hop.contiguous < request.access.bytes;
        if (request.lost) lost_ = true;
        request.cache = destinations_[hop.destination].cache;
        const LineAccess& access = request.access;
        Passage& passage = passages_[i];
        passage.departs = request.at;
        passage.source = caches_[request.origin].source;
        passage.destination = hop.destination;
        passage.request_flits = fabric_.request_flits(access.bytes, access.write, access.atomic);
        passage.reply_flits = fabric_.reply_flits(access.bytes, access.write, access.atomic);
        order_[place] = {request.at, i};
      });
  if (!*private_ports_) return;
  for (std::size_t group = first_group; group < end_group; ++group) {
    for (const Order& next : in_order(group)) {
      Request& request = requests_[next.request];
      const Passage& passage = passages_[next.request];
      request.head =
          fabric_.leave(VirtualNetwork::request, passage.source, passage.destination, passage.request_flits, request.at);
    }
  }
}

std::span<const MemoryEdge::Order> MemoryEdge::in_order(std::size_t group) {
  const std::span<Order> orders(order_.data() + group_places_[group], order_.data() + group_places_[group + 1]);
  std::sort(orders.begin(), orders.end());
  return orders;
}

// A packet of a request reaches its receiver.
void MemoryEdge::arrive(VirtualNetwork network, std::uint32_t number) {
  Request& request = requests_[number];
  Passage& passage = passages_[number];
  Fabric::Traversal& passed = network == VirtualNetwork::request ? passage.request : passage.reply;
  passed = fabric_.arrive(network, passage.source, passage.destination, passage.flits(network), request.at, request.head);
  request.latency.add(MemoryLevel::noc, passed.waiting, passed.arrival - request.at - passed.waiting);
  request.at = passed.arrival;
}

void MemoryEdge::serve() {
  places_.resize(arrivals_.size() + 1);
  places_[0] = 0;
  for (std::size_t i = 0; i < arrivals_.size(); ++i) places_[i + 1] = places_[i] + arrivals_[i].size();
  line_.resize(count_);
  share(arrivals_.size(), [this](std::size_t first, std::size_t end) { serve_destinations(first, end); });
  if (lost_) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (requests_[i].lost) report_lost(requests_[i].cache->name(), requests_[i]);
    }
  }
  for (std::size_t destination = 0; destination < arrivals_.size(); ++destination) {
    if (destinations_[destination].cache != nullptr) continue;
    for (const Order& arrival : arrivals_[destination])
      serve_by_socket(requests_[arrival.request], static_cast<unsigned>(destination));
    if (*private_ports_) send_replies(arrivals_[destination]);
  }
}

void MemoryEdge::serve_destinations(std::size_t first, std::size_t end) {
  for (std::size_t destination = first; destination < end; ++destination) {
    std::vector<Order>& arrivals = arrivals_[destination];
    std::sort(arrivals.begin(), arrivals.end());
    if (*private_ports_) {
      for (std::size_t i = 0; i < std::min(kNearAhead, arrivals.size()); ++i) fetch_request(arrivals[i].request);
      for (std::size_t i = 0; i < arrivals.size(); ++i) {
        if (i + kNearAhead < arrivals.size()) fetch_request(arrivals[i + kNearAhead].request);
        arrive(VirtualNetwork::request, arrivals[i].request);
        arrivals[i].at = requests_[arrivals[i].request].at;
      }
      std::sort(arrivals.begin(), arrivals.end());
    }
    std::size_t place = places_[destination];
    for (const Order& arrival : arrivals) line_[place++] = arrival.request;
  }
  serve_by_cache(places_[first], places_[end]);
  if (!*private_ports_) return;
  for (std::size_t destination = first; destination < end; ++destination) {
    if (destinations_[destination].cache != nullptr) send_replies(arrivals_[destination]);
  }
}

// Those of line_ for which there is a cache.
void MemoryEdge::serve_by_cache(std::size_t first, std::size_t end) {
  fetching_ahead(
      first, end,
      [this](std::size_t place) {
        Request& request = requests_[line_[place]];
        if (request.cache == nullptr) return;
        request.line = request.cache->local_line(request.access.address);
        request.cache->prefetch_set(request.line);
      },
      [this](std::size_t place) {
        const Request& request = requests_[line_[place]];
        if (request.cache != nullptr) request.cache->prefetch_line(request.access.address, request.line);
      },
      [this](std::size_t place) {
        Request& request = requests_[line_[place]];
        if (request.cache == nullptr) return;
        tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
        request.at = request.cache->serve(request.access, request.line, request.at, request.latency, status);
        request.lost = status != tlm::TLM_OK_RESPONSE;
        if (request.lost) lost_ = true;
      });
}

void MemoryEdge::serve_by_socket(Request& request, unsigned destination) {
  payload_.renew(request.access);
  const Tick now = to_tick(sc_core::sc_time_stamp());
  sc_core::sc_time delay = to_sc_time(later(request.at, now) - now);
  fabric_.destinations[destination]->b_transport(*payload_, delay);
  if (payload_->is_response_error()) report_lost(fabric_.name(), request);
  request.at = now + to_tick(delay);
  request.latency += payload_.latency();
}

// From the destinations to which these requests have come and have been served.
void MemoryEdge::send_replies(std::vector<Order>& arrivals) {
  for (Order& arrival : arrivals) arrival.at = requests_[arrival.request].at;
  std::sort(arrivals.begin(), arrivals.end());
  for (const Order& next : arrivals) {
    Request& request = requests_[next.request];
    const Passage& passage = passages_[next.request];
    request.head = fabric_.leave(VirtualNetwork::reply, passage.source, passage.destination, passage.reply_flits, request.at);
  }
}

void MemoryEdge::reply() {
  if (!*private_ports_) {
    for (std::uint32_t i = 0; i < count_; ++i) order_[i] = {requests_[i].at, i};
    carry(VirtualNetwork::reply);
  }
  share(groups_.size(), [this](std::size_t first, std::size_t end) { answer(first, end); });
}

void MemoryEdge::answer(std::size_t first_group, std::size_t end_group) {
  const std::size_t first_place = group_places_[first_group];
  const std::size_t end_place = group_places_[end_group];
  if (*private_ports_) {
    for (std::size_t place = first_place; place < end_place; ++place) {
      if (place + kFarAhead < end_place) fetch_request(group_line_[place + kFarAhead]);
      order_[place] = {requests_[group_line_[place]].at, group_line_[place]};
    }
    for (std::size_t group = first_group; group < end_group; ++group) {
      for (const Order& next : in_order(group)) {
        passages_[next.request].answered = next.at;
        arrive(VirtualNetwork::reply, next.request);
      }
    }
  }
  const auto cache = [this](std::size_t place) -> FirstLevelCache& {
    return *caches_[requests_[group_line_[place]].origin].cache;
  };
  fetching_ahead(
      first_place, end_place, [&](std::size_t place) { cache(place).prefetch_miss(requests_[group_line_[place]].miss); },
      [&](std::size_t place) { cache(place).prefetch_fill(requests_[group_line_[place]].miss); },
      [&](std::size_t place) {
        const Request& request = requests_[group_line_[place]];
        cache(place).answer(request.miss, request.at, request.latency);
      });
  // What waits in a cache waits for its answers.
  for (std::size_t group = first_group; group < end_group; ++group) {
    for (const std::uint32_t number : groups_[group]) {
      if (caches_[number].first != caches_[number].end) caches_[number].cache->resume();
    }
  }
}

// Packets that threads have carried are counted by one.
void MemoryEdge::count() {
  if (!*private_ports_) return;
  for (std::size_t i = 0; i < count_; ++i) {
    const Passage& passed = passages_[i];
    fabric_.count_carried(passed.source, passed.destination, passed.request_flits, passed.departs, passed.request);
    fabric_.count_carried(passed.source, passed.destination, passed.reply_flits, passed.answered, passed.reply);
  }
}

}  // namespace lacuna
