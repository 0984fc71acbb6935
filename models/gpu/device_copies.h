// What copies in bulk need of a GPU: who else is at work, what the memory system has counted, and its caches and TLBs.
//
// Counters of models grow only by what is carried out in detail. What copies in bulk add to them is kept here and added to what
// is reported. Ratios among the statistics stay those of what was carried out.
//
// A sample may be too short for L2 to have to write back what it was given. Therefore what L2 writes to DRAM is not left to
// the samples' counters alone: each sector that copies in bulk have made dirty is either dirty in L2 when they have left their
// last lines there, or is counted as written.
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
    std::span<const std::unique_ptr<DramChannel>> dram;   ///< each behind the L2 bank of its number
    const CacheParameters& l2_parameters;
    std::span<const std::unique_ptr<FirstLevelTlb>> l1_tlbs;  ///< of the compute units' vector memory; may be none
    const TlbParameters& l1_tlb_parameters;
    Tlb* l2_tlb;  ///< may be null
    const TlbParameters& l2_tlb_parameters;
    const AddressRoutes& routes;
    std::vector<WriteObserver*> write_observers;
    std::function<ResourceAmounts()> used;
  };
  explicit DeviceCopies(Device device);

  /// Counters that copies make grow, described in a group of that name, a new one. All of them before the first copy.
  using Describe = std::function<void(StatisticsGroup&)>;
  void count(const std::string& name, const Describe& describe);
  /// Adds what copies in bulk have added to the groups of these names in `parent`.
  void add_to(StatisticsGroup& parent);
  /// Adds it to the events that a meter counts by these counters.
  void add_to(EnergyMeter& meter) const;
  const ResourceAmounts& used_in_bulk() const { return used_; }
  /// L2 is about to forget its dirty lines: nothing of what copies have left will be written back.
  void reset();

  unsigned active_users() const override;
  void work_begins() override { device_.packets.bulk_blits().others_begin(); }
  bool in_host_memory(std::uint64_t address) const override;
  std::uint64_t l2_bytes() const override { return device_.l2.size() * device_.l2_parameters.size.n; }
  std::uint32_t l2_state(const CopiedRange& range) const override;
  void install_copied(const CopiedRange& range, bool by_compute_units) override;
  std::vector<std::uint64_t> traffic() const override;
  void add_traffic(const std::vector<std::uint64_t>& amounts) override;

 private:
  /// The L2 bank of a GPU virtual address and the bus address; null when it is not in GPU memory.
  Cache* bank_of(std::uint64_t address, std::uint64_t& bus_address, isa::MemoryWindow& last) const;
  static void install_pages(Tlb& tlb, const TlbParameters& parameters, const CopiedRange& range);

  void notify_observers(const CopiedRange& range, bool by_compute_units);

  /// Sectors that L2 has been given to write back, by all but install_copied().
  std::uint64_t dirtied() const;
  std::uint64_t dirty() const;
  void count_write_backs();

  Device device_;
  struct Group {
    std::string name;
    std::size_t counters;
  };
  std::vector<Group> groups_;                   // in the order of counters_
  std::vector<const std::uint64_t*> counters_;  // where models keep those that copies make grow
  std::vector<std::uint64_t> in_bulk_;          // what copies in bulk have added to each of counters_
  ResourceAmounts used_{};
  /// Where in in_bulk_ the counters are that grow when an L2 bank writes back: of each bank and its channel.
  struct WriteBackCounters {
    std::size_t write_backs = 0;
    std::size_t dram_writes = 0;
    std::size_t dram_bytes = 0;
  };
  std::vector<WriteBackCounters> write_back_counters_;
  // Index of each L2 bank and DRAM channel, by name of its group.
  std::unordered_map<std::string, std::size_t> banks_;
  std::unordered_map<std::string, std::size_t> channels_;
  std::uint64_t left_dirty_ = 0;  // sectors that install_copied() has made dirty, less those it has made clean, modulo 2^64
  std::int64_t owed_ = 0;         // sectors written by copies in bulk that are neither in L2 nor counted as written back
};

}  // namespace lacuna
