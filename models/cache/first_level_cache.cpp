#include "models/cache/first_level_cache.h"

#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "models/cache/detail/host_prefetch.h"

namespace lacuna {
namespace {

// Distance in records at which free records are prefetched before their use.
constexpr std::size_t kRecordsAhead = 4;
// Number of requests whose lines are buffered between the stages of request_all(); a power of two.
constexpr std::size_t kRecentLines = 32;
static_assert(kRecentLines >= 3 * kStagesBehind);
constexpr unsigned kMostSectors = 256;  // sector numbers have eight bits

}  // namespace

FirstLevelCache::FirstLevelCache(sc_core::sc_module_name module_name, const CacheParameters& parameters,
                                 unsigned upstream_ports)
    : Cache(module_name, parameters, MemoryLevel::l1, upstream_ports),
      all_pass_(!parameters.in_order && parameters.transactions == 0),
      filling_(tags_.sets()),
      free_mshrs_(parameters.mshrs),
      free_transactions_(parameters.transactions) {
  if (parameters.write_policy != WritePolicy::write_around)
    throw std::invalid_argument(std::string(name()) + ": a first-level cache writes around");
  if (tags_.sectors() > kMostSectors)
    throw std::invalid_argument(std::string(name()) + ": a line of " + std::to_string(tags_.sectors()) + " sectors, at most " +
                                std::to_string(kMostSectors) + " are possible");
}

// -- lookup

// Books the bank for an access that may begin at `at`. Returns the time of the access.
[[gnu::always_inline]] inline Tick FirstLevelCache::take_bank(std::size_t bank, Tick at) {
  if (horizon_ != forgotten_) [[unlikely]]
    drop_bookings();
  const Tick start = banks_[bank].reserve(at, port_time_);
  // Several ports share a cycle: the booked slot identifies the port; the access happens in the cycle that contains it.
  return parameters_.ports > 1 && start != at ? later(at, clock_.align_down(start)) : start;
}

// Inlined as in Cache: hits and the usual misses make no function calls.
template <bool kAllPass>
[[gnu::always_inline]] inline bool FirstLevelCache::look_up(const SectorAccess& access, Tick at, ClientNumber client,
                                                            std::uint32_t tag, MemoryResponse& response) {
  const bool limited = !kAllPass && parameters_.transactions != 0;
  const Tick admitted = limited ? later(at, free_transactions_.take_earliest()) : at;
  const Tick start = take_bank(access.bank, admitted);
  statistics_.bank_stall += start - at;
  const Waiter waiter{access.made, at, start, tag, client};
  if (access.write || access.atomic || access.bypass) {
    forward_sector(access, waiter);
    return false;
  }
  if (!read_sector<kAllPass>(access, waiter, response)) return false;
  if (limited) free_transactions_.insert(response.done);
  return true;
}

template <bool kAllPass>
[[gnu::always_inline]] inline bool FirstLevelCache::read_sector(const SectorAccess& access, const Waiter& waiter,
                                                                MemoryResponse& response) {
  ++statistics_.reads;
  const TagArray::Slot slot = tags_.find(access.set, access.line);
  if (slot != TagArray::kNone) {
    tags_.touch(slot);
    const TagArray::Sector& sector = tags_.sector(slot, access.sector);
    if (sector.pending != TagArray::kNoFill) {
      ++statistics_.secondary_misses;
      waiters_.append(misses_[sector.pending].fill.waiters, waiter);
      return false;
    }
    if (sector.complete) {
      read_complete<kAllPass>(access.bank, sector, waiter.made, waiter.arrived, waiter.start, response);
      return true;
    }
  }
  miss_sector<kAllPass>(access, slot, waiter);
  return false;
}

// Reads a sector that is present, or whose arrival time is known.
template <bool kAllPass>
[[gnu::always_inline]] inline void FirstLevelCache::read_complete(std::size_t bank, const TagArray::Sector& sector, Tick made,
                                                                  Tick arrived, Tick start, MemoryResponse& response) {
  Tick queueing = start - arrived;
  Tick done = start + hit_;
  if (sector.ready <= start) {
    ++statistics_.read_hits;
    if (lock_ > Tick{}) {
      const Tick locked = unlock(sector, start + tag_) - (start + tag_);
      queueing += locked;
      done += locked;
      if (!kAllPass && parameters_.in_order && locked > Tick{}) banks_[bank].block(start, clock_.align_up(start + locked));
    }
  } else {
    ++statistics_.secondary_misses;
    done = lock_ > Tick{} ? later(start + tag_, sector.ready) + fill_ : later(done, sector.ready + fill_);
  }
  statistics_.read_latency += done - arrived;
  response = {.made = made,
              .arrived = arrived,
              .done = done,
              .queueing = queueing,
              .service = done - arrived - queueing,
              .mshr = {},
              .level = level_,
              .below = nullptr};
}

template <bool kAllPass>
[[gnu::always_inline]] inline void FirstLevelCache::miss_sector(const SectorAccess& access, TagArray::Slot slot,
                                                                const Waiter& waiter) {
  ++statistics_.read_misses;
  const std::uint32_t number = new_miss(waiter);
  Miss& miss = misses_[number];
  const std::uint64_t within = (std::uint64_t{1} << sector_shift_) - 1;
  miss.address = access.address & ~within;
  miss.fill = {.slot = kNone, .successor = kNone, .for_mshr = {}, .waiters = kNone};
  miss.sector = static_cast<std::uint8_t>(access.sector);
  miss.bytes = static_cast<std::uint16_t>(within + 1);
  miss.requester = access.requester;
  miss.request = RequestKind::fill;
  miss.kind = Kind::fill;
  miss.write = miss.bypass = false;
  miss.room = waiter.start + tag_;
  const TagArray::Sector fill{.ready = kNever, .locked = kNever, .pending = number, .complete = true};
  if (slot != TagArray::kNone) [[unlikely]] {
    if (!is_filling(slot)) ++filling_[access.set];
    tags_.sector(slot, access.sector) = fill;
  } else {
    slot = take_way(access, number, miss);
    tags_.replace(access.set, slot, access.line, access.sector, fill);
  }
  miss.fill.slot = slot;
  if (!kAllPass && parameters_.in_order) {
    blocks_ = number;
    blocks_from_ = waiter.start;
    blocked_bank_ = access.bank;
  }
  if (miss.waits_for > 0) return;
  if (free_mshrs_.empty() || !mshr_queue_.empty()) {
    mshr_queue_.push(number);
    return;
  }
  add_departure(depart(number, free_mshrs_.take_earliest()));
}

// -- requests

FirstLevelCache::ClientNumber FirstLevelCache::find_client(MemoryClient& client) {
  const auto known = std::find(clients_.begin(), clients_.end(), &client);
  const auto number = static_cast<std::size_t>(known - clients_.begin());
  if (known == clients_.end()) {
    if (number > ClientNumber(~0)) throw std::length_error(std::string(name()) + ": too many clients");
    clients_.push_back(&client);
  }
  return client.number_in_target = static_cast<ClientNumber>(number);
}

// Fast path: instruction fetches and scalar loads arrive singly and nearly always hit.
[[gnu::always_inline]] inline bool FirstLevelCache::read_hit(const MemoryRequest& request, Tick at, MemoryResponse& response) {
  const std::uint64_t within = low_bits(static_cast<unsigned>(sector_shift_));
  if (!all_pass_ || request.write || request.atomic || request.bypass_l1 ||
      (request.address & within) + request.bytes > within + 1)
    return false;
  const std::uint64_t local = local_line(request.address);
  const TagArray::Slot slot = tags_.find(set_of(local), request.address >> line_shift_);
  if (slot == TagArray::kNone) return false;
  const TagArray::Sector& sector = tags_.sector(slot, sector_of(request.address));
  if (sector.pending != TagArray::kNoFill || !sector.complete) return false;
  const std::size_t bank = bank_of(local);
  const Tick start = take_bank(bank, at);
  statistics_.bank_stall += start - at;
  ++statistics_.reads;
  tags_.touch(slot);
  read_complete<true>(bank, sector, request.made, at, start, response);
  return true;
}

bool FirstLevelCache::request(const MemoryRequest& request, Tick at, MemoryClient& client, std::uint32_t tag,
                              MemoryResponse& response) {
  return read_hit(request, at, response) || request_otherwise(request, at, client, tag, response);
}

// Not inlined: read_hit() would otherwise save and restore the host registers that a miss needs.
[[gnu::noinline]] bool FirstLevelCache::request_otherwise(const MemoryRequest& request, Tick at, MemoryClient& client,
                                                          std::uint32_t tag, MemoryResponse& response) {
  SectorAccess access;
  if (in_one_sector(request, local_line(request.address), access)) [[likely]] {
    if (all_pass_) [[likely]]
      return look_up<true>(access, at, number_of(client), tag, response);
    return admit_sector(access, at, number_of(client), tag, response);
  }
  const Span span{.address = request.address, .length = request.bytes, .byte_mask = request.byte_mask};
  return request_sectors(span, access, at, client, tag, response);
}

// Prefetches the sets of several lines to the host's caches before the lines are looked up.
std::size_t FirstLevelCache::request_all(std::span<const MemoryRequest> requests, const Tick* at, MemoryClient& client,
                                         std::uint32_t tag, MemoryResponse* responses) {
  SectorAccess access;
  if (!all_pass_ || requests.empty() || !in_one_sector(requests[0], 0, access)) [[unlikely]]
    return MemoryTarget::request_all(requests, at, client, tag, responses);
  const bool write = access.write;
  const ByteMask bytes_mask = ByteMask::first(access.length);
  const std::uint64_t within = low_bits(static_cast<unsigned>(sector_shift_));
  const ClientNumber number = number_of(client);
  std::array<std::uint64_t, kRecentLines> local;
  std::size_t known = 0;
  in_stages(
      requests.size(),
      [&](std::size_t i) {
        local[i % kRecentLines] = local_line(requests[i].address);
        detail::CachePrefetch::set(*this, local[i % kRecentLines]);
      },
      [&](std::size_t i) { detail::CachePrefetch::victim(*this, set_of(local[i % kRecentLines])); },
      [&](std::size_t i) {
        const MemoryRequest& next = requests[i];
        place(next.address, local[i % kRecentLines], access);
        if (write) access.byte_mask = (bytes_mask & next.byte_mask) << static_cast<unsigned>(next.address & within);
        access.made = next.made;
        known += look_up<true>(access, at[i], number, tag, responses[known]) ? 1 : 0;
      });
  return known;
}

bool FirstLevelCache::request_sectors(const Span& span, SectorAccess& access, Tick at, MemoryClient& client, std::uint32_t tag,
                                      MemoryResponse& response) {
  const std::uint32_t number = splits_.begin(client, tag, {.made = access.made, .arrived = at, .done = at});
  const std::uint64_t end = span.address + span.length;
  for (std::uint64_t address = span.address; address != end; address += access.length) {
    split(span, address, access);
    splits_.add_sector(number);
    MemoryResponse part;
    if (admit_sector(access, at, number_of(sector_client_), number, part)) splits_.complete_sector(number, part);
  }
  if (!splits_.end(number)) return false;
  SplitRequests::Complete complete;
  splits_.take(number, complete);
  response = complete.response;
  return true;
}

void FirstLevelCache::SectorClient::on_response(std::uint32_t split, const MemoryResponse& response) {
  if (!cache_.splits_.complete_sector(split, response)) return;
  SplitRequests::Complete complete;
  cache_.splits_.take(split, complete);
  complete.client->on_response(complete.tag, complete.response);
}

bool FirstLevelCache::may_pass() const {
  if (blocks_ != kNone) return false;
  return parameters_.transactions == 0 || (!free_transactions_.empty() && (far_ == nullptr || free_transactions_[0] < *far_));
}

bool FirstLevelCache::admit_sector(const SectorAccess& access, Tick at, ClientNumber client, std::uint32_t tag,
                                   MemoryResponse& response) {
  if (far_ != nullptr && at >= *far_) [[unlikely]] {
    enter_early();
    early_.push_back({{access, client, tag, at}, early_count_++});
    std::push_heap(early_.begin(), early_.end(), std::greater<>());
    return false;
  }
  if (held_back_.empty() && may_pass()) return look_up<false>(access, at, client, tag, response);
  held_back_.push({access, client, tag, at});
  if (waits_for_transaction()) enter_early();
  return false;
}

void FirstLevelCache::admit_early() {
  entered_ = false;
  look_up_held_back();
  while (!early_.empty() && early_.front().request.arrived < *far_) {
    std::pop_heap(early_.begin(), early_.end(), std::greater<>());
    const HeldBack next = early_.back().request;
    early_.pop_back();
    MemoryResponse response;
    if (admit_sector(next.access, next.arrived, next.client, next.tag, response))
      clients_[next.client]->on_response(next.tag, response);
  }
  if (next_early() != kNever) enter_early();
}

// -- lookups without allocation

FirstLevelCache::Presence FirstLevelCache::presence(std::uint64_t address, Tick at) const {
  const TagArray::Slot slot = tags_.find(set_of(local_line(address)), address >> line_shift_);
  if (slot == TagArray::kNone) return Presence::absent;
  const TagArray::Sector& sector = tags_.sector(slot, sector_of(address));
  if (sector.pending != TagArray::kNoFill) return Presence::filling;
  if (!sector.complete) return Presence::absent;
  return sector.ready <= at ? Presence::present : Presence::filling;
}

Tick FirstLevelCache::occupy(std::uint64_t address, Tick at) { return take_bank(bank_of(local_line(address)), at); }

// -- forwarded requests and misses

void FirstLevelCache::forward_sector(SectorAccess access, Waiter waiter) {
  const bool write = access.write && !access.atomic;
  ++(access.atomic ? statistics_.atomics : write ? statistics_.writes : statistics_.bypasses);
  const Tick looked_up = waiter.start + tag_;
  Tick leaves = looked_up;
  if (!write || lock_ > Tick{}) {
    const TagArray::Slot slot = tags_.find(access.set, access.line);
    if (slot != TagArray::kNone && !write) {
      drop_line(slot);
    } else if (slot != TagArray::kNone) {
      TagArray::Sector& sector = tags_.sector(slot, access.sector);
      if (sector.pending == TagArray::kNoFill && sector.ready <= leaves) {
        leaves = unlock(sector, leaves);
        sector.locked = leaves + lock_;
      }
    }
  }
  if (parameters_.in_order && leaves > looked_up)
    banks_[access.bank].block(waiter.start, clock_.align_up(waiter.start + (leaves - looked_up)));
  const std::uint32_t number = new_miss(waiter);
  Miss& miss = misses_[number];
  const std::uint64_t within = (std::uint64_t{1} << sector_shift_) - 1;
  miss.address = access.address;
  miss.byte_mask = access.byte_mask >> static_cast<unsigned>(access.address & within);
  miss.bytes = access.length;
  miss.requester = access.requester;
  miss.request = access.kind;
  miss.kind = access.atomic ? Kind::atomic : write ? Kind::write : Kind::bypass;
  miss.write = access.write;
  miss.bypass = access.bypass;
  miss.room = leaves;
  add_departure({leaves, number});
}

// The caller sets the other members: setting members twice would cost as much as the rest of the function.
[[gnu::always_inline]] inline std::uint32_t FirstLevelCache::new_miss(const Waiter& own) {
  const std::uint32_t number = misses_.take();
  if (const Miss* const ahead = misses_.ahead(kRecordsAhead)) fetch_to_host(ahead);
  Miss& miss = misses_[number];
  miss.start = own.start;
  miss.on_its_way = {own.made, own.start};
  miss.at_bank = {own.arrived, own.start};
  miss.tag = own.tag;
  miss.client = own.client;
  miss.waits_for = 0;
  return number;
}

// -- stages of a miss

// Time, `at` or later, from which a way can be given to another line.
[[gnu::always_inline]] inline Tick FirstLevelCache::free_from(TagArray::Slot slot, Tick at) const {
  Tick last = at;
  const TagArray::Sector* const sectors = &tags_.sector(slot, 0);
  for (unsigned i = 0; i < tags_.sectors(); ++i) {
    const TagArray::Sector& sector = sectors[i];
    if (sector.locked <= at) continue;
    if (sector.pending == TagArray::kNoFill && sector.ready <= at && sector.locked > at + lock_)
      continue;  // locked by a write at a later simulated time
    last = later(last, sector.locked);
  }
  return last;
}

// Chooses a way of a set in which some way has no pending fill: a free way, or else the first way to become free. Sets `from`
// to the time from which the way is free.
[[gnu::always_inline]] inline TagArray::Slot FirstLevelCache::choose_way(std::uint32_t set, Tick at, Tick& from) {
  const TagArray::Slot chosen = tags_.victim(set);
  from = tags_.valid(chosen) ? free_from(chosen, at) : at;
  return from == at ? chosen : choose_other_way(set, chosen, at, from);
}

// Continues choose_way() if `chosen`, the victim of the replacement policy, becomes free only at `from`.
TagArray::Slot FirstLevelCache::choose_other_way(std::uint32_t set, TagArray::Slot chosen, Tick at, Tick& from) {
  TagArray::Slot free = TagArray::kNone;
  TagArray::Slot first = chosen;
  for (unsigned i = 1; i < tags_.ways(); ++i) {
    const TagArray::Slot slot = tags_.ways_on(set, chosen, i);
    const Tick when = free_from(slot, at);
    if (when == at && (free == TagArray::kNone || tags_.goes_before(slot, free))) free = slot;
    if (when < from) {
      from = when;
      first = slot;
    }
  }
  if (free == TagArray::kNone) return first;
  from = at;
  return free;
}

// Allocates a way for a miss that was found at miss.room, and sets miss.room to the time from which the way is free. If all
// ways are being filled, the first way to become free is unknown: the miss gets the way that the replacement policy selects,
// after the pending fills of that way.
[[gnu::always_inline]] inline TagArray::Slot FirstLevelCache::take_way(const SectorAccess& access, std::uint32_t number,
                                                                       Miss& miss) {
  std::uint16_t& filling = filling_[access.set];
  if (filling == tags_.ways()) {
    const TagArray::Slot slot = tags_.victim_of_full(access.set);
    ++statistics_.evictions;
    for (unsigned i = 0; i < tags_.sectors(); ++i) {
      const std::uint32_t pending = tags_.sector(slot, i).pending;
      if (pending == TagArray::kNoFill) continue;
      misses_[pending].fill.slot = TagArray::kNone;
      misses_[pending].fill.successor = number;
      ++miss.waits_for;
    }
    return slot;
  }
  ++filling;
  const Tick asked = miss.room;
  const TagArray::Slot slot = choose_way(access.set, asked, miss.room);
  statistics_.evictions += tags_.valid(slot) ? 1 : 0;
  statistics_.way_stall += miss.room - asked;
  return slot;
}

[[gnu::always_inline]] inline FirstLevelCache::Departure FirstLevelCache::depart(std::uint32_t number, Tick free) {
  Miss& miss = misses_[number];
  const Tick leaves = later(miss.room, free);
  miss.fill.for_mshr = {miss.room, leaves};
  statistics_.mshr_stall += leaves - miss.room;
  if (blocks_ == number) [[unlikely]] {
    blocks_ = kNone;
    // The lookup of the next request starts at a cycle boundary, not within the current cycle.
    const Tick asked = miss.start + tag_;
    if (leaves > asked) banks_[blocked_bank_].block(blocks_from_, clock_.align_up(blocks_from_ + (leaves - asked)));
  }
  return {leaves, number};
}

void FirstLevelCache::resume_waiting() {
  const std::size_t count = std::min(mshr_queue_.size(), free_mshrs_.size());
  const std::size_t before = departures_.size();
  departures_.resize(before + count);
  for (std::size_t i = 0; i < count; ++i) {
    departures_[before + i] = depart(mshr_queue_[i], free_mshrs_[i]);
    expect_departure(departures_[before + i].at);
  }
  mshr_queue_.drop(count);
  free_mshrs_.drop_earliest(count);
  if (!held_back_.empty()) look_up_held_back();
}

void FirstLevelCache::look_up_held_back() {
  while (!held_back_.empty() && may_pass()) {
    const HeldBack next = held_back_[0];
    held_back_.drop(1);
    MemoryResponse response;
    if (look_up<false>(next.access, next.arrived, next.client, next.tag, response))
      clients_[next.client]->on_response(next.tag, response);
  }
  if (waits_for_transaction()) enter_early();
}

}  // namespace lacuna
