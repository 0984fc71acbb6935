// Interface between a GPU and its bulk copies: access to the other users of memory, the memory system's counters, caches and
// TLBs.
//
// The models' counters count only requests that are simulated in detail. The amounts of bulk copies are kept here and added to
// the reported values. Ratios among the statistics are those of the simulated requests only.
//
// A sample may be too short to cause write-backs of the lines that it makes dirty in L2. Therefore L2's writes to DRAM are not
// derived from the samples' counters alone: each sector that a bulk copy makes dirty is either left dirty in L2 by
// install_copied(), or counted as written back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/cache/last_level_cache.h"
#include "models/command/packet_processor.h"
#include "models/common/config/statistics.h"
#include "models/common/transport/write_observer.h"
#include "models/dram/dram_channel.h"
#include "models/energy/energy_meter.h"
#include "models/noc/address_routes.h"
#include "models/sdma/copy_context.h"
#include "models/sdma/sdma_engine.h"
#include "models/tlb/first_level_tlb.h"

namespace lacuna {

class DeviceCopies : public CopyContext {
 public:
  struct Device {
    const GpuVm& vm;
    const Dispatcher& dispatcher;
    PacketProcessor& packets;
    std::span<const std::unique_ptr<SdmaEngine>> engines;
    std::span<const std::unique_ptr<LastLevelCache>> l2;  ///< destinations 0, 1, ... of `routes`
    std::span<const std::unique_ptr<DramChannel>> dram;   ///< indexed by the L2 bank above the channel
    const CacheParameters& l2_parameters;
    std::span<const std::unique_ptr<FirstLevelTlb>> l1_tlbs;  ///< TLBs of the compute units' vector memory; may be empty
    const TlbParameters& l1_tlb_parameters;
    Tlb* l2_tlb;  ///< may be null
    const TlbParameters& l2_tlb_parameters;
    const AddressRoutes& routes;
    std::vector<WriteObserver*> write_observers;
    std::function<unsigned()> other_users;  ///< number of extensions' agents that are using memory
    std::function<ResourceAmounts()> used;
  };
  explicit DeviceCopies(Device device);

  using Describe = std::function<void(StatisticsGroup&)>;
  /// Registers the counters that `describe` adds to a new group `name`, for bulk copies to increment. Call it before the first
  /// copy.
  void count(const std::string& name, const Describe& describe);
  /// Adds the amounts of bulk copies to the registered counters' groups in `parent`.
  void add_to(StatisticsGroup& parent);
  /// Adds the amounts of bulk copies to the events that `meter` counts by the registered counters.
  void add_to(EnergyMeter& meter) const;
  const ResourceAmounts& used_in_bulk() const { return used_; }
  /// Accounts for a reset: dirty lines in L2 will not be written back. Call it before L2 drops these lines.
  void reset();

  unsigned active_users() const override;
  void attach(BulkUser& user) override { device_.packets.bulk_blits().attach(user); }
  void work_begins() override { device_.packets.bulk_blits().others_begin(); }
  bool in_host_memory(std::uint64_t address) const override;
  std::uint64_t l2_bytes() const override { return device_.l2.size() * device_.l2_parameters.size.n; }
  std::uint32_t l2_state(const CopiedRange& range) const override;
  void install_copied(const CopiedRange& range, bool by_compute_units) override;
  std::vector<std::uint64_t> traffic() const override;
  void add_traffic(const std::vector<std::uint64_t>& amounts) override;

 private:
  /// Returns the L2 bank of a GPU virtual address and sets `bus_address`; returns null if the address is not in GPU memory.
  /// `last`: the mapping found by the previous call, which is tried first.
  Cache* bank_of(std::uint64_t address, std::uint64_t& bus_address, isa::MemoryWindow& last) const;
  static void install_pages(Tlb& tlb, const TlbParameters& parameters, const CopiedRange& range);

  void notify_observers(const CopiedRange& range, bool by_compute_units);

  /// Number of sectors made dirty in L2 so far, except by install_copied().
  std::uint64_t dirtied() const;
  /// Number of sectors that are dirty in L2.
  std::uint64_t dirty() const;
  void count_write_backs();

  Device device_;
  struct Group {
    std::string name;
    std::size_t counters;
  };
  std::vector<Group> groups_;                   // groups of counters_, in their order
  std::vector<const std::uint64_t*> counters_;  // counters of models that bulk copies increment
  std::vector<std::uint64_t> in_bulk_;          // amounts of bulk copies, by index in counters_
  ResourceAmounts used_{};                      // resources used by bulk copies
  /// Indices in in_bulk_ of the counters that a write-back of an L2 bank increments.
  struct WriteBackCounters {
    std::size_t write_backs = 0;
    std::size_t dram_writes = 0;
    std::size_t dram_bytes = 0;
  };
  std::vector<WriteBackCounters> write_back_counters_;     // indexed by L2 bank
  std::unordered_map<std::string, std::size_t> banks_;     // index of each L2 bank, by name of its group
  std::unordered_map<std::string, std::size_t> channels_;  // index of each DRAM channel, by name of its group
  std::uint64_t left_dirty_ = 0;  // sectors that install_copied() has dirtied, minus those that it has cleaned, modulo 2^64
  std::int64_t owed_ = 0;         // sectors written by bulk copies that are neither in L2 nor counted as written back
};

}  // namespace lacuna
