// The vector memory unit: turns a wavefront's load, store or atomic into transactions of one line each.
//
// An instruction occupies the address unit for 64 / lanes_per_simd cycles, or for one cycle per line if that is longer. Its
// first line leaves vmem_address_latency after the issue, the others at one per cycle; each is translated and sent to the L1
// vector cache. The data are in the registers vmem_return_latency after the last response.
//
// With LaneGroups::quads, an instruction occupies the unit for the cycles of its groups of lanes
// (models/compute/memory/lane_groups.h), at least 64 / lanes_per_simd, and its lines leave evenly spread over them. Accesses of
// which a load stage sends lines are served as without.
//
// A load stage may send accesses whose addresses have already passed the address unit (send_addressed()). The lines of all
// accesses then also share one port, which sends one line per cycle.
//
// With a reorder buffer, a line leaves when it has received an entry, and responses return in the order of the requests, which
// is the order of the calls.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/common/time/calendar.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/compute/memory/memory_tokens.h"
#include "models/compute/memory/physical_addresses.h"
#include "models/compute/memory/reorder_buffer.h"
#include "models/compute/memory/vector_workspace.h"

namespace lacuna {

class VectorMemory : private MemoryClient {
 public:
  /// `workspace`: shared by the units that run in turn with this one; null: this unit has its own.
  VectorMemory(const ComputeUnitParameters& parameters, Clock clock, GpuVm& vm, MemoryTokens& tokens, MemoryTarget& memory,
               std::uint16_t requester, VectorWorkspace* workspace = nullptr);

  MemoryPort& port() { return port_; }
  /// Addresses of the lanes of the instruction being executed, in global memory and LDS.
  isa::LaneAddresses& addresses() { return work_.addresses; }

  /// Begins the access, whose requests are made from `cycle` on, and returns its token. The caller calls issued() for it.
  MemoryTokens::Token access(WavefrontSlot& slot, const isa::MemoryAccess& access, Counters counters, Cycles cycle) {
    const std::span<const CoalescedLine> lines = work_.coalescer.coalesce(access, work_.addresses.global);
    if (parameters_.lane_groups == LaneGroups::none) return send(slot, access, lines, counters, cycle);
    return send_groups(slot, access, lines, counters, cycle);
  }
  /// Lines of an access. Valid until the next call.
  std::span<const CoalescedLine> coalesce(const isa::MemoryAccess& access, const isa::LaneAddresses& addresses) {
    return work_.coalescer.coalesce(access, addresses.global);
  }
  const Coalescer& lines() const { return work_.coalescer; }
  /// A line that both memory and a load stage may complete: the first response wins.
  using Race = std::uint32_t;
  struct Races {
    const Coalescer& lines;  ///< lines of the load that only memory completes
    std::vector<Race>& races;
  };
  /// Like access(), but sends only `lines`, a part of the access's lines. `races`: all of `lines` that are not in races->lines
  /// become races, whose numbers are appended to races->races; null: no races.
  MemoryTokens::Token send(WavefrontSlot& slot, const isa::MemoryAccess& access, std::span<const CoalescedLine> lines,
                           Counters counters, Cycles cycle, const Races* races = nullptr);
  /// Like send(), for an access whose addresses have already passed the address unit. The access does not occupy the address
  /// unit: its first line leaves at `at`, or later if the port is busy. Requires share_line_port().
  MemoryTokens::Token send_addressed(WavefrontSlot& slot, const isa::MemoryAccess& access, std::span<const CoalescedLine> lines,
                                     Counters counters, Tick at) {
    return send_from(slot, access, lines, counters, at, at, clock_.period(), nullptr);
  }
  /// Makes the lines of all accesses share one port. A stage that uses send_addressed() calls this function before the first
  /// access.
  void share_line_port() { shares_line_port_ = true; }
  /// Time at which the first line of the last send() left.
  Tick first_left() const { return first_left_; }
  /// Reports that the load stage has responded to a racing line at `at`. Call it once per race.
  void stage_completed(Race race, Tick at);
  /// Resolves races in which memory or the stage has responded within the call. Call it after a send() with races and after the
  /// requests of the stage.
  void resolve_races(std::span<const Race> races);
  /// Occupies the address unit for an instruction of `lines` lines that issues in `cycle`. Returns the time at which its first
  /// line leaves; `wanted`: the time at which it would have left an idle unit.
  Tick take_address_unit(const WavefrontSlot& slot, std::size_t lines, Cycles cycle, Tick& wanted);
  /// Occupies the shared line port, if there is one, for `lines` lines of which the first could leave at `at`. Returns the time
  /// at which the first line leaves.
  Tick take_line_port(std::size_t lines, Tick at) {
    return shares_line_port_ ? line_port_.reserve(at, clock_.period() * lines) : at;
  }
  /// Returns the token of an instruction that accesses global memory in no lane.
  MemoryTokens::Token no_access(WavefrontSlot& slot, Counters counters, Cycles cycle);
  /// Number of line transactions so far.
  const std::uint64_t& requests() const { return requests_; }
  /// Cycles for which groups of lanes have occupied the address unit so far.
  std::uint64_t group_cycles() const { return group_cycles_; }
  void retire(Tick horizon) {
    unit_.retire(horizon);
    line_port_.retire(horizon);
  }
  void reset();

 private:
  /// A line that waits for an entry of the reorder buffer, or for earlier lines that wait for an entry.
  struct Waiting {
    MemoryRequest request;
    std::uint64_t virtual_address;
    Tick wanted;
    MemoryTokens::Token token;
    Race race;
  };
  /// A request that occupies an entry of the reorder buffer.
  struct Entered {
    MemoryTokens::Token token = 0;
    MemoryResponse response;
    LatencyBreakdown below;
  };

  static constexpr Race kNoRace = ~Race{0};
  static constexpr std::uint32_t kRace = std::uint32_t{1} << 31;  // flag in tags of the port; the other bits are the race
  struct RacingLine {
    MemoryTokens::Token token = 0;
    ReorderBuffer::Entry entry = 0;
    bool entered = false;      ///< whether the line has entered the reorder buffer
    bool over = false;         ///< whether memory or the stage has responded
    bool memory_done = false;  ///< whether memory has responded
    bool stage_done = false;   ///< whether the stage has responded
    Tick stage_done_at{};      ///< time of the stage's response
    MemoryResponse early{};    ///< memory's response, if it was immediate
  };

  /// Sends lines, the first of which leaves the address unit at `start` and each other one `apart` after the one before; the
  /// first line would have left an idle unit at `wanted`.
  MemoryTokens::Token send_from(WavefrontSlot& slot, const isa::MemoryAccess& access, std::span<const CoalescedLine> lines,
                                Counters counters, Tick start, Tick wanted, Tick apart, const Races* races);
  /// access() with LaneGroups::quads.
  MemoryTokens::Token send_groups(WavefrontSlot& slot, const isa::MemoryAccess& access, std::span<const CoalescedLine> lines,
                                  Counters counters, Cycles cycle);
  void on_response(std::uint32_t tag, const MemoryResponse& response) override;
  /// Occupies the address unit from `wanted` on for a number of cycles, and counts the time for which the instruction waits.
  Tick occupy(const WavefrontSlot& slot, Tick wanted, std::uint64_t cycles);
  /// Handles the response for a racing line, or for a line with an entry of the reorder buffer.
  void complete_tracked(std::uint32_t tag, const MemoryResponse& response);
  void memory_completed(Race race, const MemoryResponse& response);
  void finish_race(Race race, const MemoryResponse& response);
  Race begin_race(MemoryTokens::Token token, const CoalescedLine& line, const Races* races);
  /// Sends the requests of some lines, the first of which leaves at `start` and each other one `apart` after the one before.
  void send_lines(std::span<const CoalescedLine> lines, const MemoryRequest& request, Tick start, Tick apart,
                  MemoryTokens::Token token, const Races* races);
  void send_alone(const MemoryRequest& request, MemoryTokens::Token token, Race race);
  /// Queues the requests of some lines until they get entries of the reorder buffer.
  void queue_lines(std::span<const CoalescedLine> lines, MemoryRequest request, Tick start, Tick apart,
                   MemoryTokens::Token token, const Races* races);
  void send_in_order();
  void complete_entry(ReorderBuffer::Entry entry, const MemoryResponse& response);

  const ComputeUnitParameters& parameters_;
  Clock clock_;
  MemoryTokens& tokens_;
  MemoryPort port_;
  PhysicalAddresses physical_;
  std::uint16_t requester_;
  Calendar unit_;
  Calendar line_port_;  ///< port that the lines of all accesses share, if shares_line_port_
  bool shares_line_port_ = false;
  std::unique_ptr<VectorWorkspace> own_workspace_;
  VectorWorkspace& work_;

  ReorderBuffer reorder_;
  std::vector<Entered> entered_;  // indexed by entry of the reorder buffer
  std::vector<Waiting> waiting_;  // waiting lines in order, valid from first_waiting_ on
  std::size_t first_waiting_ = 0;
  Tick last_made_{};
  std::uint64_t page_ = ~std::uint64_t{0};  // page translated last for the reorder buffer
  bool sending_ = false;
  bool undecided_ = false;  ///< whether resolve_races() has yet to be called for the last send() with races
  std::uint64_t requests_ = 0;
  std::uint64_t group_cycles_ = 0;
  Tick first_left_{};
  std::vector<RacingLine> racing_lines_;
  std::vector<std::uint32_t> free_racing_lines_;
};

}  // namespace lacuna
