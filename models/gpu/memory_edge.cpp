#include "models/gpu/memory_edge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "models/common/tlm_time.h"

namespace lacuna {
namespace {

// Requests of a destination by which the host's fetch of its sets, and of the lines in them, runs ahead of their use.
constexpr std::size_t kSetsAhead = 6;
constexpr std::size_t kLinesAhead = 3;
// Likewise the records of a first-level cache's misses.
constexpr std::size_t kMissesAhead = 6;
// Requests from which on several threads are faster than one.
constexpr std::size_t kWorthSharing = 32;

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
  std::sort(order_.begin(), order_.end());
  for (const Order& next : order_) translations_[next.request].first->resolve(translations_[next.request].second);
}

void MemoryEdge::collect(Tick end) {
  count_ = 0;
  order_.clear();
  for (std::uint32_t origin = 0; origin < caches_.size(); ++origin) {
    FirstLevelCache& cache = *caches_[origin].cache;
    caches_[origin].first = caches_[origin].end = count_;
    if (cache.next_departure() >= end) continue;
    departures_.clear();
    cache.departures(end, departures_);
    if (requests_.size() < count_ + departures_.size()) requests_.resize(count_ + departures_.size());
    for (std::size_t i = 0; i < departures_.size(); ++i) {
      if (i + kMissesAhead < departures_.size()) cache.prefetch_miss(departures_[i + kMissesAhead].miss);
      const FirstLevelCache::Departure departure = departures_[i];
      Request& request = requests_[count_];
      request.access = cache.request(departure.miss);
      request.origin = origin;
      request.miss = departure.miss;
      request.at = departure.at;
      request.latency.clear();
      order_.push_back({departure.at, static_cast<std::uint32_t>(count_++)});
    }
    caches_[origin].end = count_;
  }
  std::sort(order_.begin(), order_.end());
}

void MemoryEdge::send() {
  arrivals_.resize(fabric_.destinations.size());
  for (std::vector<Order>& arrivals : arrivals_) arrivals.clear();
  for (const Order& next : order_) {
    Request& request = requests_[next.request];
    const LineAccess& access = request.access;
    AddressRoutes::Hop hop;
    if (!fabric_.route(access.address, hop) || hop.contiguous < access.bytes) {
      report_lost(caches_[request.origin].cache->name(), request);
    }
    const Destination& destination = destinations_[hop.destination];
    request.destination = hop.destination;
    request.cache = destination.cache;
    request.at = fabric_.carry(VirtualNetwork::request, caches_[request.origin].source, hop.destination,
                               fabric_.request_flits(access.bytes, access.write, access.atomic), request.at, &request.latency);
    arrivals_[destination.memory].push_back({request.at, next.request});
  }
}

template <typename Piece>
void MemoryEdge::share(std::size_t pieces, const Piece& piece) {
  if (threads_ != nullptr && count_ >= kWorthSharing) {
    threads_->run(static_cast<unsigned>(pieces), piece);
  } else {
    for (unsigned i = 0; i < pieces; ++i) piece(i);
  }
}

void MemoryEdge::report_lost(const char* name, const Request& request) const {
  SC_REPORT_FATAL(name, fmt::format("no memory answers at bus address {:#x} of a mapped page", request.access.address).c_str());
  std::abort();
}

void MemoryEdge::serve() {
  share(arrivals_.size(), [this](unsigned destination) {
    std::vector<Order>& arrivals = arrivals_[destination];
    std::sort(arrivals.begin(), arrivals.end());
    if (destinations_[destination].cache != nullptr) serve_by_cache(arrivals);
  });
  order_.clear();
  for (const std::vector<Order>& arrivals : arrivals_) {
    for (const Order& arrival : arrivals) {
      Request& request = requests_[arrival.request];
      if (request.cache == nullptr) {
        serve_by_socket(request);
      } else if (request.lost) {
        report_lost(request.cache->name(), request);
      }
      order_.push_back({request.at, arrival.request});
    }
  }
}

void MemoryEdge::serve_by_cache(const std::vector<Order>& arrivals) {
  const std::size_t count = arrivals.size();
  std::size_t placed = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (; placed < count && placed <= i + kSetsAhead; ++placed) {
      Request& request = requests_[arrivals[placed].request];
      request.line = request.cache->local_line(request.access.address);
      request.cache->prefetch_set(request.line);
    }
    if (i + kLinesAhead < count) {
      const Request& request = requests_[arrivals[i + kLinesAhead].request];
      request.cache->prefetch_line(request.access.address, request.line);
    }
    Request& request = requests_[arrivals[i].request];
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
    request.at = request.cache->serve(request.access, request.line, request.at, request.latency, status);
    request.lost = status != tlm::TLM_OK_RESPONSE;
  }
}

void MemoryEdge::serve_by_socket(Request& request) {
  payload_.renew(request.access);
  const Tick now = to_tick(sc_core::sc_time_stamp());
  sc_core::sc_time delay = to_sc_time(later(request.at, now) - now);
  fabric_.destinations[request.destination]->b_transport(*payload_, delay);
  if (payload_->is_response_error()) report_lost(fabric_.name(), request);
  request.at = now + to_tick(delay);
  request.latency += payload_.latency();
}

void MemoryEdge::reply() {
  std::sort(order_.begin(), order_.end());
  for (const Order& next : order_) {
    Request& request = requests_[next.request];
    const LineAccess& access = request.access;
    request.at = fabric_.carry(VirtualNetwork::reply, caches_[request.origin].source, request.destination,
                               fabric_.reply_flits(access.bytes, access.write, access.atomic), request.at, &request.latency);
  }
  share(groups_.size(), [this](unsigned group) { answer(group); });
}

void MemoryEdge::answer(unsigned group) {
  for (const std::uint32_t number : groups_[group]) {
    const Origin& origin = caches_[number];
    for (std::size_t i = origin.first; i < std::min(origin.first + kMissesAhead, origin.end); ++i)
      origin.cache->prefetch_miss(requests_[i].miss);
    for (std::size_t i = origin.first; i < origin.end; ++i) {
      if (i + kMissesAhead < origin.end) origin.cache->prefetch_miss(requests_[i + kMissesAhead].miss);
      if (i + kLinesAhead < origin.end) origin.cache->prefetch_fill(requests_[i + kLinesAhead].miss);
      const Request& request = requests_[i];
      origin.cache->answer(request.miss, request.at, request.latency);
    }
  }
  // What waits in a cache waits for its answers.
  for (const std::uint32_t number : groups_[group]) {
    const Origin& origin = caches_[number];
    if (origin.first != origin.end) origin.cache->resume();
  }
}

}  // namespace lacuna
