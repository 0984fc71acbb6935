#include "models/duplo/detection_unit.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "models/isa/memory/memory_lanes.h"

namespace lacuna {
namespace {

using isa::kAllLanes;

#ifdef NDEBUG
constexpr bool kForDebugging = false;
#else
constexpr bool kForDebugging = true;
#endif

/// Matrix instructions write all lanes, regardless of EXEC (CDNA2 ISA manual, "Matrix arithmetic instructions").
bool is_matrix(const isa::Instruction& instruction) {
  return instruction.latency >= isa::LatencyClass::mfma_2_pass && instruction.latency <= isa::LatencyClass::mfma_16_pass;
}

}  // namespace

DetectionUnit::DetectionUnit(const DuploParameters& parameters, const ActiveConvolutions& convolutions,
                             const LoadStageContext& unit)
    : LoadStage(unit.memory),
      parameters_(parameters),
      checks_hits_(parameters.check || kForDebugging),
      checks_registers_(kForDebugging),
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
  g.add("mapped", statistics_.mapped, "of wavefronts with a convolution, whose registers go through the map", "instructions");
  g.add("unwritten", statistics_.unwritten, "lanes' registers that renamed loads did not write", "registers");
  g.add("invalidated", statistics_.invalidated, "that went with an invalidation of the unit's L1 vector cache", "entries");
  g.add("kernel_ended", statistics_.kernel_ended, "that went at the end of their kernel", "entries");
  g.add_derived(
      "most_pairs", [this] { return static_cast<double>(most_pairs()); },
      "of registers of a SIMD that were in use at the same time, at most", "pairs");
}

// A look-up reads one entry of each way and computes an ID: additions, shifts, and a multiplication by the reciprocal of each
// divisor that is no power of two. A miss writes an entry, a hit writes the map; each instruction reads the map for up to four
// operands. The energy of 32 bits is assumed to be that of a register word: an estimate, since none is published. Row entries
// have no energy: they model an upper bound that has no hardware counterpart.
void DetectionUnit::describe_energy(EnergyMeter& meter, const ComputeEnergy& energy) const {
  if (by_row()) return;
  const auto& counts = statistics_.counts;
  const auto of = [&](DuploCount what) -> const std::uint64_t& { return counts[static_cast<std::size_t>(what)]; };
  constexpr double kWordBits = 32;
  constexpr double kAdditions = 8;
  constexpr double kOperands = 4;
  const double entry_words = hardware_.entry_bits / kWordBits;
  const double map_words = hardware_.pair_bits / kWordBits;
  meter.add("duplo", "look_up", of(DuploCount::look_ups), entry_words * parameters_.ways * energy.vgpr_read);
  meter.add("duplo", "look_up_again", of(DuploCount::asked_again), entry_words * parameters_.ways * energy.vgpr_read);
  meter.add("duplo", "id", of(DuploCount::look_ups), kAdditions * energy.valu_int32);
  meter.add("duplo", "reciprocal", of(DuploCount::reciprocals), energy.valu_mul32);
  for (const DuploCount miss : {DuploCount::compulsory, DuploCount::released, DuploCount::conflict, DuploCount::capacity})
    meter.add("duplo", "allocate", of(miss), entry_words * energy.vgpr_write);
  meter.add("duplo", "rename", of(DuploCount::hits), map_words * energy.vgpr_write);
  meter.add("duplo", "map", statistics_.mapped, kOperands * map_words * energy.vgpr_read);
  meter.spare("vgpr", "write", statistics_.unwritten);
  meter.spare("lds", "word", statistics_.unread);
}

void DetectionUnit::count(const WavefrontSlot& slot, DuploCount what, std::uint64_t amount) {
  statistics_.counts[static_cast<std::size_t>(what)] += amount;
  slot.group->work->activity.extension[texts_.first_count + static_cast<std::size_t>(what)] += amount;
}

void DetectionUnit::count_released(const WavefrontSlot* slot) {
  constexpr std::array kCounts{DuploCount::retired, DuploCount::replaced, DuploCount::overwritten, DuploCount::ended,
                               DuploCount::stores};
  const auto& releases = history_.releases();
  const auto since = [&](HistoryRelease why) {
    const auto i = static_cast<std::size_t>(why);
    return releases[i] - std::exchange(releases_counted_[i], releases[i]);
  };
  for (std::size_t i = 0; i < kCounts.size(); ++i) {
    const std::uint64_t amount = since(static_cast<HistoryRelease>(i));
    if (amount == 0) continue;
    if (slot != nullptr) {
      count(*slot, kCounts[i], amount);
    } else {
      statistics_.counts[static_cast<std::size_t>(kCounts[i])] += amount;
    }
  }
  statistics_.invalidated += since(HistoryRelease::invalidated);
  statistics_.kernel_ended += since(HistoryRelease::kernel_ended);
}

unsigned DetectionUnit::most_pairs() const {
  unsigned most = 0;
  for (const SharedRegisters& registers : registers_) most = std::max(most, registers.most_in_use());
  return most;
}

void DetectionUnit::reset() {
  history_.reset();
  releases_counted_ = {};
  for (SharedRegisters& registers : registers_) registers.reset();
  for (Wavefront& w : wavefronts_) w = {};
  operations_.clear();
  free_operations_.clear();
  contents_.clear();
  findings_.clear();
  entry_data_.clear();
  equal_data_.clear();
  departing_ = kNone;
}

bool DetectionUnit::consistent() const {
  return free_operations_.size() == operations_.size() &&
         std::all_of(registers_.begin(), registers_.end(), [](const SharedRegisters& r) { return r.consistent(); });
}

void DetectionUnit::begin(WavefrontSlot& slot, Wavefront& w) {
  w.dispatch = slot.group->dispatch;
  w.slot = &slot;
  const auto known = convolutions_.find(w.dispatch);
  if (known == convolutions_.end()) return;
  w.convolution = known->second.get();
  w.vgpr_pairs = (w.dispatch->needs.vgprs + 1) / kPairRegisters;
  w.map = registers_[slot.simd->number].begin(w.vgpr_pairs + (w.dispatch->needs.agprs + 1) / kPairRegisters);
  // Initially M0 names no slab. Setting M0 is permitted, as its initial value is undefined without Duplo.
  // A wavefront that continues after a part without timing has set M0 before.
  if (w.convolution->lds && slot.wave.pc == w.dispatch->entry) slot.wave.sgpr[isa::kM0] = LdsBuffers::kNoSlab;
}

void DetectionUnit::wavefront_ended(WavefrontSlot& slot) {
  Wavefront& w = wavefront(slot);
  if (w.convolution != nullptr) {
    if (checks_registers_) [[unlikely]]
      check_registers(simd_of(slot));
    SharedRegisters& registers = registers_[slot.simd->number];
    for (const SharedRegisters::Pair pair : registers.end(w.map)) {
      if (registers.readers(pair) == 0) overwrite_physical(simd_of(slot), pair, clock_.ticks(slot.when), HistoryRelease::ended);
    }
    count_released(&slot);
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

// While VGPR indexing is on, M0 selects the registers that an instruction writes: it may write any of them.
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
  if (checks_registers_) [[unlikely]]
    check_registers(simd_of(slot));
  SharedRegisters& registers = registers_[slot.simd->number];
  const SharedRegisters::Pair pair = registers.pair(w.map, logical);
  if (registers.write(w.map, logical)) {
    count(slot, DuploCount::renamed);
    if (partial) count(slot, DuploCount::copies);
  } else {
    overwrite_physical(simd_of(slot), pair, clock_.ticks(cycle), HistoryRelease::overwritten);
    count_released(&slot);
  }
  w.watched.remove(registers_of(w, logical));
  if (checks_registers_) [[unlikely]]
    registers.require_consistent();
}

// -- accesses

std::optional<ClassifiedLoad> DetectionUnit::classify(const ActiveConvolution& c, const isa::MemoryAccess& access,
                                                      const isa::RegisterRange& destination) {
  const auto& addresses = memory_.addresses().global;
  constexpr auto none = ClassifiedLoad::none;
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
  if (access.space != isa::MemoryAccess::Space::global || access.lds_lanes != 0) return none(DuploCount::form);
  const auto form = tile_form(addresses, bytes, c.pitch_bytes);
  if (!form || (by_row() && *form != kFormByRow)) return none(DuploCount::form);
  if (addresses[isa::kLanes - 1] >= c.tiles_end || (base - c.begin) % bytes != 0) return none(DuploCount::form);
  if (access.glc || access.slc || access.deferred) return none(DuploCount::control);
  const auto column = static_cast<unsigned>((base - c.begin) % c.pitch_bytes / LoweredConvolution::kElementBytes);
  return ClassifiedLoad::of(c.tags.ids(), (base - c.begin) / c.pitch_bytes, column, *form, destination);
}

MemoryTokens::Token DetectionUnit::access(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Counters counters,
                                          Cycles cycle) {
  if (!has_workspace_in_memory(wavefront(slot))) return pass_on(slot, instruction, counters, cycle);
  isa::MemoryAccess& access = slot.wave.access;
  const StagedAccess staged{
      .access = access,
      .destination = instruction.registers.writes() > 0 ? instruction.registers.write(0) : isa::RegisterRange{},
      .pc = instruction.end - instruction.size};
  const Departure departure = depart(slot, staged, counters, cycle);
  if (departure.performed) return *departure.performed;
  const std::uint64_t lanes = std::exchange(access.lanes, departure.lanes);
  const Token token = pass_on(slot, instruction, counters, cycle + departure.delay);
  access.lanes = lanes;
  departed(slot, staged, token);
  return token;
}

std::optional<MemoryTokens::Token> DetectionUnit::perform(WavefrontSlot& slot, const StagedAccess& load, Counters counters,
                                                          Cycles cycle) {
  Wavefront& w = wavefront(slot);
  if (!has_workspace_in_memory(w) || load.destination.count == 0) return std::nullopt;
  const auto found = classify(*w.convolution, load.access, load.destination);
  if (!found) return std::nullopt;
  if (!found->tile) {
    count(slot, found->reason);
    return std::nullopt;
  }
  const auto pieces = split(slot, *w.convolution, *found->tile);
  count_look_ups(slot, w, pieces.size());
  std::uint64_t lanes = 0;
  found_.clear();
  for (const Piece& piece : pieces) {
    const Handle entry = history_.find(piece.tag, found->tile->zeros, clock_.ticks(cycle));
    found_.push_back(entry);
    if (entry != LoadHistory::kNone) lanes |= piece.lanes;
  }
  if (lanes != kAllLanes) {
    count(slot, DuploCount::held, pieces.size());
    count_released(&slot);
    return std::nullopt;
  }
  const std::uint32_t operation = new_operation();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    count_hit(slot, w, load, pieces[i], found_[i], cycle);
    hit(slot, w, load, pieces[i], found_[i], operation);
  }
  return perform_hit(slot, w, load, operation, counters, cycle);
}

Departure DetectionUnit::depart(WavefrontSlot& slot, const StagedAccess& access, Counters counters, Cycles cycle) {
  Wavefront& w = wavefront(slot);
  const Departure whole{.lanes = access.access.lanes};
  if (!has_workspace_in_memory(w)) return whole;
  if (access.access.operation != isa::MemoryAccess::Operation::load || access.destination.count == 0) return whole;
  const auto found = classify(*w.convolution, access.access, access.destination);
  if (!found) return whole;
  if (!found->tile) {
    if (access.executes) count(slot, found->reason);
    return whole;
  }
  Departure departure = whole;
  if (access.whole || access.executes) departure = look_up(slot, w, access, *found->tile, counters, cycle);
  if (!access.whole && !departure.performed) count(slot, DuploCount::partly_held);
  return departure;
}

void DetectionUnit::departed(WavefrontSlot& slot, const StagedAccess& access, Token token) {
  Wavefront& w = wavefront(slot);
  if (!has_workspace_in_memory(w)) return;
  std::uint32_t operation = std::exchange(departing_, kNone);
  if (operation == kNone) {
    if (!access.executes) return;
    operation = new_operation();
  }
  follow(slot, w, operation, token, access.executes);
}

std::span<const DetectionUnit::Piece> DetectionUnit::split(const WavefrontSlot& slot, const ActiveConvolution& c,
                                                           const TileLoad& tile) {
  const bool by_simd = parameters_.scope == DuploScope::simd;
  const LoadTag common{.convolution = c.number, .simd = static_cast<std::uint8_t>(by_simd ? slot.simd->number : 0), .tile = {}};
  pieces_.clear();
  if (by_row()) {
    split_rows(c, tile, common);
  } else {
    pieces_.push_back({.tag = common, .row = tile.row, .column = tile.column, .number = 0, .lanes = kAllLanes});
    pieces_.back().tag.tile = c.tags.tag(tile.row, tile.column, tile.form);
  }
  return pieces_;
}

Departure DetectionUnit::look_up(WavefrontSlot& slot, Wavefront& w, const StagedAccess& load, const TileLoad& tile,
                                 Counters counters, Cycles cycle) {
  const auto pieces = split(slot, *w.convolution, tile);
  if (load.executes) {
    count_look_ups(slot, w, pieces.size());
  } else {
    count(slot, DuploCount::asked_again, pieces.size());
  }
  const std::uint32_t operation = new_operation();
  std::uint64_t lanes = kAllLanes;
  for (const Piece& piece : pieces) {
    const Handle entry = find(slot, w, load, piece, tile.zeros, cycle);
    if (entry != LoadHistory::kNone) {
      hit(slot, w, load, piece, entry, operation);
      lanes &= ~piece.lanes;
    } else if (load.whole) {
      allocate(slot, w, load, piece, tile.zeros, operation);
    }
  }
  if (lanes == 0) return {.performed = perform_hit(slot, w, load, operation, counters, cycle)};
  if (lanes != kAllLanes) count_lines_saved(slot, load.access, lanes);
  departing_ = operation;
  return {.lanes = lanes, .delay = parameters_.l1 == DuploL1::after ? parameters_.latency : Cycles{0}};
}

DetectionUnit::Handle DetectionUnit::find(const WavefrontSlot& slot, const Wavefront& w, const StagedAccess& load,
                                          const Piece& piece, unsigned zeros, Cycles cycle) {
  const Handle entry = history_.find(piece.tag, zeros, clock_.ticks(cycle));
  if (entry != LoadHistory::kNone) {
    count_hit(slot, w, load, piece, entry, cycle);
  } else {
    constexpr std::array kReasons{DuploCount::compulsory, DuploCount::released, DuploCount::conflict, DuploCount::capacity};
    count(slot, kReasons.at(static_cast<std::size_t>(history_.miss(piece.tag))));
    count_released(&slot);
  }
  return entry;
}

DetectionUnit::Handle DetectionUnit::allocate(const WavefrontSlot& slot, Wavefront& w, const StagedAccess& load,
                                              const Piece& piece, unsigned zeros, std::uint32_t operation) {
  const SharedRegisters& registers = registers_[slot.simd->number];
  const unsigned logical = logical_pair(w, load.destination);
  TileRegisters held{.simd = simd_of(slot), .first = registers.pair(w.map, logical)};
  if (by_row()) held.first = place_of(held.first, piece.number);
  if (load.destination.count > kPairRegisters) held.second = registers.pair(w.map, logical + 1);
  std::uint64_t digest = 0;
  if (checks_hits_) {
    read_words(slot, load.destination, piece, words_);
    digest = EqualData::digest(words_);
    count_repeat(slot, digest);
  }
  const Handle entry = history_.allocate(piece.tag, zeros, held);
  count_released(&slot);
  if (contents_.size() <= entry) contents_.resize(std::size_t{entry} + 1);
  Contents& contents = contents_[entry];
  contents.operation = operation;
  contents.row = piece.row;
  contents.column = piece.column;
  contents.wavefront = index_of(slot);
  contents.dispatch = w.dispatch;
  contents.workgroup = slot.group->linear_id;
  if (checks_hits_) {
    entry_data_.set(entry, words_, history_);
    equal_data_.add(digest, {.handle = entry, .generation = history_.generation(entry)}, history_);
  }
  if (operation != kNone)
    operations_[operation].parts.push_back({.entry = entry, .generation = history_.generation(entry), .owner = true});
  w.watched.add(load.destination);
  return entry;
}

void DetectionUnit::count_repeat(const WavefrontSlot& slot, std::uint64_t digest) {
  const EqualData::Entry equal = equal_data_.find(digest);
  if (equal.handle == LoadHistory::kNone || !history_.holds(equal.handle, equal.generation)) return;
  if (!std::ranges::equal(entry_data_.of(equal.handle), words_)) return;
  const bool zeros = std::all_of(words_.begin(), words_.end(), [](std::uint32_t word) { return word == 0; });
  count(slot, zeros ? DuploCount::unseen_zeros : DuploCount::unseen_repeats);
}

Cycles DetectionUnit::rename(const WavefrontSlot& slot, Wavefront& w, const StagedAccess& load, const Piece& piece,
                             Handle entry) {
  if (checks_registers_) [[unlikely]]
    check_entry(entry);
  const TileRegisters& held = history_.registers(entry);
  if (held.simd != slot.simd->number && !by_row()) return parameters_.copies();
  // With duplo.release = never, an entry may outlive its register, so nothing is renamed.
  if (parameters_.release == HistoryKeep::always) return Cycles{0};
  const unsigned logical = logical_pair(w, load.destination);
  SharedRegisters& registers = registers_[slot.simd->number];
  if (by_row()) {
    history_.hold(entry, simd_of(slot), place_of(registers.pair(w.map, logical), piece.number));
  } else {
    registers.share(w.map, logical, held.first);
    if (held.second != TileRegisters::kNone) registers.share(w.map, logical + 1, held.second);
    statistics_.unwritten += std::uint64_t{load.destination.count} * isa::kLanes;
    if (checks_registers_) [[unlikely]]
      check_registers(simd_of(slot));
  }
  w.watched.add(load.destination);
  return Cycles{0};
}

void DetectionUnit::hit(const WavefrontSlot& slot, Wavefront& w, const StagedAccess& load, const Piece& piece, Handle entry,
                        std::uint32_t operation) {
  const Cycles copy_cycles = rename(slot, w, load, piece, entry);
  history_.relay(entry);
  operations_[operation].parts.push_back({.entry = entry, .generation = history_.generation(entry), .owner = false});
  wait_for(operation, entry, copy_cycles);
}

MemoryTokens::Token DetectionUnit::perform_hit(WavefrontSlot& slot, Wavefront& w, const StagedAccess& load,
                                               std::uint32_t operation, Counters counters, Cycles cycle) {
  if (by_row()) count(slot, DuploCount::whole_by_row);
  const auto lines = memory_.coalesce(load.access, memory_.addresses());
  count(slot, DuploCount::lines, lines.size());
  // With `parallel`, one line is sent to the L1 cache per cycle until the result of the look-up is known.
  const bool parallel = parameters_.l1 == DuploL1::parallel;
  const std::size_t left = parallel ? std::min<std::size_t>(parameters_.latency.n, lines.size()) : 0;
  Tick wanted = load.leaves.value_or(Tick{});
  const Tick start = load.leaves ? *load.leaves : memory_.take_address_unit(slot, left, cycle, wanted);
  if (parallel) {
    Tick at = memory_.take_line_port(left, start);
    for (std::size_t i = 0; i < left; ++i, at += clock_.period()) l1v_->occupy(physical_.find(lines[i].address), at);
    count(slot, DuploCount::cancelled, left);
  }
  const Token token = tokens_.begin(slot, counters, start, start - wanted, Cycles{0}, nullptr);
  Operation& made = operations_[operation];
  made.ready = later(made.ready, clock_.ceil(start) + parameters_.latency + made.copy);
  follow(slot, w, operation, token, load.executes);
  return token;
}

void DetectionUnit::count_look_ups(const WavefrontSlot& slot, const Wavefront& w, std::size_t pieces) {
  count(slot, DuploCount::look_ups, pieces);
  count(slot, DuploCount::reciprocals, pieces * w.convolution->reciprocals);
  if (by_row()) count(slot, DuploCount::loads_by_row);
}

void DetectionUnit::count_hit(const WavefrontSlot& slot, const Wavefront& w, const StagedAccess& load, const Piece& piece,
                              Handle entry, Cycles cycle) {
  if (checks_hits_) check_hit(slot, w, load, piece, entry, cycle);
  const Contents& contents = contents_[entry];
  count(slot, DuploCount::hits);
  if (contents.row == piece.row && contents.column == piece.column) count(slot, DuploCount::hits_address);
  if (contents.dispatch == slot.group->dispatch && contents.workgroup == slot.group->linear_id) {
    if (contents.wavefront == index_of(slot)) count(slot, DuploCount::hits_wavefront);
  } else {
    count(slot, DuploCount::hits_workgroup);
  }
  if (history_.registers(entry).simd == slot.simd->number) count(slot, DuploCount::hits_simd);
  if (contents.operation != kNone || contents.ready > cycle) count(slot, DuploCount::hits_in_flight);
}

void DetectionUnit::read_words(const WavefrontSlot& slot, const isa::RegisterRange& destination, const Piece& piece,
                               std::vector<std::uint32_t>& words) const {
  words.clear();
  for (unsigned r = 0; r < destination.count; ++r) {
    const auto all = plane(slot, destination, r);
    if (piece.lanes == kAllLanes) {
      words.insert(words.end(), all.begin(), all.end());
    } else {
      isa::for_lanes(piece.lanes, [&](unsigned lane) { words.push_back(all[lane]); });
    }
  }
}

void DetectionUnit::check_hit(const WavefrontSlot& slot, const Wavefront& w, const StagedAccess& load, const Piece& piece,
                              Handle entry, Cycles cycle) {
  const Contents& contents = contents_[entry];
  read_words(slot, load.destination, piece, words_);
  const auto [loaded, held] = std::mismatch(words_.begin(), words_.end(), entry_data_.of(entry).begin());
  if (loaded == words_.end()) return;
  count(slot, DuploCount::hits_wrong);
  const TileRegisters& registers = history_.registers(entry);
  const auto at = static_cast<unsigned>(loaded - words_.begin());
  const auto lanes = static_cast<unsigned>(std::popcount(piece.lanes));
  std::uint64_t differing = piece.lanes;
  for (unsigned i = 0; i < at % lanes; ++i) differing &= differing - 1;
  std::optional<WrongHit>& first = findings_[w.convolution->number].wrong;
  if (first) return;
  first = WrongHit{.at = clock_.ticks(cycle),
                   .pc = load.pc,
                   .workgroup = slot.group->linear_id,
                   .wavefront = slot.wave_in_group,
                   .tag = piece.tag.tile,
                   .row = piece.row,
                   .column = piece.column,
                   .held_row = contents.row,
                   .held_column = contents.column,
                   .simd = registers.simd,
                   .pair = pair_of(at / lanes < kPairRegisters ? registers.first : registers.second),
                   .lane = static_cast<unsigned>(std::countr_zero(differing)),
                   .loaded = *loaded,
                   .held = *held};
}

ConvolutionFindings DetectionUnit::end_convolution(std::uint8_t number, Tick at) {
  history_.forget(number, at);
  count_released(nullptr);
  for (const SharedRegisters& registers : registers_) registers.require_consistent();
  const auto found = findings_.find(number);
  if (found == findings_.end()) return {};
  ConvolutionFindings findings = std::move(found->second);
  findings_.erase(found);
  return findings;
}

std::span<const std::uint32_t> DetectionUnit::plane(const WavefrontSlot& slot, const isa::RegisterRange& registers,
                                                    unsigned r) const {
  const std::uint32_t* const file = registers.file == isa::OperandKind::agpr ? slot.wave.agpr : slot.wave.vgpr;
  return {file + (std::size_t{registers.first} + r) * isa::kLanes, isa::kLanes};
}

}  // namespace lacuna
