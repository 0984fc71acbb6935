// The detection unit of a compute unit (Duplo, section IV): it looks up the loads of a workspace's tiles in a history of loads,
// and renames the destination of one whose data a register holds.
//
//   load    access()            a tile of the workspace: ID and look-up take duplo.latency cycles from its addresses on.
//                               Hit: no request; the registers are there when those of the first load are, plus
//                               duplo.copy_cycles from another SIMD. Miss: the request is made, the registers get an entry
//           operation_done()    the load's data have arrived: loads that hit on it complete, and it retires when all memory
//                               instructions of its wavefront before it have (as vmcnt counts)
//           access_lds()        likewise for a tile of a workspace in LDS (implicit lowering), which M0 describes. A hit takes
//           no
//                               cycles of the LDS
//   write   prepare()           of a register pair with other readers: it takes another physical pair. Without: its entry goes
//   store   access()            into the workspace: all entries of the convolution go
//           invalidate()        of the L1 vector cache: all entries go
//   end     wavefront_ended()   of the wavefront: entries of its registers go unless others read them
//
// A tile load is a load of 8 or 16 bytes a lane by all lanes, in global memory, without GLC and SLC, to an even register, with
// lane l at base + (l mod R) pitch + (l / R) bytes for R = 16 or 32: an operand of a matrix instruction. All other loads of the
// workspace are counted by reason and made as ever.
//
// Of a workspace in LDS, ds_read_b64 and ds_read_b128 that lie so in a slab are tile loads (lds_reads.h), and stores drop no
// entry: slabs come and go while the elements of the input that they hold stay the same.
//
// With duplo.entry = row, an upper bound, each row of a tile of 16 x 16 has an entry of its own, and its data move between
// lanes and SIMDs at no cost (row_entries.cpp). A load requests the rows that are not found, and waits for those that are.
//
// Another stage may hold loads back, or send their requests itself (the lazy core). It asks when the load executes, perform():
// a hit is never held; and again when the load's requests leave, depart(). Only loads that leave whole get an entry. A load
// that was held retires when its data arrive: vmcnt has counted it before.
//
// Function is eager: the load has executed. What a hit's register would hold is compared with what it has loaded.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "models/cache/first_level_cache.h"
#include "models/common/transport/cache_maintenance.h"
#include "models/compute/load_stage.h"
#include "models/compute/memory/physical_addresses.h"
#include "models/duplo/active_convolution.h"
#include "models/duplo/duplo_hardware.h"
#include "models/duplo/duplo_parameters.h"
#include "models/duplo/duplo_texts.h"
#include "models/duplo/load_history.h"
#include "models/duplo/shared_registers.h"
#include "models/duplo/tile_load.h"

namespace lacuna {

/// A load that hit on a register with other data than its own.
struct WrongHit {
  Tick at{};
  std::uint64_t pc = 0;
  std::uint64_t workgroup = 0;
  unsigned wavefront = 0;  ///< in the workgroup
  TileTag tag{};           ///< of both loads
  std::uint64_t row = 0;   ///< of the workspace: where the load's tile begins
  unsigned column = 0;
  std::uint64_t held_row = 0;  ///< where the tile begins that the register holds
  unsigned held_column = 0;
  unsigned simd = 0;         ///< of the register
  unsigned pair = 0;         ///< its physical pair
  unsigned lane = 0;         ///< the first that differs
  std::uint32_t loaded = 0;  ///< its word
  std::uint32_t held = 0;
};

struct DuploStatistics {
  std::array<std::uint64_t, kDuploCounts> counts{};
  std::uint64_t invalidated = 0;  ///< entries that went with an invalidation of the unit's caches
  std::uint64_t mapped = 0;       ///< instructions of wavefronts with a convolution: registers are found by the map
  std::uint64_t unwritten = 0;    ///< lanes' registers that renamed loads need not write
  std::uint64_t unread = 0;       ///< lanes' words that hits need not read in LDS
};

class DetectionUnit final : public LoadStage, public CacheMaintenance, private MemoryTokens::Watcher {
 public:
  DetectionUnit(const DuploParameters& parameters, const ActiveConvolutions& convolutions, const LoadStageContext& unit);

  void attach_l1v(FirstLevelCache& cache) { l1v_ = &cache; }
  const DuploStatistics& statistics() const { return statistics_; }
  const DuploHardware& hardware() const { return hardware_; }
  /// Look-ups of the L1 cache that hits had begun.
  const std::uint64_t& cancelled() const { return statistics_.counts[static_cast<std::size_t>(DuploCount::cancelled)]; }
  /// A convolution's kernel has ended. Its number may become that of another one. Returns its first wrong hit.
  std::optional<WrongHit> end_convolution(std::uint8_t number);
  /// Whether nothing is in flight, and physical registers are those of the maps. For tests.
  bool consistent() const;
  unsigned entries(Tick at) const { return history_.used(at); }

  // -- CacheMaintenance, with the L1 vector cache: other units' stores may be visible from then on. The history takes no time.
  Tick invalidate(Tick at) override {
    statistics_.invalidated += history_.drop_all(at);
    return at;
  }
  Tick write_back(Tick at) override { return at; }
  void drop_clean(std::uint64_t, std::uint64_t) override {}

  // -- LoadStage
  StageVerdict prepare(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) override {
    Wavefront& w = wavefront(slot);
    if (slot.group->dispatch != w.dispatch) [[unlikely]]
      begin(slot, w);
    if (w.convolution != nullptr) {
      ++statistics_.mapped;
      overwrite(slot, w, instruction, cycle);
    }
    return {};
  }
  MemoryTokens::Token access(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Counters counters,
                             Cycles cycle) override;
  std::optional<MemoryTokens::Token> perform(WavefrontSlot& slot, const StagedAccess& load, Counters counters,
                                             Cycles cycle) override;
  Departure depart(WavefrontSlot& slot, const StagedAccess& access, Counters counters, Cycles cycle) override;
  void departed(WavefrontSlot& slot, const StagedAccess& access, MemoryTokens::Token token) override;
  LocalDataShare::Result access_lds(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) override;
  void wavefront_ended(WavefrontSlot& slot) override;
  void reset() override;
  void describe(StatisticsGroup& unit) const override;
  void describe_energy(EnergyMeter& meter, const ComputeEnergy& energy) const override;

 private:
  using Token = MemoryTokens::Token;
  using Handle = LoadHistory::Handle;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Wavefront {
    const Dispatch* dispatch = nullptr;
    const ActiveConvolution* convolution = nullptr;  ///< null: its kernel has none
    unsigned map = 0;                                ///< its registers in SharedRegisters
    unsigned vgpr_pairs = 0;                         ///< AGPRs follow these
    isa::RegisterSet watched;                        ///< registers of pairs that others read, or that entries have
    std::vector<std::uint32_t> operations;           ///< memory instructions that have not retired, in order
    Cycles retired{};                                ///< when the last one retired
    Cycles lds_done{};                               ///< when its last LDS instruction completes, with a workspace in LDS
  };
  /// A memory instruction of a wavefront with a convolution.
  struct Operation {
    std::uint32_t wavefront = kNone;  ///< index; kNone: it has ended, or vmcnt has counted the load before
    bool done = false;
    Cycles at{};  ///< when, if it is
    std::optional<Token> token;
    unsigned waits = 0;  ///< loads in flight on which it has hit
    Cycles ready{};      ///< when the data of its other hits are in its registers
    Cycles copy{};       ///< that hits on registers of other SIMDs take
    /// Entries that it has made or found.
    struct Part {
      Handle entry;
      std::uint32_t generation;
      bool owner;  ///< it has made it
    };
    std::vector<Part> parts;
    std::vector<std::uint32_t> waiters;  ///< loads that hit on it
  };
  /// What an entry's load has brought.
  struct Contents {
    std::uint32_t operation = kNone;  ///< that brings it; kNone: it is there
    Cycles ready{};
    std::uint64_t row = 0;  ///< of the workspace: where the tile begins
    unsigned column = 0;
    std::uint32_t wavefront = 0;  ///< index
    const Dispatch* dispatch = nullptr;
    std::uint64_t workgroup = 0;
    std::vector<std::uint32_t> words;  ///< with duplo.check
  };
  /// Part of a load that one entry covers.
  struct Piece {
    LoadTag tag;
    std::uint64_t row;  ///< of the workspace: where it begins
    unsigned column;
    unsigned number;      ///< row of the tile
    std::uint64_t lanes;  ///< that it fills
  };

  Wavefront& wavefront(const WavefrontSlot& slot) { return wavefronts_[index_of(slot)]; }
  std::uint32_t index_of(const WavefrontSlot& slot) const { return slot.simd->number * slots_ + slot.number; }
  static std::uint16_t simd_of(const WavefrontSlot& slot) { return static_cast<std::uint16_t>(slot.simd->number); }
  void begin(WavefrontSlot& slot, Wavefront& w);

  void overwrite(const WavefrontSlot& slot, Wavefront& w, const isa::DecodedInstruction& instruction, Cycles cycle);
  void overwrite_pair(const WavefrontSlot& slot, Wavefront& w, unsigned logical, bool partial, Cycles cycle);
  unsigned logical_pair(const Wavefront& w, const isa::RegisterRange& range) const;
  static isa::RegisterRange registers_of(const Wavefront& w, unsigned logical);

  /// Whether the wavefront's kernel has a convolution with its workspace in memory.
  static bool has_workspace_in_memory(const Wavefront& w) { return w.convolution != nullptr && !w.convolution->lds; }
  /// Nothing: it touches no byte of the workspace.
  std::optional<ClassifiedLoad> classify(const ActiveConvolution& c, const isa::MemoryAccess& access,
                                         const isa::RegisterRange& destination);
  /// The pieces of a tile, until the next call.
  std::span<const Piece> split(const WavefrontSlot& slot, const ActiveConvolution& c, const TileLoad& tile);
  /// Looks up the pieces of a load; those that are not found get entries if the load departs whole.
  Departure look_up(WavefrontSlot& slot, Wavefront& w, const StagedAccess& load, const TileLoad& tile, Counters counters,
                    Cycles cycle);
  /// Looks up a piece, and counts and checks the hit, or counts the reason why there is none. kNone: not found.
  Handle find(const WavefrontSlot& slot, const Wavefront& w, const StagedAccess& load, const Piece& piece, unsigned zeros,
              Cycles cycle);
  /// The destination of a piece that has been found becomes one with the entry's registers, or a copy of them. Returns the
  /// cycles of the copy.
  Cycles rename(const WavefrontSlot& slot, Wavefront& w, const StagedAccess& load, const Piece& piece, Handle entry);
  /// Takes a piece of a load, `operation`, from an entry.
  void hit(const WavefrontSlot& slot, Wavefront& w, const StagedAccess& load, const Piece& piece, Handle entry,
           std::uint32_t operation);
  /// Performs a load of which all pieces have been found. Returns its token.
  Token perform_hit(WavefrontSlot& slot, Wavefront& w, const StagedAccess& load, std::uint32_t operation, Counters counters,
                    Cycles cycle);
  /// Counts the look-ups of a load that executes: one of each of its pieces.
  void count_look_ups(const WavefrontSlot& slot, const Wavefront& w, std::size_t pieces);
  /// Counts a hit, and checks it with duplo.check. Before its registers are renamed.
  void count_hit(const WavefrontSlot& slot, const Wavefront& w, const StagedAccess& load, const Piece& piece, Handle entry,
                 Cycles cycle);
  /// Compares what the entry's registers hold with what the load has got.
  void check_hit(const WavefrontSlot& slot, const Wavefront& w, const StagedAccess& load, const Piece& piece, Handle entry,
                 Cycles cycle);
  /// The words of a piece that the load has put in its registers, register by register.
  void read_words(const WavefrontSlot& slot, const isa::RegisterRange& destination, const Piece& piece,
                  std::vector<std::uint32_t>& words) const;
  /// Makes an entry of a piece. `operation`: of the load that brings its data; kNone: the caller sets when they are there.
  Handle allocate(const WavefrontSlot& slot, Wavefront& w, const StagedAccess& load, const Piece& piece, unsigned zeros,
                  std::uint32_t operation);
  /// An LDS read of a tile that has been found, or has not. Returns its completion.
  LocalDataShare::Result read_tile(WavefrontSlot& slot, Wavefront& w, const isa::DecodedInstruction& instruction,
                                   const TileLoad& tile, Cycles cycle);

  // row_entries.cpp: entries of rows
  bool by_row() const { return parameters_.entry == DuploEntry::row; }
  void split_rows(const ActiveConvolution& c, const TileLoad& tile, const LoadTag& common);
  /// Number of a row's place in a physical pair, in TileRegisters.
  static std::uint16_t place_of(SharedRegisters::Pair pair, unsigned row);
  SharedRegisters::Pair pair_of(std::uint16_t place) const;
  /// Drops the entries of a physical pair that is overwritten. Returns how many.
  unsigned overwrite_physical(std::uint16_t simd, SharedRegisters::Pair pair, Tick at);
  /// Counts the lines that a load's request does not have because only `lanes_left` are requested.
  void count_lines_saved(const WavefrontSlot& slot, const isa::MemoryAccess& access, std::uint64_t lanes_left);

  // loads_in_flight.cpp: completion
  /// Takes a record for a memory instruction. Returns its number.
  std::uint32_t new_operation();
  /// Connects a record with the token of its requests. `ordered`: the instruction retires in its wavefront's order, by vmcnt.
  void follow(const WavefrontSlot& slot, Wavefront& w, std::uint32_t number, Token token, bool ordered);
  /// Adds the data of an entry to those that a load waits for.
  void wait_for(std::uint32_t number, Handle entry, Cycles copy);
  void operation_done(std::uint32_t number, Cycles done) override;
  void complete_waiters(std::uint32_t number, Cycles done);
  void retire_operation(std::uint32_t number, Cycles at);

  std::span<const std::uint32_t> plane(const WavefrontSlot& slot, const isa::RegisterRange& registers, unsigned r) const;
  void count(const WavefrontSlot& slot, DuploCount what, std::uint64_t amount = 1);

  const DuploParameters& parameters_;
  const ActiveConvolutions& convolutions_;
  const ExtensionSlots texts_ = duplo_slots();
  const Clock clock_;
  MemoryTokens& tokens_;
  VectorMemory& memory_;
  PhysicalAddresses physical_;
  FirstLevelCache* l1v_ = nullptr;
  const unsigned slots_;
  const DuploHardware hardware_;
  LoadHistory history_;
  std::vector<SharedRegisters> registers_;  ///< by SIMD
  std::vector<Wavefront> wavefronts_;
  std::vector<Operation> operations_;
  std::vector<std::uint32_t> free_operations_;
  std::uint32_t departing_ = kNone;  ///< operation of the load that departs
  std::vector<Piece> pieces_;        ///< of the load that is looked up
  std::vector<Handle> found_;        ///< entries of its pieces, in perform()
  std::vector<std::uint32_t> words_;
  std::vector<Contents> contents_;                    ///< by entry
  std::unordered_map<std::uint8_t, WrongHit> wrong_;  ///< the first, by convolution
  DuploStatistics statistics_;
};

}  // namespace lacuna
