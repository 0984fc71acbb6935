#include "models/neardata/offload_unit.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "models/common/containers/pooled_records.h"
#include "models/isa/memory/memory_lanes.h"
#include "models/neardata/service_queue.h"

namespace lacuna {
namespace {

constexpr std::uint64_t kLowLanes = 0xffff'ffff;
// A core's use of its ALUs is measured over at least this time.
constexpr std::uint64_t kAluCycles = 64;

/// Either operand may be loaded first.
bool loads(ChainRole role) { return role == ChainRole::load_a || role == ChainRole::load_b; }

}  // namespace

OffloadUnit::OffloadUnit(NearDataNetwork& network, const LoadStageContext& unit)
    : LoadStage(unit.memory),
      network_(network),
      parameters_(network.parameters),
      unit_(unit.parameters),
      core_(unit.place.index),
      clock_(unit.clock),
      tokens_(unit.tokens),
      memory_(unit.memory),
      physical_(unit.vm),
      slots_(unit.parameters.wavefronts_per_simd),
      line_mask_(unit.parameters.transaction_bytes - 1),
      wavefronts_(std::size_t{unit.parameters.simds} * unit.parameters.wavefronts_per_simd),
      builders_(network.parameters.builders) {
  memory_.share_line_port();
}

void OffloadUnit::describe(StatisticsGroup& unit) const {
  StatisticsGroup& g = unit.group("ndc");
  for (std::size_t i = 0; i < kNearDataCounts; ++i) {
    const ExtensionCountText& text = kNearDataCountTexts[i];
    g.add(std::string(text.name), statistics_.counts[i], text.meaning, text.unit);
  }
  g.add("look_ups", statistics_.look_ups, "look-ups of the L1 cache's tags for loads that are offloaded", "look-ups");
  g.add("most_entries", statistics_.most_entries, "highest number of entries of the offload queue in use", "entries");
}

void OffloadUnit::count(const WavefrontSlot* slot, NearDataCount what, std::uint64_t amount) {
  statistics_.counts[static_cast<std::size_t>(what)] += amount;
  if (slot == nullptr) return;
  slot->group->work->activity.extension[texts_.first_count + static_cast<std::size_t>(what)] += amount;
}

void OffloadUnit::reset() {
  for (Wavefront& w : wavefronts_) w = {};
  chains_.clear();
  free_chains_.clear();
  parts_.clear();
  free_parts_.clear();
  used_ = 0;
  builders_ = parameters_.builders;
  waiting_.clear();
  requests_.clear();
  free_requests_.clear();
  messages_.clear();
  next_message_ = kNever;
  alu_busy_ = 0;
  alu_use_ = 0;
  alu_since_ = {};
}

// -- before instructions

void OffloadUnit::begin_kernel(Wavefront& w, const WavefrontSlot& slot) {
  w.dispatch = slot.group->dispatch;
  w.kernel = network_.kernels.find(w.dispatch->entry);
  // As many workgroups as wavefront slots allow keep their LDS (section 4.5).
  const WorkgroupNeeds& needs = w.dispatch->needs;
  const std::uint64_t workgroups = std::max(1U, unit_.simds * unit_.wavefronts_per_simd / std::max(1U, needs.wavefronts));
  const std::uint64_t operands = std::uint64_t{parameters_.sq_entries} * 2 * (line_mask_ + 1);
  w.caches_only = needs.lds_bytes != 0 && std::min(workgroups * needs.lds_bytes, unit_.lds.n) + operands > unit_.lds.n;
}

bool OffloadUnit::prepare(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
  Wavefront& w = wavefront(slot);
  if (slot.group->dispatch != w.dispatch) [[unlikely]]
    begin_kernel(w, slot);
  if (w.kernel != nullptr && !prepare_tagged(slot, w, instruction, cycle)) return false;
  if (instruction.unit == isa::Unit::valu) alu_busy_ += isa::kLanes / unit_.lanes_per_simd;
  return true;
}

bool OffloadUnit::prepare_tagged(WavefrontSlot& slot, Wavefront& w, const isa::DecodedInstruction& instruction, Cycles cycle) {
  if (w.accessing != kNone) [[unlikely]]
    leave_global_memory(slot, w, cycle);
  if (w.closing != kNone) {
    hold(slot, cycle);
    return false;
  }
  if (w.not_before > cycle) {
    resume(slot, NearDataCause::chain, w.not_before);
    return false;
  }
  const TaggedKernel::Place& place = w.kernel->at(instruction.end - instruction.size);
  if (place.chain == nullptr || place.role == ChainRole::wait) {
    // The first load of a chain may have had no lane in global memory.
    if (w.builds && w.open.empty()) release_builder(w, cycle);
    return true;
  }
  if (place.tag == ChainTag::first) return slot.wave.exec() == 0 || take_builder(slot, w, cycle);
  const std::uint16_t open = find_open(w, place.chain);
  if (open == kNone) return true;
  OpenChain& chain = chains_[open];
  if (!loads(place.role)) {
    if (chain.fills > 0) {
      release_builder(w, cycle);  // it builds nothing meanwhile
      w.filling = open;
      hold(slot, cycle);
      return false;
    }
    if (chain.filled > cycle) {
      resume(slot, NearDataCause::chain, chain.filled);
      return false;
    }
    if (chain.parts.empty()) {  // all of its lanes have stayed
      std::erase(w.open, open);
      if (w.open.empty()) release_builder(w, cycle);
      free_chain(open);
      return true;
    }
  }
  if (!take_builder(slot, w, cycle)) return false;
  if (place.role != ChainRole::operation) {
    w.accessing = open;
    w.stores_elsewhere = place.role == ChainRole::store;
  } else if (place.tag == ChainTag::last) {
    close(slot, open, cycle);
  }
  return true;
}

// FLAT addresses may be in LDS or private memory. The core performs the chain.
void OffloadUnit::leave_global_memory(WavefrontSlot& slot, Wavefront& w, Cycles cycle) {
  const std::uint16_t open = std::exchange(w.accessing, kNone);
  count(&slot, NearDataCount::address_space);
  for (const std::uint16_t part : std::vector<std::uint16_t>(chains_[open].parts)) {
    if (w.stores_elsewhere) {
      leave_queue(parts_[part]);
    } else {
      flush(part, clock_.ticks(cycle));
    }
  }
  if (w.stores_elsewhere) close(slot, open, cycle);
}

bool OffloadUnit::take_builder(WavefrontSlot& slot, Wavefront& w, Cycles cycle) {
  if (w.builds) return true;
  if (builders_ > 0) {
    --builders_;
    return w.builds = true;
  }
  hold(slot, cycle);
  waiting_.push_back(&slot);
  return false;
}

// Hands it to the wavefront that has waited longest.
void OffloadUnit::release_builder(Wavefront& w, Cycles cycle) {
  if (!std::exchange(w.builds, false)) return;
  if (waiting_.empty()) {
    ++builders_;
    return;
  }
  WavefrontSlot& next = *waiting_.front();
  waiting_.erase(waiting_.begin());
  wavefront(next).builds = true;
  resume(next, NearDataCause::builder, cycle + Cycles{1});
}

void OffloadUnit::hold(WavefrontSlot& slot, Cycles cycle) {
  slot.account(StallCause::unit_busy, cycle);
  slot.hold(StallReason::registers);
  slot.publish();
}

void OffloadUnit::resume(WavefrontSlot& slot, NearDataCause cause, Cycles at) {
  slot.when = later(slot.when, at);
  slot.account(extension_stall(texts_.first_cause + static_cast<std::size_t>(cause)), slot.when);
  if (slot.held_by(StallReason::registers)) {
    slot.release(StallReason::registers);
  } else {
    slot.publish();
  }
}

std::uint16_t OffloadUnit::find_open(const Wavefront& w, const Chain* chain) const {
  for (const std::uint16_t open : w.open) {
    if (chains_[open].chain == chain) return open;
  }
  return kNone;
}

void OffloadUnit::wavefront_ended(WavefrontSlot& slot) {
  Wavefront& w = wavefront(slot);
  std::erase(waiting_, &slot);
  release_builder(w, clock_.floor(last_));
  for (std::uint16_t open = 0; open < static_cast<std::uint16_t>(chains_.size()); ++open) {
    OpenChain& chain = chains_[open];
    if (chain.slot != &slot) continue;
    chain.slot = nullptr;
    if (chain.closing) continue;
    // Under construction: nothing of it is in the network.
    for (const std::uint16_t part : std::exchange(chain.parts, {})) free_part(part);
    if (chain.fills == 0) free_chain(open);
  }
  w = {};
}

// -- accesses

MemoryTokens::Token OffloadUnit::access(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Counters counters,
                                        Cycles cycle) {
  Wavefront& w = wavefront(slot);
  if (w.kernel == nullptr) return pass_on(slot, instruction, counters, cycle);
  const TaggedKernel::Place& place = w.kernel->at(instruction.end - instruction.size);
  w.accessing = kNone;
  if (place.chain != nullptr && place.tag == ChainTag::first) {
    if (can_offload(slot.wave.access)) return begin_chain(slot, *place.chain, counters, cycle);
    count(&slot, NearDataCount::chains);
    count(&slot, NearDataCount::address_space);
    if (w.open.empty()) release_builder(w, cycle);
  }
  const std::uint16_t open = place.chain != nullptr ? find_open(w, place.chain) : kNone;
  if (open == kNone) return note_store(slot, w, pass_on(slot, instruction, counters, cycle));
  if (loads(place.role)) return second_load(slot, open, counters, cycle);
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
      const std::uint64_t bus = physical_.find(line);  // mapped: the instruction has executed
      lines_.push_back({.line = line, .bus = bus, .lanes = Lanes{1} << lane, .in_cache = network_.cache_of(bus).has_value()});
    } else {
      known->lanes |= Lanes{1} << lane;
    }
  });
  return divided;
}

// Own stores whose acknowledgement the wavefront may lack: a chain must not pass them on another way.
MemoryTokens::Token OffloadUnit::note_store(WavefrontSlot& slot, Wavefront& w, Token token) {
  const isa::MemoryAccess& access = slot.wave.access;
  if (access.operation == isa::MemoryAccess::Operation::load) return token;
  const std::span<const CoalescedLine> lines = memory_.lines().lines();
  if (w.stores.size() + lines.size() > kMostOwnStores) {
    w.many_stores = true;
    w.stores.clear();
  }
  if (w.many_stores) return token;
  for (const CoalescedLine& line : lines) w.stores.push_back(physical_.find(line.address));
  return token;
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

// Lanes that stay are sent as the rest of an access whose addresses have passed the unit.
MemoryTokens::Token OffloadUnit::send_staying(WavefrontSlot& slot, Lanes lanes, Counters counters, Tick start, Cycles cycle) {
  if (lanes == 0) return memory_.no_access(slot, counters, cycle);
  isa::MemoryAccess staying = slot.wave.access;
  staying.lanes = lanes;
  return memory_.send_addressed(slot, staying, memory_.coalesce(staying, memory_.addresses()), counters, start);
}

MemoryTokens::Token OffloadUnit::begin_chain(WavefrontSlot& slot, const Chain& chain, Counters counters, Cycles cycle) {
  const isa::MemoryAccess& access = slot.wave.access;
  Wavefront& w = wavefront(slot);
  last_ = clock_.ticks(cycle);
  count(&slot, NearDataCount::chains);
  if (free_chains_.empty()) {
    free_chains_.push_back(static_cast<std::uint16_t>(chains_.size()));
    chains_.emplace_back();
  }
  const std::uint16_t open = free_chains_.back();
  free_chains_.pop_back();
  OpenChain& c = chains_[open];
  c = {};
  c.chain = &chain;
  c.slot = &slot;
  c.begun = cycle;
  c.staying = find_lines(access);
  if (c.staying != 0) count(&slot, NearDataCount::lanes);
  Tick wanted;
  const Tick start = memory_.take_address_unit(lines_.size(), cycle, wanted);
  Tick at = start;
  for (const LineLanes& line : lines_) {
    const Tick looked_up = std::exchange(at, at + clock_.period());
    if (const auto reason = reason_to_stay(slot, w, line, looked_up, NearDataCount::hit_first)) {
      count(&slot, *reason);
      c.staying |= line.lanes;
      continue;
    }
    const bool fits = std::popcount(line.lanes) <= static_cast<int>(ChainPacket::kMostLanes);
    for (const Lanes lanes : {fits ? line.lanes : line.lanes & kLowLanes, fits ? 0 : line.lanes & ~kLowLanes}) {
      if (lanes == 0) continue;
      if (used_ == parameters_.oq_entries) {
        count(&slot, NearDataCount::queue_full);
        c.staying |= lanes;
      } else {
        const std::uint16_t part = new_part(open, {.chain = &chain, .lanes = lanes, .line_a = line.bus});
        add_form(parts_[part].packet, access.bytes_per_lane);
      }
    }
  }
  const Lanes staying = c.staying;
  if (c.parts.empty()) {
    free_chain(open);
    if (w.open.empty()) release_builder(w, cycle);
  } else {
    w.open.push_back(open);
  }
  return send_staying(slot, staying, counters, start, cycle);
}

// The look-up of an offloaded load takes the L1 cache's port and allocates nothing.
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

// Without an entry of the queue when all are in use.
std::uint16_t OffloadUnit::new_part(std::uint16_t chain, const ChainPacket& packet) {
  if (free_parts_.empty()) {
    free_parts_.push_back(static_cast<std::uint16_t>(parts_.size()));
    parts_.emplace_back();
  }
  const std::uint16_t number = free_parts_.back();
  free_parts_.pop_back();
  const bool queued = used_ < parameters_.oq_entries;
  parts_[number] = {.packet = packet, .chain = chain, .queued = queued, .missing = 0, .loaded = {}};
  if (queued) statistics_.most_entries = std::max<std::uint64_t>(statistics_.most_entries, ++used_);
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
  lines_.clear();
  if (can_offload(slot.wave.access)) find_lines(slot.wave.access);
  Tick wanted;
  const Tick start = memory_.take_address_unit(lines_.size(), cycle, wanted);
  divide(open, [&](std::uint16_t part, const LineLanes* line) {
    const Tick at = line == nullptr ? start : start + clock_.period() * static_cast<std::uint64_t>(line - lines_.data());
    std::optional<NearDataCount> reason;
    if (line == nullptr) {
      reason = NearDataCount::lanes;
    } else if (!parts_[part].queued) {
      reason = NearDataCount::queue_full;
    } else if (!(reason = reason_to_stay(slot, w, *line, at, NearDataCount::hit_second))) {
      const auto queue = find_queue(c, parts_[part].packet.line_a, line->bus);
      if (const auto* const none = std::get_if<NearDataCount>(&queue)) reason = *none;
    }
    if (!reason) {
      parts_[part].packet.line_b = line->bus;
      add_form(parts_[part].packet, slot.wave.access.bytes_per_lane);
      return;
    }
    count(&slot, *reason);
    flush(part, at + clock_.period());
  });
  if (c.parts.empty()) release_builder(w, cycle);
  return send_staying(slot, c.staying & slot.wave.access.lanes, counters, start, cycle);
}

MemoryTokens::Token OffloadUnit::store(WavefrontSlot& slot, std::uint16_t open, Counters counters, Cycles cycle) {
  OpenChain& c = chains_[open];
  Wavefront& w = wavefront(slot);
  const isa::MemoryAccess& access = slot.wave.access;
  lines_.clear();
  if (can_offload(access)) find_lines(access);
  Tick wanted;
  const Tick start = memory_.take_address_unit(lines_.size(), cycle, wanted);
  const Lanes staying = c.staying & access.lanes;
  c.store = staying != 0 ? send_staying(slot, staying, counters, start, cycle)
                         : tokens_.begin(slot, counters, start, Tick{}, Cycles{0}, nullptr);
  divide(open, [&](std::uint16_t number, const LineLanes* line) {
    Part& part = parts_[number];
    if (line != nullptr) {
      part.packet.store = line->bus;
      part.packet.stored = stored_bytes(access, part.packet.lanes);
      add_form(part.packet, access.bytes_per_lane);
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
    leave_queue(part);
  });
  c.stores = static_cast<unsigned>(c.parts.size());
  tokens_.expect(c.store, c.stores);
  return staying != 0 ? note_store(slot, w, c.store) : c.store;
}

OperandForm OffloadUnit::form_of(Lanes lanes, unsigned bytes) {
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const std::uint64_t base = memory_.addresses().global[first];
  bool strided = true;
  bool uniform = true;
  isa::for_lanes(lanes, [&](unsigned lane) {
    const std::uint64_t distance = memory_.addresses().global[lane] - base;
    strided &= distance == std::uint64_t{lane - first} * bytes;
    uniform &= distance == 0;
  });
  return strided ? OperandForm::strided : uniform ? OperandForm::uniform : OperandForm::scattered;
}

ByteMask OffloadUnit::stored_bytes(const isa::MemoryAccess& access, Lanes lanes) {
  ByteMask bytes{};
  isa::for_lanes(lanes, [&](unsigned lane) {
    bytes |= ByteMask::first(access.bytes_per_lane) << static_cast<unsigned>(memory_.addresses().global[lane] & line_mask_);
  });
  return bytes;
}

// -- parts

void OffloadUnit::leave_queue(Part& part) {
  if (std::exchange(part.queued, false)) --used_;
}

void OffloadUnit::free_part(std::uint16_t part) {
  leave_queue(parts_[part]);
  parts_[part].chain = kNone;
  free_parts_.push_back(part);
}

// Its lanes stay at the core, which makes the first load after all; the second one is made with those of the lanes that stay.
void OffloadUnit::flush(std::uint16_t number, Tick at) {
  const std::uint16_t open = parts_[number].chain;
  OpenChain& c = chains_[open];
  c.staying |= parts_[number].packet.lanes;
  ++c.fills;
  const std::uint64_t line = parts_[number].packet.line_a;
  std::erase(c.parts, number);
  free_part(number);
  request({.kind = OwnRequest::Kind::fill, .chain = open}, line, at);
}

// The last instruction of a chain has issued: packets leave, and the core performs the parts that have none.
void OffloadUnit::close(WavefrontSlot& slot, std::uint16_t open, Cycles cycle) {
  OpenChain& c = chains_[open];
  Wavefront& w = wavefront(slot);
  std::erase(w.open, open);
  release_builder(w, cycle);
  c.closing = true;
  w.closing = open;
  const Tick at = clock_.ticks(cycle + Cycles{1});
  for (const std::uint16_t part : std::vector<std::uint16_t>(c.parts)) {
    if (!parts_[part].queued || !send(part, at)) perform_at_core(part, at);
  }
  end_chain(open);
}

std::variant<ServiceQueue*, NearDataCount> OffloadUnit::find_queue(const OpenChain& chain, std::uint64_t first,
                                                                   std::uint64_t second) {
  const unsigned node = network_.meeting->find(core_, *network_.cache_of(first), *network_.cache_of(second));
  if (node == EmnTable::kNone) return NearDataCount::no_node;
  ServiceQueue* const queue = network_.queues[node];
  if (queue == nullptr) return NearDataCount::cannot_compute;
  if (!queue->is_at_cache() && chain.slot != nullptr && wavefront(*chain.slot).caches_only) return NearDataCount::lds;
  return queue;
}

bool OffloadUnit::send(std::uint16_t number, Tick at) {
  Part& part = parts_[number];
  const ChainPacket& packet = part.packet;
  OpenChain& c = chains_[part.chain];
  const std::uint64_t second = packet.has_second()                              ? packet.line_b
                               : packet.has_store() && parameters_.store_counts ? packet.store
                                                                                : packet.line_a;
  const auto found = find_queue(c, packet.line_a, second);
  if (const auto* const reason = std::get_if<NearDataCount>(&found)) {
    count(c.slot, *reason);
    return false;
  }
  ServiceQueue* const queue = std::get<ServiceQueue*>(found);
  const unsigned further = further_flits(packet);
  count(c.slot, NearDataCount::packets);
  if (queue->is_at_cache()) count(c.slot, NearDataCount::packets_llc);
  count(c.slot, NearDataCount::mask_flits, further);
  c.offloaded = true;
  part.missing = packet.has_second() ? 2 : 1;  // if the service queue does not take it
  messages_.push_back({.at = at,
                       .receiver = queue,
                       .network = VirtualNetwork::request,
                       .flits = static_cast<std::uint16_t>(1 + further),
                       .tag = packet_tag(core_, number)});
  next_message_ = earlier(next_message_, at);
  announce(at);
  return true;
}

// A packet of a full half of the wavefront needs no mask.
unsigned OffloadUnit::further_flits(const ChainPacket& packet) {
  const bool whole = packet.lanes == kLowLanes || packet.lanes == ~kLowLanes;
  return (whole ? 0 : 1) + packet.scattered;
}

void OffloadUnit::messages(Tick end, std::vector<Message>& out) {
  if (next_message_ >= end) return;
  const auto later_ones =
      std::stable_partition(messages_.begin(), messages_.end(), [end](const Message& message) { return message.at < end; });
  out.insert(out.end(), messages_.begin(), later_ones);
  messages_.erase(messages_.begin(), later_ones);
  next_message_ = kNever;
  for (const Message& message : messages_) next_message_ = earlier(next_message_, message.at);
}

void OffloadUnit::receive(std::uint32_t number, const Passage& passage) {
  const Part& part = parts_[number];
  const Chain& chain = *part.packet.chain;
  const bool stores = part.packet.has_store();
  const Cycles in_registers = stores || chain.compares ? Cycles{0} : unit_.vmem_return_latency;
  const Cycles done = clock_.ceil(passage.at) + in_registers;
  const std::uint16_t open = part.chain;
  last_ = later(last_, passage.at);
  leave_queue(parts_[number]);
  result_known(static_cast<std::uint16_t>(number), done);
  if (stores) store_complete(chains_[open], done);
  free_part(static_cast<std::uint16_t>(number));
  end_chain(open);
}

void OffloadUnit::complete(std::uint32_t tag, Tick at, const LatencyBreakdown&) {
  const auto number = static_cast<std::uint16_t>(tag);
  Part& part = parts_[number];
  last_ = later(last_, at);
  if (part.missing == (part.packet.has_second() ? 2 : 1)) count(chains_[part.chain].slot, NearDataCount::bounced);
  core_loaded(number, at);
}

void OffloadUnit::perform_at_core(std::uint16_t number, Tick at) {
  Part& part = parts_[number];
  const std::uint64_t second = part.packet.line_b;
  leave_queue(part);
  part.missing = part.packet.has_second() ? 2 : 1;
  part.loaded = at;
  request({.kind = OwnRequest::Kind::core_load, .part = number}, part.packet.line_a, at);
  if (second != ChainPacket::kNoLine)
    request({.kind = OwnRequest::Kind::core_load, .part = number}, second, at + clock_.period());
}

// One of the operands is at the core, which computes when all are, and then stores.
void OffloadUnit::core_loaded(std::uint16_t number, Tick at) {
  Part& part = parts_[number];
  part.loaded = later(part.loaded, at);
  if (--part.missing > 0) return;
  const std::uint16_t open = part.chain;
  const unsigned operations = part.packet.chain->operations;
  const Cycles done = clock_.ceil(part.loaded) + unit_.vmem_return_latency +
                      Cycles{operations * std::uint64_t{isa::kLanes / unit_.lanes_per_simd}};
  leave_queue(part);
  result_known(number, done);
  if (part.packet.has_store()) {
    request({.kind = OwnRequest::Kind::store, .chain = open, .part = number}, part.packet.store,
            clock_.ticks(done + unit_.vmem_address_latency));
  } else {
    free_part(number);
  }
  end_chain(open);
}

void OffloadUnit::result_known(std::uint16_t number, Cycles done) {
  OpenChain& c = chains_[parts_[number].chain];
  c.done = later(c.done, done);
  std::erase(c.parts, number);
}

void OffloadUnit::store_complete(OpenChain& chain, Cycles done) {
  chain.stored = later(chain.stored, done);
  tokens_.include(chain.store, chain.stored, {});
  --chain.stores;
  tokens_.release(chain.store);
}

// The wavefront goes on when the results of all parts are known; the record is free when their stores are complete, too.
void OffloadUnit::end_chain(std::uint16_t open) {
  OpenChain& c = chains_[open];
  if (!c.closing || !c.parts.empty()) return;
  if (c.slot != nullptr && c.chain != nullptr) {
    WavefrontSlot& slot = *c.slot;
    if (c.offloaded) count(&slot, NearDataCount::latency, later(c.done, c.begun).n - c.begun.n);
    Wavefront& w = wavefront(slot);
    w.closing = kNone;
    w.not_before = c.done;
    if (slot.held_by(StallReason::registers)) resume(slot, NearDataCause::chain, c.done);
  }
  c.chain = nullptr;
  c.slot = nullptr;
  if (c.stores == 0) free_chain(open);
}

void OffloadUnit::free_chain(std::uint16_t open) {
  chains_[open] = {};
  free_chains_.push_back(open);
}

// -- requests to the L1 cache

void OffloadUnit::request(const OwnRequest& own, std::uint64_t line, Tick at) {
  const std::uint32_t tag = take_record(requests_, free_requests_);
  requests_[tag] = own;
  const bool write = own.kind == OwnRequest::Kind::store;
  const OpenChain& c = chains_[own.chain != kNone ? own.chain : parts_[own.part].chain];
  requests_[tag].counted = !write && c.slot != nullptr;
  if (requests_[tag].counted) {
    requests_[tag].token = tokens_.begin(*c.slot, own_counters(), at, Tick{}, Cycles{0}, &c.slot->group->work->activity);
    tokens_.expect(requests_[tag].token, 1);
    tokens_.issued(requests_[tag].token);
  }
  const MemoryRequest request{.address = line,
                              .byte_mask = write ? parts_[own.part].packet.stored : ByteMask::all(),
                              .made = at,
                              .bytes = static_cast<std::uint16_t>(line_mask_ + 1),
                              .requester = static_cast<std::uint16_t>(core_),
                              .kind = RequestKind::vector,
                              .write = write};
  MemoryResponse response;
  if (l1v_->request(request, at, *this, tag, response)) on_response(tag, response);
}

void OffloadUnit::on_response(std::uint32_t tag, const MemoryResponse& response) {
  const OwnRequest own = requests_[tag];
  free_requests_.push_back(tag);
  if (own.counted) tokens_.add(own.token, response, response.done);
  switch (own.kind) {
    case OwnRequest::Kind::core_load:
      core_loaded(own.part, response.done);
      break;
    case OwnRequest::Kind::store:
      store_complete(chains_[own.chain], clock_.ceil(response.done));
      free_part(own.part);
      end_chain(own.chain);
      break;
    case OwnRequest::Kind::fill: {
      OpenChain& c = chains_[own.chain];
      c.filled = later(c.filled, clock_.ceil(response.done) + unit_.vmem_return_latency);
      if (--c.fills > 0) break;
      if (c.slot == nullptr) {
        free_chain(own.chain);
        break;
      }
      Wavefront& w = wavefront(*c.slot);
      if (w.filling == own.chain) {
        w.filling = kNone;
        resume(*c.slot, NearDataCause::chain, c.filled);
      }
      break;
    }
  }
}

unsigned OffloadUnit::alu_use(Tick at) {
  constexpr unsigned kWhole = 1024;
  const std::uint64_t cycles = at > alu_since_ ? clock_.floor(at - alu_since_).n : 0;
  if (cycles >= kAluCycles) {
    alu_use_ = static_cast<unsigned>(std::min<std::uint64_t>(kWhole, alu_busy_ * kWhole / (cycles * unit_.simds)));
    alu_busy_ = 0;
    alu_since_ = at;
  }
  return alu_use_;
}

}  // namespace lacuna
