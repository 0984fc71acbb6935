#include "models/compute/wavefront_observation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "models/isa/analysis/register_use.h"
#include "models/isa/memory/memory_lanes.h"
#include "models/isa/scalar/gpr_index.h"
#include "models/isa/vector/host_fp.h"

namespace lacuna {
namespace {

using Range = WavefrontObservation::Range;

/// Copies of accessed pages, each made at its first access. Copies are per page, so that the size of mappings does not matter;
/// the executor handles accesses that cross a page boundary.
class CopiedMemory : public isa::MemoryInterface {
 public:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::size_t kMostPages = 4096;

  explicit CopiedMemory(const isa::MemoryInterface& memory) : memory_(memory) {}

  isa::MemoryWindow find(std::uint64_t address) const override {
    const auto [entry, is_new] = pages_.try_emplace(address / kPage);
    Page& page = entry->second;
    if (is_new) copy(page, address);
    return page.window;
  }
  std::uint64_t epoch() const override { return 0; }

  bool full() const { return pages_.size() > kMostPages; }
  /// Whether the bytes differ from their values at the previous call for these bytes.
  bool changed(std::uint64_t address, std::uint32_t bytes) {
    bool any = false;
    for (std::uint32_t i = 0; i < bytes; ++i) {
      const auto page = pages_.find((address + i) / kPage);
      if (page == pages_.end() || !page->second.window.contains(address + i, 1)) continue;
      const std::uint64_t at = address + i - page->second.window.base;
      any |= page->second.now[at] != page->second.before[at];
      page->second.before[at] = page->second.now[at];
    }
    return any;
  }
  std::uint64_t value(std::uint64_t address, std::uint32_t bytes) const {
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(bytes, 8); ++i) {
      const isa::MemoryWindow window = find(address + i);
      if (!window.contains(address + i, 1)) break;
      value |= std::uint64_t{static_cast<std::uint8_t>(window.host[address + i - window.base])} << 8 * i;
    }
    return value;
  }

 private:
  struct Page {
    isa::MemoryWindow window;
    std::vector<std::byte> now;
    std::vector<std::byte> before;
  };

  void copy(Page& page, std::uint64_t address) const {
    const isa::MemoryWindow real = memory_.find(address);
    if (real.size == 0) return;
    const std::uint64_t first = std::max(address / kPage * kPage, real.base);
    const std::uint64_t size = std::min(address / kPage * kPage + kPage - first, real.size - (first - real.base));
    const std::byte* bytes = real.host + (first - real.base);
    page.now.assign(bytes, bytes + size);
    page.before = page.now;
    page.window = {.base = first, .size = size, .host = page.now.data(), .granted = real.granted};
  }

  const isa::MemoryInterface& memory_;
  mutable std::unordered_map<std::uint64_t, Page> pages_;  // indexed by page number; never iterated
};

/// State that determines a wavefront's next actions, except memory and LDS.
struct RegisterState {
  std::uint64_t pc = 0;
  std::uint64_t version = 0;  ///< version of memory and LDS: number of changes so far
  std::array<std::uint32_t, 128> sgpr{};
  std::array<std::uint32_t, 4> others{};
  std::vector<std::uint32_t> vectors;
};

class Observer {
 public:
  Observer(const isa::Wavefront& wave, std::uint64_t pc, isa::DecodedCode& code)
      : code_(code),
        memory_(*wave.memory),
        lds_(wave.lds, wave.lds + wave.lds_bytes),
        lds_before_(lds_),
        vectors_(wave.vgpr, wave.vgpr + std::size_t{wave.vgpr_count + wave.agpr_count} * isa::kLanes),
        wave_(wave),
        allocation_(wave.vgpr_count, wave.sgpr_count, wave.agpr_count) {
    wave_.pc = pc;
    wave_.vgpr = vectors_.data();
    wave_.agpr = wave.agpr_count == 0 ? nullptr : wave_.v(wave.vgpr_count);
    wave_.lds = lds_.data();
    wave_.memory = &memory_;
    wave_.addresses = &addresses_;
    wave_.stores = nullptr;
    wave_.event = isa::Event::none;
    wave_.window = {};
    wave_.older_windows = {};
    wave_.window_epoch = ~std::uint64_t{0};
  }

  WavefrontObservation observe(unsigned limit) {
    save();
    std::uint64_t next_save = 1;
    begin_loop();
    while (seen_.instructions < limit && !memory_.full()) {
      if (seen_.instructions == limit / 2) begin_loop();
      if (!step()) return finish();
      if (repeats()) {
        seen_.period = seen_.instructions - saved_at_;
        begin_loop();
        for (std::uint64_t i = 0; i < seen_.period; ++i) {
          if (!step()) return finish();
        }
        seen_.end = WavefrontObservation::End::repeats;
        return finish();
      }
      // Brent's method: the reference state is replaced at doubling intervals, so that any loop reaches it again.
      if (seen_.instructions == next_save) {
        save();
        next_save *= 2;
      }
    }
    return finish();
  }

 private:
  void begin_loop() {
    seen_.first_pc = wave_.pc;
    seen_.last_pc = wave_.pc;
    seen_.lanes = 0;
    seen_.changes = false;
    seen_.reads.clear();
    seen_.more_reads = false;
  }

  WavefrontObservation finish() {
    isa::restore_host_fp();
    return std::move(seen_);
  }

  std::array<std::uint32_t, 4> other_registers() const {
    return {wave_.status, wave_.trap_status, wave_.mode.bits, wave_.scc ? 1U : 0U};
  }
  void save() {
    saved_at_ = seen_.instructions;
    saved_.pc = wave_.pc;
    saved_.version = version_;
    saved_.sgpr = wave_.sgpr;
    saved_.others = other_registers();
    saved_.vectors = vectors_;
  }
  bool repeats() const {
    return wave_.pc == saved_.pc && version_ == saved_.version && wave_.sgpr == saved_.sgpr &&
           other_registers() == saved_.others && vectors_ == saved_.vectors;
  }

  /// Executes one instruction. Returns false if the wavefront does not continue.
  bool step() {
    const isa::DecodedInstruction* const instruction = code_.at(wave_.pc);
    if (instruction == nullptr || !allocation_.holds(*instruction)) return stop(WavefrontObservation::End::stopped);
    const std::uint64_t pc = wave_.pc;
    // Clocks advance: a loop that reads a clock never repeats.
    ++wave_.clock;
    ++wave_.real_time;
    wave_.access = {};
    wave_.pc = instruction->end;
    isa::execute_instruction(*instruction, wave_);
    ++seen_.instructions;
    seen_.first_pc = std::min(seen_.first_pc, pc);
    seen_.last_pc = std::max(seen_.last_pc, pc);
    seen_.lanes |= wave_.exec();
    const isa::Event event = wave_.event;
    wave_.event = isa::Event::none;
    switch (event) {
      case isa::Event::none:
      case isa::Event::fine_grained_float_atomic:
        note(*instruction, pc);
        return true;
      case isa::Event::wait_count:
      case isa::Event::wait_states:
      case isa::Event::sleep:
      case isa::Event::cache_invalidate:
        return true;
      case isa::Event::message:
        return (wave_.event_value & isa::kMessageThenHalt) == 0 || stop(WavefrontObservation::End::stopped);
      case isa::Event::end_program:
        return stop(WavefrontObservation::End::end_program);
      case isa::Event::barrier:
        return stop(WavefrontObservation::End::barrier);
      case isa::Event::wave_sync:
        return stop(WavefrontObservation::End::wave_sync);
      case isa::Event::halt:
      case isa::Event::trap:
      case isa::Event::memory_fault:
      case isa::Event::illegal_instruction:
      case isa::Event::arithmetic_exception:
        break;
    }
    return stop(WavefrontObservation::End::stopped);
  }
  bool stop(WavefrontObservation::End end) {
    seen_.end = end;
    return false;
  }

  /// Records the reads and writes of memory and LDS by an executed instruction.
  void note(const isa::Instruction& instruction, std::uint64_t pc) {
    const isa::MemoryAccess& access = wave_.access;
    if (access.bytes_per_lane == 0) return;
    const std::uint32_t bytes = access.bytes_per_lane;
    places_.clear();
    lane_ = 0;
    if (instruction.unit == isa::Unit::smem) {
      places_.push_back({.address = access.scalar_address, .bytes = bytes});
    } else if (instruction.unit == isa::Unit::lds) {
      add_lds(access.lanes, bytes);
    } else if (instruction.unit == isa::Unit::vmem) {
      if (access.lanes != 0) lane_ = static_cast<unsigned>(std::countr_zero(access.lanes));
      isa::for_lanes(access.lanes, [&](unsigned lane) { add({.address = addresses_.global[lane], .bytes = bytes}); });
      add_lds(access.lds_lanes, bytes);
    }
    if (places_.empty()) return;
    if (access.operation != isa::MemoryAccess::Operation::store) note_read(pc, access);
    if (access.operation != isa::MemoryAccess::Operation::load) {
      for (const Range& range : places_) note_write(range);
    }
  }
  void add_lds(std::uint64_t lanes, std::uint32_t bytes) {
    if (places_.empty() && lanes != 0) lane_ = static_cast<unsigned>(std::countr_zero(lanes));
    isa::for_lanes(lanes, [&](unsigned lane) {
      add({.lds = true, .address = addresses_.lds[lane], .bytes = bytes});
      if (!wave_.access.dual) return;
      const std::uint32_t second = addresses_.lds[lane] + wave_.access.dual_distance;
      add({.lds = true, .address = second, .bytes = bytes});
    });
  }
  void add(const Range& range) {
    if (std::find(places_.begin(), places_.end(), range) == places_.end()) places_.push_back(range);
  }

  void note_read(std::uint64_t pc, const isa::MemoryAccess& access) {
    auto read = std::find_if(seen_.reads.begin(), seen_.reads.end(), [pc](const auto& r) { return r.pc == pc; });
    if (read == seen_.reads.end()) {
      if (seen_.reads.size() == WavefrontObservation::kMostReads) {
        seen_.more_reads = true;
        return;
      }
      seen_.reads.push_back({.pc = pc, .ranges = places_});
      read = std::prev(seen_.reads.end());
    } else if (read->ranges != places_) {
      read->moves = true;
      read->ranges = places_;
    }
    const Range& first = places_.front();
    read->atomic = access.operation == isa::MemoryAccess::Operation::atomic;
    read->lane = lane_;
    read->value = 0;
    if (!first.lds) {
      read->value = memory_.value(first.address, first.bytes);
    } else if (first.address < lds_.size()) {
      std::memcpy(&read->value, lds_.data() + first.address,
                  std::min<std::size_t>({first.bytes, 8, lds_.size() - first.address}));
    }
  }

  void note_write(const Range& range) {
    if (!(range.lds ? lds_changed(range) : memory_.changed(range.address, range.bytes))) return;
    ++version_;
    seen_.changes = true;
    if (!written_.insert(range.address << 1 | (range.lds ? 1U : 0U)).second) return;
    if (seen_.writes.size() == WavefrontObservation::kMostWrites) {
      seen_.more_writes = true;
    } else {
      seen_.writes.push_back(range);
    }
  }
  bool lds_changed(const Range& range) {
    if (range.address >= lds_.size()) return false;
    const std::size_t bytes = std::min<std::size_t>(range.bytes, lds_.size() - range.address);
    const bool differs = std::memcmp(lds_.data() + range.address, lds_before_.data() + range.address, bytes) != 0;
    std::memcpy(lds_before_.data() + range.address, lds_.data() + range.address, bytes);
    return differs;
  }

  isa::DecodedCode& code_;
  CopiedMemory memory_;
  std::vector<std::byte> lds_;
  std::vector<std::byte> lds_before_;
  std::vector<std::uint32_t> vectors_;
  isa::LaneAddresses addresses_;
  isa::Wavefront wave_;
  const isa::Allocation allocation_;
  std::vector<Range> places_;  ///< ranges that the instruction accesses
  unsigned lane_ = 0;          ///< lane of the first range
  std::unordered_set<std::uint64_t> written_;
  std::uint64_t version_ = 0;
  RegisterState saved_;
  std::uint64_t saved_at_ = 0;
  WavefrontObservation seen_;
};

/// Maximum code size of a polling loop, in bytes: a poll with its back-off and its exit is far shorter.
constexpr std::uint64_t kLongestSpin = 1024;

}  // namespace

bool WavefrontObservation::spins() const {
  if (end == End::repeats) return true;
  return end == End::limit && last_pc - first_pc <= kLongestSpin && !reads.empty() && !more_reads && !changes &&
         std::none_of(reads.begin(), reads.end(), [](const Read& read) { return read.moves; });
}

bool WavefrontObservation::writes_to(const Range& range) const {
  return std::any_of(writes.begin(), writes.end(), [&range](const Range& written) { return written.overlaps(range); });
}

WavefrontObservation observe_wavefront(const isa::Wavefront& wave, std::uint64_t pc, isa::DecodedCode& code, unsigned limit) {
  return Observer(wave, pc, code).observe(limit);
}

}  // namespace lacuna
