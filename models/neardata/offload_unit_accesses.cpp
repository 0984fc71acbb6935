// The offload unit: accesses of chains, their look-ups in the L1 cache, and the division of chains into parts.
#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "models/isa/memory/memory_lanes.h"
#include "models/neardata/offload_unit.h"

namespace lacuna {

MemoryTokens::Token OffloadUnit::access(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Counters counters,
                                        Cycles cycle) {
  Wavefront& w = wavefront(slot);
  if (w.kernel == nullptr) return pass_on(slot, instruction, counters, cycle);
  const TaggedKernel::Place& place = w.kernel->at(instruction.end - instruction.size);
  w.accessing = kNone;
  if (place.chain != nullptr && place.tag == ChainTag::first) {
    if (can_offload(slot.wave.access)) return begin_chain(slot, place, instruction, counters, cycle);
    count_chain(slot, *place.chain);
    count(&slot, NearDataCount::address_space);
    count_registers(w, place.role, 0);
    if (w.open.empty()) release_builder(slot, w, cycle);
  }
  const std::uint16_t open = place.chain != nullptr ? find_open(w, place.chain) : kNone;
  if (open == kNone) return note_store(slot, w, pass_on(slot, instruction, counters, cycle));
  if (loads(place.role)) {
    if (parameters_.check) record_operand(slot, instruction, chains_[open]);
    return second_load(slot, open, counters, cycle);
  }
  const Token token = store(slot, open, counters, cycle);
  close(slot, open, cycle);
  return token;
}

bool OffloadUnit::can_offload(const isa::MemoryAccess& access) const {
  return access.space == isa::MemoryAccess::Space::global && access.lds_lanes == 0 && !access.deferred;
}

OffloadUnit::Lanes OffloadUnit::find_lines(const isa::MemoryAccess& access) {
  lines_.clear();
  Lanes divided = 0;
  isa::for_lanes(access.lanes, [&](unsigned lane) {
    const std::uint64_t address = memory_.addresses().global[lane];
    if ((address & line_mask_) + access.bytes_per_lane > line_mask_ + 1) {
      divided |= Lanes{1} << lane;
      return;
    }
    const std::uint64_t line = address & ~line_mask_;
    auto known = std::find_if(lines_.rbegin(), lines_.rend(), [line](const LineLanes& other) { return other.line == line; });
    if (known == lines_.rend()) {
      const std::uint64_t bus = physical_.find(line);  // the line is mapped, because the instruction has executed
      lines_.push_back({.line = line, .bus = bus, .lanes = Lanes{1} << lane, .in_cache = network_.cache_of(bus).has_value()});
    } else {
      known->lanes |= Lanes{1} << lane;
    }
  });
  return divided;
}

MemoryTokens::Token OffloadUnit::note_store(WavefrontSlot& slot, Wavefront& w, Token token) {
  if (slot.wave.access.operation == isa::MemoryAccess::Operation::load) return token;
  for (const CoalescedLine& line : memory_.lines().lines()) note_store(w, physical_.find(line.address));
  return token;
}

// Records a store of the wavefront whose acknowledgement may be pending: a chain must not overtake the store on another path.
void OffloadUnit::note_store(Wavefront& w, std::uint64_t bus) {
  if (w.stores.size() == kMostOwnStores) {
    w.many_stores = true;
    w.stores.clear();
  }
  if (!w.many_stores) w.stores.push_back(bus);
}

bool OffloadUnit::stores_to(WavefrontSlot& slot, Wavefront& w, std::uint64_t bus, Cycles cycle) {
  if (w.stores.empty() && !w.many_stores) return false;
  slot.vmcnt.prune(cycle);
  if (slot.vmcnt.outstanding() == 0) {
    w.stores.clear();
    w.many_stores = false;
    return false;
  }
  return w.many_stores || std::find(w.stores.begin(), w.stores.end(), bus) != w.stores.end();
}

// Sends the access of the lanes that remain at the core to the vector memory unit, without passing the address unit again.
MemoryTokens::Token OffloadUnit::send_staying(WavefrontSlot& slot, Lanes lanes, Counters counters, Tick start, Cycles cycle) {
  if (lanes == 0) return memory_.no_access(slot, counters, cycle);
  isa::MemoryAccess staying = slot.wave.access;
  staying.lanes = lanes;
  return memory_.send_addressed(slot, staying, memory_.coalesce(staying, memory_.addresses()), counters, start);
}

MemoryTokens::Token OffloadUnit::begin_chain(WavefrontSlot& slot, const TaggedKernel::Place& place,
                                             const isa::DecodedInstruction& instruction, Counters counters, Cycles cycle) {
  const isa::MemoryAccess& access = slot.wave.access;
  Wavefront& w = wavefront(slot);
  last_ = clock_.ticks(cycle);
  count_chain(slot, *place.chain);
  if (free_chains_.empty()) {
    free_chains_.push_back(static_cast<std::uint16_t>(chains_.size()));
    chains_.emplace_back();
  }
  const std::uint16_t open = free_chains_.back();
  free_chains_.pop_back();
  OpenChain& c = chains_[open];
  c = {};
  c.chain = place.chain;
  c.code = place.code;
  c.slot = &slot;
  c.begun = cycle;
  c.staying = find_lines(access);
  if (c.staying != 0) count(&slot, NearDataCount::lanes);
  Tick wanted;
  const Tick start = memory_.take_address_unit(slot, lines_.size(), cycle, wanted);
  Tick at = start;
  for (const LineLanes& line : lines_) {
    const Tick looked_up = std::exchange(at, at + clock_.period());
    if (const auto reason = reason_to_stay(slot, w, line, looked_up, NearDataCount::hit_first)) {
      count(&slot, *reason);
      c.staying |= line.lanes;
      continue;
    }
    for (Lanes left = line.lanes; left != 0;) {
      const Lanes lanes = left & kLowLanes << std::countr_zero(left);
      left &= ~lanes;
      if (used_ == parameters_.oq_entries) {
        count(&slot, NearDataCount::queue_full);
        c.staying |= lanes;
      } else {
        new_part(open, {.chain = place.chain, .lanes = lanes, .line_a = line.bus});
      }
    }
  }
  const Lanes staying = c.staying;
  write_places(access.lanes, c.places[0]);
  if (parameters_.check) record_operand(slot, instruction, c);
  count_registers(w, ChainRole::load_a, offloaded(c));
  if (c.parts.empty()) {
    free_chain(open);
    if (w.open.empty()) release_builder(slot, w, cycle);
  } else {
    w.open.push_back(open);
  }
  return send_staying(slot, staying, counters, start, cycle);
}

// The lookup for an offloaded load occupies the L1 cache's port and allocates nothing.
std::optional<NearDataCount> OffloadUnit::reason_to_stay(WavefrontSlot& slot, Wavefront& w, const LineLanes& line, Tick at,
                                                         NearDataCount hit) {
  if (!line.in_cache) return NearDataCount::address_space;
  switch (l1v_->presence(line.bus, at)) {
    case FirstLevelCache::Presence::present:
      return hit;
    case FirstLevelCache::Presence::filling:
      if (parameters_.pending_fill == PendingFill::hit) return NearDataCount::pending_fill;
      break;
    case FirstLevelCache::Presence::absent:
      break;
  }
  if (stores_to(slot, w, line.bus, clock_.floor(at))) return NearDataCount::own_store;
  ++statistics_.look_ups;
  l1v_->occupy(line.bus, at);
  return std::nullopt;
}

// Creates a part of a chain, without an entry of the offload queue if the queue is full.
std::uint16_t OffloadUnit::new_part(std::uint16_t chain, const ChainPacket& packet) {
  if (free_parts_.empty()) {
    free_parts_.push_back(static_cast<std::uint16_t>(parts_.size()));
    parts_.emplace_back();
  }
  const std::uint16_t number = free_parts_.back();
  free_parts_.pop_back();
  const bool queued = used_ < parameters_.oq_entries;
  parts_[number] = {.packet = packet,
                    .chain = chain,
                    .queued = queued,
                    .entry = 0,
                    .missing = 0,
                    .loaded = {},
                    .lanes_changed = 0,
                    .entered = {},
                    .latest = {},
                    .times = {},
                    .stored = {}};
  if (queued) {
    parts_[number].entered = last_;
    parts_[number].entry = free_entries_.back();
    free_entries_.pop_back();
    statistics_.most_entries = std::max<std::uint64_t>(statistics_.most_entries, ++used_);
  }
  chains_[chain].parts.push_back(number);
  return number;
}

template <typename Use>
void OffloadUnit::divide(std::uint16_t chain, Use use) {
  scratch_parts_ = chains_[chain].parts;
  for (const std::uint16_t whole : scratch_parts_) {
    const ChainPacket packet = parts_[whole].packet;
    Lanes left = packet.lanes;
    const auto give = [&](Lanes lanes, const LineLanes* line) {
      ChainPacket divided = packet;
      divided.lanes = lanes;
      const std::uint16_t part = left == packet.lanes ? whole : new_part(chain, divided);
      parts_[part].packet.lanes = lanes;
      left &= ~lanes;
      use(part, line);
    };
    for (const LineLanes& line : lines_) {
      if ((left & line.lanes) != 0) give(left & line.lanes, &line);
    }
    if (left != 0) give(left, nullptr);
  }
}

MemoryTokens::Token OffloadUnit::second_load(WavefrontSlot& slot, std::uint16_t open, Counters counters, Cycles cycle) {
  OpenChain& c = chains_[open];
  Wavefront& w = wavefront(slot);
  last_ = clock_.ticks(cycle);
  lines_.clear();
  if (can_offload(slot.wave.access)) find_lines(slot.wave.access);
  Tick wanted;
  const Tick start = memory_.take_address_unit(slot, lines_.size(), cycle, wanted);
  divide(open, [&](std::uint16_t part, const LineLanes* line) {
    const Tick at = line == nullptr ? start : start + clock_.period() * static_cast<std::uint64_t>(line - lines_.data());
    std::optional<NearDataCount> reason;
    if (line == nullptr) {
      reason = NearDataCount::lanes;
    } else if (!parts_[part].queued) {
      reason = NearDataCount::queue_full;
    } else if (!(reason = reason_to_stay(slot, w, *line, at, NearDataCount::hit_second))) {
      ++statistics_.table_reads;
      const auto queue = find_queue(parts_[part].packet.line_a, line->bus);
      if (const auto* const none = std::get_if<NearDataCount>(&queue)) reason = *none;
    }
    if (!reason) {
      parts_[part].packet.line_b = line->bus;
      return;
    }
    count(&slot, *reason);
    flush(part, at + clock_.period());
  });
  write_places(slot.wave.access.lanes, c.places[1]);
  count_registers(w, ChainRole::load_b, offloaded(c));
  if (c.parts.empty()) release_builder(slot, w, cycle);
  return send_staying(slot, c.staying & slot.wave.access.lanes, counters, start, cycle);
}

MemoryTokens::Token OffloadUnit::store(WavefrontSlot& slot, std::uint16_t open, Counters counters, Cycles cycle) {
  OpenChain& c = chains_[open];
  Wavefront& w = wavefront(slot);
  const isa::MemoryAccess& access = slot.wave.access;
  last_ = clock_.ticks(cycle);
  lines_.clear();
  if (can_offload(access)) find_lines(access);
  Tick wanted;
  const Tick start = memory_.take_address_unit(slot, lines_.size(), cycle, wanted);
  const Lanes staying = c.staying & access.lanes;
  c.store = staying != 0 ? send_staying(slot, staying, counters, start, cycle)
                         : tokens_.begin(slot, counters, start, Tick{}, Cycles{0}, nullptr);
  divide(open, [&](std::uint16_t number, const LineLanes* line) {
    Part& part = parts_[number];
    if (line != nullptr) {
      part.packet.store = line->bus;
      part.packet.stored = stored_bytes(access, part.packet.lanes);
    }
    std::optional<NearDataCount> reason;
    if (line == nullptr) {
      reason = NearDataCount::lanes;
    } else if (!line->in_cache) {
      reason = NearDataCount::address_space;
    } else if (!part.queued) {
      reason = NearDataCount::queue_full;
    } else if (stores_to(slot, w, line->bus, cycle)) {
      reason = NearDataCount::own_store;
    }
    if (!reason) {
      l1v_->drop_clean(line->bus, line_mask_ + 1);
      return;
    }
    count(&slot, *reason);
    leave_queue(part, start);
  });
  write_places(access.lanes, c.places[2]);
  count_registers(w, ChainRole::store, offloaded(c));
  if (staying != 0) note_store(slot, w, c.store);
  c.stores = 0;
  for (const std::uint16_t number : c.parts) {
    Part& part = parts_[number];
    ++c.stores;
    if (part.queued) continue;
    divide_store(access, part);
    for (const StoredLine& line : part.stored) note_store(w, line.bus);
    c.stores += static_cast<unsigned>(part.stored.size()) - 1;
  }
  tokens_.expect(c.store, c.stores);
  return c.store;
}

// Records the lines that the core stores. As for other accesses, the bytes of a lane may span two lines.
void OffloadUnit::divide_store(const isa::MemoryAccess& access, Part& part) {
  isa::MemoryAccess of_part = access;
  of_part.lanes = part.packet.lanes;
  for (const CoalescedLine& line : memory_.coalesce(of_part, memory_.addresses()))
    part.stored.push_back({.bus = physical_.find(line.address), .bytes = line.byte_mask});
}

// Called after the load has executed: the loaded values are in the destination register.
void OffloadUnit::record_operand(const WavefrontSlot& slot, const isa::DecodedInstruction& instruction, OpenChain& chain) {
  const isa::MemoryAccess& access = slot.wave.access;
  ReadOperand& operand = chain.read.emplace_back();
  operand.memory.fill(nullptr);
  const std::uint32_t* const values = slot.wave.vgpr + std::size_t{instruction.dst[0].index} * isa::kLanes;
  isa::for_lanes(access.lanes, [&](unsigned lane) {
    operand.memory[lane] = physical_.host(memory_.addresses().global[lane], access.bytes_per_lane);
    operand.values[lane] = values[lane];
  });
}

// Skips operands in the line of the chain's store: the store has executed and may have overwritten them.
void OffloadUnit::compare_operands(unsigned number) {
  Part& part = parts_[number];
  const OpenChain& chain = chains_[part.chain];
  const unsigned bytes = chain.chain != nullptr ? chain.chain->element_bytes : 0;
  for (std::size_t load = 0; load < chain.read.size() && bytes != 0; ++load) {
    const std::uint64_t line = load == 0 ? part.packet.line_a : part.packet.line_b;
    if (line == part.packet.store) continue;
    isa::for_lanes(part.packet.lanes, [&](unsigned lane) {
      const std::byte* const memory = chain.read[load].memory[lane];
      if (memory != nullptr && std::memcmp(memory, &chain.read[load].values[lane], bytes) != 0) ++part.lanes_changed;
    });
  }
}

void OffloadUnit::write_places(Lanes lanes, Places& places) {
  isa::for_lanes(
      lanes, [&](unsigned lane) { places[lane] = static_cast<std::uint8_t>(memory_.addresses().global[lane] & line_mask_); });
}

ByteMask OffloadUnit::stored_bytes(const isa::MemoryAccess& access, Lanes lanes) {
  ByteMask bytes{};
  isa::for_lanes(lanes, [&](unsigned lane) {
    bytes |= ByteMask::first(access.bytes_per_lane) << static_cast<unsigned>(memory_.addresses().global[lane] & line_mask_);
  });
  return bytes;
}

}  // namespace lacuna
