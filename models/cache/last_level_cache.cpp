#include "models/cache/last_level_cache.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace lacuna {

LastLevelCache::LastLevelCache(sc_core::sc_module_name module_name, const CacheParameters& parameters, MemoryLevel level,
                               unsigned upstream_ports, const AddressSlice& slice)
    : Cache(module_name, parameters, level, upstream_ports, slice),
      plain_(parameters.transactions == 0 && parameters.ports == 1 && parameters.lock_cycles == Cycles{}),
      free_mshrs_(parameters.mshrs),
      free_transactions_(parameters.transactions),
      queues_(parameters.banks) {
  if (parameters.write_policy != WritePolicy::write_back)
    throw std::invalid_argument(std::string(name()) + ": a last-level cache writes back");
}

// -- requests

bool LastLevelCache::request(const MemoryRequest& request, std::uint64_t local_line, Tick at, TagArray::Slot slot,
                             std::uint32_t tag, MemoryResponse& response) {
  if (request.kind == RequestKind::direct) [[unlikely]]
    return pass_by(request, at, tag, response);
  // Fast path: most requests are reads that hit.
  const std::uint64_t within = low_bits(static_cast<unsigned>(sector_shift_));
  const std::size_t bank = bank_of(local_line);
  const BankQueue& queue = queues_[bank];
  if (plain_ && !request.write && (request.address & within) + request.bytes <= within + 1 && queue.blocked_by == kNone &&
      queue.held_back.empty()) [[likely]] {
    const std::uint64_t line = request.address >> line_shift_;
    if (slot == TagArray::kNone || tags_.tag(slot) != line) slot = tags_.find(set_of(local_line), line);
    if (slot != TagArray::kNone) {
      const TagArray::Sector& sector = tags_.sector(slot, sector_of(request.address));
      if (sector.complete && sector.pending == TagArray::kNoFill && sector.ready <= at) [[likely]] {
        tags_.touch(slot);
        const Tick start = banks_[bank].reserve(later(at, queue.free), port_time_);
        ++statistics_.reads;
        ++statistics_.read_hits;
        statistics_.bank_stall += start - at;
        statistics_.read_latency += start - at + hit_;
        response.done = start + hit_;
        response.queueing = start - at;
        response.service = hit_;
        response.mshr = {};
        response.failed = false;
        response.below = nullptr;
        return true;
      }
    }
  }
  ++waiting_;
  SectorAccess access;
  const bool known = in_one_sector(request, local_line, access) ? admit(access, at, tag, response)
                                                                : request_sectors(request, access, at, tag, response);
  if (!known) return false;
  --waiting_;
  return true;
}

bool LastLevelCache::pass_by(const MemoryRequest& request, Tick at, std::uint32_t tag, MemoryResponse& response) {
  if (memory_ == nullptr) throw std::logic_error(std::string(name()) + ": no memory is connected to pass requests on to");
  ++statistics_.bypasses;
  const std::uint32_t number = misses_.take();
  misses_[number] = {.access = {}, .arrived = at, .start = at, .begin = at, .room = at, .tag = tag, .direct = true};
  MemoryResponse memory;
  if (!memory_->request(request, at, *this, number, memory)) {
    ++waiting_;
    return false;
  }
  response = end_direct(number, memory);
  return true;
}

MemoryResponse LastLevelCache::end_direct(std::uint32_t number, const MemoryResponse& memory) {
  const Tick arrived = misses_[number].arrived;
  misses_.release(number);
  memory_time_.set(MemoryLevel::dram, memory.queueing, memory.done - arrived - memory.queueing);
  return {.arrived = arrived, .done = memory.done, .level = level_, .failed = memory.failed, .below = &memory_time_};
}

bool LastLevelCache::request_sectors(const MemoryRequest& request, SectorAccess access, Tick at, std::uint32_t tag,
                                     MemoryResponse& response) {
  const std::uint32_t number = splits_.begin(*client_, tag, {.arrived = at, .done = at});
  const Span span{.address = request.address, .length = request.bytes, .byte_mask = request.byte_mask};
  const std::uint64_t end = request.address + request.bytes;
  for (std::uint64_t address = request.address; address != end; address += access.length) {
    split(span, address, access);
    splits_.add_sector(number);
    MemoryResponse part;
    if (admit(access, at, kSplit | number, part)) splits_.complete_sector(number, part);
  }
  if (!splits_.end(number)) return false;
  SplitRequests::Complete complete;
  splits_.take(number, complete);
  response = complete.response;
  if (response.below != nullptr) {  // a sector was served by a memory that responds within the call
    memory_time_ = complete.below;
    response.below = &memory_time_;
  }
  return true;
}

bool LastLevelCache::admit(const SectorAccess& access, Tick at, std::uint32_t tag, MemoryResponse& response) {
  if (may_pass(access.bank)) {
    if (!look_up(access, at, tag, response)) return false;
    if (parameters_.transactions != 0) free_transactions_.insert(response.done);
    return true;
  }
  queues_[access.bank].held_back.push({access, at, tag});
  ++held_back_;
  return false;
}

bool LastLevelCache::look_up(const SectorAccess& access, Tick arrived, std::uint32_t tag, MemoryResponse& response) {
  Tick admitted = later(arrived, queues_[access.bank].free);
  if (parameters_.transactions != 0) admitted = later(admitted, free_transactions_.take_earliest());
  Tick start = banks_[access.bank].reserve(admitted, access.atomic ? atomic_ : port_time_);
  // Several ports share a cycle: the booked slot identifies the port; the access happens in the cycle that contains it.
  if (parameters_.ports > 1 && start != admitted) start = later(admitted, clock_.align_down(start));
  statistics_.bank_stall += start - arrived;
  if (access.atomic) {
    ++statistics_.atomics;
  } else if (access.write) {
    ++statistics_.writes;
  }
  const bool known = access.write && !access.atomic ? write_sector(access, arrived, start, tag, response)
                                                    : read_sector(access, arrived, start, tag, response);
  if (!known) return false;
  if (!access.write) statistics_.read_latency += response.done - arrived;
  if (parameters_.in_order) {
    // The lookup of the next request starts at a cycle boundary, not within the current cycle.
    const Tick waited = response.queueing - (start - arrived);
    if (waited > Tick{}) queues_[access.bank].free = clock_.align_up(start + waited);
  }
  return true;
}

bool LastLevelCache::read_sector(const SectorAccess& access, Tick arrived, Tick start, std::uint32_t tag,
                                 MemoryResponse& response) {
  ++statistics_.reads;
  const TagArray::Slot slot = tags_.find(access.set, access.line);
  if (slot != TagArray::kNone && tags_.sector(slot, access.sector).complete) {
    tags_.touch(slot);
    TagArray::Sector& sector = tags_.sector(slot, access.sector);
    if (access.atomic) tags_.mark_dirty(sector, access.byte_mask);
    if (sector.pending != TagArray::kNoFill) {
      waiters_.append(misses_[sector.pending].waiters, {arrived, start, tag, access.write});
      return false;
    }
    const Outcome outcome = read_present(sector, start);
    response = {.done = outcome.done, .queueing = outcome.queueing + (start - arrived), .service = outcome.service};
    return true;
  }
  ++statistics_.read_misses;
  const std::uint32_t number = new_miss(access, arrived, start, tag);
  misses_[number].fill = true;
  if (parameters_.in_order) {
    queues_[access.bank].blocked_by = number;
  } else {
    take_way(number, start + tag_);
  }
  if (free_mshrs_.empty() || !mshr_queue_.empty()) {
    mshr_queue_.push(number);
  } else {
    take_mshr(number, free_mshrs_.take_earliest());
  }
  return false;
}

bool LastLevelCache::write_sector(const SectorAccess& access, Tick arrived, Tick start, std::uint32_t tag,
                                  MemoryResponse& response) {
  TagArray::Slot slot = tags_.find(access.set, access.line);
  if (slot == TagArray::kNone) {
    ++statistics_.write_misses;
    const std::uint32_t number = new_miss(access, arrived, start, tag);
    if (parameters_.in_order) queues_[access.bank].blocked_by = number;
    // The victim is known when the tags have been read.
    take_way(number, start + tag_);
    return false;
  }
  ++statistics_.write_hits;
  tags_.touch(slot);
  TagArray::Sector& sector = tags_.sector(slot, access.sector);
  const Tick room = write_to(sector, access.byte_mask, start);
  response = {.done = room + write_, .queueing = room - arrived, .service = write_};
  return true;
}

std::uint32_t LastLevelCache::new_miss(const SectorAccess& access, Tick arrived, Tick start, std::uint32_t tag) {
  const std::uint32_t number = misses_.take();
  misses_[number] = {
      .access = access, .arrived = arrived, .start = start, .begin = start + tag_, .room = start + tag_, .tag = tag};
  return number;
}

// -- stages of a miss

void LastLevelCache::take_mshr(std::uint32_t number, Tick free) {
  Miss& miss = misses_[number];
  miss.has_mshr = true;
  const Tick asked = miss.start + tag_;
  miss.begin = later(asked, free);
  statistics_.mshr_stall += miss.begin - asked;
  if (parameters_.in_order) {
    take_way(number, miss.begin);
  } else {
    proceed(number);
  }
}

void LastLevelCache::take_way(std::uint32_t number, Tick at) {
  Miss& miss = misses_[number];
  const SectorAccess& access = miss.access;
  miss.has_way = true;
  miss.room = at;
  TagArray::Slot slot = tags_.find(access.set, access.line);
  if (slot != TagArray::kNone) {
    tags_.touch(slot);
  } else {
    slot = choose_victim(access.set, at, miss.room);
    if (slot != TagArray::kNone) {
      if (tags_.valid(slot)) {
        ++statistics_.evictions;
        statistics_.way_stall += miss.room - at;
        write_back_victim(number, slot, miss.room);
        tags_.drop(slot);
      }
      tags_.install(slot, access.line);
    }
  }
  miss.slot = slot;
  if (slot != TagArray::kNone) {
    TagArray::Sector& sector = tags_.sector(slot, access.sector);
    if (miss.fill) {
      sector.filled(miss.start + tag_, miss.room);  // later requests for the sector wait for the same fill
      sector.locked = miss.room;
      sector.pending = number;
      sector.complete = true;
      if (access.atomic) tags_.mark_dirty(sector, access.byte_mask);
    } else {
      write_to(sector, access.byte_mask, miss.room - tag_);
    }
  } else if (!miss.fill) {
    MemoryResponse accepted;
    if (request_memory(access, miss.room, number, accepted)) {
      miss.failed |= accepted.failed;
      miss.begin = accepted.done;
    } else {
      ++miss.writes;
    }
  }
  proceed(number);
}

void LastLevelCache::write_back_victim(std::uint32_t number, TagArray::Slot slot, Tick at) {
  Miss& miss = misses_[number];
  const std::uint64_t line = tags_.tag(slot) << line_shift_;
  for (unsigned index = 0; index < tags_.sectors(); ++index) {
    TagArray::Sector& sector = tags_.sector(slot, index);
    if (!tags_.is_dirty(sector)) continue;
    ++statistics_.write_backs;
    MemoryResponse accepted;
    const bool known = request_memory({.address = line + (std::uint64_t{index} << sector_shift_),
                                       .byte_mask = tags_.dirty(sector),
                                       .length = static_cast<std::uint16_t>(1U << sector_shift_),
                                       .kind = RequestKind::write_back,
                                       .write = true},
                                      at, number, accepted);
    tags_.clean(sector);
    if (known) {
      miss.failed |= accepted.failed;
      statistics_.write_back_stall += accepted.done - at;
      miss.room = later(miss.room, accepted.done);
    } else {
      ++miss.writes;
    }
  }
}

void LastLevelCache::proceed(std::uint32_t number) {
  const Miss& miss = misses_[number];
  if (!miss.has_way || miss.writes != 0) return;
  if (!miss.fill) {
    end_write(number);
  } else if (miss.has_mshr) {
    depart(number);
  }
}

void LastLevelCache::depart(std::uint32_t number) {
  Miss& miss = misses_[number];
  const std::uint64_t within = low_bits(static_cast<unsigned>(sector_shift_));
  miss.room = later(miss.begin, miss.room);
  MemoryResponse filled;
  const bool known = request_memory({.address = miss.access.address & ~within,
                                     .length = static_cast<std::uint16_t>(within + 1),
                                     .requester = miss.access.requester,
                                     .kind = RequestKind::fill},
                                    miss.room, number, filled);
  free_bank(miss, number, miss.room);
  if (holds_fill(miss, number)) {
    TagArray::Sector& sector = tags_.sector(miss.slot, miss.access.sector);
    sector.filled(miss.start + tag_, filled.done);
    sector.locked = filled.done + lock_;
  }
  if (!known) return;
  miss.failed |= filled.failed;
  end_fill(number, filled.done, filled.queueing);
}

// Whether the way allocated to a fill still belongs to that fill: maintenance may have dropped the line.
bool LastLevelCache::holds_fill(const Miss& miss, std::uint32_t number) const {
  return miss.slot != TagArray::kNone && tags_.valid(miss.slot) && tags_.tag(miss.slot) == miss.access.line &&
         tags_.sector(miss.slot, miss.access.sector).pending == number;
}

// Unblocks the bank of a miss, if the miss blocks it.
void LastLevelCache::free_bank(const Miss& miss, std::uint32_t number, Tick leaves) {
  BankQueue& queue = queues_[miss.access.bank];
  if (queue.blocked_by != number) return;
  queue.blocked_by = kNone;
  // The lookup of the next request starts at a cycle boundary, not within the current cycle.
  const Tick asked = miss.start + tag_;
  if (leaves > asked) queue.free = clock_.align_up(miss.start + (leaves - asked));
}

bool LastLevelCache::request_memory(const SectorAccess& access, Tick at, std::uint32_t number, MemoryResponse& response) {
  if (memory_ != nullptr) {
    const MemoryRequest request{.address = access.address,
                                .byte_mask = access.byte_mask,
                                .made = at,
                                .bytes = access.length,
                                .requester = access.requester,
                                .kind = access.kind,
                                .write = access.write};
    return memory_->request(request, at, *this, number, response);
  }
  error_ = tlm::TLM_OK_RESPONSE;
  response = {.made = at, .arrived = at, .done = send(access, at)};
  response.failed = error_ != tlm::TLM_OK_RESPONSE;
  return true;
}

// Handles the memory's response to the request of a miss.
void LastLevelCache::on_response(std::uint32_t number, const MemoryResponse& response) {
  Miss& miss = misses_[number];
  if (miss.direct) [[unlikely]] {
    const std::uint32_t tag = miss.tag;
    --waiting_;
    client_->on_response(tag, end_direct(number, response));
    return;
  }
  if (miss.writes == 0) {
    end_fill(number, response.done, response.queueing);
  } else {
    statistics_.write_back_stall += response.queueing;
    (miss.slot == TagArray::kNone && !miss.fill ? miss.begin : miss.room) = later(miss.room, response.done);
    --miss.writes;
    proceed(number);
  }
  resume();
}

void LastLevelCache::end_fill(std::uint32_t number, Tick done, Tick waiting) {
  const Miss& miss = misses_[number];
  if (holds_fill(miss, number)) {
    TagArray::Sector& sector = tags_.sector(miss.slot, miss.access.sector);
    sector.filled(miss.start + tag_, done);
    sector.locked = done + lock_;
    sector.pending = TagArray::kNoFill;
    if (miss.failed) tags_.drop(miss.slot);
  }
  free_mshrs_.insert(done);
  if (!miss.access.write) statistics_.read_latency += done + fill_ - miss.arrived;
  memory_time_.set(MemoryLevel::dram, waiting, done - miss.room - waiting);
  respond(miss.tag, {.arrived = miss.arrived,
                     .done = done + fill_,
                     .queueing = (miss.start - miss.arrived) + (miss.room - (miss.start + tag_)),
                     .service = tag_ + fill_,
                     .mshr = miss.begin - (miss.start + tag_),
                     .level = level_,
                     .failed = miss.failed,
                     .below = &memory_time_});
  // Requests that waited for the fill are charged as a hit or a secondary miss of a sector that is filled at `done`.
  TagArray::Sector filled{};
  filled.filled(miss.start + tag_, done);
  filled.locked = done + lock_;
  waiters_.take_all(miss.waiters, [&](const Waiter& waiter) {
    const Outcome outcome = read_present(filled, waiter.start);
    if (!waiter.write) statistics_.read_latency += outcome.done - waiter.arrived;
    respond(waiter.tag, {.arrived = waiter.arrived,
                         .done = outcome.done,
                         .queueing = outcome.queueing + (waiter.start - waiter.arrived),
                         .service = outcome.service,
                         .level = level_,
                         .failed = miss.failed});
  });
  misses_.release(number);
}

void LastLevelCache::end_write(std::uint32_t number) {
  const Miss& miss = misses_[number];
  free_bank(miss, number, miss.room);
  const Tick looked_up = miss.start + tag_;
  const bool passed_on = miss.slot == TagArray::kNone;
  if (passed_on) memory_time_.set(MemoryLevel::dram, {}, miss.begin - miss.room);
  respond(miss.tag, {.arrived = miss.arrived,
                     .done = passed_on ? miss.begin : miss.room - tag_ + write_,
                     .queueing = (miss.start - miss.arrived) + (miss.room - looked_up),
                     .service = passed_on ? tag_ : write_,
                     .level = level_,
                     .failed = miss.failed,
                     .below = passed_on ? &memory_time_ : nullptr});
  misses_.release(number);
}

void LastLevelCache::respond(std::uint32_t tag, const MemoryResponse& response) {
  if (parameters_.transactions != 0) free_transactions_.insert(response.done);
  if ((tag & kSplit) == 0) {
    --waiting_;
    client_->on_response(tag, response);
    return;
  }
  if (!splits_.complete_sector(tag & ~kSplit, response)) return;
  SplitRequests::Complete complete;
  splits_.take(tag & ~kSplit, complete);
  --waiting_;
  client_->on_response(complete.tag, complete.response);
}

void LastLevelCache::resume() {
  for (;;) {
    if (!mshr_queue_.empty() && !free_mshrs_.empty()) {
      const std::uint32_t number = mshr_queue_[0];
      mshr_queue_.drop(1);
      take_mshr(number, free_mshrs_.take_earliest());
      continue;
    }
    if (held_back_ == 0 || (parameters_.transactions != 0 && free_transactions_.empty())) return;
    BankQueue* first = nullptr;
    for (BankQueue& queue : queues_) {
      if (queue.blocked_by != kNone || queue.held_back.empty()) continue;
      if (first == nullptr || queue.held_back[0].arrived < first->held_back[0].arrived) first = &queue;
    }
    if (first == nullptr) return;
    const HeldBack next = first->held_back[0];
    first->held_back.drop(1);
    --held_back_;
    MemoryResponse response;
    if (look_up(next.access, next.arrived, next.tag, response)) respond(next.tag, response);
  }
}

void LastLevelCache::reset() {
  Cache::reset();
  misses_.clear();
  waiters_.clear();
  free_mshrs_.assign(parameters_.mshrs);
  mshr_queue_.clear();
  free_transactions_.assign(parameters_.transactions);
  for (BankQueue& queue : queues_) queue = {};
  held_back_ = waiting_ = 0;
  splits_.clear();
}

}  // namespace lacuna
