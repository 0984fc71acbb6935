// Set-associative cache. Compute units' L1s (models/cache/first_level_cache.h) and L2 (models/cache/last_level_cache.h) add the
// service of requests in memory phases; a plain Cache serves transactions of its sockets within the call.
//
// A cache stores tags, states and times only; the data are in the memory below the cache. timing_only transactions charge time
// and change tags; transactions with data do the same and then reach the memory by transport_dbg.
//
// A line has one tag; its sectors are filled, written and written back independently. If sector == line, this is a conventional
// cache.
//
// Time on an idle cache, in cycles of `clock`, for a request that arrives at t (a request longer than a sector is split):
//   read hit              t + hit_latency
//   read miss             F + fill_latency, F = arrival of the sector, requested from downstream at t + tag_latency
//   read of a sector whose fill is pending (secondary miss)
//                         the later of t + hit_latency and F + fill_latency
//   write, write_back     t + write_latency; allocates without a fill (dirty bytes are tracked)
//   write, write_around   acceptance by downstream of the write forwarded at t + tag_latency
//   atomic, write_back    as a read; the bank is busy for atomic_cycles; the sector is dirty afterwards
//   atomic, write_around  downstream's response to the atomic forwarded at t + tag_latency, + fill_latency; the line is dropped
//   bypass_l1, write_around  as an atomic
// A way is locked from its miss until F + lock_cycles, when the line is in the bank; a write hit locks its way for lock_cycles.
// A miss that finds all ways of its set locked waits for the first to be unlocked. With lock_cycles, arriving data bypass the
// bank: a secondary miss completes at the later of t + tag_latency and F, + fill_latency. A request that arrives between F and
// the unlock waits.
//
// A request occupies one of the bank's `ports` slots per cycle and, if `transactions` limits the requests in flight, one
// transaction until it completes; a primary miss holds an MSHR from t + tag_latency to F. In a plain Cache, a miss gets its
// MSHR before its way, so that write-backs and reads leave in the order of the misses. A victim with dirty bytes is written
// back when it is replaced; the new line waits until downstream has accepted the write-back. With `in_order` a request that
// waits for a way or an MSHR blocks its bank.
//
// Round trip of an L1-L2-DRAM hierarchy with a crossbar (models/noc/crossbar.h), as seen at the L1's socket:
//   L1 hit    l1.hit_latency
//   L2 hit    l1.tag_latency + (hop + 1) + l2.hit_latency + (hop + ceil(line / width)) + l1.fill_latency
//   DRAM      the same with l2.hit_latency replaced by l2.tag_latency + DRAM read + l2.fill_latency
// The defaults of all models give 40, 92 and 126 cycles if the DRAM bank has no open row; a compute unit adds 20.
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
  write_around,  ///< writes go downstream and never allocate; a present line stays valid. Not coherent; for L1
  write_back,    ///< writes allocate and stay until evicted or written back; atomics are performed in the cache. For L2
};

struct CacheParameters {
  Frequency clock{1'000'000'000};
  Bytes size{64 * 1024};
  unsigned ways = 4;
  Bytes line{64};
  Bytes sector{64};
  AddressHash set_hash = AddressHash::none;
  Bytes scatter{0};
  unsigned set_lines = 1;
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

/// Accesses are counted per sector: a request of two sectors counts twice.
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
  Tick read_latency{};  ///< sum over reads and bypasses, without atomics

  void describe(StatisticsGroup& group) const;
};

class Cache : public sc_core::sc_module, public CacheMaintenance, public HostPrefetch {
 public:
  using UpstreamPort = TaggedTargetSocket<Cache>;

  sc_core::sc_vector<UpstreamPort> upstream;
  tlm_utils::simple_initiator_socket<Cache> downstream;

  /// `level`: the level of a request's latency breakdown that this cache's time is added to. `slice`: the addresses that a bank
  /// of an interleaved cache receives, so that all of its sets are used. Throws std::invalid_argument if the parameters are
  /// invalid.
  Cache(sc_core::sc_module_name module_name, const CacheParameters& parameters, MemoryLevel level, unsigned upstream_ports = 1,
        const AddressSlice& slice = {});

  /// Number of an address's line among the lines that this cache receives, hashed if set hashing is on. It selects set and
  /// bank; with CacheParameters::scatter or set_lines, several lines may have the same number.
  std::uint64_t local_line(std::uint64_t address) const {
    const std::uint64_t line = slice_.local(address) >> (line_shift_ + set_lines_shift_);
    if (hashed_bits_ == 0) return line;
    const std::uint64_t hashed = line ^ (xor_fold(line >> hashed_bits_, hashed_bits_) & low_bits(hashed_bits_));
    return scattered_bits_ == kNotScattered ? hashed
                                            : hashed ^ (place_of_page(line >> scattered_bits_) & low_bits(hashed_bits_));
  }
  /// Informs the cache of the current SystemC time.
  void advance(Tick now) {
    now_ = now;
    if (now_ >= next_retire_) retire();
  }
  /// Writes back all dirty lines, then drops all lines.
  Tick invalidate(Tick at) override;
  Tick write_back(Tick at) override;
  void drop_clean(std::uint64_t address, std::uint64_t bytes) override;
  void prefetch(std::uint64_t address) const override;
  /// Drops all lines and everything in flight, without write-back: the data are always in memory.
  void reset();
  const CacheStatistics& statistics() const { return statistics_; }
  MemoryLevel level() const { return level_; }
  /// Registers the energy of this cache's accesses, as a part of `block`.
  void describe_energy(EnergyMeter& meter, std::string_view block, const CacheEnergy& energy) const;

  // The following functions serve accesses whose time and statistics are accounted for elsewhere (bulk copies).
  /// Installs the line as if it had just been accessed (as if fully written, if `dirty`). The victim is dropped without
  /// write-back.
  void install_copied(std::uint64_t address, bool dirty);
  bool holds(std::uint64_t address) const;
  std::uint32_t dirty_sectors() const { return tags_.dirty_sectors(); }
  std::uint32_t sectors() const { return tags_.slots() * tags_.sectors(); }

 protected:
  friend struct detail::CachePrefetch;

  /// The part of a request that lies in one sector. Kept small: last-level caches store one per miss.
  struct SectorAccess {
    std::uint64_t address = 0;  // address of the first byte
    std::uint64_t line = 0;     // number of the line
    ByteMask byte_mask{};       // bytes that a write or atomic changes, by their position in the sector
    Tick made{};                // MemoryRequest::made
    std::uint32_t set = 0;
    std::uint16_t length = 0;
    std::uint16_t sector = 0;  // index in the line
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
    Tick queueing;  // part of the time until `done` that is queueing at this level
    Tick service;   // part of the time until `done` that is service at this level
    Tick mshr;      // part of `queueing` spent waiting for an MSHR
  };

  void b_transport(int port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(int port, tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(int port, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  void invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end);

  /// Set of the line with that local number.
  std::uint32_t set_of(std::uint64_t line) const {
    return static_cast<std::uint32_t>(set_mask_ != 0 ? line & set_mask_ : line % tags_.sets());
  }
  /// Bank of the line with that local number.
  std::size_t bank_of(std::uint64_t line) const {
    return parameters_.banks == 1 ? 0 : bank_mask_ != 0 ? line & bank_mask_ : line % banks_.size();
  }
  unsigned sector_of(std::uint64_t address) const {
    return static_cast<unsigned>((address >> sector_shift_) & (tags_.sectors() - 1));
  }
  /// Address range of a request and, for a write, its enabled bytes.
  struct Span {
    std::uint64_t address = 0;
    unsigned length = 0;
    ByteMask byte_mask = ByteMask::all();  // enabled bytes; valid for requests of up to ByteMask::kBytes bytes, unless the
                                           // payload has byte enables
    const tlm::tlm_generic_payload* payload = nullptr;
  };
  /// Sets address, line, sector, set and bank of `access` for an address; `local`: local number of its line (local_line()).
  void place(std::uint64_t address, std::uint64_t local, SectorAccess& access) const {
    access.address = address;
    access.line = address >> line_shift_;
    access.sector = static_cast<std::uint16_t>(sector_of(address));
    access.set = set_of(local);
    access.bank = static_cast<std::uint16_t>(bank_of(local));
  }
  /// Calls `use` with the slot of each line of [address, address + bytes) that is present. `use` may drop the line.
  template <class Use>
  void each_held(std::uint64_t address, std::uint64_t bytes, const Use& use) const {
    if (!tags_.used()) return;
    const std::uint64_t first = address >> line_shift_;
    const std::uint64_t last = (address + bytes - 1) >> line_shift_;
    // In a short range, each line is looked up; for a long range, all present lines are compared with the range.
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
  /// Pseudo-random bits for the number of a page: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
  static std::uint64_t place_of_page(std::uint64_t page) {
    page = (page + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
    page = (page ^ page >> 27) * 0x94d049bb133111eb;
    return page ^ page >> 31;
  }
  static constexpr unsigned kNotScattered = 64;
  static std::uint64_t low_bits(unsigned count) { return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1; }
  /// Converts a request to the access of one sector. Returns false, which is rare, if the request extends into the next sector
  /// and must be split.
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
  /// Sets `access` to the part of a request from `address` to the end of the sector or of the request.
  void split(const Span& span, std::uint64_t address, SectorAccess& access) const;
  /// Accesses all sectors of a request. Returns the time at which the last sector completes, and adds that sector's breakdown
  /// to `latency` unless it is null.
  Tick transact(const Span& span, SectorAccess& access, Tick at, LatencyBreakdown* latency, tlm::tlm_response_status& response);
  Outcome access_sector(const SectorAccess& access, Tick at);
  Outcome read(const SectorAccess& access, Tick start);
  /// Reads a sector that is present or being filled. `start`: time of the lookup.
  Outcome read_present(TagArray::Sector& sector, Tick start);
  Outcome write_allocate(const SectorAccess& access, Tick start);
  /// Writes bytes of a sector whose line is present, at `at` or when the sector is unlocked. Returns the time of the write.
  Tick write_to(TagArray::Sector& sector, ByteMask bytes, Tick at);
  Outcome forward(const SectorAccess& access, Tick start);
  /// Fetches a sector into `slot` or, if that is kNone, into a slot that the function frees. Sets `slot` to kNone if the sector
  /// is not kept. Outcome::done: arrival of the sector.
  Outcome fill(const SectorAccess& access, TagArray::Slot& slot, Tick at);
  /// First time, not before `at`, at which a present sector is not locked by its fill or a write, and can therefore be read or
  /// written.
  Tick unlock(const TagArray::Sector& sector, Tick at);
  /// First time, not before `at`, at which none of a slot's sectors is being filled or written, so that the slot may be given
  /// to another line. kLater: the slot cannot hold the line. Either a fill booked for a later simulated time has claimed the
  /// slot, but leaves enough time to fetch the line without keeping it; or the slot has a pending fill whose end is unknown.
  Tick available(TagArray::Slot slot, Tick at) const;
  /// Selects a slot of the set for a line, and sets `from` to the time from which it is free. Returns kNone if the line can be
  /// fetched but not kept.
  TagArray::Slot choose_victim(std::uint32_t set, Tick at, Tick& from);
  /// Frees a slot of the line's set and stores it in `slot`, or kNone if the line cannot be kept. Returns the time from which
  /// the slot may be used.
  Tick make_room(const SectorAccess& access, TagArray::Slot& slot, Tick at);
  Tick write_back_sector(TagArray::Slot slot, unsigned sector, Tick at);
  /// Sends a request downstream and returns the time of the response. Sets below_ to the breakdown of the time, which is valid
  /// until the next call, and error_ in case of an error.
  Tick send(const SectorAccess& request, Tick at);
  void retire();

  const CacheParameters parameters_;
  const MemoryLevel level_;
  const AddressSlice slice_;
  // Parameters, converted to times
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
  std::uint64_t set_mask_;    // sets - 1; 0: one set, or the number of sets is not a power of two
  std::uint64_t bank_mask_;   // banks - 1; 0: one bank, or the number of banks is not a power of two
  unsigned hashed_bits_;      // number of low bits of a line's number that the hash changes; 0: no hash
  unsigned set_lines_shift_;  // log2 of parameters_.set_lines
  unsigned scattered_bits_;   // number of low bits of a line's number that are the place in a page of parameters_.scatter

  TagArray tags_;
  std::vector<ClockedCalendar> banks_;
  PoolCalendar mshrs_;
  PoolCalendar under_way_;  // requests in flight, if parameters_.transactions limits them
  TimingPayload down_;
  // State of the sector access being served: the time that it spent downstream (null: none; a victim's write-back is not
  // included, since it delays the access only until downstream accepts it), and the first error from downstream.
  const LatencyBreakdown* below_ = nullptr;
  tlm::tlm_response_status error_ = tlm::TLM_OK_RESPONSE;
  Tick now_{};  // time of the SystemC kernel, constant during a call
  Tick next_retire_{};
  CacheStatistics statistics_;
};

}  // namespace lacuna
