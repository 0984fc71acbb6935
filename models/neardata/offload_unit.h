// The offload unit of a core: offload queue, its management, and packet generation (Opportunistic Computing, ISCA '19, sections
// 4.2 and 4.4.1, Figs. 7 to 9).
//
// The unit is located between the issue of vector memory instructions and the vector memory unit, and acts on tagged
// instructions:
//
//   first         the wavefront takes the packet generation unit, if necessary after a wait. While it has the unit, the
//                 wavefront issues before all other wavefronts of its SIMD
//   loads         addresses pass the address unit; each line is looked up in the L1 cache without being allocated. Lanes whose
//                 lines are absent are offloaded: lanes with the same lines, at most 32, form a part of the chain, which has an
//                 entry of the queue. The other lanes' loads are performed as usual
//   operation     is committed without execution if all lanes are offloaded: the operation needs neither the SIMD's vector ALU
//                 nor its issue slot. Otherwise it executes when the loads of lanes that stay at the core have returned
//   last          each part's packet leaves for the node where its lines meet. The wavefront issues nothing until results or
//                 acknowledgements of all parts have returned
//
// A part whose second load hits in the L1 cache, or whose loads meet at no node that computes, is flushed at its second load:
// the part's lanes stay at the core. If no node can compute only because of the line of the store, the core performs the loads
// after the store has issued, then computes and stores, as for packets that a full service queue rejects. These operations
// occupy the vector ALU when the wavefront continues, and so does a sum that combines a result with a register.
//
// All instructions change registers when they issue: values never depend on where a chain is performed. For vmcnt, an offloaded
// load is complete at issue, since only the chain uses the loaded registers; an offloaded store is complete when it is
// acknowledged.
//
// Over the network, the unit sends packets of chains and receives results, acknowledgements, and the data of packets that a
// full service queue has rejected.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/cache/first_level_cache.h"
#include "models/compute/load_stage.h"
#include "models/gpu/node_requester.h"
#include "models/neardata/chain_packet.h"
#include "models/neardata/chain_times.h"
#include "models/neardata/compute_packet.h"
#include "models/neardata/near_data_network.h"
#include "models/neardata/near_data_texts.h"
#include "models/neardata/recent_use.h"

namespace lacuna {

struct NearDataStatistics {
  std::array<std::uint64_t, kNearDataCounts> counts{};  ///< counts, indexed by NearDataCount
  std::uint64_t look_ups = 0;                           ///< look-ups in the L1 cache's tags for offloaded loads
  std::uint64_t table_reads = 0;                        ///< reads of the table of meeting nodes, one for each part
  std::uint64_t committed = 0;                          ///< operations committed without execution: all lanes were offloaded
  std::uint64_t core_lanes = 0;     ///< lanes of chain operations that the core performed, including sums with results
  std::uint64_t address_words = 0;  ///< words of addresses that chains' loads and stores have read from registers
  std::uint64_t loaded_words = 0;   ///< words that chains' loads have written to registers
  std::uint64_t stored_words = 0;   ///< words of data that chains' stores have read from registers
  std::uint64_t most_entries = 0;   ///< highest number of queue entries in use
  Tick entry_time{};                ///< time for which queue entries were in use, summed over entries
};

/// Messages that a core has sent and received since the last reset.
struct OffloadFlow {
  std::uint64_t packets = 0;
  std::uint64_t results = 0;        ///< results and acknowledgements
  std::uint64_t bounced_lines = 0;  ///< lines of packets that were rejected
};

class OffloadUnit final : public LoadStage, public NodeRequester, private MemoryClient {
 public:
  OffloadUnit(NearDataNetwork& network, const LoadStageContext& unit);

  /// Attaches the L1 vector cache of the unit. Must be called before the first access.
  void attach_l1v(FirstLevelCache& l1v) { l1v_ = &l1v; }
  unsigned core() const { return core_; }
  const ComputeUnitParameters& unit_parameters() const { return unit_; }
  const ChainPacket& packet(unsigned number) const { return parts_[number].packet; }
  const NearDataStatistics& statistics() const { return statistics_; }
  const OffloadFlow& flow() const { return flow_; }
  /// Recent use of the core's vector ALUs by wavefronts at time `at`, in units of 1/RecentUse::kWhole.
  unsigned alu_use(Tick at) { return alu_use_.share(alu_busy_, at, clock_, unit_.simds); }
  /// Recent use of the port of the core's LDS by wavefronts, likewise.
  unsigned lds_use(Tick at) { return lds_use_.share(lds().busy_cycles(), at, clock_); }
  ChainTimes& times(unsigned number) { return parts_[number].times; }
  /// Compares memory with the data that the loads of a part have read (`ndc.check`). A service queue calls this when it reads
  /// the operands.
  void compare_operands(unsigned number);
  /// Records the peak occupancy of a service queue's input while a part's packet was in that input.
  void count_input(unsigned number, std::uint64_t fill);
  /// Invariants violated when no kernel runs, as text for messages; empty if all hold.
  std::string remains() const;
  /// Whether no chain is under construction or in flight.
  bool idle() const { return used_ == 0 && free_chains_.size() == chains_.size() && free_parts_.size() == parts_.size(); }

  // -- LoadStage
  StageVerdict prepare(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) override;
  bool commits(const WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) const override;
  MemoryTokens::Token access(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Counters counters,
                             Cycles cycle) override;
  void wavefront_ended(WavefrontSlot& slot) override;
  void reset() override;
  void describe(StatisticsGroup& unit) const override;
  void describe_energy(EnergyMeter& meter, const ComputeEnergy& energy) const override;

  // -- NodeRequester
  void departures(Tick, std::vector<Departure>&) override {}
  bool sends_messages() const override { return true; }
  void messages(Tick end, std::vector<Message>& out) override;
  Tick next_departure() const override { return next_message_; }
  /// Receives the data of a load whose part a service queue has rejected.
  void complete(std::uint32_t part, Tick at, const LatencyBreakdown& below) override;
  /// Receives the result or the acknowledgement of a part.
  void receive(std::uint32_t part, const Passage& passage) override;
  const char* name() const override { return "offload unit"; }

 private:
  static constexpr std::uint16_t kNone = 0xffff;
  static constexpr unsigned kMostOwnStores = 64;
  static constexpr std::uint64_t kLowLanes = 0xffff'ffff;
  using Lanes = std::uint64_t;
  using Token = MemoryTokens::Token;
  /// Byte offsets of an operand in its lines, by lane of the wavefront.
  using Places = std::array<std::uint8_t, isa::kLanes>;

  /// Bytes of a line that the core stores.
  struct StoredLine {
    std::uint64_t bus = 0;
    ByteMask bytes{};
  };
  /// A part of a chain.
  struct Part {
    ChainPacket packet;
    std::uint16_t chain = kNone;  ///< index in chains_
    bool queued = false;          ///< the part has an entry of the offload queue; false: the core performs the part
    std::uint8_t entry = 0;       ///< number of the offload queue entry
    std::uint8_t missing = 0;     ///< number of pending loads, then of pending stores, of a part that the core performs
    Tick loaded{};                ///< time at which the last of the loads returned
    unsigned lanes_changed = 0;   ///< number of lanes whose data in memory have changed, found by compare_operands()
    Tick entered{};               ///< time at which the part got its queue entry
    RemoteAccess latest{};        ///< network time of the access that returned at `loaded`, for a rejected packet
    ChainTimes times{};
    std::vector<StoredLine> stored;  ///< lines that the core stores, if the core performs the part
  };
  /// Data that the lanes of a load have read, and their location in memory (`ndc.check`).
  struct ReadOperand {
    std::array<const std::byte*, isa::kLanes> memory;
    std::array<std::uint32_t, isa::kLanes> values;
  };
  /// A chain that a wavefront has begun.
  struct OpenChain {
    const Chain* chain = nullptr;
    const PacketCode* code = nullptr;
    WavefrontSlot* slot = nullptr;  ///< null: the wavefront has been dropped
    std::array<Places, 3> places;   ///< positions of the first load, the second load and the store
    std::uint32_t immediate = 0;
    std::vector<ReadOperand> read;     ///< data read by each load, with `ndc.check`
    std::vector<std::uint16_t> parts;  ///< parts whose results are not known yet
    Lanes staying = 0;                 ///< lanes that remain at the core
    Cycles begun{};
    unsigned fills = 0;      ///< number of pending loads of flushed parts for which the operation waits
    Cycles filled{};         ///< time at which the last fill returned
    bool closing = false;    ///< the chain's last instruction has issued
    bool offloaded = false;  ///< packets have been sent for the chain
    bool at_core = false;    ///< operands of a part have arrived at the core, which performs the part's operations
    unsigned stores = 0;     ///< number of incomplete stores of parts, for which the token waits
    Token store = 0;         ///< token of the store instruction
    Cycles stored{};         ///< time at which the latest store completed
    Cycles done{};           ///< time of the latest result of a part
    Cycles in_registers{};   ///< time from which the latest result or operand is in the core's registers
  };
  struct Wavefront {
    const Dispatch* dispatch = nullptr;
    std::shared_ptr<const TaggedKernel> kernel;  ///< null: the kernel has no chains
    std::vector<std::uint16_t> open;             ///< chains under construction, as indices in chains_
    std::uint16_t closing = kNone;               ///< chain for whose results the wavefront waits
    std::uint16_t filling = kNone;               ///< chain for whose fills the wavefront is held
    std::uint16_t accessing = kNone;  ///< chain whose second load or store has issued; kNone once it has accessed global memory
    bool stores_elsewhere = false;    ///< `accessing` refers to the chain's store, not to its second load
    Cycles not_before{};              ///< time from which results and operands of the wavefront's last chain are in registers
    std::uint64_t operations = 0;     ///< operations of the last chain that the core performs before the next instruction
    Lanes uncounted = 0;              ///< lanes of a chain's load or store whose registers have not been counted
    bool builds = false;              ///< the wavefront has a packet generation unit
    std::vector<std::uint64_t> stores;  ///< lines of the wavefront's stores that may be unacknowledged
    bool many_stores = false;           ///< more stores may be unacknowledged than `stores` has room for
  };
  /// A request of the offload unit to the L1 cache.
  struct OwnRequest {
    enum class Kind : std::uint8_t { fill, core_load, store } kind = Kind::fill;
    std::uint16_t chain = kNone;
    std::uint16_t part = kNone;
    Token token = 0;
    bool counted = false;  ///< `token` counts the request
  };
  struct LineLanes {
    std::uint64_t line = 0;  ///< GPU virtual address of the line
    std::uint64_t bus = 0;   ///< bus address of the line
    Lanes lanes = 0;
    bool in_cache = false;  ///< the line is served by a last-level cache
  };

  Wavefront& wavefront(const WavefrontSlot& slot) { return wavefronts_[slot.simd->number * slots_ + slot.number]; }
  void begin_kernel(Wavefront& w, const WavefrontSlot& slot);
  /// Whether the role is a load. Either operand may be loaded first.
  static bool loads(ChainRole role) { return role == ChainRole::load_a || role == ChainRole::load_b; }
  // Work before an instruction issues:
  StageVerdict prepare_tagged(WavefrontSlot& slot, Wavefront& w, const isa::DecodedInstruction& instruction, Cycles cycle);
  StageVerdict perform_operations(WavefrontSlot& slot, Wavefront& w, Cycles cycle);
  /// Lanes of the chain that are offloaded: those of all its parts.
  Lanes offloaded(const OpenChain& chain) const;
  /// Counts the registers of a chain's load or store that has executed.
  void count_registers(Wavefront& w, ChainRole role, Lanes offloaded);
  void leave_global_memory(WavefrontSlot& slot, Wavefront& w, Cycles cycle);
  bool leave_code(WavefrontSlot& slot, Wavefront& w, Cycles cycle);
  bool take_builder(WavefrontSlot& slot, Wavefront& w, Cycles cycle);
  void release_builder(WavefrontSlot& slot, Wavefront& w, Cycles cycle);
  static void build(WavefrontSlot& slot, Wavefront& w, bool builds);
  void hold(WavefrontSlot& slot, Cycles cycle);
  void resume(WavefrontSlot& slot, NearDataCause cause, Cycles at);
  // Accesses of chains, and their division into parts:
  Token begin_chain(WavefrontSlot& slot, const TaggedKernel::Place& place, const isa::DecodedInstruction& instruction,
                    Counters counters, Cycles cycle);
  Token second_load(WavefrontSlot& slot, std::uint16_t open, Counters counters, Cycles cycle);
  Token store(WavefrontSlot& slot, std::uint16_t open, Counters counters, Cycles cycle);
  Token note_store(WavefrontSlot& slot, Wavefront& w, Token token);
  static void note_store(Wavefront& w, std::uint64_t bus);
  bool stores_to(WavefrontSlot& slot, Wavefront& w, std::uint64_t bus, Cycles cycle);
  bool can_offload(const isa::MemoryAccess& access) const;
  /// Groups the lanes of an access by line in lines_. Returns the lanes with data in two lines.
  Lanes find_lines(const isa::MemoryAccess& access);
  Token send_staying(WavefrontSlot& slot, Lanes lanes, Counters counters, Tick start, Cycles cycle);
  /// Reason why the lanes of a line are not offloaded. nullopt if they may be offloaded; the look-up at time `at` has then
  /// occupied the L1 cache. `hit`: reason to return if the line is present.
  std::optional<NearDataCount> reason_to_stay(WavefrontSlot& slot, Wavefront& w, const LineLanes& line, Tick at,
                                              NearDataCount hit);
  /// Creates a part of a chain, with an entry of the queue if one is free.
  std::uint16_t new_part(std::uint16_t chain, const ChainPacket& packet);
  /// Divides the chain's parts such that all lanes of a part are in the same line of lines_, or none is in any line. Calls
  /// use(part, line) for each part; `line` is null if no lane is in a line.
  template <typename Use>
  void divide(std::uint16_t chain, Use use);
  void record_operand(const WavefrontSlot& slot, const isa::DecodedInstruction& instruction, OpenChain& chain);
  /// Records, for each lane of the access that has just executed, its position in its line.
  void write_places(Lanes lanes, Places& places);
  ByteMask stored_bytes(const isa::MemoryAccess& access, Lanes lanes);
  // Parts of chains from the last instruction to their results:
  void leave_queue(Part& part, Tick at);
  void free_queue();
  void free_part(std::uint16_t part, Tick at);
  void count_times(const Part& part);
  void flush(std::uint16_t part, Tick at);
  void close(WavefrontSlot& slot, std::uint16_t open, Cycles cycle);
  /// The service queue that executes a part, or the reason why no queue does. `first`: line of the first load; `second`: line
  /// of the second load, otherwise of the store if ndc.store_counts, otherwise `first`.
  std::variant<ServiceQueue*, NearDataCount> find_queue(std::uint64_t first, std::uint64_t second);
  bool send(std::uint16_t part, Tick at);
  ComputePacket compute_packet(const Part& part) const;
  void perform_at_core(std::uint16_t part, Tick at);
  void core_loaded(std::uint16_t part, Tick at, const RemoteAccess& access);
  void result_known(std::uint16_t part, Cycles in_registers, Cycles done);
  void store_complete(OpenChain& chain, Cycles done);
  void end_chain(std::uint16_t open);
  void free_chain(std::uint16_t open);
  std::uint16_t find_open(const Wavefront& w, const Chain* chain) const;
  // Requests of the offload unit to the L1 cache:
  /// Sends a request. `stored`: bytes that a store writes.
  void request(const OwnRequest& own, std::uint64_t line, Tick at, const ByteMask& stored = {});
  void divide_store(const isa::MemoryAccess& access, Part& part);
  void on_response(std::uint32_t tag, const MemoryResponse& response) override;
  void count(const WavefrontSlot* slot, NearDataCount what, std::uint64_t amount = 1);
  void count_chain(const WavefrontSlot& slot, const Chain& chain);

  NearDataNetwork& network_;
  const ExtensionSlots texts_ = near_data_slots();
  const NearDataParameters& parameters_;
  const ComputeUnitParameters& unit_;
  const unsigned core_;
  const Clock clock_;
  MemoryTokens& tokens_;
  VectorMemory& memory_;
  PhysicalAddresses physical_;
  FirstLevelCache* l1v_ = nullptr;
  const unsigned slots_;  ///< wavefront slots of a SIMD
  const std::uint64_t line_mask_;
  std::vector<Wavefront> wavefronts_;
  std::deque<OpenChain> chains_;  ///< a deque: references to records stay valid
  std::vector<std::uint16_t> free_chains_;
  std::deque<Part> parts_;
  std::vector<std::uint16_t> free_parts_;
  std::vector<std::uint8_t> free_entries_;  ///< free entries of the queue
  unsigned used_ = 0;                       ///< number of entries of the queue in use
  unsigned builders_;                       ///< number of free packet generation units
  std::vector<WavefrontSlot*> waiting_;     ///< wavefronts that wait for a packet generation unit, longest wait first
  std::vector<OwnRequest> requests_;
  std::vector<std::uint32_t> free_requests_;
  std::vector<Message> messages_;
  Tick next_message_ = kNever;
  std::uint64_t alu_busy_ = 0;  ///< cycles in which vector ALUs were busy, summed over SIMDs
  RecentUse alu_use_;
  RecentUse lds_use_;
  Tick last_{};  ///< time of the latest event
  NearDataStatistics statistics_;
  OffloadFlow flow_;
  // Scratch state of one call.
  std::vector<LineLanes> lines_;
  std::vector<std::uint16_t> scratch_parts_;
};

}  // namespace lacuna
