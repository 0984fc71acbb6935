// The service queue of a node that computes (Opportunistic Computing, ISCA '19, sections 4.2 and 4.4.2, Fig. 10): takes packets
// of chains, loads their operands, computes, stores, and sends results or acknowledgements to the cores.
//
// At a last-level cache
//   1  requests the cache's own lines from the cache; loads lines of other caches over the network and keeps them
//   2  when all lines have arrived, the entry waits for room in the buffer, first come, first served, and the lines are fetched
//      from the cache's data array; a line that has been evicted in the meantime is requested from the cache again, and fetched
//      when it arrives
//   3  the entry leaves the buffer when it enters the ALU, and the queue after the computation
// At a core all lines are loaded over the network and kept in the core's LDS. A line occupies the port of the LDS when it is
// written, and again when it is read for the ALU, in cycles that the core's own instructions leave idle. The ALU is that of the
// core, likewise in cycles that the core leaves idle, or a dedicated ALU.
//
// At a switch operands are kept in a buffer with room for all entries, and the ALU is as at a last-level cache.
//
// The store goes to its cache. Its acknowledgement, the bitmap of a comparison or the data go to the core.
//
// A packet that finds no free entry is rejected: its loads are forwarded to the caches, which send the data to the core.
//
// The queue accepts all arrivals, so it never blocks the network. Its input holds a packet until the packet is decoded, and a
// rejected packet until the packet's loads have left, one per cycle. Each packet occupies an entry of an offload queue, so the
// input holds at most as many packets as all offload queues have entries.
//
// Cycles of a chain on an idle machine, from the issue of its first instruction to its completion, when all clocks are equal:
//   I + 1                      issue of all but the last instruction, 4 cycles each; the packet leaves in the next cycle
//   + P(core, node, F)         the packet of F flits: 1, or more with a lane mask or scattered lanes
//   + 1                        decoding
//   + the later operand        A at the node's own cache; P(node, cache, 1) + A + P(cache, node, line) at another. Loads
//                              leave a node one per cycle, and its cache accepts one per cycle
//   + A                        of operands that have been evicted when they are to be fetched, and are requested again
//   + fetch_latency            at a last-level cache
//   + (1 + m) L                at a core: the later line is written to the LDS, and the m lines of the operands are read; L is
//                              a line's cycles on the port, 1 for lines of up to 128 bytes
//   + n alu_latency            n operations on lanes that the ALU accepts in one cycle. If it accepts them in p cycles:
//                              alu_latency + p - 1 for the first operation, max(alu_latency, p) for each further one
//   + the store                W at the node's own cache; P(node, cache, line) + W + P(cache, node, 1) at another
//   + P(node, core, 1)         acknowledgement or bitmap; P(node, core, line) + cu.vmem_return_latency for data
// P(from, to, flits): a packet in an idle network (models/noc/network.h); A and W: a cache's read and write
// (models/cache/cache.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/cache/cache.h"
#include "models/common/config/statistics.h"
#include "models/common/time/calendar.h"
#include "models/gpu/node_requester.h"
#include "models/neardata/chain_packet.h"
#include "models/neardata/chain_times.h"
#include "models/neardata/input_fill.h"
#include "models/neardata/near_data_network.h"

namespace lacuna {

struct ServiceQueueStatistics {
  std::uint64_t packets = 0;  ///< number of accepted packets
  std::uint64_t bounced = 0;
  std::uint64_t operations = 0;
  std::uint64_t stores = 0;
  std::uint64_t most_entries = 0;
  std::uint64_t most_input = 0;     ///< highest number of packets in the input
  std::uint64_t lanes = 0;          ///< lanes, summed over operations
  std::uint64_t fetched = 0;        ///< lines fetched from the cache at the queue's node
  std::uint64_t kept = 0;           ///< lines that arrived over the network and are kept until they are used
  std::uint64_t contended = 0;      ///< packets whose operations the core's own work delayed
  Tick contention{};                ///< time by which the core's work delayed operations
  std::uint64_t lds_lines = 0;      ///< lines written to and read from the core's LDS
  std::uint64_t lds_contended = 0;  ///< of these, those that the core's own LDS instructions delayed
  Tick lds_contention{};            ///< time by which the core's own LDS instructions delayed them
  std::uint64_t evicted = 0;        ///< lines that had been evicted from the cache when they were to be fetched
  Tick waiting_for_buffer{};
  Tick waiting_for_alu{};
  Tick waiting_for_lds{};  ///< time that lines waited while other lines of the queue occupied the port of the LDS
  Tick latency{};          ///< time from arrival to result, summed over the accepted packets

  void describe(StatisticsGroup& group) const;
};

/// Messages that a service queue has sent and received since the last reset.
struct ServiceQueueFlow {
  std::uint64_t taken = 0;    ///< accepted packets
  std::uint64_t bounced = 0;  ///< rejected packets
  std::uint64_t loads = 0;    ///< loads of operands
  std::uint64_t loads_returned = 0;
  std::uint64_t stores = 0;
  std::uint64_t stores_acknowledged = 0;
  std::uint64_t results = 0;        ///< results and acknowledgements
  std::uint64_t bounced_lines = 0;  ///< loads sent for rejected packets
};

class ServiceQueue final : public NodeRequester {
 public:
  /// Location of the queue: at the node of a last-level cache, at the node of a core, or at a switch.
  enum class Place : std::uint8_t { cache, core, on_switch };
  /// `number`: index of the cache, core or switch.
  ServiceQueue(NearDataNetwork& network, Place place, unsigned number);

  /// Attaches the last-level cache at the queue's node. Must be called before the first packet.
  void attach(const Cache& cache) { tags_ = &cache; }
  bool is_at_cache() const { return place_ == Place::cache; }
  /// Whether the queue is at a core, whose LDS holds its operands.
  bool is_at_core() const { return place_ == Place::core; }
  const ServiceQueueStatistics& statistics() const { return statistics_; }
  const ServiceQueueFlow& flow() const { return flow_; }
  bool idle() const;
  /// Invariants violated when no kernel runs, as text for messages; empty if all hold.
  std::string remains() const;
  void reset();

  void departures(Tick end, std::vector<Departure>& out) override;
  bool sends_messages() const override { return true; }
  void messages(Tick end, std::vector<Message>& out) override;
  Tick next_departure() const override;
  void complete(std::uint32_t tag, Tick at, const LatencyBreakdown& below) override;
  void receive(std::uint32_t tag, const Passage& passage) override;
  const char* name() const override { return "service queue"; }

 private:
  /// Kind of a request of the queue, in the upper bits of its tag. The lower bits are the entry's number for loads, the
  /// packet's tag for stores.
  enum class Kind : std::uint32_t { load, store };
  static constexpr unsigned kKindShift = 30;
  static constexpr Tick kBusy = kNever;
  static constexpr unsigned kNoRoom = ~0U;
  struct Entry {
    std::uint32_t packet = 0;
    Tick free_from{};  ///< time from which the entry is free; kBusy: in use, end not known yet
    Tick arrived{};
    Tick ready{};             ///< arrival of the last response
    Tick written{};           ///< time from which the lines that have arrived are in the LDS, at a core
    unsigned missing = 0;     ///< number of missing responses
    unsigned room = kNoRoom;  ///< buffer entry that is reserved until evicted lines arrive again
    RemoteAccess latest{};    ///< network time of the access that returned at `ready`
  };

  const ChainPacket& packet(std::uint32_t tag) const;
  ChainTimes& times(std::uint32_t tag) const;
  void bounce(std::uint32_t tag, Tick at);
  /// Counts a packet that is in the input from `arrived` until just before `left`.
  void count_input(std::uint32_t tag, Tick arrived, Tick left);
  void load(unsigned entry, std::uint64_t line, Tick at);
  bool is_here(std::uint64_t line) const { return is_at_cache() && network_.cache_of(line) == number_; }
  bool is_evicted(std::uint64_t line) const { return is_here(line) && !tags_->holds(line); }
  void fill_buffer();
  Tick compute(unsigned entry, Tick at);
  struct Computation {
    Tick start;  ///< time at which the ALU accepts the first operands
    Tick done;   ///< time at which all lanes have their results
  };
  Computation take_alu(const ChainPacket& packet, Tick at);
  /// Time for which lines occupy the port of the core's LDS if the core does not use it.
  Tick lds_time(unsigned lines) const;
  /// Moves lines through the port of the core's LDS, from `at` on. Returns the end of the transfer.
  Tick take_lds(unsigned lines, Tick at);
  /// Reads a packet's operands from the core's LDS. Returns the time at which the ALU can take them.
  Tick read_operands(std::uint32_t tag, Tick at);
  void finish(std::uint32_t tag, Tick at);
  void send(const Departure& departure);
  void send(std::uint32_t tag, unsigned flits, Tick at);

  NearDataNetwork& network_;
  const NearDataParameters& parameters_;
  const Place place_;
  const unsigned number_;
  const Cache* tags_ = nullptr;  ///< last-level cache at the queue's node, for its tags
  InputFill input_;
  std::vector<Entry> entries_;
  unsigned lines_ = 0;             ///< number of LDS lines that entries use, at a core
  std::vector<Tick> buffer_;       ///< time from which each buffer entry is free; kBusy: reserved for evicted lines
  std::vector<unsigned> waiting_;  ///< entries that wait for the buffer, in the order in which they became ready
  Tick alu_free_{};
  Calendar lds_port_;  ///< transfers between the queue and the core's LDS
  std::vector<Departure> departures_;
  std::vector<Message> messages_;
  ServiceQueueStatistics statistics_;
  ServiceQueueFlow flow_;
};

}  // namespace lacuna
