// The detection unit of a compute unit (Duplo, section IV): it looks up the loads of a workspace's tiles in a history of loads,
// and renames the destination of a load whose data are already in a register.
//
//   access()           A load of a tile of the workspace: ID and look-up take duplo.latency cycles after its addresses are
//                      known. A hit sends no request: its registers are valid when the registers of the first load are, or
//                      duplo.copy_cycles later if these are in another SIMD. A miss sends the request, and its registers get an
//                      entry.
//   operation_done()   The load's data have arrived: loads that hit on it complete. The load retires when all earlier memory
//                      instructions of its wavefront have retired, as vmcnt counts.
//   access_lds()       A read of a tile of a workspace in LDS (implicit lowering), whose slab M0 names. A hit takes no cycles
//                      of the LDS.
//   prepare()          A write to a register pair with other readers takes another physical pair; otherwise it drops the pair's
//                      entry.
//   stored()           A store or atomic of any kernel of the core into a workspace drops all entries of the workspace's
//                      convolution (workspace_stores.cpp).
//   invalidate()       An invalidation of the L1 vector cache drops all entries.
//   wavefront_ended()  The end of a wavefront drops the entries of its registers, unless other wavefronts read them.
//
// A tile load is a load by all lanes to an even register, in global memory, without GLC and SLC, that has the form of a tile
// (tile_load.h): an operand of a matrix instruction. All other loads of the workspace are counted by reason and performed as
// usual.
//
// Of a workspace in LDS, tile loads are ds_read_b64 and ds_read_b128 of that form in a slab (lds_reads.h). Stores drop no
// entry: an entry names elements of the input, which stay the same when a slab is overwritten.
//
// With duplo.entry = row, an upper bound, each row of a tile of 16 x 16 has a separate entry, and the row's data move between
// lanes and SIMDs at no cost (row_entries.cpp). A load requests the rows that are not found, and waits for the data of those
// that are found.
//
// Another stage, the lazy core, may delay loads or send their requests itself. It calls perform() when the load executes, so
// that a hit is never held, and depart() when the load's requests leave. Only loads whose requests are all sent get an entry. A
// load that was held retires when its data arrive: vmcnt has already counted it as completed.
//
// Loads execute functionally before they are looked up. With duplo.check, and in debug builds, a load's data are compared with
// those of the register that it hits on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
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
#include "models/duplo/entry_data.h"
#include "models/duplo/equal_data.h"
#include "models/duplo/load_history.h"
#include "models/duplo/shared_registers.h"
#include "models/duplo/tile_load.h"

namespace lacuna {

/// A load that hit a register whose data differ from the loaded data.
struct WrongHit {
  Tick at{};
  std::uint64_t pc = 0;
  std::uint64_t workgroup = 0;
  unsigned wavefront = 0;      ///< number of the wavefront in the workgroup
  TileTag tag{};               ///< tag of both loads
  std::uint64_t row = 0;       ///< first row of the load's tile
  unsigned column = 0;         ///< first column of the load's tile
  std::uint64_t held_row = 0;  ///< first row of the tile in the register
  unsigned held_column = 0;    ///< first column of the tile in the register
  unsigned simd = 0;           ///< SIMD of the register
  unsigned pair = 0;           ///< physical pair of the register
  unsigned lane = 0;           ///< first lane that differs
  std::uint32_t loaded = 0;    ///< word of that lane in memory
  std::uint32_t held = 0;      ///< word of that lane in the register
};

/// A store or atomic of a kernel into the workspace of a convolution.
struct WorkspaceStore {
  std::string kernel;
  Tick at{};
  std::uint64_t pc = 0;
  std::uint64_t workgroup = 0;
  unsigned wavefront = 0;  ///< number of the wavefront in the workgroup
};

/// First wrong hit and first store into the workspace while a convolution's kernel ran.
struct ConvolutionFindings {
  std::optional<WrongHit> wrong{};
  std::optional<WorkspaceStore> store{};
  std::uint64_t dropped = 0;  ///< entries that stores have dropped
};

struct DuploStatistics {
  std::array<std::uint64_t, kDuploCounts> counts{};
  std::uint64_t invalidated = 0;   ///< entries dropped by an invalidation of the unit's caches
  std::uint64_t kernel_ended = 0;  ///< entries that were released by the end of their kernel
  std::uint64_t mapped = 0;        ///< instructions of wavefronts with a convolution, whose registers are looked up in the map
  std::uint64_t unwritten = 0;     ///< registers, summed over lanes, that renamed loads need not write
  std::uint64_t unread = 0;        ///< words, summed over lanes, that hits need not read in LDS
};

class DetectionUnit final : public LoadStage, public CacheMaintenance, private MemoryTokens::Watcher {
 public:
  DetectionUnit(const DuploParameters& parameters, const ActiveConvolutions& convolutions, const LoadStageContext& unit);

  void attach_l1v(FirstLevelCache& cache) { l1v_ = &cache; }
  const DuploStatistics& statistics() const { return statistics_; }
  const DuploHardware& hardware() const { return hardware_; }
  /// Number of look-ups in the L1 cache that were started for loads before they were known to hit.
  const std::uint64_t& cancelled() const { return statistics_.counts[static_cast<std::size_t>(DuploCount::cancelled)]; }
  /// Drops the entries of a convolution whose kernel ended at `at`, and checks the register maps. Returns the findings of the
  /// kernel.
  ConvolutionFindings end_convolution(std::uint8_t number, Tick at);
  /// Events of the unit's load history buffer since record_history_events(), in order.
  std::vector<HistoryEvent>& history_events() { return history_.events(); }
  void record_history_events() { history_.record_events(); }
  /// Whether nothing is in flight and the counts of readers agree with the register maps. For tests.
  bool consistent() const;
  /// For tests: from now on, checks the SIMD's register map and the data of its shared registers after each write to a shared
  /// register and each renaming, and the registers of each entry that is found.
  void check_registers_at_each_change() { checks_registers_ = true; }
  /// Highest number of register pairs of a SIMD in use so far.
  unsigned most_pairs() const;
  unsigned entries(Tick at) const { return history_.used(at); }

  // -- CacheMaintenance: the history is invalidated together with the L1 vector cache, since later loads may see stores of
  // other units. This takes no time.
  Tick invalidate(Tick at) override {
    history_.drop_all(at);
    count_released(nullptr);
    return at;
  }
  Tick write_back(Tick at) override { return at; }
  void drop_clean(std::uint64_t, std::uint64_t) override {}

  // -- LoadStage
  bool serves(const Dispatch& dispatch) const override { return convolutions_.contains(&dispatch); }
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
  void stored(const WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) override;
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
    const WavefrontSlot* slot = nullptr;
    const ActiveConvolution* convolution = nullptr;  ///< null: the kernel has no convolution
    unsigned map = 0;                                ///< number of the wavefront's map in SharedRegisters
    unsigned vgpr_pairs = 0;                         ///< number of pairs of VGPRs in the map; the pairs of AGPRs follow them
    isa::RegisterSet watched;                        ///< registers with other readers or an entry
    std::vector<std::uint32_t> operations;           ///< memory instructions that have not retired, in order
    Cycles retired{};                                ///< time of the last retirement
    Cycles lds_done{};                               ///< completion of the last LDS instruction; only for workspaces in LDS
  };
  /// A memory instruction of a wavefront whose kernel has a convolution.
  struct Operation {
    std::uint32_t wavefront = kNone;  ///< index of the instruction's wavefront; kNone: the wavefront has ended, or vmcnt has
                                      ///< already counted the load
    bool done = false;                ///< the instruction has completed
    Cycles at{};                      ///< completion of the instruction
    std::optional<Token> token;       ///< nullopt: the requests of the instruction are being sent
    unsigned waits = 0;               ///< number of loads in flight that this load has hit and waits for
    Cycles ready{};                   ///< latest of the known arrival times of data that the load has hit
    Cycles copy{};                    ///< cycles to copy data from other SIMDs
    /// An entry that the load has made or hit.
    struct Part {
      Handle entry;
      std::uint32_t generation;
      bool owner;  ///< the load has made the entry
    };
    std::vector<Part> parts;
    std::vector<std::uint32_t> waiters;  ///< loads that have hit this load's entries and wait for its data
  };
  /// The data of an entry, and the load that brought them.
  struct Contents {
    std::uint32_t operation = kNone;  ///< operation of the load while it is in flight; kNone: the data have arrived
    Cycles ready{};                   ///< arrival of the data
    std::uint64_t row = 0;            ///< first row in the workspace
    unsigned column = 0;              ///< first column in the workspace
    std::uint32_t wavefront = 0;      ///< index of the load's wavefront
    const Dispatch* dispatch = nullptr;
    std::uint64_t workgroup = 0;
  };
  /// Part of a load that one entry covers: its tile, or one row of the tile.
  struct Piece {
    LoadTag tag;
    std::uint64_t row;    ///< first row in the workspace
    unsigned column;      ///< first column in the workspace
    unsigned number;      ///< row in the tile
    std::uint64_t lanes;  ///< mask of the lanes that hold the piece
  };

  Wavefront& wavefront(const WavefrontSlot& slot) { return wavefronts_[index_of(slot)]; }
  std::uint32_t index_of(const WavefrontSlot& slot) const { return slot.simd->number * slots_ + slot.number; }
  static std::uint16_t simd_of(const WavefrontSlot& slot) { return static_cast<std::uint16_t>(slot.simd->number); }
  void begin(WavefrontSlot& slot, Wavefront& w);

  void overwrite(const WavefrontSlot& slot, Wavefront& w, const isa::DecodedInstruction& instruction, Cycles cycle);
  void overwrite_pair(const WavefrontSlot& slot, Wavefront& w, unsigned logical, bool partial, Cycles cycle);
  unsigned logical_pair(const Wavefront& w, const isa::RegisterRange& range) const;
  static isa::RegisterRange registers_of(const Wavefront& w, unsigned logical);

  // register_checks.cpp: checks for debug builds and tests. They throw std::logic_error.
  /// Calls `visit` with the physical pair and the data of each logical pair of the wavefronts of a SIMD.
  template <typename Visit>
  void each_reader(std::uint16_t simd, const Visit& visit) const;
  /// Checks that the counts of readers agree with the maps, and that all readers of a pair hold the same data.
  void check_registers(std::uint16_t simd) const;
  /// Checks that the registers of an entry that has been found hold the entry's data.
  void check_entry(Handle entry) const;
  bool found_wrong() const { return statistics_.counts[static_cast<std::size_t>(DuploCount::hits_wrong)] != 0; }

  /// Whether the wavefront's kernel has a convolution whose workspace is in memory.
  static bool has_workspace_in_memory(const Wavefront& w) { return w.convolution != nullptr && !w.convolution->lds; }
  /// Classifies a load; nullopt: no lane's address is in the workspace.
  std::optional<ClassifiedLoad> classify(const ActiveConvolution& c, const isa::MemoryAccess& access,
                                         const isa::RegisterRange& destination);
  /// Splits a tile into pieces. The result is valid until the next call.
  std::span<const Piece> split(const WavefrontSlot& slot, const ActiveConvolution& c, const TileLoad& tile);
  /// Looks up the pieces of a load; those that are not found get entries if the load departs whole.
  Departure look_up(WavefrontSlot& slot, Wavefront& w, const StagedAccess& load, const TileLoad& tile, Counters counters,
                    Cycles cycle);
  /// Looks up a piece, and counts and checks the hit, or counts the reason why there is none. kNone: not found.
  Handle find(const WavefrontSlot& slot, const Wavefront& w, const StagedAccess& load, const Piece& piece, unsigned zeros,
              Cycles cycle);
  /// Maps the destination of a piece that has been found to the entry's physical registers, or copies their data from another
  /// SIMD. Returns the cycles of the copy.
  Cycles rename(const WavefrontSlot& slot, Wavefront& w, const StagedAccess& load, const Piece& piece, Handle entry);
  /// Serves a piece of a load from an entry. `operation`: record of the load.
  void hit(const WavefrontSlot& slot, Wavefront& w, const StagedAccess& load, const Piece& piece, Handle entry,
           std::uint32_t operation);
  /// Performs a load of which all pieces have been found. Returns its token.
  Token perform_hit(WavefrontSlot& slot, Wavefront& w, const StagedAccess& load, std::uint32_t operation, Counters counters,
                    Cycles cycle);
  /// Counts the look-ups of a load that executes: one for each of its pieces.
  void count_look_ups(const WavefrontSlot& slot, const Wavefront& w, std::size_t pieces);
  /// Counts a hit and, with duplo.check, compares the data. Call it before the load's registers are renamed.
  void count_hit(const WavefrontSlot& slot, const Wavefront& w, const StagedAccess& load, const Piece& piece, Handle entry,
                 Cycles cycle);
  /// Compares the data in the entry's registers with those of the load.
  void check_hit(const WavefrontSlot& slot, const Wavefront& w, const StagedAccess& load, const Piece& piece, Handle entry,
                 Cycles cycle);
  /// Reads the words of a piece from the registers of its load, register by register.
  void read_words(const WavefrontSlot& slot, const isa::RegisterRange& destination, const Piece& piece,
                  std::vector<std::uint32_t>& words) const;
  /// Counts a piece that was not found if a register of the history holds equal data. `digest`: of the piece's words in
  /// `words_`.
  void count_repeat(const WavefrontSlot& slot, std::uint64_t digest);
  /// Makes an entry for a piece. `operation`: record of the load; kNone: the caller sets the arrival of the data.
  Handle allocate(const WavefrontSlot& slot, Wavefront& w, const StagedAccess& load, const Piece& piece, unsigned zeros,
                  std::uint32_t operation);
  /// Looks up and performs an LDS read of a tile. Returns its completion.
  LocalDataShare::Result read_tile(WavefrontSlot& slot, Wavefront& w, const isa::DecodedInstruction& instruction,
                                   const TileLoad& tile, Cycles cycle);

  // workspace_stores.cpp: stores into workspaces
  /// Whether an executed access changes bytes of the convolution's workspace in memory.
  bool changes(const ActiveConvolution& c, const isa::MemoryAccess& access) const;

  // row_entries.cpp: row entries
  bool by_row() const { return parameters_.entry == DuploEntry::row; }
  void split_rows(const ActiveConvolution& c, const TileLoad& tile, const LoadTag& common);
  /// Number by which TileRegisters identifies a row of a physical pair.
  static std::uint16_t place_of(SharedRegisters::Pair pair, unsigned row);
  SharedRegisters::Pair pair_of(std::uint16_t place) const;
  /// Drops the entries of a physical pair that is overwritten, or whose wavefront has ended.
  void overwrite_physical(std::uint16_t simd, SharedRegisters::Pair pair, Tick at, HistoryRelease why);
  /// Counts the lines that a load saves if it requests only `lanes_left`.
  void count_lines_saved(const WavefrontSlot& slot, const isa::MemoryAccess& access, std::uint64_t lanes_left);

  // loads_in_flight.cpp: completion
  /// Allocates a record for a memory instruction. Returns its number.
  std::uint32_t new_operation();
  /// Connects a record with the token of its requests. `ordered`: the instruction retires in its wavefront's order, by vmcnt.
  void follow(const WavefrontSlot& slot, Wavefront& w, std::uint32_t number, Token token, bool ordered);
  /// Makes a load wait for the data of an entry. `copy`: cycles to copy them afterwards.
  void wait_for(std::uint32_t number, Handle entry, Cycles copy);
  void operation_done(std::uint32_t number, Cycles done) override;
  void complete_waiters(std::uint32_t number, Cycles done);
  void retire_operation(std::uint32_t number, Cycles at);

  std::span<const std::uint32_t> plane(const WavefrontSlot& slot, const isa::RegisterRange& registers, unsigned r) const;
  void count(const WavefrontSlot& slot, DuploCount what, std::uint64_t amount = 1);
  /// Counts the entries released since the last call. `slot`: slot of the instruction that has released them, or null.
  void count_released(const WavefrontSlot* slot);

  const DuploParameters& parameters_;
  const bool checks_hits_;
  bool checks_registers_;
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
  std::array<std::uint64_t, kHistoryReleases> releases_counted_{};  ///< LoadHistory::releases() at the last count_released()
  std::vector<SharedRegisters> registers_;                          ///< indexed by SIMD
  std::vector<Wavefront> wavefronts_;
  std::vector<Operation> operations_;
  std::vector<std::uint32_t> free_operations_;
  std::uint32_t departing_ = kNone;  ///< operation of the load that is departing
  std::vector<Piece> pieces_;        ///< pieces of the load being looked up
  std::vector<Handle> found_;        ///< entries found for `pieces_`, in perform()
  std::vector<std::uint32_t> words_;
  EntryData entry_data_;                                            ///< used with duplo.check
  EqualData equal_data_;                                            ///< used with duplo.check
  std::vector<Contents> contents_;                                  ///< indexed by entry
  std::unordered_map<std::uint8_t, ConvolutionFindings> findings_;  ///< indexed by convolution
  std::vector<std::uint8_t> changed_;                               ///< convolutions whose workspace a store has changed
  DuploStatistics statistics_;
};

}  // namespace lacuna
