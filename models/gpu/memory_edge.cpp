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
  departures_.clear();
  for (Origin& origin : caches_) {
    origin.first = departures_.size();
    if (origin.cache->next_departure() < end) origin.cache->departures(end, departures_);
    origin.end = departures_.size();
  }
  count_ = departures_.size();
  if (requests_.size() < count_) requests_.resize(count_);
  order_.clear();
  std::size_t far_origin = 0;
  std::size_t origin = 0;
  const auto fetch = [&](std::size_t i) {
    while (i >= caches_[far_origin].end) ++far_origin;
    caches_[far_origin].cache->prefetch_miss(departures_[i].miss);
  };
  fetching_ahead(
      0, count_, fetch, [](std::size_t) {},
      [&](std::size_t i) {
        while (i >= caches_[origin].end) ++origin;
        Request& request = requests_[i];
        request.access = caches_[origin].cache->request(departures_[i].miss);
        request.origin = static_cast<std::uint32_t>(origin);
        request.miss = departures_[i].miss;
        request.at = departures_[i].at;
        request.latency.clear();
        order_.push_back({request.at, static_cast<std::uint32_t>(i)});
      });
  sort_by_time(order_, sorted_);
}

void MemoryEdge::send() {
  arrivals_.resize(fabric_.destinations.size());
  for (std::vector<Order>& arrivals : arrivals_) arrivals.clear();
  for (std::size_t i = 0; i < order_.size(); ++i) {
    fetch_request(i + kNearAhead);
    Request& request = requests_[order_[i].request];
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
    arrivals_[destination.memory].push_back({request.at, order_[i].request});
  }
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

void MemoryEdge::serve() {
  line_up(arrivals_.size(), [this](std::size_t destination) { return arrivals_[destination].size(); });
  share(arrivals_.size(), [this](std::size_t first, std::size_t end) {
    for (std::size_t destination = first; destination < end; ++destination) {
      std::vector<Order>& arrivals = arrivals_[destination];
      std::sort(arrivals.begin(), arrivals.end());
      std::size_t place = places_[destination];
      for (const Order& arrival : arrivals) line_[place++] = &requests_[arrival.request];
    }
    serve_by_cache(places_[first], places_[end]);
  });
  order_.clear();
  for (Request* request : line_) {
    if (request->cache == nullptr) {
      serve_by_socket(*request);
    } else if (request->lost) {
      report_lost(request->cache->name(), *request);
    }
    order_.push_back({request->at, static_cast<std::uint32_t>(request - requests_.data())});
  }
}

template <typename Size>
void MemoryEdge::line_up(std::size_t items, const Size& size) {
  places_.resize(items + 1);
  places_[0] = 0;
  for (std::size_t i = 0; i < items; ++i) places_[i + 1] = places_[i] + size(i);
  line_.resize(places_[items]);
}

void MemoryEdge::serve_by_cache(std::size_t first, std::size_t end) {
  fetching_ahead(
      first, end,
      [this](std::size_t i) {
        Request& request = *line_[i];
        if (request.cache == nullptr) return;
        request.line = request.cache->local_line(request.access.address);
        request.cache->prefetch_set(request.line);
      },
      [this](std::size_t i) {
        const Request& request = *line_[i];
        if (request.cache != nullptr) request.cache->prefetch_line(request.access.address, request.line);
      },
      [this](std::size_t i) {
        Request& request = *line_[i];
        if (request.cache == nullptr) return;
        tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
        request.at = request.cache->serve(request.access, request.line, request.at, request.latency, status);
        request.lost = status != tlm::TLM_OK_RESPONSE;
      });
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
  sort_by_time(order_, sorted_);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    fetch_request(i + kNearAhead);
    Request& request = requests_[order_[i].request];
    const LineAccess& access = request.access;
    request.at = fabric_.carry(VirtualNetwork::reply, caches_[request.origin].source, request.destination,
                               fabric_.reply_flits(access.bytes, access.write, access.atomic), request.at, &request.latency);
  }
  line_up(groups_.size(), [this](std::size_t group) {
    std::size_t requests = 0;
    for (const std::uint32_t cache : groups_[group]) requests += caches_[cache].end - caches_[cache].first;
    return requests;
  });
  share(groups_.size(), [this](std::size_t first, std::size_t end) { answer(first, end); });
}

void MemoryEdge::answer(std::size_t first_group, std::size_t end_group) {
  std::size_t place = places_[first_group];
  for (std::size_t group = first_group; group < end_group; ++group) {
    for (const std::uint32_t number : groups_[group]) {
      for (std::size_t i = caches_[number].first; i < caches_[number].end; ++i) line_[place++] = &requests_[i];
    }
  }
  const auto cache = [this](std::size_t i) -> FirstLevelCache& { return *caches_[line_[i]->origin].cache; };
  fetching_ahead(
      places_[first_group], places_[end_group], [&](std::size_t i) { cache(i).prefetch_miss(line_[i]->miss); },
      [&](std::size_t i) { cache(i).prefetch_fill(line_[i]->miss); },
      [&](std::size_t i) { cache(i).answer(line_[i]->miss, line_[i]->at, line_[i]->latency); });
  // What waits in a cache waits for its answers.
  for (std::size_t group = first_group; group < end_group; ++group) {
    for (const std::uint32_t number : groups_[group]) {
      if (caches_[number].first != caches_[number].end) caches_[number].cache->resume();
    }
  }
}

}  // namespace lacuna
