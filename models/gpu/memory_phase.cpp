#include "models/gpu/memory_phase.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>

#include "models/common/host/host_prefetch.h"
#include "models/common/time/sort_by_time.h"
#include "models/common/time/tlm_time.h"

namespace lacuna {
MemoryPhase::MemoryPhase(Fabric& fabric, TranslationLevel* l2_tlb, WorkerThreads* threads, Tick shortest_way)
    : fabric_(fabric),
      stepped_(fabric.stepped()),
      l2_tlb_(l2_tlb),
      threads_(threads),
      shortest_way_(fabric.stepped() != nullptr ? Tick{} : shortest_way),
      destinations_(fabric.destinations.size()),
      memories_(destinations_.size()),
      scratch_(threads != nullptr ? threads->threads() : 1) {
  for (unsigned i = 0; i < destinations_.size(); ++i) destinations_[i] = {nullptr, fabric.destination_node(i), i};
  for (ThreadScratch& scratch : scratch_) scratch.tally.destinations.resize(destinations_.size());
}

void MemoryPhase::add(FirstLevelCache& cache, unsigned source, unsigned group) {
  const unsigned node = fabric_.source_node(source);
  std::vector<Sender>& senders = group_of(group).senders;
  auto sender = std::find_if(senders.begin(), senders.end(), [node](const Sender& other) { return other.node == node; });
  if (sender == senders.end()) sender = senders.insert(sender, {node, {}, {}, {}});
  sender->caches.push_back(static_cast<std::uint32_t>(caches_.size()));
  cache.announce_departures(group_of(group).next_departure);
  cache.keep_early_requests(far_, group_of(group).early);
  L1Port& origin = caches_.emplace_back();
  origin.cache = &cache;
  origin.source = source;
  origin.group = group;
  origin.sender = static_cast<unsigned>(sender - senders.begin());
}

void MemoryPhase::add(FirstLevelTlb& tlb, unsigned group) {
  tlbs_.push_back({&tlb, group});
  group_of(group).tlbs.push_back(&tlb);
  tlb.announce_departures(group_of(group).asks);
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
  behind.deferred = memory;
  behind.way = behind.caches.empty() ? cache.way_to_memory() : earlier(behind.way, cache.way_to_memory());
  behind.caches.push_back(&cache);
}

// Where translations or an observer of the edge may lead to further requests, requests leave at the edge. Otherwise they leave
// here, while they are in the host caches of the thread that has made them.
void MemoryPhase::group_finished(unsigned number, unsigned thread, Tick end) {
  Group& group = groups_[number];
  if (!ports_known_ || stepped_ != nullptr || !observers_.empty() || group.asks || group.next_departure >= end) return;
  leave(group, end, scratch_[thread]);
  group.left = true;
}

// Requests that have waited for this window are admitted before the units run.
void MemoryPhase::begin(Tick far) {
  far_ = far;
  for (Group& group : groups_) {
    if (group.early.empty()) continue;
    for (FirstLevelCache* const cache : std::exchange(group.early, {})) cache->admit_early();
  }
}

void MemoryPhase::resolve(Tick end) {
  for (WindowObserver* const observer : observers_) observer->window_ended();
  translate();
  if (stepped_ != nullptr) {
    resolve_steps(end);
    return;
  }
  if (!std::exchange(ports_known_, true)) ports_ = private_ports();
  late_.clear();
  for (unsigned i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    if (!group.left && (!group.translated.empty() || group.next_departure < end)) late_.push_back(i);
  }
  // The number of requests is known only when they have left: about as many as in the last phase.
  share(late_, groups_.size(), [&](unsigned number, ThreadScratch& scratch) {
    Group& group = groups_[number];
    learn_translations(group);
    group.left = group.next_departure < end;
    if (group.left) leave(group, end, scratch);
  });
  const Tick now = kernel_time();
  fabric_.advance(now);
  exchange(end, now, false);
  // An answer before the window's end may free an MSHR or a way, and a request that waited for it leaves then. Left to the next
  // phase it would be late, and in a chain of such requests each one later than the one before.
  for (;;) {
    late_.clear();
    for (unsigned i = 0; i < groups_.size(); ++i) {
      if (groups_[i].next_departure < end) late_.push_back(i);
    }
    if (late_.empty()) break;
    share(late_, groups_.size(), [&](unsigned number, ThreadScratch& scratch) {
      leave(groups_[number], end, scratch);
      groups_[number].left = true;
    });
    exchange(end, now, true);
  }
  if (ports_ == nullptr) return;
  for (ThreadScratch& scratch : scratch_) {
    if (scratch.tally.latency != Tick{}) fabric_.count(scratch.tally);
  }
}

// Requests that have left go to their destinations, and answers return. `again`: in this phase there has been an exchange
// before.
void MemoryPhase::exchange(Tick end, Tick now, bool again) {
  leaving_.clear();
  for (unsigned i = 0; i < groups_.size(); ++i) {
    if (std::exchange(groups_[i].left, false)) leaving_.push_back(i);
  }
  if (leaving_.empty() && in_flight_ == 0) return;
  count_ = 0;
  for (const unsigned group : leaving_) {
    for (const Sender& sender : groups_[group].senders) count_ += sender.orders.size();
  }
  in_flight_ += count_;
  check_lost();
  if (ports_ == nullptr) carry(VirtualNetwork::request);
  find_serving(now, again);
  share(serving_, memories_.size(),
        [&](unsigned memory, ThreadScratch& scratch) { serve(memory, end + shortest_way_, scratch); });
  for (const unsigned number : serving_) {
    if (memories_[number].caches.empty()) serve_by_sockets(memories_[number]);
  }
  check_lost();
  if (ports_ == nullptr) {
    carry(VirtualNetwork::reply);
    for (const unsigned number : serving_) sort_out(memories_[number]);
  }
  answering_.clear();
  for (const unsigned number : serving_) in_flight_ -= memories_[number].replies.size();
  for (unsigned group = 0; group < groups_.size(); ++group) {
    const auto replies = [this, group](unsigned number) { return !memories_[number].replied[group].empty(); };
    if (std::any_of(serving_.begin(), serving_.end(), replies)) answering_.push_back(group);
  }
  share(answering_, groups_.size(), [this](unsigned group, ThreadScratch& scratch) { answer(group, scratch); });
}

void MemoryPhase::find_serving(Tick now, bool only_fresh) {
  serving_.clear();
  for (unsigned number = 0; number < memories_.size(); ++number) {
    const auto sends = [this, number](unsigned group) { return !groups_[group].sent[number].empty(); };
    const bool fresh = std::any_of(leaving_.begin(), leaving_.end(), sends);
    if (!fresh && (memories_[number].is_idle() || (only_fresh && ports_ != nullptr))) continue;
    serving_.push_back(number);
    for (LastLevelCache* const cache : memories_[number].caches) cache->advance(now);
  }
}

// Then the ends of packets can be left to groups and memories.
NodePorts* MemoryPhase::private_ports() const {
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

Tick MemoryPhase::next() const {
  Tick first = kNever;
  for (const Group& group : groups_) {
    if (group.asks) return Tick{};
    first = earlier(first, group.next_departure);
    for (const FirstLevelCache* const cache : group.early) first = earlier(first, cache->next_early());
  }
  for (const Memory& memory : memories_) {
    if (memory.is_idle()) continue;
    // In the window that begins then the edge decides as far as that.
    Tick next = memory.arrivals.empty() ? kNever : memory.arrivals.front().at;
    if (memory.deferred != nullptr) {
      if (const Tick decision = memory.deferred->next_decision(); decision != kNever)
        next = earlier(next, decision - earlier(decision, memory.way));
    }
    if (next != kNever) first = earlier(first, next - earlier(next, shortest_way_));
  }
  return stepped_ != nullptr ? earlier(first, stepped_->next()) : first;
}

void MemoryPhase::reset() {
  flights_.clear();
  free_flights_.clear();
  in_flight_ = 0;
  for (L1Port& origin : caches_) origin.requests.clear();
  for (Memory& memory : memories_) {
    memory.arrivals.clear();
    memory.replies.clear();
    memory.waiting.clear();
    memory.free_tags.clear();
    memory.lost = nullptr;
  }
  for (Group& group : groups_) {
    group.lost = nullptr;
    group.asks = false;
    group.early.clear();
    find_next_departure(group);
  }
}

void MemoryPhase::find_next_departure(Group& group) {
  group.next_departure = kNever;
  for (const Sender& sender : group.senders) {
    for (const std::uint32_t cache : sender.caches)
      group.next_departure = earlier(group.next_departure, caches_[cache].cache->next_departure());
  }
}

void MemoryPhase::retire(Tick horizon) {
  for (const L1Port& origin : caches_) origin.cache->retire(horizon);
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

void MemoryPhase::report_lost(const Request& request) const {
  const Cache* cache = destinations_[request.destination].cache;
  SC_REPORT_FATAL(cache != nullptr ? cache->name() : fabric_.name(),
                  fmt::format("no memory answers at bus address {:#x} of a mapped page", request.access.address).c_str());
  std::abort();
}

// -- translations

void MemoryPhase::translate() {
  if (std::none_of(groups_.begin(), groups_.end(), [](const Group& group) { return group.asks; })) return;
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
void MemoryPhase::learn_translations(Group& group) {
  for (const Translated& known : group.translated) known.tlb->resolve(known.miss, known.answer);
  group.translated.clear();
}

// -- requests

void MemoryPhase::leave(Group& group, Tick end, ThreadScratch& scratch) {
  std::vector<GroupRequest>& leaving = scratch.requests;
  leaving.clear();
  for (Sender& sender : group.senders) {
    sender.orders.clear();
    for (const std::uint32_t cache : sender.caches) {
      L1Port& origin = caches_[cache];
      origin.departures.clear();
      origin.cache->departures(end, origin.departures);
      for (const FirstLevelCache::Departure& departure : origin.departures)
        leaving.push_back({.origin = &origin,
                           .cache = cache,
                           .miss = departure.miss,
                           .orders = &sender.orders,
                           .at = departure.at,
                           .request = nullptr,
                           .number = 0});
    }
  }
  find_next_departure(group);
  in_stages(
      leaving.size(), [&](std::size_t i) { leaving[i].prefetch_miss(); },
      [&](std::size_t i) {
        const GroupRequest& one = leaving[i];
        Request* const request = one.origin->requests.take();
        make_request(one.cache, {one.at, one.miss}, *request);
        if (request->timing.lost && group.lost == nullptr) group.lost = request;
        one.orders->push_back({one.at, request});
      });
  if (ports_ == nullptr) return;
  for (Sender& sender : group.senders) {
    sort_nearly_sorted(sender.orders, scratch.space);
    for (const TimedRequest& next : sender.orders) {
      Request& request = *next.request;
      request.head = ports_->leave(sender.node, request.request_flits, next.at);
      group.sent[destinations_[request.destination].memory].push_back(next);
    }
  }
}

void MemoryPhase::make_request(std::uint32_t cache, const FirstLevelCache::Departure& departure, Request& request) {
  request.access = caches_[cache].cache->request(departure.miss);
  request.access.made = departure.at;
  request.miss = departure.miss;
  request.cache = cache;
  request.departure = caches_[cache].next_departure++;
  const LineAccess& access = request.access;
  unsigned destination = 0;
  request.timing.lost = !fabric_.route(access.address, access.bytes, destination);
  request.destination = static_cast<std::uint16_t>(destination);
  request.request_flits = static_cast<std::uint16_t>(fabric_.request_flits(access.bytes, access.write, access.atomic));
  request.reply_flits = static_cast<std::uint16_t>(fabric_.reply_flits(access.bytes, access.write, access.atomic));
}

// All packets of a way, by one thread.
void MemoryPhase::carry(VirtualNetwork network) {
  const bool there = network == VirtualNetwork::request;
  order_.clear();
  if (there) {
    for (const unsigned group : leaving_) {
      for (const Sender& sender : groups_[group].senders) {
        for (const TimedRequest& order : sender.orders) {
          order.request->timing.noc_waiting = order.request->timing.noc_passing = Tick{};
          order_.push_back(order);
        }
      }
    }
  } else {
    for (const unsigned number : serving_)
      order_.insert(order_.end(), memories_[number].replies.begin(), memories_[number].replies.end());
  }
  sort_by_time(order_, scratch_.front().space);
  for (const TimedRequest& next : order_) {
    Request& request = *next.request;
    const unsigned flits = there ? request.request_flits : request.reply_flits;
    const Fabric::Traversal passed = fabric_.carry(network, caches_[request.cache].source, request.destination, flits, next.at);
    request.timing.noc_waiting += passed.waiting;
    request.timing.noc_passing += passed.arrival - next.at - passed.waiting;
    if (there) {
      memories_[destinations_[request.destination].memory].arrivals.push_back({passed.arrival, &request});
    } else {
      request.timing.at = passed.arrival;
    }
  }
}

// -- service

void MemoryPhase::serve(unsigned number, Tick horizon, ThreadScratch& scratch) {
  Memory& memory = memories_[number];
  memory.below.clear();
  memory.replies.clear();
  if (memory.replied.size() < groups_.size()) memory.replied.resize(groups_.size());
  if (ports_ != nullptr) {
    TimedRequests& fresh = scratch.fresh;
    fresh.clear();
    for (const unsigned leaving : leaving_) {
      TimedRequests& sent = groups_[leaving].sent[number];
      fresh.insert(fresh.end(), sent.begin(), sent.end());
      for (const TimedRequest& order : sent) {
        fetch_to_host(order.request);
        fetch_to_host(&order.request->timing);
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
                                           [](const TimedRequest& order, Tick at) { return order.at < at; });
  const auto count = static_cast<std::size_t>(later_ones - memory.arrivals.begin());
  serve_by_caches(memory, count, scratch.places);
  memory.arrivals.erase(memory.arrivals.begin(), later_ones);
  if (memory.deferred != nullptr) memory.deferred->decide(horizon + memory.way);
  take_answers(memory);
  if (ports_ == nullptr) return;
  send_replies(memory, scratch.space);
  sort_out(memory);
}

// The packets reach the destinations' ports.
void MemoryPhase::arrive(TimedRequests& arrivals) {
  for (TimedRequest& arrival : arrivals) {
    Request& request = *arrival.request;
    const NodePorts::Arrival passed =
        ports_->arrive(destinations_[request.destination].node, request.request_flits, arrival.at, request.head);
    request.timing.noc_waiting = passed.waiting;
    request.timing.noc_passing = passed.at - arrival.at - passed.waiting;
    arrival.at = passed.at;
  }
}

// The first `count` arrivals.
void MemoryPhase::serve_by_caches(Memory& memory, std::size_t count, std::vector<LookupSlot>& places) {
  TimedRequests& arrivals = memory.arrivals;
  if (places.size() < count) places.resize(count);
  in_stages(
      count,
      [&](std::size_t i) {
        const Request& request = *arrivals[i].request;
        LastLevelCache& cache = *destinations_[request.destination].cache;
        places[i] = {&cache, cache.local_line(request.access.address), TagArray::kNone};
        cache.prefetch_set(places[i].line);
      },
      [&](std::size_t i) {
        places[i].slot = places[i].cache->prefetch_line(arrivals[i].request->access.address, places[i].line);
      },
      [&](std::size_t i) {
        Request& request = *arrivals[i].request;
        const std::uint32_t tag = take_record(memory.waiting, memory.free_tags);
        memory.waiting[tag] = &request;
        LastLevelCache::Served served;
        if (!places[i].cache->serve(request.access, places[i].line, arrivals[i].at, places[i].slot, tag, served)) return;
        memory.free_tags.push_back(tag);
        take(request, served);
        memory.replies.push_back({served.done, &request});
      });
}

void MemoryPhase::take(Request& request, const LastLevelCache::Served& served) {
  RequestTiming& timing = request.timing;
  timing.at = served.done;
  timing.waiting = served.queueing;
  timing.service = served.service;
  timing.mshr = served.mshr;
  timing.below = kNone;
  timing.lost = served.failed;
}

// What the caches have learned from their memory.
void MemoryPhase::take_answers(Memory& memory) {
  for (LastLevelCache* const cache : memory.caches) {
    for (const LastLevelCache::Answer& answer : cache->answers()) {
      Request& request = *memory.waiting[answer.tag];
      memory.free_tags.push_back(answer.tag);
      take(request, answer.served);
      memory.replies.push_back({answer.served.done, &request});
      if (answer.served.failed && memory.lost == nullptr) memory.lost = &request;
      if (!answer.from_memory) continue;
      request.timing.below = static_cast<std::uint32_t>(memory.below.size());
      memory.below.emplace_back().set(MemoryLevel::dram, answer.memory_waiting, answer.memory_service);
    }
    cache->forget_answers();
  }
}

void MemoryPhase::serve_by_sockets(Memory& memory) {
  for (const TimedRequest& arrival : memory.arrivals) serve_by_socket(memory, arrival);
  memory.arrivals.clear();
  if (ports_ == nullptr) return;
  send_replies(memory, scratch_.front().space);
  sort_out(memory);
}

void MemoryPhase::serve_by_socket(Memory& memory, const TimedRequest& arrival) {
  Request& request = *arrival.request;
  payload_.renew(request.access);
  const Tick now = kernel_time();
  sc_core::sc_time delay = delay_until(arrival.at);
  fabric_.destinations[request.destination]->b_transport(*payload_, delay);
  RequestTiming& timing = request.timing;
  timing.at = now + to_tick(delay);
  timing.waiting = timing.service = timing.mshr = Tick{};
  timing.lost = payload_->is_response_error();
  if (timing.lost && memory.lost == nullptr) memory.lost = &request;
  timing.below = static_cast<std::uint32_t>(memory.below.size());
  memory.below.push_back(payload_.latency());
  memory.replies.push_back({timing.at, &request});
}

// -- replies

// Those of requests that have been served, from their destinations.
void MemoryPhase::send_replies(Memory& memory, TimedRequests& space) {
  sort_nearly_sorted(memory.replies, space);
  for (const TimedRequest& next : memory.replies) {
    Request& request = *next.request;
    request.timing.head = ports_->leave(destinations_[request.destination].node, request.reply_flits, next.at);
  }
}

void MemoryPhase::sort_out(Memory& memory) {
  for (const TimedRequest& next : memory.replies) memory.replied[caches_[next.request->cache].group].push_back(next);
}

void MemoryPhase::answer(unsigned number, ThreadScratch& scratch) {
  Group& group = groups_[number];
  for (const unsigned serving : serving_) {
    TimedRequests& replied = memories_[serving].replied[number];
    for (const TimedRequest& next : replied) {
      group.senders[caches_[next.request->cache].sender].replies.push_back({next.request->timing.at, next.request});
    }
    replied.clear();
  }
  std::vector<GroupRequest>& told = scratch.requests;
  told.clear();
  group.answered.clear();
  for (Sender& sender : group.senders) {
    if (sender.replies.empty()) continue;
    sort_by_time(sender.replies, scratch.space);
    if (ports_ != nullptr) receive_replies(sender, scratch);
    for (const TimedRequest& next : sender.replies) {
      Request& request = *next.request;
      L1Port& origin = caches_[request.cache];
      if (origin.answers++ == 0) group.answered.push_back(request.cache);
      told.push_back({.origin = &origin,
                      .cache = request.cache,
                      .miss = request.miss,
                      .orders = nullptr,
                      .at = {},
                      .request = &request,
                      .number = origin.answers - 1});
    }
    sender.replies.clear();
  }
  LatencyBreakdown latency;  // of those that went no further than a cache: little of it changes from one to the next
  in_stages(
      told.size(), [&](std::size_t i) { told[i].prefetch_miss(); },
      [&](std::size_t i) {
        told[i].origin->cache->prefetch_fill(told[i].miss);
        told[i].origin->cache->prefetch_waiting(told[i].number);
      },
      [&](std::size_t i) {
        Request& request = *told[i].request;
        const RequestTiming& timing = request.timing;
        const std::vector<LatencyBreakdown>& below = memories_[destinations_[request.destination].memory].below;
        told[i].origin->requests.give_back(&request);
        tell(request, timing.below != kNone ? &below[timing.below] : nullptr, latency);
      });
  // What waits in a cache waits for its answers.
  for (const std::uint32_t cache : group.answered) {
    caches_[cache].answers = 0;
    caches_[cache].cache->resume();
  }
}

void MemoryPhase::receive_replies(Sender& sender, ThreadScratch& scratch) {
  for (const TimedRequest& next : sender.replies) {
    Request& request = *next.request;
    RequestTiming& timing = request.timing;
    const NodePorts::Arrival passed = ports_->arrive(sender.node, request.reply_flits, next.at, timing.head);
    timing.noc_waiting += passed.waiting;
    timing.noc_passing += passed.at - next.at - passed.waiting;
    timing.at = passed.at;
    fabric_.count_passed(caches_[request.cache].source, request.destination,
                         unsigned{request.request_flits} + request.reply_flits, timing.noc_waiting,
                         timing.noc_waiting + timing.noc_passing, scratch.tally);
  }
}

void MemoryPhase::tell(const Request& request, const LatencyBreakdown* below, LatencyBreakdown& latency) {
  FirstLevelCache& cache = *caches_[request.cache].cache;
  const std::uint32_t miss = request.miss;
  const RequestTiming& timing = request.timing;
  const Destination& destination = destinations_[request.destination];
  if (below != nullptr) [[unlikely]] {
    LatencyBreakdown further = *below;
    further.add(MemoryLevel::noc, timing.noc_waiting, timing.noc_passing);
    if (destination.cache != nullptr) further.add(destination.cache->level(), timing.waiting, timing.service);
    further.mshr += timing.mshr;
    cache.answer(miss, timing.at, further);
    return;
  }
  latency.set(MemoryLevel::noc, timing.noc_waiting, timing.noc_passing);
  latency.set(destination.cache->level(), timing.waiting, timing.service);
  latency.mshr = timing.mshr;
  cache.answer(miss, timing.at, latency);
}

}  // namespace lacuna
