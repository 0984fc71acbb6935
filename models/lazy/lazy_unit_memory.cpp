// Memory accesses of the lazy unit: requests of held loads and of stores, and the elimination of requests.

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/isa/decode/table.h"
#include "models/isa/memory/memory_lanes.h"
#include "models/isa/vector/lane_tests.h"
#include "models/lazy/lazy_unit.h"

namespace lacuna {
namespace {

using isa::MemoryAccess;

bool all_zero(const std::byte* data, std::size_t bytes) {
  std::byte any{0};
  for (std::size_t i = 0; i < bytes; ++i) any |= data[i];
  return any == std::byte{0};
}

bool is_aligned(const isa::LaneAddresses& addresses, std::uint64_t lanes, std::uint64_t bytes) {
  std::uint64_t low = 0;
  isa::for_lanes(lanes, [&](unsigned l) { low |= addresses.global[l]; });
  return (low & (bytes - 1)) == 0;
}

/// Operand whose registers a store writes to memory unchanged; null if there is none, or if the store converts the data.
const isa::Operand* stored_data(const isa::Instruction& instruction) {
  if (instruction.format == isa::Format::flat) return &instruction.src[1];
  if (instruction.format != isa::Format::mubuf || (instruction.row->flags & isa::kConvertsFormat) != 0) return nullptr;
  return &instruction.src[3];
}

isa::RegisterRange destination_of(const isa::Instruction& instruction) {
  if (instruction.destinations == 0) return {};
  return {instruction.dst[0].kind, instruction.dst[0].index, instruction.dst[0].words};
}

/// An access in the form in which later stages see it when it executes.
StagedAccess executing(const WavefrontSlot& slot, const isa::DecodedInstruction& instruction) {
  return {.access = slot.wave.access, .destination = destination_of(instruction), .pc = instruction.end - instruction.size};
}

}  // namespace

void LazyUnit::count(const WavefrontSlot& slot, LazyCount what, std::uint64_t amount) {
  statistics_.counts[static_cast<std::size_t>(what)] += amount;
  slot.group->work->activity.extension[slots_of_texts_.first_count + static_cast<std::size_t>(what)] += amount;
}

MemoryTokens::Token LazyUnit::access(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Counters counters,
                                     Cycles cycle) {
  const MemoryAccess& access = slot.wave.access;
  if (access.operation == MemoryAccess::Operation::load) {
    if (!holds_loads(parameters_.mode)) return load_with_masks(slot, instruction, counters, cycle);
    if (const auto token = hold(slot, instruction, counters, cycle)) return *token;
    return pass_on(slot, instruction, counters, cycle);
  }
  send_overlapping(slot, cycle);
  if (zeros_ == nullptr) return pass_on(slot, instruction, counters, cycle);
  if (next() == nullptr) return store_with_masks(slot, instruction, counters, cycle);
  const StagedAccess store = executing(slot, instruction);
  next()->depart(slot, store, counters, cycle);
  const MemoryTokens::Token token = store_with_masks(slot, instruction, counters, cycle);
  next()->departed(slot, store, token);
  return token;
}

// -- held loads

std::optional<MemoryTokens::Token> LazyUnit::hold(WavefrontSlot& slot, const isa::DecodedInstruction& instruction,
                                                  Counters counters, Cycles cycle) {
  const MemoryAccess& access = slot.wave.access;
  Wavefront& w = wavefront(slot);
  const auto refuse = [&](held_load::Refusal reason) {
    ++statistics_.refused[static_cast<std::size_t>(reason)];
    count(slot, LazyCount::loads_eager);
    return std::nullopt;
  };
  if (const auto reason = held_load::why_not_held(instruction, access)) return refuse(*reason);
  const isa::RegisterRange registers = destination_of(instruction);
  if (HeldLoads::is_any_held(w, registers)) return refuse(held_load::Refusal::partly_held);
  HeldLoad& load = loads_.take();
  if (!held_load::encode(memory_.addresses().global, access.lanes, access.bytes_per_lane, load.words, load.upper)) {
    loads_.release(load);
    return refuse(held_load::Refusal::upper_bits);
  }
  if (next() != nullptr) {
    if (const auto performed = next()->perform(slot, executing(slot, instruction), counters, cycle)) {
      loads_.release(load);
      return performed;
    }
  }
  load.slot = &slot;
  load.registers = registers;
  load.pc = instruction.end - instruction.size;
  load.bytes = access.bytes_per_lane;
  load.lanes = access.lanes;
  loads_.enter(w, load);
  count(slot, LazyCount::loads_held);
  statistics_.encoded += static_cast<std::uint64_t>(std::popcount(access.lanes)) * registers.count;

  const MemoryTokens::Token token = memory_.no_access(slot, counters, cycle);
  Tick wanted;
  if (zeros_ == nullptr) {
    load.addressed = memory_.take_address_unit(slot, 0, cycle, wanted);
    return token;
  }
  const auto lines = memory_.coalesce(access, memory_.addresses());
  load.masks_open = zeros_->find_masks(lines);
  // With `once`, zero reads do not occupy the address unit: they have a separate port.
  load.addressed = memory_.take_address_unit(slot, is_addressed_once() ? 0 : load.masks_open, cycle, wanted);
  if (load.masks_open == 0) return token;
  count(slot, LazyCount::zero_reads, load.masks_open);
  load.zero = find_zeros(registers, slot.wave, access.bytes_per_lane);
  load.has_zeros = std::any_of(load.zero.begin(), load.zero.end(), [](Lanes zero) { return zero != 0; });
  if (load.has_zeros) count_zero_lines(load, lines);
  zeros_->read(load.addressed, *this, load.number);
  return token;
}

void LazyUnit::decode_addresses(const HeldLoad& load) {
  held_load::decode(load.words, load.upper, load.lanes, decoded_.global);
}

void LazyUnit::add_lanes(const HeldLoad& load, unsigned r, Lanes lanes) {
  isa::for_lanes(lanes, [&](unsigned l) { lines_.add(decoded_.global[l] + 4 * r, load.register_bytes()); });
}

void LazyUnit::issue(HeldLoad& load, Cycles cycle) {
  WavefrontSlot& slot = *load.slot;
  if (load.has_zeros) {  // the masks' responses would arrive too late
    load.has_zeros = false;
    load.zero = {};
    load.zero_blocks = load.zero_parts = 0;
  }
  add_followers(load);
  decode_addresses(load);
  Lanes suspended = 0;
  for (unsigned r = 0; r < load.registers.count; ++r) suspended |= load.need[r] & load.suspended[r];
  if (suspended != 0) {
    lines_.begin();
    for (unsigned r = 0; r < load.registers.count; ++r) add_lanes(load, r, load.need[r] & load.suspended[r]);
    count(slot, LazyCount::suspended_issued, lines_.lines().size());
  }
  // A single access to all registers from the first to the last needed register: a lane's registers are mostly in one
  // transaction.
  unsigned first = 0;
  while (load.need[first] == 0) ++first;
  unsigned end = load.registers.count;
  while (load.need[end - 1] == 0) --end;
  MemoryAccess access;
  access.space = MemoryAccess::Space::global;
  access.returns_data = true;
  for (unsigned r = first; r < end; ++r) access.lanes |= load.need[r];
  access.bytes_per_lane = static_cast<std::uint8_t>(std::min<unsigned>(load.bytes, 4 * (end - first)));
  isa::LaneAddresses& addresses = memory_.addresses();
  for (unsigned l = 0; l < isa::kLanes; ++l) addresses.global[l] = decoded_.global[l] + 4 * first;
  const auto lines = memory_.coalesce(access, addresses);
  LaneMasks filled = load.need;
  find_neighbours(load, filled);
  ++wavefront(slot).pending;
  tokens_.issued(next() == nullptr ? send(load, access, lines, cycle, Cycles{0})
                                   : depart_held(load, access, is_whole(load, filled), cycle));
  for (unsigned r = 0; r < load.registers.count; ++r) {
    load.served[r] |= filled[r];
    statistics_.decoded += static_cast<std::uint64_t>(std::popcount(filled[r]));
  }
  for (unsigned r = 0; r < held_load::kMaxRegisters && load.slot != nullptr; ++r) free_lanes(load, r, filled[r]);
}

Tick LazyUnit::leaves(const HeldLoad& load, Cycles cycle) const {
  return later(clock_.ticks(cycle + parameters_.issue_latency), load.addressed);
}

MemoryTokens::Token LazyUnit::send(const HeldLoad& load, const MemoryAccess& access, std::span<const CoalescedLine> lines,
                                   Cycles cycle, Cycles delay) {
  count(*load.slot, LazyCount::issued, lines.size());
  if (!is_addressed_once()) return memory_.send(*load.slot, access, lines, own_counters(), cycle + delay);
  return memory_.send_addressed(*load.slot, access, lines, own_counters(), leaves(load, cycle) + clock_.period() * delay.n);
}

// Later stages are queried once, before the first part of a load departs. They receive the whole load and may perform some of
// its lanes; the remaining lanes of the part are requested.
MemoryTokens::Token LazyUnit::depart_held(const HeldLoad& load, const MemoryAccess& part, bool whole, Cycles cycle) {
  const auto is_served = [](Lanes lanes) { return lanes != 0; };
  if (std::any_of(load.served.begin(), load.served.end(), is_served))
    return send(load, part, memory_.lines().lines(), cycle, Cycles{0});
  MemoryAccess all = part;
  all.lanes = load.lanes;
  all.bytes_per_lane = load.bytes;
  StagedAccess staged{
      .access = all, .destination = load.registers, .pc = load.pc, .executes = false, .whole = whole, .leaves = std::nullopt};
  if (is_addressed_once()) staged.leaves = leaves(load, cycle);
  isa::LaneAddresses& addresses = memory_.addresses();
  const auto addresses_of_part = addresses.global;
  addresses.global = decoded_.global;
  const Departure departure = next()->depart(*load.slot, staged, own_counters(), cycle);
  if (departure.performed) return *departure.performed;
  MemoryAccess left = all;
  left.lanes = departure.lanes;
  if (!whole) {
    left = part;
    left.lanes &= departure.lanes;
    addresses.global = addresses_of_part;
  }
  const MemoryTokens::Token token = send(load, left, memory_.coalesce(left, addresses), cycle, departure.delay);
  next()->departed(*load.slot, staged, token);
  return token;
}

bool LazyUnit::is_whole(const HeldLoad& load, const LaneMasks& filled) {
  for (unsigned r = 0; r < load.registers.count; ++r) {
    if (load.busy[r] != load.lanes || filled[r] != load.lanes) return false;
  }
  return true;
}

// If a lane of the first register is needed, adds that lane of the load's other busy registers: the lane of the first register
// holds their address.
void LazyUnit::add_followers(HeldLoad& load) {
  for (unsigned r = 1; r < load.registers.count; ++r) load.need[r] |= load.busy[r] & load.need[0];
}

// Adds to `filled` the other lanes and registers of the load that the lines just coalesced fill; a lane of the first register
// only if that lane of all other busy registers is filled, too.
void LazyUnit::find_neighbours(const HeldLoad& load, LaneMasks& filled) {
  const Coalescer& sent = memory_.lines();
  for (unsigned r = 0; r < load.registers.count; ++r) {
    const Lanes others = load.lanes & ~load.served[r] & ~filled[r];
    if (others == 0) continue;
    isa::for_lanes(others, [&](unsigned l) {
      if (sent.contains(decoded_.global[l] + 4 * r, load.register_bytes())) filled[r] |= Lanes{1} << l;
    });
  }
  for (unsigned r = 1; r < load.registers.count; ++r) filled[0] &= ~(load.busy[r] & ~filled[r]);
}

// Compares memory with the values of the load's needed lanes, which the busy registers still hold, since no instruction has
// written them. Counts the lanes that differ.
void LazyUnit::check_memory(const HeldLoad& load) {
  const isa::Wavefront& wave = load.slot->wave;
  decode_addresses(load);
  std::uint64_t changed = 0;
  for (unsigned r = 0; r < load.registers.count; ++r) {
    const std::uint32_t* plane = (load.registers.file == isa::OperandKind::agpr ? wave.agpr : wave.vgpr) +
                                 std::size_t{load.registers.first + r} * isa::kLanes;
    isa::for_lanes(load.need[r], [&](unsigned l) {
      const std::uint64_t address = decoded_.global[l] + 4 * r;
      const std::byte* memory = physical_.host(address, load.register_bytes());
      if (memory == nullptr) return;
      std::uint32_t word = 0;
      std::memcpy(&word, memory, load.register_bytes());
      if (wave.stores != nullptr) wave.stores->overlay(memory, reinterpret_cast<std::byte*>(&word), load.register_bytes());
      changed += word != plane[l] ? 1 : 0;
    });
  }
  if (changed != 0) count(*load.slot, LazyCount::lanes_changed, changed);
}

void LazyUnit::free_lanes(HeldLoad& load, unsigned r, Lanes lanes) {
  if (loads_.free_lanes(wavefront(*load.slot), load, r, lanes)) finish(load);
}

void LazyUnit::finish(HeldLoad& load) {
  const WavefrontSlot& slot = *load.slot;
  Lanes left = 0;
  Lanes suspended = 0;
  for (unsigned r = 0; r < load.registers.count; ++r) {
    left |= load.lanes & ~load.served[r];
    suspended |= load.suspended[r] & ~load.served[r];
  }
  if (left != 0) {
    decode_addresses(load);
    lines_.begin();
    for (unsigned r = 0; r < load.registers.count; ++r) add_lanes(load, r, load.lanes & ~load.served[r]);
    std::size_t lines = lines_.lines().size();
    if (!load.has_zeros) {
      count(slot, LazyCount::zero_block, load.zero_blocks);
      count(slot, LazyCount::zero_part, load.zero_parts);
      lines -= std::size_t{load.zero_blocks} + load.zero_parts;
    }
    std::size_t irrelevant = 0;
    if (suspended != 0) {
      lines_.begin();
      for (unsigned r = 0; r < load.registers.count; ++r) add_lanes(load, r, load.suspended[r] & ~load.served[r]);
      irrelevant = lines_.lines().size();
    }
    count(slot, LazyCount::otimes, irrelevant);
    count(slot, LazyCount::dead, lines - irrelevant);
  }
  load.slot = nullptr;
  if (load.masks_open == 0) loads_.release(load);
}

void LazyUnit::wavefront_ended(WavefrontSlot& slot) {
  Wavefront& w = wavefront(slot);
  loads_.drop_all(w, [this](HeldLoad& load) { finish(load); });
  w.pending = 0;
}

// -- zeros

// Finds the words that are zero. Masks mirror memory: where one mask bit stands for one register word, testing the loaded
// register gives the same result as reading the mask.
HeldLoad::LaneMasks LazyUnit::find_zeros(const isa::RegisterRange& registers, const isa::Wavefront& wave, unsigned bytes) {
  const MemoryAccess& access = wave.access;
  const isa::LaneAddresses& addresses = memory_.addresses();
  const bool by_register =
      bytes >= 4 && zeros_->mask_bits() == 32 && zeros_->all_known() && is_aligned(addresses, access.lanes, 4);
  // Excludes lanes that extend into another transaction: their first register waits for the other registers, and so for both
  // transactions.
  Lanes within = access.lanes;
  if (registers.count > 1) {
    const unsigned room = lines_.line_bytes() - bytes;
    isa::for_lanes(access.lanes, [&](unsigned l) {
      if (addresses.global[l] % lines_.line_bytes() > room) within &= ~(Lanes{1} << l);
    });
  }
  LaneMasks zeros{};
  for (unsigned r = 0; r < registers.count; ++r) {
    const std::uint32_t* plane =
        (registers.file == isa::OperandKind::agpr ? wave.agpr : wave.vgpr) + std::size_t{registers.first + r} * isa::kLanes;
    zeros[r] = isa::zero_lanes(plane) & within;
    if (by_register) continue;
    isa::for_lanes(zeros[r], [&](unsigned l) {
      if (!zero_by_mask(addresses.global[l] + 4 * r, std::min(bytes, 4U))) zeros[r] &= ~(Lanes{1} << l);
    });
  }
  return zeros;
}

bool LazyUnit::zero_by_mask(std::uint64_t address, unsigned bytes) {
  const std::uint64_t granule = zeros_->mask_bits() / 8;
  const std::uint64_t first = address & ~(granule - 1);
  const std::uint64_t end = (address + bytes + granule - 1) & ~(granule - 1);
  for (std::uint64_t at = first; at < end; at += granule) {
    const std::byte* memory = physical_.host(at, granule);
    if (memory == nullptr || !all_zero(memory, granule)) return false;
    for (std::uint64_t word = at; word < at + granule; word += 4) {
      if (!zeros_->known(physical_.find(word))) return false;
    }
  }
  return true;
}

void LazyUnit::count_zero_lines(HeldLoad& load, std::span<const CoalescedLine> lines) {
  decode_addresses(load);
  lines_.begin();
  for (unsigned r = 0; r < load.registers.count; ++r) add_lanes(load, r, load.lanes & ~load.zero[r]);
  const unsigned bytes = lines_.line_bytes();
  for (const CoalescedLine& line : lines) {
    if (lines_.contains(line.address, 1)) continue;
    ++(zero_by_mask(line.address, bytes) ? load.zero_blocks : load.zero_parts);
  }
}

void LazyUnit::apply_zeros(HeldLoad& load) {
  if (!std::exchange(load.has_zeros, false)) return;
  Lanes others = 0;  // lanes that are still busy in a register other than the load's first
  for (unsigned r = load.registers.count; r-- > 1;) {
    free_lanes(load, r, load.zero[r]);
    others |= load.busy[r];
  }
  free_lanes(load, 0, load.zero[0] & ~others);
}

// Executes a load in mode eager_zero: a line whose loaded words are all zero arrives with the first response, from memory or
// from the zero cache. Later stages are queried first: a load that a stage performs needs no masks.
MemoryTokens::Token LazyUnit::load_with_masks(WavefrontSlot& slot, const isa::DecodedInstruction& instruction,
                                              Counters counters, Cycles cycle) {
  MemoryAccess access = slot.wave.access;
  const isa::LaneAddresses& addresses = memory_.addresses();
  auto lines = memory_.coalesce(access, addresses);
  unsigned masks = access.deferred || instruction.destinations == 0 ? 0 : zeros_->find_masks(lines);
  if (masks == 0) return pass_on(slot, instruction, counters, cycle);
  const isa::RegisterRange registers = destination_of(instruction);
  LaneMasks zeros{};
  if (!held_load::why_not_held(instruction, access)) zeros = find_zeros(registers, slot.wave, access.bytes_per_lane);
  const bool any = std::any_of(zeros.begin(), zeros.end(), [](Lanes lanes) { return lanes != 0; });
  StagedAccess staged = executing(slot, instruction);
  staged.whole = !any;
  if (next() != nullptr) {
    const Departure departure = next()->depart(slot, staged, counters, cycle);
    if (departure.performed) return *departure.performed;
    access.lanes = departure.lanes;
    cycle = cycle + departure.delay;
    lines = memory_.coalesce(access, addresses);
    masks = zeros_->find_masks(lines);
  }
  count(slot, LazyCount::zero_reads, masks);
  lines_.begin();
  if (any) {
    const unsigned bytes = std::min<unsigned>(access.bytes_per_lane, 4);
    for (unsigned r = 0; r < registers.count; ++r)
      isa::for_lanes(access.lanes & ~zeros[r], [&](unsigned l) { lines_.add(addresses.global[l] + 4 * r, bytes); });
  }
  const VectorMemory::Races racing{lines_, racing_loads_.begin()};
  const MemoryTokens::Token token = memory_.send(slot, access, lines, counters, cycle, any ? &racing : nullptr);
  if (next() != nullptr) next()->departed(slot, staged, token);
  count(slot, LazyCount::zero_sent, racing.races.size());
  racing_loads_.send_zero_reads(*zeros_, masks, memory_.first_left());
  return token;
}

// -- stores

// Sends held loads that share a line with the store: their data are the values before the store.
void LazyUnit::send_overlapping(WavefrontSlot& slot, Cycles cycle) {
  Wavefront& w = wavefront(slot);
  if (w.loads.empty()) return;
  const MemoryAccess& access = slot.wave.access;
  isa::LaneAddresses& addresses = memory_.addresses();
  lines_.begin();
  isa::for_lanes(access.lanes, [&](unsigned l) { lines_.add(addresses.global[l], access.bytes_per_lane); });
  bool overlap = false;
  for (const std::uint16_t number : w.loads) {
    HeldLoad& load = loads_[number];
    decode_addresses(load);
    load.need = {};
    for (unsigned r = 0; r < load.registers.count; ++r) {
      isa::for_lanes(load.busy[r], [&](unsigned l) {
        if (lines_.meets(decoded_.global[l] + 4 * r, load.register_bytes())) load.need[r] |= Lanes{1} << l;
      });
      overlap = overlap || load.need[r] != 0;
    }
  }
  if (!overlap) return;
  const isa::LaneAddresses stored = addresses;
  w.due = cycle + Cycles{1};
  w.delays = {};
  overlapping_ = w.loads;
  for (const std::uint16_t number : overlapping_) {
    HeldLoad& load = loads_[number];
    if (load.is_needed()) issue(load, cycle);
  }
  addresses = stored;
  slot.account(StallCause::dependency, slot.when);
  w.cause = LazyCause::registers;
  if (w.pending > 0) {
    slot.hold(StallReason::registers);
  } else {
    end_wait(slot, w);
  }
}

MemoryTokens::Token LazyUnit::store_with_masks(WavefrontSlot& slot, const isa::DecodedInstruction& instruction,
                                               Counters counters, Cycles cycle) {
  const MemoryAccess& access = slot.wave.access;
  const isa::LaneAddresses& addresses = memory_.addresses();
  const auto lines = memory_.coalesce(access, addresses);
  const bool atomic = access.operation == MemoryAccess::Operation::atomic;
  const unsigned masks = zeros_->find_masks_to_write(lines, atomic);
  if (masks == 0) return memory_.send(slot, access, lines, counters, cycle);
  count(slot, LazyCount::zero_writes, masks);
  // Finds lines to which the instruction stores only zeros, in whole units of `mask_bits`.
  const isa::Operand* data = stored_data(instruction);
  const unsigned granule = zeros_->mask_bits() / 8;
  lines_.begin();
  bool any_zero = false;
  if (!atomic && data != nullptr && access.bytes_per_lane % granule == 0 && is_aligned(addresses, access.lanes, granule)) {
    const std::uint32_t* plane = slot.wave.planes(*data);
    Lanes zero = access.lanes;
    for (unsigned r = 0; r < access.bytes_per_lane / 4U; ++r) zero &= isa::zero_lanes(plane + std::size_t{r} * isa::kLanes);
    any_zero = zero != 0;
    if (any_zero)
      isa::for_lanes(access.lanes & ~zero, [&](unsigned l) { lines_.add(addresses.global[l], access.bytes_per_lane); });
  }
  std::span<const CoalescedLine> sent = lines;
  if (any_zero) {
    const auto end = std::copy_if(lines.begin(), lines.end(), kept_.begin(),
                                  [this](const CoalescedLine& line) { return lines_.contains(line.address, 1); });
    sent = {kept_.begin(), end};
    count(slot, LazyCount::writes_eliminated, lines.size() - sent.size());
  }
  const MemoryTokens::Token token = memory_.send(slot, access, sent, counters, cycle);
  zeros_->write(memory_.first_left(), token);
  return token;
}

}  // namespace lacuna
