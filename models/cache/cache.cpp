#include "models/cache/cache.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "models/cache/detail/host_prefetch.h"
#include "models/common/config/guest_mistake.h"
#include "models/common/time/retirement.h"
#include "models/common/time/tlm_time.h"
#include "models/common/transport/memory_access.h"

namespace lacuna {
namespace {

// Cycles by which the SystemC kernel's time advances between two removals of past bookings.
constexpr unsigned kRetireCycles = 128;

std::uint32_t sets_of(const CacheParameters& p, const AddressSlice& slice, const char* name) {
  if (p.ways == 0 || p.banks == 0 || p.ports == 0 || p.mshrs == 0) {
    throw std::invalid_argument(fmt::format("{}: ways, banks, ports and mshrs must not be 0", name));
  }
  if (!std::has_single_bit(p.line.n) || !std::has_single_bit(p.sector.n) || p.sector.n > ByteMask::kBytes) {
    throw std::invalid_argument(fmt::format("{}: line of {} bytes and sector of {} are not powers of two, the sector up to {}",
                                            name, p.line.n, p.sector.n, ByteMask::kBytes));
  }
  const std::uint64_t set_bytes = p.line.n * p.ways;
  if (p.size.n == 0 || p.size.n % set_bytes != 0) {
    throw std::invalid_argument(fmt::format("{}: size {} is not a multiple of line x ways = {}", name, p.size.n, set_bytes));
  }
  if (slice.count() > 1 && slice.interleave().n % p.line.n != 0) {
    throw std::invalid_argument(
        fmt::format("{}: interleave {} is not a multiple of the line {}", name, slice.interleave().n, p.line.n));
  }
  const std::uint64_t sets = p.size.n / set_bytes;
  if (p.set_hash != AddressHash::none && sets % 2 != 0 && sets != 1) {
    throw std::invalid_argument(
        fmt::format("{}: set_hash needs an even number of sets, size / (line x ways) is {}", name, sets));
  }
  if (!std::has_single_bit(p.set_lines)) throw std::invalid_argument(fmt::format("{}: set_lines is not a power of two", name));
  if (p.scatter.n != 0 && p.set_hash == AddressHash::none) {
    throw std::invalid_argument(fmt::format("{}: scatter needs set_hash = xor", name));
  }
  return static_cast<std::uint32_t>(sets);
}

std::uint64_t sector_bytes(const CacheParameters& p) { return std::min(p.line.n, p.sector.n); }

}  // namespace

Cache::Cache(sc_core::sc_module_name module_name, const CacheParameters& parameters, MemoryLevel level, unsigned upstream_ports,
             const AddressSlice& slice)
    : sc_module(module_name),
      upstream("upstream", upstream_ports),
      downstream("downstream"),
      parameters_(parameters),
      level_(level),
      slice_(slice),
      clock_(parameters.clock),
      port_time_{(parameters.clock.period().ps + parameters.ports - 1) / std::max(parameters.ports, 1u)},
      hit_(clock_.period() * parameters.hit_latency.n),
      tag_(clock_.period() * parameters.tag_latency.n),
      fill_(clock_.period() * parameters.fill_latency.n),
      lock_(clock_.period() * parameters.lock_cycles.n),
      write_(clock_.period() * parameters.write_latency.n),
      atomic_(clock_.period() * std::max<std::uint64_t>(parameters.atomic_cycles.n, 1)),
      line_shift_(std::countr_zero(parameters.line.n)),
      sector_shift_(std::countr_zero(sector_bytes(parameters))),
      set_mask_(0),
      bank_mask_(0),
      hashed_bits_(0),
      set_lines_shift_(static_cast<unsigned>(std::countr_zero(std::max(parameters.set_lines, 1U)))),
      scattered_bits_(kNotScattered),
      tags_(sets_of(parameters, slice, this->name()), parameters.ways,
            static_cast<unsigned>(parameters.line.n / sector_bytes(parameters)), parameters.replacement, parameters.seed,
            static_cast<unsigned>(sector_bytes(parameters))),
      banks_(parameters.banks, ClockedCalendar(port_time_)),
      mshrs_(parameters.mshrs),
      under_way_(std::max(parameters.transactions, 1U)) {
  if (std::has_single_bit(tags_.sets())) set_mask_ = tags_.sets() - 1;
  if (parameters.set_hash == AddressHash::fold) hashed_bits_ = static_cast<unsigned>(std::countr_zero(tags_.sets()));
  if (parameters.scatter.n != 0) {
    const std::uint64_t lines = parameters.scatter.n / slice.count() >> (line_shift_ + set_lines_shift_);
    scattered_bits_ = lines > 1 ? static_cast<unsigned>(std::bit_width(lines) - 1) : 0;
  }
  if (std::has_single_bit(parameters.banks)) bank_mask_ = parameters.banks - 1;
  for (unsigned i = 0; i < upstream_ports; ++i) {
    const int tag = static_cast<int>(i);
    upstream[i].register_b_transport(this, &Cache::b_transport, tag);
    upstream[i].register_transport_dbg(this, &Cache::transport_dbg, tag);
    upstream[i].register_get_direct_mem_ptr(this, &Cache::get_direct_mem_ptr, tag);
  }
  downstream.register_invalidate_direct_mem_ptr(this, &Cache::invalidate_direct_mem_ptr);
}

// -- transactions

void Cache::split(const Span& span, std::uint64_t address, SectorAccess& access) const {
  const std::uint64_t bytes = std::uint64_t{1} << sector_shift_;
  const auto first = static_cast<unsigned>(address - span.address);
  const auto within = static_cast<unsigned>(address & (bytes - 1));
  place(address, local_line(address), access);
  access.length = static_cast<std::uint16_t>(std::min<std::uint64_t>(bytes - within, span.length - first));
  if (!access.write) return;
  ByteMask mask = ByteMask::first(access.length);
  const unsigned char* enables = span.payload != nullptr ? span.payload->get_byte_enable_ptr() : nullptr;
  if (enables != nullptr) {
    for (unsigned i = 0; i < access.length; ++i) {
      if (enables[(first + i) % span.payload->get_byte_enable_length()] != TLM_BYTE_ENABLED) mask &= ~(ByteMask(1) << i);
    }
  } else if (span.length <= ByteMask::kBytes) {
    mask &= span.byte_mask >> first;
  }
  access.byte_mask = mask << within;
}

Tick Cache::transact(const Span& span, SectorAccess& access, Tick at, LatencyBreakdown* latency,
                     tlm::tlm_response_status& response) {
  const std::uint64_t end = span.address + span.length;
  LatencyBreakdown breakdown;
  Tick done = at;
  response = tlm::TLM_OK_RESPONSE;
  for (std::uint64_t address = span.address; address != end; address += access.length) {
    split(span, address, access);
    const Outcome outcome = access_sector(access, at);
    if (response == tlm::TLM_OK_RESPONSE) response = error_;
    // The breakdown is that of the sector that completes last.
    if (outcome.done < done) continue;
    done = outcome.done;
    breakdown = below_ != nullptr ? *below_ : LatencyBreakdown{};
    breakdown.add(level_, outcome.queueing, outcome.service);
    breakdown.mshr += outcome.mshr;
  }
  if (latency != nullptr) *latency += breakdown;
  return done;
}

void Cache::b_transport(int, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  auto* attributes = payload.get_extension<MemoryAttributes>();
  const tlm::tlm_response_status status = check_access(payload, Bytes{~std::uint64_t{0}}, attributes);
  if (status != tlm::TLM_OK_RESPONSE || payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
    payload.set_response_status(status);
    if (status != tlm::TLM_OK_RESPONSE) {
      ++statistics_.errors;
      guest_warning("refused cache accesses", "{}: {} of {} bytes at {:#x} refused ({})", name(),
                    payload.is_write() ? "write" : "read", payload.get_data_length(), payload.get_address(),
                    payload.get_response_string());
    }
    return;
  }
  SectorAccess access;
  access.write = payload.is_write();
  if (attributes != nullptr) {
    access.atomic = attributes->atomic;
    access.bypass = attributes->bypass_l1;
    access.kind = attributes->kind;
    access.requester = attributes->requester;
  }
  advance(kernel_time());
  const Tick at = now_ + to_tick(delay);
  tlm::tlm_response_status response;
  const Span span{.address = payload.get_address(),
                  .length = payload.get_data_length(),
                  .byte_mask = attributes != nullptr ? attributes->byte_mask : ByteMask::all(),
                  .payload = &payload};
  const Tick done = transact(span, access, at, attributes != nullptr ? &attributes->latency : nullptr, response);
  lacuna::advance(delay, done - at);
  if (response == tlm::TLM_OK_RESPONSE && (attributes == nullptr || !attributes->timing_only) &&
      downstream->transport_dbg(payload) != payload.get_data_length()) {
    response = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }
  if (response != tlm::TLM_OK_RESPONSE) ++statistics_.errors;
  payload.set_response_status(response);
}

unsigned Cache::transport_dbg(int, tlm::tlm_generic_payload& payload) { return downstream->transport_dbg(payload); }

bool Cache::get_direct_mem_ptr(int, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  const bool granted = downstream->get_direct_mem_ptr(payload, dmi);
  // DMI accesses bypass the cache and are charged hit_latency or write_latency.
  dmi.set_read_latency(to_sc_time(hit_));
  dmi.set_write_latency(to_sc_time(write_));
  return granted;
}

void Cache::invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end) {
  for (unsigned i = 0; i < upstream.size(); ++i) upstream[i]->invalidate_direct_mem_ptr(begin, end);
}

// -- one sector

// Inlined where there is one caller, or one hot caller: a function call per request would cost as much as its body.
[[gnu::always_inline]] inline Cache::Outcome Cache::access_sector(const SectorAccess& access, Tick at) {
  below_ = nullptr;
  error_ = tlm::TLM_OK_RESPONSE;
  const bool coherent = parameters_.write_policy == WritePolicy::write_back;
  const bool limited = parameters_.transactions != 0;
  const Tick admitted = limited ? under_way_.acquire(at) : at;
  Tick start = banks_[access.bank].reserve(admitted, access.atomic && coherent ? atomic_ : port_time_);
  // Several ports share a cycle: the booked slot identifies the port; the access happens in the cycle that contains it.
  if (parameters_.ports > 1 && start != admitted) start = later(admitted, clock_.align_down(start));

  if (access.atomic) {
    ++statistics_.atomics;
  } else if (access.write) {
    ++statistics_.writes;
  } else if (access.bypass && !coherent) {
    ++statistics_.bypasses;
  }
  Outcome outcome = !coherent && (access.write || access.atomic || access.bypass) ? forward(access, start)
                    : access.write && !access.atomic                              ? write_allocate(access, start)
                                                                                  : read(access, start);
  if (limited) under_way_.occupy(admitted, outcome.done);
  if (parameters_.in_order && outcome.queueing > Tick{}) {
    // The lookup of the next request starts at a cycle boundary, not within the current cycle.
    banks_[access.bank].block(start, clock_.align_up(start + outcome.queueing));
  }
  statistics_.bank_stall += start - at;
  outcome.queueing += start - at;
  if (!access.write) statistics_.read_latency += outcome.done - at;
  return outcome;
}

Cache::Outcome Cache::read_present(TagArray::Sector& sector, Tick start) {
  Outcome outcome{};
  if (sector.pending == TagArray::kNoFill && start + tag_ < sector.requested()) {
    // A unit that runs ahead of the requesting unit fetched the sector at a later simulated time. In simulated order, this
    // request is the miss, and the other request hits the pending fill. The fill is charged only once and moves to the earlier
    // request.
    const Tick shift = sector.requested() - (start + tag_);
    sector.ready -= shift;
    sector.locked -= shift;
  }
  outcome.done = start + hit_;
  outcome.service = hit_;
  if (sector.ready <= start) {
    ++statistics_.read_hits;
    if (lock_ > Tick{}) {
      outcome.queueing = unlock(sector, start + tag_) - (start + tag_);
      outcome.done += outcome.queueing;
    }
  } else if (lock_ > Tick{}) {
    ++statistics_.secondary_misses;
    outcome.done = later(start + tag_, sector.ready) + fill_;
    outcome.service = outcome.done - start;
  } else {
    ++statistics_.secondary_misses;
    outcome.done = later(outcome.done, sector.ready + fill_);
    outcome.service = outcome.done - start;  // waiting for a pending fill is service time, not queueing time
  }
  return outcome;
}

[[gnu::always_inline]] inline Cache::Outcome Cache::read(const SectorAccess& access, Tick start) {
  ++statistics_.reads;
  TagArray::Slot slot = tags_.find(access.set, access.line);
  Outcome outcome{};
  if (slot != TagArray::kNone && tags_.sector(slot, access.sector).complete) {
    tags_.touch(slot);
    outcome = read_present(tags_.sector(slot, access.sector), start);
  } else {
    ++statistics_.read_misses;
    const Outcome filled = fill(access, slot, start + tag_);
    outcome = {filled.done + fill_, filled.queueing, tag_ + fill_, filled.mshr};
  }
  // An atomic modifies the sector in place; the bytes it does not write have been filled.
  if (access.atomic && slot != TagArray::kNone) tags_.mark_dirty(tags_.sector(slot, access.sector), access.byte_mask);
  return outcome;
}

[[gnu::always_inline]] inline Cache::Outcome Cache::write_allocate(const SectorAccess& access, Tick start) {
  TagArray::Slot slot = tags_.find(access.set, access.line);
  Tick room = start;
  if (slot != TagArray::kNone) {
    ++statistics_.write_hits;
    tags_.touch(slot);
  } else {
    ++statistics_.write_misses;
    // The victim is known when the tags have been read.
    room = make_room(access, slot, start + tag_) - tag_;
    if (slot == TagArray::kNone) return {send(access, room + tag_), room - start, tag_, {}};
    tags_.install(slot, access.line);
  }
  room = write_to(tags_.sector(slot, access.sector), access.byte_mask, room);
  return {room + write_, room - start, write_, {}};
}

Tick Cache::write_to(TagArray::Sector& sector, ByteMask bytes, Tick at) {
  tags_.mark_dirty(sector, bytes);
  // The written bytes are merged with the pending fill.
  if (sector.pending != TagArray::kNoFill) return at;
  if (lock_ > Tick{} && sector.ready <= at) {
    at = unlock(sector, at);
    sector.locked = at + lock_;
  }
  // All bytes are written: nothing is left to fetch.
  if (!sector.complete && tags_.dirty(sector) == ByteMask::first(1U << sector_shift_)) {
    sector.filled(at, at);
    sector.complete = true;
  }
  return at;
}

Cache::Outcome Cache::forward(const SectorAccess& access, Tick start) {
  const bool write = access.write && !access.atomic;
  Tick leaves = start + tag_;
  if (!write || lock_ > Tick{}) {
    const TagArray::Slot slot = tags_.find(access.set, access.line);
    if (slot != TagArray::kNone && !write) {
      tags_.drop(slot);
    } else if (slot != TagArray::kNone) {
      TagArray::Sector& sector = tags_.sector(slot, access.sector);
      if (sector.ready <= leaves) {  // the write locks the sector, as in write_to()
        leaves = unlock(sector, leaves);
        sector.locked = leaves + lock_;
      }
    }
  }
  const Tick queueing = leaves - (start + tag_);
  const Tick answer = send(access, leaves);
  return write ? Outcome{answer, queueing, tag_, {}} : Outcome{answer + fill_, {}, tag_ + fill_, {}};
}

[[gnu::always_inline]] inline Cache::Outcome Cache::fill(const SectorAccess& access, TagArray::Slot& slot, Tick at) {
  // Whether the line is present. Its sector is then absent, or has only the bytes written so far.
  const bool present = slot != TagArray::kNone;
  const Tick begin = mshrs_.acquire(at);
  statistics_.mshr_stall += begin - at;
  const Tick leaves = present ? begin : make_room(access, slot, begin);
  const unsigned bytes = 1U << sector_shift_;
  const Tick ready = send({.address = access.address & ~std::uint64_t{bytes - 1},
                           .length = static_cast<std::uint16_t>(bytes),
                           .requester = access.requester,
                           .kind = RequestKind::fill},
                          leaves);
  mshrs_.occupy(begin, ready);
  if (error_ != tlm::TLM_OK_RESPONSE || slot == TagArray::kNone) {
    slot = TagArray::kNone;
    return {ready, leaves - at, {}, begin - at};
  }
  if (present) {
    tags_.touch(slot);
  } else {
    tags_.install(slot, access.line);
  }
  TagArray::Sector& sector = tags_.sector(slot, access.sector);
  sector.filled(at, ready);  // the way is allocated or awaited: later requests for the sector are secondary misses
  sector.locked = ready + lock_;
  sector.complete = true;
  return {ready, leaves - at, {}, begin - at};
}

Tick Cache::unlock(const TagArray::Sector& sector, Tick at) {
  // A unit that is ahead in simulated time may have locked the sector by a later write; that lock is ignored.
  if (sector.locked <= at || sector.locked > at + lock_) return at;
  statistics_.way_stall += sector.locked - at;
  return sector.locked;
}

Tick Cache::available(TagArray::Slot slot, Tick at) const {
  Tick last = at;
  for (unsigned i = 0; i < tags_.sectors(); ++i) {
    const TagArray::Sector& sector = tags_.sector(slot, i);
    if (sector.pending != TagArray::kNoFill) return kLater;
    if (sector.locked <= at) continue;
    if (sector.requested() > at) {
      // The two fills do not collide if this fill can end before the booked fill begins. Otherwise one of them must wait: the
      // fill that was booked first in host time has precedence, as in the rest of the model.
      if (sector.requested() - at >= sector.locked - sector.requested()) return kLater;
    } else if (sector.ready <= at && sector.locked > at + lock_) {
      continue;  // locked by a write at a later simulated time
    }
    last = later(last, sector.locked);
  }
  return last;
}

TagArray::Slot Cache::choose_victim(std::uint32_t set, Tick at, Tick& from) {
  const TagArray::Slot chosen = tags_.victim(set);
  from = tags_.valid(chosen) ? available(chosen, at) : at;
  if (from == at) return chosen;
  // The chosen way is not free: take the free way that the policy replaces first, or else the first way to become free.
  TagArray::Slot free = TagArray::kNone;
  TagArray::Slot first = chosen;
  bool taken_later = from == kLater;
  for (unsigned i = 1; i < tags_.ways(); ++i) {
    const TagArray::Slot slot = tags_.ways_on(set, chosen, i);
    const Tick when = available(slot, at);
    if (when == at && (free == TagArray::kNone || tags_.goes_before(slot, free))) free = slot;
    taken_later |= when == kLater;
    if (when < from) {
      from = when;
      first = slot;
    }
  }
  if (free == TagArray::kNone && !taken_later) return first;
  from = at;
  return free;
}

Tick Cache::make_room(const SectorAccess& access, TagArray::Slot& slot, Tick at) {
  Tick free;
  slot = choose_victim(access.set, at, free);
  Tick room = free;
  if (slot != TagArray::kNone && tags_.valid(slot)) {
    ++statistics_.evictions;
    statistics_.way_stall += free - at;
    for (unsigned sector = 0; sector < tags_.sectors(); ++sector) {
      if (tags_.is_dirty(tags_.sector(slot, sector))) room = later(room, write_back_sector(slot, sector, free));
    }
    statistics_.write_back_stall += room - free;
    tags_.drop(slot);
  }
  return room;
}

Tick Cache::write_back_sector(TagArray::Slot slot, unsigned sector, Tick at) {
  ++statistics_.write_backs;
  TagArray::Sector& written = tags_.sector(slot, sector);
  const Tick taken = send({.address = (tags_.tag(slot) << line_shift_) + (std::uint64_t{sector} << sector_shift_),
                           .byte_mask = tags_.dirty(written),
                           .length = static_cast<std::uint16_t>(1U << sector_shift_),
                           .kind = RequestKind::write_back,
                           .write = true},
                          at);
  below_ = nullptr;
  tags_.clean(written);
  return taken;
}

Tick Cache::send(const SectorAccess& request, Tick at) {
  MemoryAttributes& attributes =
      down_.renew(request.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, request.address, request.length);
  down_.clear_latency();
  attributes.kind = request.kind;
  attributes.atomic = request.atomic;
  attributes.bypass_l1 = request.bypass;
  attributes.requester = request.requester;
  if (request.write)
    attributes.byte_mask =
        request.byte_mask >> static_cast<unsigned>(request.address & low_bits(static_cast<unsigned>(sector_shift_)));
  // A unit may lag the SystemC kernel by less than a window; its requests reach the next level at the current SystemC time.
  const Tick from = later(at, now_);
  sc_core::sc_time delay = to_sc_time(from - now_);
  downstream->b_transport(*down_, delay);
  if (down_->is_response_error() && error_ == tlm::TLM_OK_RESPONSE) error_ = down_->get_response_status();
  below_ = &down_.latency();
  return now_ + to_tick(delay);
}

// -- maintenance

Tick Cache::write_back(Tick at) {
  if (tags_.dirty_sectors() == 0) return at;
  now_ = kernel_time();
  Tick done = at;
  Tick next = at;
  for (TagArray::Slot slot = 0; tags_.dirty_sectors() != 0; ++slot) {
    for (unsigned sector = 0; sector < tags_.sectors(); ++sector) {
      if (!tags_.is_dirty(tags_.sector(slot, sector))) continue;
      const Tick taken = write_back_sector(slot, sector, next);
      // One sector leaves per cycle, and none before the previous one has been accepted.
      next = later(next + clock_.period(), taken);
      done = later(done, taken);
    }
  }
  return done;
}

Tick Cache::invalidate(Tick at) {
  ++statistics_.invalidations;
  const Tick done = write_back(at);
  tags_.drop_all();
  return done + clock_.period() * parameters_.invalidate_latency.n;
}

void Cache::drop_clean(std::uint64_t address, std::uint64_t bytes) {
  each_held(address, bytes, [this](TagArray::Slot slot) {
    bool clean = true;
    for (unsigned sector = 0; sector < tags_.sectors(); ++sector) clean &= !tags_.is_dirty(tags_.sector(slot, sector));
    if (clean) tags_.drop(slot);
  });
}

void Cache::install_copied(std::uint64_t address, bool dirty) {
  const std::uint32_t set = set_of(local_line(address));
  const std::uint64_t line = address >> line_shift_;
  TagArray::Slot slot = tags_.find(set, line);
  if (slot != TagArray::kNone) {
    tags_.touch(slot);
  } else {
    slot = tags_.victim(set);
    if (tags_.valid(slot)) tags_.drop(slot);
    tags_.install(slot, line);
  }
  const Tick now = kernel_time();
  for (unsigned i = 0; i < tags_.sectors(); ++i) {
    TagArray::Sector& sector = tags_.sector(slot, i);
    sector.filled(now, now);
    sector.locked = now;
    sector.complete = true;
    if (dirty) tags_.mark_dirty(sector, ByteMask::first(1U << sector_shift_));
  }
}

bool Cache::holds(std::uint64_t address) const {
  return tags_.find(set_of(local_line(address)), address >> line_shift_) != TagArray::kNone;
}

void Cache::prefetch(std::uint64_t address) const { detail::CachePrefetch::set(*this, local_line(address)); }

void Cache::reset() {
  tags_.drop_all();
  for (ClockedCalendar& bank : banks_) bank.reset();
  mshrs_.reset();
  under_way_.reset();
  next_retire_ = {};
}

void Cache::retire() {
  next_retire_ = now_ + clock_.period() * kRetireCycles;
  const Tick horizon = retirement_horizon(now_);
  for (ClockedCalendar& bank : banks_) bank.retire(horizon);
  mshrs_.retire(horizon);
  under_way_.retire(horizon);
}

}  // namespace lacuna
