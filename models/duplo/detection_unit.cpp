#include "models/duplo/detection_unit.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "models/isa/memory/memory_lanes.h"

namespace lacuna {
namespace {

constexpr std::uint64_t kAllLanes = ~std::uint64_t{0};
constexpr unsigned kPairRegisters = 2;

/// Matrix instructions write all lanes, whatever EXEC is (CDNA2 ISA manual, "Matrix arithmetic instructions").
bool is_matrix(const isa::Instruction& instruction) {
  return instruction.latency >= isa::LatencyClass::mfma_2_pass && instruction.latency <= isa::LatencyClass::mfma_16_pass;
}

}  // namespace

DetectionUnit::DetectionUnit(const DuploParameters& parameters, const ActiveConvolutions& convolutions,
                             const LoadStageContext& unit)
    : LoadStage(unit.memory),
      parameters_(parameters),
      convolutions_(convolutions),
      clock_(unit.clock),
      tokens_(unit.tokens),
      memory_(unit.memory),
      physical_(unit.vm),
      slots_(unit.parameters.wavefronts_per_simd),
      hardware_(duplo_hardware(parameters, unit.parameters)),
      history_({.entries = parameters.entries, .ways = parameters.ways, .hash = parameters.hash, .keep = parameters.release}),
      registers_(unit.parameters.simds, SharedRegisters(unit.parameters.vgprs_per_simd / kPairRegisters)),
      wavefronts_(std::size_t{unit.parameters.simds} * unit.parameters.wavefronts_per_simd) {}

void DetectionUnit::describe(StatisticsGroup& unit) const {
  StatisticsGroup& g = unit.group("duplo");
  for (std::size_t i = 0; i < kDuploCounts; ++i) {
    const ExtensionCountText& text = kDuploCountTexts[i];
    g.add(std::string(text.name), statistics_.counts[i], text.meaning, text.unit);
  }
  g.add("mapped", statistics_.mapped, "of wavefronts with a convolution, whose registers are found by the map", "instructions");
  g.add("unwritten", statistics_.unwritten, "lanes' registers that renamed loads did not write", "registers");
  g.add("invalidated", statistics_.invalidated, "that went with an invalidation of the unit's L1 vector cache", "entries");
}

// A look-up reads one entry of each way and computes an ID: additions, shifts, and a multiplication by the reciprocal of each
// divisor that is no power of two. A miss writes an entry, a hit the map; each instruction reads the map for up to four
// operands. Words of 32 bits are taken as words of registers: an estimate, as nothing of it is published.
void DetectionUnit::describe_energy(EnergyMeter& meter, const ComputeEnergy& energy) const {
  const auto& counts = statistics_.counts;
  const auto of = [&](DuploCount what) -> const std::uint64_t& { return counts[static_cast<std::size_t>(what)]; };
  constexpr double kWordBits = 32;
  constexpr double kAdditions = 8;
  constexpr double kOperands = 4;
  const double entry_words = hardware_.entry_bits / kWordBits;
  const double map_words = hardware_.pair_bits / kWordBits;
  meter.add("duplo", "look_up", of(DuploCount::look_ups), entry_words * parameters_.ways * energy.vgpr_read);
  meter.add("duplo", "id", of(DuploCount::look_ups), kAdditions * energy.valu_int32);
  meter.add("duplo", "reciprocal", of(DuploCount::reciprocals), energy.valu_mul32);
  for (const DuploCount miss : {DuploCount::compulsory, DuploCount::released, DuploCount::conflict, DuploCount::capacity})
    meter.add("duplo", "allocate", of(miss), entry_words * energy.vgpr_write);
  meter.add("duplo", "rename", of(DuploCount::hits), map_words * energy.vgpr_write);
  meter.add("duplo", "map", statistics_.mapped, kOperands * map_words * energy.vgpr_read);
  meter.spare("vgpr", "write", statistics_.unwritten);
}

void DetectionUnit::count(const WavefrontSlot& slot, DuploCount what, std::uint64_t amount) {
  statistics_.counts[static_cast<std::size_t>(what)] += amount;
  slot.group->work->activity.extension[texts_.first_count + static_cast<std::size_t>(what)] += amount;
}

void DetectionUnit::reset() {
  history_.reset();
  for (SharedRegisters& registers : registers_) registers.reset();
  for (Wavefront& w : wavefronts_) w = {};
  operations_.clear();
  free_operations_.clear();
  contents_.clear();
  wrong_.clear();
}

bool DetectionUnit::consistent() const {
  return free_operations_.size() == operations_.size() &&
         std::all_of(registers_.begin(), registers_.end(), [](const SharedRegisters& r) { return r.consistent(); });
}

void DetectionUnit::begin(const WavefrontSlot& slot, Wavefront& w) {
  w.dispatch = slot.group->dispatch;
  const auto known = convolutions_.find(w.dispatch);
  if (known == convolutions_.end()) return;
  w.convolution = known->second.get();
  w.vgpr_pairs = (w.dispatch->needs.vgprs + 1) / kPairRegisters;
  w.map = registers_[slot.simd->number].begin(w.vgpr_pairs + (w.dispatch->needs.agprs + 1) / kPairRegisters);
}

void DetectionUnit::wavefront_ended(WavefrontSlot& slot) {
  Wavefront& w = wavefront(slot);
  if (w.convolution != nullptr) {
    SharedRegisters& registers = registers_[slot.simd->number];
    for (const SharedRegisters::Pair pair : registers.end(w.map)) {
      if (registers.readers(pair) == 0 && history_.overwrite(simd_of(slot), pair, clock_.ticks(slot.when)))
        count(slot, DuploCount::overwritten);
    }
    for (const std::uint32_t operation : w.operations) operations_[operation].wavefront = kNone;
  }
  w = {};
}

// -- registers

unsigned DetectionUnit::logical_pair(const Wavefront& w, const isa::RegisterRange& range) const {
  return (range.file == isa::OperandKind::agpr ? w.vgpr_pairs : 0) + range.first / kPairRegisters;
}

isa::RegisterRange DetectionUnit::registers_of(const Wavefront& w, unsigned logical) {
  const bool agpr = logical >= w.vgpr_pairs;
  return {.file = agpr ? isa::OperandKind::agpr : isa::OperandKind::vgpr,
          .first = static_cast<std::uint16_t>((logical - (agpr ? w.vgpr_pairs : 0)) * kPairRegisters),
          .count = kPairRegisters};
}

// While VGPR indexing is on, M0 decides which registers an instruction writes: any of them.
void DetectionUnit::overwrite(const WavefrontSlot& slot, Wavefront& w, const isa::DecodedInstruction& instruction,
                              Cycles cycle) {
  if (w.watched.empty()) return;
  if (slot.wave.mode.gpr_index_enabled() && instruction.unit == isa::Unit::valu) [[unlikely]] {
    const unsigned pairs = w.vgpr_pairs + (w.dispatch->needs.agprs + 1) / kPairRegisters;
    for (unsigned logical = 0; logical < pairs; ++logical) {
      if (w.watched.contains_any(registers_of(w, logical))) overwrite_pair(slot, w, logical, true, cycle);
    }
    return;
  }
  if (!instruction.registers.writes_any(w.watched)) return;
  const bool all_lanes = slot.wave.exec() == kAllLanes || is_matrix(instruction);
  for (unsigned i = 0; i < instruction.registers.writes(); ++i) {
    const isa::RegisterRange range = instruction.registers.write(i);
    if (range.file != isa::OperandKind::vgpr && range.file != isa::OperandKind::agpr) continue;
    const unsigned end = range.first + range.count;
    for (unsigned r = range.first / kPairRegisters * kPairRegisters; r < end; r += kPairRegisters) {
      const bool whole = range.first <= r && end >= r + kPairRegisters;
      const isa::RegisterRange pair{.file = range.file, .first = static_cast<std::uint16_t>(r), .count = kPairRegisters};
      if (w.watched.contains_any(pair)) overwrite_pair(slot, w, logical_pair(w, pair), !whole || !all_lanes, cycle);
    }
  }
}

void DetectionUnit::overwrite_pair(const WavefrontSlot& slot, Wavefront& w, unsigned logical, bool partial, Cycles cycle) {
  SharedRegisters& registers = registers_[slot.simd->number];
  const SharedRegisters::Pair pair = registers.pair(w.map, logical);
  if (registers.write(w.map, logical)) {
    count(slot, DuploCount::renamed);
    if (partial) count(slot, DuploCount::copies);
  } else if (history_.overwrite(simd_of(slot), pair, clock_.ticks(cycle))) {
    count(slot, DuploCount::overwritten);
  }
  w.watched.remove(registers_of(w, logical));
}

// -- accesses

std::optional<DetectionUnit::Classified> DetectionUnit::classify(const ActiveConvolution& c, const isa::MemoryAccess& access,
                                                                 const isa::RegisterRange& destination) {
  const auto& addresses = memory_.addresses().global;
  const auto none = [](DuploCount reason) { return Classified{.tile = std::nullopt, .reason = reason}; };
  if (access.lanes == 0) return std::nullopt;
  const auto inside = [&](unsigned lane) { return addresses[lane] >= c.begin && addresses[lane] < c.end; };
  const auto first = static_cast<unsigned>(std::countr_zero(access.lanes));
  if (access.lanes != kAllLanes) {
    bool touches = false;
    isa::for_lanes(access.lanes, [&](unsigned lane) { touches |= inside(lane); });
    return touches ? std::optional(none(DuploCount::exec)) : std::nullopt;
  }
  const std::uint64_t base = addresses[0];
  const unsigned bytes = access.bytes_per_lane;
  if (!inside(first)) {
    bool touches = false;
    for (unsigned lane = 1; lane < isa::kLanes; ++lane) touches |= inside(lane);
    return touches ? std::optional(none(DuploCount::form)) : std::nullopt;
  }
  if (bytes != 8 && bytes != 16) return none(DuploCount::form);
  if (access.space != isa::MemoryAccess::Space::global || access.lds_lanes != 0) return none(DuploCount::form);
  const unsigned rows = addresses[16] == base + bytes ? 16 : 32;
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    if (addresses[lane] != base + lane % rows * c.pitch_bytes + lane / rows * bytes) return none(DuploCount::form);
  }
  if (!inside(isa::kLanes - 1) || (base - c.begin) % bytes != 0) return none(DuploCount::form);
  if (access.glc || access.slc || access.deferred) return none(DuploCount::control);
  if (destination.first % kPairRegisters != 0) return none(DuploCount::registers);
  const std::uint64_t row = (base - c.begin) / c.pitch_bytes;
  const auto column = static_cast<unsigned>((base - c.begin) % c.pitch_bytes / ParameterBlock::kElementBytes);
  const LoweredConvolution& convolution = c.tags.ids().convolution();
  if (row >= convolution.rows() || column >= convolution.columns()) return none(DuploCount::filler);
  const unsigned columns = isa::kLanes / rows * bytes / ParameterBlock::kElementBytes;
  return Classified{
      .tile = TileLoad{.form = {.rows = static_cast<std::uint8_t>(rows), .columns = static_cast<std::uint8_t>(columns)},
                       .row = row,
                       .column = column,
                       .zeros = c.tags.ids().zeros(columns)},
      .reason = DuploCount::look_ups};
}

MemoryTokens::Token DetectionUnit::access(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Counters counters,
                                          Cycles cycle) {
  Wavefront& w = wavefront(slot);
  if (w.convolution == nullptr) return pass_on(slot, instruction, counters, cycle);
  const isa::MemoryAccess& access = slot.wave.access;
  if (access.operation != isa::MemoryAccess::Operation::load) {
    bool touches = false;
    isa::for_lanes(access.lanes, [&](unsigned lane) {
      const std::uint64_t address = memory_.addresses().global[lane];
      touches |= address + access.bytes_per_lane > w.convolution->begin && address < w.convolution->end;
    });
    if (touches) count(slot, DuploCount::stores, history_.drop(w.convolution->number, clock_.ticks(cycle)));
  } else if (instruction.registers.writes() > 0) {
    const isa::RegisterRange destination = instruction.registers.write(0);
    if (const auto found = classify(*w.convolution, access, destination)) {
      if (found->tile) return load_tile(slot, w, instruction, *found->tile, counters, cycle);
      count(slot, found->reason);
    }
  }
  const Token token = pass_on(slot, instruction, counters, cycle);
  follow(slot, w, token);
  return token;
}

MemoryTokens::Token DetectionUnit::load_tile(WavefrontSlot& slot, Wavefront& w, const isa::DecodedInstruction& instruction,
                                             const TileLoad& tile, Counters counters, Cycles cycle) {
  const ActiveConvolution& c = *w.convolution;
  const isa::RegisterRange destination = instruction.registers.write(0);
  const bool by_simd = parameters_.scope == DuploScope::simd;
  const LoadTag tag{.convolution = c.number,
                    .simd = static_cast<std::uint8_t>(by_simd ? slot.simd->number : 0),
                    .tile = c.tags.tag(tile.row, tile.column, tile.form)};
  count(slot, DuploCount::look_ups);
  count(slot, DuploCount::reciprocals, w.convolution->reciprocals);
  const Handle entry = history_.find(tag, tile.zeros, clock_.ticks(cycle));
  if (entry != LoadHistory::kNone) {
    if (parameters_.check) check_hit(slot, w, instruction, entry, tag, tile, cycle);
    return hit(slot, w, destination, entry, counters, cycle);
  }
  constexpr std::array kReasons{DuploCount::compulsory, DuploCount::released, DuploCount::conflict, DuploCount::capacity};
  count(slot, kReasons.at(static_cast<std::size_t>(history_.miss(tag))));
  const Cycles from = parameters_.l1 == DuploL1::after ? cycle + parameters_.latency : cycle;
  const Token token = pass_on(slot, instruction, counters, from);
  const std::uint32_t operation = follow(slot, w, token);
  allocate(slot, w, destination, tag, tile, operation);
  return token;
}

void DetectionUnit::allocate(const WavefrontSlot& slot, Wavefront& w, const isa::RegisterRange& destination, const LoadTag& tag,
                             const TileLoad& tile, std::uint32_t operation) {
  const SharedRegisters& registers = registers_[slot.simd->number];
  const unsigned logical = logical_pair(w, destination);
  TileRegisters held{.simd = simd_of(slot), .first = registers.pair(w.map, logical)};
  if (destination.count > kPairRegisters) held.second = registers.pair(w.map, logical + 1);
  const Handle entry = history_.allocate(tag, tile.zeros, held);
  if (contents_.size() <= entry) contents_.resize(std::size_t{entry} + 1);
  Contents& contents = contents_[entry];
  contents.operation = operation;
  contents.address = memory_.addresses().global[0];
  contents.row = tile.row;
  contents.column = tile.column;
  contents.wavefront = index_of(slot);
  contents.dispatch = w.dispatch;
  contents.workgroup = slot.group->linear_id;
  if (parameters_.check) {
    contents.words.clear();
    for (unsigned r = 0; r < destination.count; ++r) {
      const auto words = plane(slot, destination, r);
      contents.words.insert(contents.words.end(), words.begin(), words.end());
    }
  }
  Operation& made = operations_[operation];
  made.entry = entry;
  made.generation = history_.generation(entry);
  made.owner = true;
  w.watched.add(destination);
}

MemoryTokens::Token DetectionUnit::hit(WavefrontSlot& slot, Wavefront& w, const isa::RegisterRange& destination, Handle entry,
                                       Counters counters, Cycles cycle) {
  const Contents& contents = contents_[entry];
  count_hit(slot, entry);
  const auto lines = memory_.coalesce(slot.wave.access, memory_.addresses());
  count(slot, DuploCount::lines, lines.size());
  Tick wanted;
  const Tick start = memory_.take_address_unit(lines.size(), cycle, wanted);
  if (parameters_.l1 == DuploL1::parallel) {
    // Lines leave one a cycle until the look-up is known.
    const std::size_t left = std::min<std::size_t>(parameters_.latency.n, lines.size());
    Tick at = start;
    for (std::size_t i = 0; i < left; ++i, at += clock_.period()) l1v_->occupy(physical_.find(lines[i].address), at);
    count(slot, DuploCount::cancelled, left);
  }
  const TileRegisters& held = history_.registers(entry);
  const bool copied = held.simd != slot.simd->number;
  // An entry that stays always may have outlived its register.
  if (!copied && parameters_.release != HistoryKeep::always) {
    const unsigned logical = logical_pair(w, destination);
    SharedRegisters& registers = registers_[slot.simd->number];
    registers.share(w.map, logical, held.first);
    if (held.second != TileRegisters::kNone) registers.share(w.map, logical + 1, held.second);
    w.watched.add(destination);
    statistics_.unwritten += std::uint64_t{destination.count} * isa::kLanes;
  }
  history_.relay(entry);
  const std::uint32_t copy_cycles = copied ? static_cast<std::uint32_t>(parameters_.copy_cycles.n) : 0;
  const Cycles ready = clock_.ceil(start) + parameters_.latency;
  const Token token = tokens_.begin(slot, counters, start, start - wanted, Cycles{0}, nullptr);
  const std::uint32_t number = follow(slot, w, token);
  operations_[number].entry = entry;
  operations_[number].generation = history_.generation(entry);
  if (contents.operation == kNone) {
    tokens_.include(token, later(ready, contents.ready) + Cycles{copy_cycles}, {});
  } else {
    tokens_.expect(token, 1);
    operations_[contents.operation].waiters.push_back({token, ready, copy_cycles});
  }
  return token;
}

void DetectionUnit::count_hit(const WavefrontSlot& slot, Handle entry) {
  const Contents& contents = contents_[entry];
  count(slot, DuploCount::hits);
  if (contents.address == memory_.addresses().global[0]) count(slot, DuploCount::hits_address);
  if (contents.dispatch == slot.group->dispatch && contents.workgroup == slot.group->linear_id) {
    if (contents.wavefront == index_of(slot)) count(slot, DuploCount::hits_wavefront);
  } else {
    count(slot, DuploCount::hits_workgroup);
  }
  if (history_.registers(entry).simd == slot.simd->number) count(slot, DuploCount::hits_simd);
  if (contents.operation != kNone) count(slot, DuploCount::hits_in_flight);
}

void DetectionUnit::check_hit(const WavefrontSlot& slot, const Wavefront& w, const isa::DecodedInstruction& instruction,
                              Handle entry, const LoadTag& tag, const TileLoad& tile, Cycles cycle) {
  const Contents& contents = contents_[entry];
  const isa::RegisterRange destination = instruction.registers.write(0);
  for (unsigned r = 0; r < destination.count; ++r) {
    const auto words = plane(slot, destination, r);
    const auto held = contents.words.begin() + std::ptrdiff_t{r} * isa::kLanes;
    const auto [loaded, other] = std::mismatch(words.begin(), words.end(), held);
    if (loaded == words.end()) continue;
    count(slot, DuploCount::hits_wrong);
    const TileRegisters& registers = history_.registers(entry);
    wrong_.try_emplace(w.convolution->number, WrongHit{.at = clock_.ticks(cycle),
                                                       .pc = instruction.end - instruction.size,
                                                       .workgroup = slot.group->linear_id,
                                                       .wavefront = slot.wave_in_group,
                                                       .tag = tag.tile,
                                                       .row = tile.row,
                                                       .column = tile.column,
                                                       .held_row = contents.row,
                                                       .held_column = contents.column,
                                                       .simd = registers.simd,
                                                       .pair = r < kPairRegisters ? registers.first : registers.second,
                                                       .lane = static_cast<unsigned>(loaded - words.begin()),
                                                       .loaded = *loaded,
                                                       .held = *other});
    return;
  }
}

std::optional<WrongHit> DetectionUnit::end_convolution(std::uint8_t number) {
  history_.forget(number);
  const auto found = wrong_.find(number);
  if (found == wrong_.end()) return std::nullopt;
  const WrongHit wrong = found->second;
  wrong_.erase(found);
  return wrong;
}

std::span<const std::uint32_t> DetectionUnit::plane(const WavefrontSlot& slot, const isa::RegisterRange& registers,
                                                    unsigned r) const {
  const std::uint32_t* const file = registers.file == isa::OperandKind::agpr ? slot.wave.agpr : slot.wave.vgpr;
  return {file + (std::size_t{registers.first} + r) * isa::kLanes, isa::kLanes};
}

// -- completion

std::uint32_t DetectionUnit::follow(const WavefrontSlot& slot, Wavefront& w, Token token) {
  if (free_operations_.empty()) {
    free_operations_.push_back(static_cast<std::uint32_t>(operations_.size()));
    operations_.emplace_back();
  }
  const std::uint32_t number = free_operations_.back();
  free_operations_.pop_back();
  Operation& operation = operations_[number];
  operation.wavefront = index_of(slot);
  operation.entry = LoadHistory::kNone;
  operation.owner = operation.done = false;
  w.operations.push_back(number);
  tokens_.watch(token, *this, number);
  return number;
}

void DetectionUnit::operation_done(std::uint32_t number, Cycles done) {
  operations_[number].done = true;
  operations_[number].at = done;
  if (operations_[number].owner) {
    const Handle entry = operations_[number].entry;
    if (history_.generation(entry) == operations_[number].generation) {
      contents_[entry].operation = kNone;
      contents_[entry].ready = done;
    }
    // Completing them may make further records.
    const std::vector<Operation::Waiter> waiters = std::exchange(operations_[number].waiters, {});
    for (const Operation::Waiter& waiter : waiters) {
      tokens_.include(waiter.token, later(done, waiter.ready) + Cycles{waiter.copy_cycles}, {});
      tokens_.release(waiter.token);
    }
  }
  if (operations_[number].wavefront == kNone) {
    retire_operation(number, done);
    return;
  }
  // vmcnt counts in order.
  Wavefront& w = wavefronts_[operations_[number].wavefront];
  std::size_t retired = 0;
  for (; retired < w.operations.size() && operations_[w.operations[retired]].done; ++retired) {
    w.retired = later(w.retired, operations_[w.operations[retired]].at);
    retire_operation(w.operations[retired], w.retired);
  }
  w.operations.erase(w.operations.begin(), w.operations.begin() + static_cast<std::ptrdiff_t>(retired));
}

void DetectionUnit::retire_operation(std::uint32_t number, Cycles at) {
  const Operation& operation = operations_[number];
  if (operation.entry != LoadHistory::kNone) history_.retire(operation.entry, operation.generation, clock_.ticks(at));
  free_operations_.push_back(number);
}

}  // namespace lacuna
