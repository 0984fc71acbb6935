#include "models/gpu/memory_edge.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/common/tlm_time.h"

namespace lacuna {
namespace {

// Requests of a destination by which the host's fetch of its tags runs ahead of their use.
constexpr std::size_t kPrefetchDistance = 4;

}  // namespace

void MemoryEdge::add_destination(unsigned destination, Cache& cache) {
  if (destinations_.size() <= destination) destinations_.resize(destination + 1);
  destinations_[destination] = &cache;
}

void MemoryEdge::settle(Tick end) {
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
  for (std::uint32_t i = 0; i < caches_.size(); ++i) {
    FirstLevelCache& cache = *caches_[i].cache;
    departures_.clear();
    cache.departures(end, departures_);
    for (const FirstLevelCache::Departure& departure : departures_) {
      if (count_ == requests_.size()) requests_.emplace_back();
      Request& request = requests_[count_];
      request.access = cache.request(departure.miss);
      request.origin = i;
      request.miss = departure.miss;
      request.at = departure.at;
      request.attributes.latency = {};
      order_.push_back({departure.at, static_cast<std::uint32_t>(count_++)});
    }
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
      SC_REPORT_FATAL(caches_[request.origin].cache->name(),
                      fmt::format("no memory answers at bus address {:#x} of a mapped page", access.address).c_str());
    }
    request.destination = hop.destination;
    request.at =
        fabric_.carry(VirtualNetwork::request, caches_[request.origin].source, hop.destination,
                      fabric_.request_flits(access.bytes, access.write, access.atomic), request.at, &request.attributes);
    arrivals_[hop.destination].push_back({request.at, next.request});
  }
}

void MemoryEdge::serve() {
  order_.clear();
  for (std::size_t destination = 0; destination < arrivals_.size(); ++destination) {
    std::vector<Order>& arrivals = arrivals_[destination];
    std::sort(arrivals.begin(), arrivals.end());
    Cache* cache = destination < destinations_.size() ? destinations_[destination] : nullptr;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      Request& request = requests_[arrivals[i].request];
      if (cache == nullptr) {
        serve_by_socket(request);
      } else {
        if (i + kPrefetchDistance < arrivals.size())
          cache->prefetch(requests_[arrivals[i + kPrefetchDistance].request].access.address);
        tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
        request.at = cache->serve(request.access, request.at, request.attributes.latency, status);
        if (status != tlm::TLM_OK_RESPONSE) {
          SC_REPORT_FATAL(
              cache->name(),
              fmt::format("no memory answers at bus address {:#x} of a mapped page", request.access.address).c_str());
        }
      }
      order_.push_back({request.at, arrivals[i].request});
    }
  }
}

void MemoryEdge::serve_by_socket(Request& request) {
  const LineAccess& access = request.access;
  MemoryAttributes& attributes =
      payload_.renew(access.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, access.address, access.bytes);
  payload_.clear_latency();
  attributes.kind = access.kind;
  attributes.atomic = access.atomic;
  attributes.bypass_l1 = access.bypass_l1;
  attributes.requester = access.requester;
  attributes.byte_mask = access.byte_mask;
  const Tick now = to_tick(sc_core::sc_time_stamp());
  sc_core::sc_time delay = to_sc_time(later(request.at, now) - now);
  fabric_.destinations[request.destination]->b_transport(*payload_, delay);
  if (payload_->is_response_error()) {
    SC_REPORT_FATAL(fabric_.name(), fmt::format("no memory answers at bus address {:#x} of a mapped page: {}", access.address,
                                                payload_->get_response_string())
                                        .c_str());
  }
  request.at = now + to_tick(delay);
  request.attributes.latency += payload_.latency();
}

void MemoryEdge::reply() {
  std::sort(order_.begin(), order_.end());
  for (const Order& next : order_) {
    Request& request = requests_[next.request];
    const LineAccess& access = request.access;
    request.at = fabric_.carry(VirtualNetwork::reply, caches_[request.origin].source, request.destination,
                               fabric_.reply_flits(access.bytes, access.write, access.atomic), request.at, &request.attributes);
  }
  // Requests lie in the order of their caches.
  for (std::size_t i = 0; i < count_; ++i) {
    const Request& request = requests_[i];
    caches_[request.origin].cache->answer(request.miss, request.at, request.attributes.latency);
  }
  for (const Origin& origin : caches_) origin.cache->resume();
}

}  // namespace lacuna
