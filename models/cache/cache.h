// Set-associative cache. Compute units' L1s (models/cache/first_level_cache.h) and L2 (models/cache/last_level_cache.h) add to
// it how requests are served in memory phases; by itself it serves transactions of its sockets within the call.
//
// Tags, states and times only; the data are in memory behind it. timing_only transactions charge time and change tags;
// transactions with data do the same and then reach the memory by transport_dbg.
//
// A line has one tag; its sectors are filled, written and written back independently. With sector = line it is a plain cache.
//
// Time on an idle cache, in cycles of `clock`, for a request that arrives at t (one longer than a sector is split):
//   read hit              t + hit_latency
//   read miss             F + fill_latency, where F = when the sector, requested from downstream at t + tag_latency, is there
//   read of a sector whose fill is pending (secondary miss)
//                         the later of t + hit_latency and F + fill_latency
//   write, write_back     t + write_latency, when it allocated without fill (dirty bytes are tracked)
//   write, write_around   when downstream has accepted the write that was forwarded at t + tag_latency
//   atomic, write_back    as a read; the bank is busy for atomic_cycles; the sector is dirty afterwards
//   atomic, write_around  downstream's response to the atomic forwarded at t + tag_latency, + fill_latency; the line is dropped
//   bypass_l1, write_around  as an atomic
// A way is locked from its miss until F + lock_cycles, when the line is in the bank; a write that hits locks it as long. A miss
// that finds all ways of its set locked waits for the first. With lock_cycles data that arrive are passed on beside the bank: a
// secondary miss takes until the later of t + tag_latency and F, + fill_latency. A request between F and the unlocking waits.
//
// A request takes one of `ports` slots a cycle of its bank and, if `transactions` limits how many are in flight, one of those
// until it is done; a primary miss holds an MSHR from t + tag_latency to F. It gets the MSHR before its way, so that
// write-backs and reads leave in the order of the misses. A victim with dirty bytes is written back when it is replaced; its
// successor waits until downstream has taken it. With `in_order` a request that waits for a way or an MSHR keeps its bank from
// taking others.
//
// Round trip of an L1-L2-DRAM hierarchy with a crossbar (models/noc/crossbar.h), as seen at the L1's socket:
//   L1 hit    l1.hit_latency
//   L2 hit    l1.tag_latency + (hop + 1) + l2.hit_latency + (hop + ceil(line / width)) + l1.fill_latency
//   DRAM      the same with l2.hit_latency replaced by l2.tag_latency + DRAM read + l2.fill_latency
// The defaults here and of the other models give 40, 92 and 126 cycles with an empty row, and a compute unit adds 20.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/cache/tag_array.h"
#include "models/common/config/parameters.h"
#include "models/common/config/statistics.h"
#include "models/common/host/host_prefetch.h"
#include "models/common/time/calendar.h"
#include "models/common/time/clocked_calendar.h"
#include "models/common/time/units.h"
#include "models/common/transport/address_hash.h"
#include "models/common/transport/address_slice.h"
#include "models/common/transport/cache_maintenance.h"
#include "models/common/transport/memory_attributes.h"
#include "models/common/transport/memory_request.h"
#include "models/common/transport/tagged_target_socket.h"
#include "models/common/transport/timing_payload.h"
#include "models/energy/energy_meter.h"
#include "models/energy/energy_parameters.h"

namespace lacuna {

enum class WritePolicy : std::uint8_t {
  write_around,  ///< writes go downstream and never allocate; a present line stays valid. Not coherent: L1
  write_back,    ///< writes allocate and stay until evicted or written back; atomics are performed here: L2
};

struct CacheParameters {
  Frequency clock{1'000'000'000};
  Bytes size{64 * 1024};
  unsigned ways = 4;
  Bytes line{64};
  Bytes sector{64};
  AddressHash set_hash = AddressHash::none;
  Choice<ReplacementPolicy> replacement = ReplacementPolicy::lru;
  std::uint64_t seed = 1;
  unsigned banks = 1;
  unsigned ports = 1;
  unsigned mshrs = 64;
  unsigned transactions = 0;
  WritePolicy write_policy = WritePolicy::write_around;
  Cycles hit_latency{40};
  Cycles tag_latency{8};
  Cycles fill_latency{8};
  Cycles lock_cycles{0};
  bool in_order = false;
  Cycles write_latency{8};
  Cycles atomic_cycles{2};
  Cycles invalidate_latency{16};

  void describe(ParameterSection& section);
};

/// Counted per sector: a request of two sectors counts twice.
struct CacheStatistics {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t atomics = 0;
  std::uint64_t bypasses = 0;
  std::uint64_t read_hits = 0;
  std::uint64_t read_misses = 0;
  std::uint64_t secondary_misses = 0;
  std::uint64_t write_hits = 0;
  std::uint64_t write_misses = 0;
  std::uint64_t evictions = 0;
  std::uint64_t write_backs = 0;
  std::uint64_t invalidations = 0;
  std::uint64_t errors = 0;
  Tick bank_stall{};
  Tick mshr_stall{};
  Tick way_stall{};
  Tick write_back_stall{};
  Tick read_latency{};  ///< of all reads; mean = read_latency / reads

  void describe(StatisticsGroup& group) const;
};

class Cache : public sc_core::sc_module, public CacheMaintenance, public HostPrefetch {
 public:
  using UpstreamPort = TaggedTargetSocket<Cache>;

  sc_core::sc_vector<UpstreamPort> upstream;
  tlm_utils::simple_initiator_socket<Cache> downstream;

  /// `level` is where the time spent here is booked in a request's latency breakdown. `slice`: the addresses that a bank of an
  /// interleaved cache receives, so that all of its sets are used. Throws std::invalid_argument when the parameters do
  /// not make a cache.
  Cache(sc_core::sc_module_name module_name, const CacheParameters& parameters, MemoryLevel level, unsigned upstream_ports = 1,
        const AddressSlice& slice = {});

  /// Number of an address's line among those that this cache sees, hashed when sets are.
  std::uint64_t local_line(std::uint64_t address) const {
    const std::uint64_t line = slice_.local(address) >> line_shift_;
    return hashed_bits_ == 0 ? line : line ^ (xor_fold(line >> hashed_bits_, hashed_bits_) & low_bits(hashed_bits_));
  }
  /// The kernel's time is `now`.
  void advance(Tick now) {
    now_ = now;
    if (now_ >= next_retire_) retire();
  }
  /// Drops every line; dirty ones are written back first.
  Tick invalidate(Tick at) override;
  Tick write_back(Tick at) override;
  void drop_clean(std::uint64_t address, std::uint64_t bytes) override;
  void prefetch(std::uint64_t address) const override;
  /// Drops every line and what is in flight, without writing back: the data are in memory anyway.
  void reset();
  const CacheStatistics& statistics() const { return statistics_; }
  MemoryLevel level() const { return level_; }
  /// Registers what this cache's accesses cost, as a part of `block`.
  void describe_energy(EnergyMeter& meter, std::string_view block, const CacheEnergy& energy) const;

  // For accesses whose time and statistics are accounted for elsewhere (copies in bulk):
  /// The line of an address is here as after an access, now: `dirty` after a write of the whole line. What it replaces is gone.
  void install_copied(std::uint64_t address, bool dirty);
  bool holds(std::uint64_t address) const;
  std::uint32_t dirty_sectors() const { return tags_.dirty_sectors(); }
  std::uint32_t sectors() const { return tags_.slots() * tags_.sectors(); }

 protected:
  friend struct detail::CachePrefetch;

  /// The part of a request that lies in one sector.
  // Small: first-level caches keep one for each miss.
  struct SectorAccess {
    std::uint64_t address = 0;  // of its first byte
    std::uint64_t line = 0;     // number of the line
    ByteMask byte_mask{};       // of the sector; bytes that a write or atomic changes
    Tick made{};                // MemoryRequest::made
    std::uint32_t set = 0;
    std::uint16_t length = 0;
    std::uint16_t sector = 0;  // in the line
    std::uint16_t bank = 0;
    std::uint16_t requester = 0;
    RequestKind kind = RequestKind::host;
    bool write = false;
    bool atomic = false;
    bool bypass = false;
  };
  static constexpr Tick kLater{~std::uint64_t{0}};
  struct Outcome {
    Tick done;
    Tick queueing;  // of the time until then, spent here waiting
    Tick service;   // and working
    Tick mshr;      // of the queueing, what an MSHR was waited for
  };

  void b_transport(int port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(int port, tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(int port, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  void invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end);

  /// The set of a line, by that number.
  std::uint32_t set_of(std::uint64_t line) const {
    return static_cast<std::uint32_t>(set_mask_ != 0 ? line & set_mask_ : line % tags_.sets());
  }
  /// The bank of a line, by that number, and an address's sector in its line.
  std::size_t bank_of(std::uint64_t line) const {
    return parameters_.banks == 1 ? 0 : bank_mask_ != 0 ? line & bank_mask_ : line % banks_.size();
  }
  unsigned sector_of(std::uint64_t address) const {
    return static_cast<unsigned>((address >> sector_shift_) & (tags_.sectors() - 1));
  }
  /// The bytes of a request and, of a write, which of them matter.
  struct Span {
    std::uint64_t address = 0;
    unsigned length = 0;
    ByteMask byte_mask = ByteMask::all();  // of requests up to ByteMask::kBytes, unless the payload has byte enables
    const tlm::tlm_generic_payload* payload = nullptr;
  };
  /// Where the sector of an address is, of the line with that number.
  void place(std::uint64_t address, std::uint64_t local, SectorAccess& access) const {
    access.address = address;
    access.line = address >> line_shift_;
    access.sector = static_cast<std::uint16_t>(sector_of(address));
    access.set = set_of(local);
    access.bank = static_cast<std::uint16_t>(bank_of(local));
  }
  /// Calls `use` with the slot of each line of [address, address + bytes) that is here. It may drop the line.
  template <class Use>
  void each_held(std::uint64_t address, std::uint64_t bytes, const Use& use) const {
    if (!tags_.used()) return;
    const std::uint64_t first = address >> line_shift_;
    const std::uint64_t last = (address + bytes - 1) >> line_shift_;
    // A few lines are looked up, more are compared with what is here.
    if (last - first < tags_.sets()) {
      for (std::uint64_t line = first; line <= last; ++line) {
        const TagArray::Slot slot = tags_.find(set_of(local_line(line << line_shift_)), line);
        if (slot != TagArray::kNone) use(slot);
      }
      return;
    }
    for (TagArray::Slot slot = 0; slot < tags_.slots(); ++slot) {
      if (tags_.valid(slot) && tags_.tag(slot) >= first && tags_.tag(slot) <= last) use(slot);
    }
  }
  static std::uint64_t low_bits(unsigned count) { return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1; }
  /// A request as the access to one sector, as nearly all are. False: it reaches into the next one, and has to be split.
  bool in_one_sector(const MemoryRequest& request, std::uint64_t local, SectorAccess& access) const {
    const unsigned bytes = 1U << sector_shift_;
    const auto within = static_cast<unsigned>(request.address & (bytes - 1));
    access.write = request.write;
    access.atomic = request.atomic;
    access.bypass = request.bypass_l1;
    access.kind = request.kind;
    access.requester = request.requester;
    access.made = request.made;
    if (within + request.bytes > bytes) [[unlikely]]
      return false;
    place(request.address, local, access);
    access.length = request.bytes;
    if (request.write) access.byte_mask = (ByteMask::first(request.bytes) & request.byte_mask) << within;
    return true;
  }
  /// The sector access that begins at `address` of a request.
  void split(const Span& span, std::uint64_t address, SectorAccess& access) const;
  /// All sectors of a request. Returns when the last is complete; `latency`, unless null, grows by that one's breakdown.
  Tick transact(const Span& span, SectorAccess& access, Tick at, LatencyBreakdown* latency, tlm::tlm_response_status& response);
  Outcome access_sector(const SectorAccess& access, Tick at);
  Outcome read(const SectorAccess& access, Tick start);
  /// A read of a sector that is here, or will be, looked up at `start`.
  Outcome read_present(TagArray::Sector& sector, Tick start);
  Outcome write_allocate(const SectorAccess& access, Tick start);
  /// Bytes of a sector whose line is here are written, at `at` or when it may be, which is returned.
  Tick write_to(TagArray::Sector& sector, ByteMask bytes, Tick at);
  Outcome forward(const SectorAccess& access, Tick start);
  /// Brings a sector in, into `slot` or, when that is kNone, into a slot that it empties. `done` is when it is here.
  Outcome fill(const SectorAccess& access, TagArray::Slot& slot, Tick at);
  /// When a sector that is here can be read or written: not while it is being written.
  Tick unlock(const TagArray::Sector& sector, Tick at);
  /// When a slot may be given to another line: not while a sector is being filled or written. kLater for one that is free at
  /// `at` and for as long as a fill takes, but will then be filled for a unit that is ahead in simulated time, and for one
  /// whose pending fill has no known end.
  Tick available(TagArray::Slot slot, Tick at) const;
  /// The slot of a set that a line shall have, and from when on. kNone: it is free for this line, but not to stay.
  TagArray::Slot choose_victim(std::uint32_t set, Tick at, Tick& from);
  /// Empties a slot of the line's set, kNone when there is none to stay in. Returns when it may be used.
  Tick make_room(const SectorAccess& access, TagArray::Slot& slot, Tick at);
  Tick write_back_sector(TagArray::Slot slot, unsigned sector, Tick at);
  /// Returns when the response is here; its breakdown is at below_ until the next call, an error goes to error_.
  Tick send(const SectorAccess& request, Tick at);
  void retire();

  const CacheParameters parameters_;
  const MemoryLevel level_;
  const AddressSlice slice_;
  // The parameters in time.
  Clock clock_;
  Tick port_time_;
  Tick hit_;
  Tick tag_;
  Tick fill_;
  Tick lock_;
  Tick write_;
  Tick atomic_;
  int line_shift_;
  int sector_shift_;
  std::uint64_t set_mask_;   // sets - 1, or 0 when that is no power of two
  std::uint64_t bank_mask_;  // likewise
  unsigned hashed_bits_;     // lowest of a line's number; 0: no hash

  TagArray tags_;
  std::vector<ClockedCalendar> banks_;
  PoolCalendar mshrs_;
  PoolCalendar under_way_;  // of parameters_.transactions, when they are limited
  TimingPayload down_;
  // Of the sector access that is being served: time spent downstream, if it went there (a victim's write-back does not count:
  // it costs the request no more than the wait for its acceptance), and the first error from there.
  const LatencyBreakdown* below_ = nullptr;
  tlm::tlm_response_status error_ = tlm::TLM_OK_RESPONSE;
  Tick now_{};  // the kernel's time, which stands still during a call
  Tick next_retire_{};
  CacheStatistics statistics_;
};

}  // namespace lacuna
