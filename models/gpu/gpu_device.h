// The GPU as a device: command processor, compute units, caches, NoC and DRAM, wired.
//
// This is what both front doors share. Sockets: mmio() (target: registers and doorbells), host() (initiator: memory of the host
// that the GPU reaches over the bus); interrupt() is a level. GPU memory is `vram()`, at bus address LACUNA_VRAM_BASE.
//
//   CU x n --+-- L1V --+
//            +-- L1S --+-- NoC --+-- L2 bank x p -- DRAM channel x p
//            +-- L1I --+         +-- host
//   CP, SDMA x m ------+
//
// Beside the L1 caches are their TLBs: one for each compute unit's vector memory, one for each shader array's scalar and one
// for its instruction cache; behind them an L2 TLB and a page walker.
#pragma once

#include <iosfwd>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <systemc>
#include <vector>

#include "models/cache/cache.h"
#include "models/cache/first_level_cache.h"
#include "models/command/command_processor.h"
#include "models/common/address_hash.h"
#include "models/common/backing_store.h"
#include "models/common/huge_page_resource.h"
#include "models/common/parameters.h"
#include "models/common/statistics.h"
#include "models/dram/dram_channel.h"
#include "models/gpu/device_copies.h"
#include "models/gpu/memory_edge.h"
#include "models/noc/fabric.h"
#include "models/sdma/copy_surroundings.h"
#include "models/sdma/sdma_engine.h"
#include "models/tlb/first_level_tlb.h"

namespace lacuna {

/// Whether the translation of addresses takes time. What they translate to is the page table's affair in either case.
enum class Translation : std::uint8_t { free, tlb };

/// Size and shape of the GPU.
struct GpuParameters {
  isa::Target target = isa::Target::gfx803;
  unsigned shader_arrays = 16;
  unsigned cus_per_shader_array = 4;
  Frequency core_clock{1'000'000'000};
  Frequency timestamp_clock{1'000'000'000};
  TimingMode timing = TimingMode::loose;
  Cycles window{0};
  unsigned cus_per_l1v = 4;
  unsigned memory_partitions = 16;
  Bytes partition_interleave{128};
  AddressHash partition_hash = AddressHash::none;
  Cycles start_phase{0};
  Translation translation = Translation::tlb;
  CopyMode copies = CopyMode::bulk;

  void describe(ParameterSection& s);
};

struct VramParameters {
  Bytes size{std::uint64_t{4} << 30};

  void describe(ParameterSection& s);
};

struct GpuDeviceParameters {
  GpuParameters gpu;
  MmioParameters mmio{.clock = Frequency{1'000'000'000}, .read_latency = Cycles{100}, .write_latency = Cycles{100}};
  PacketProcessorParameters cp;
  DispatcherParameters dispatcher;
  ComputeUnitParameters cu;
  CacheParameters l1v;
  CacheParameters l1s;
  CacheParameters l1i;
  CacheParameters l2;
  TlbParameters l1_tlb;
  TlbParameters l2_tlb;
  PageWalkerParameters page_walker;
  SdmaParameters sdma;
  FabricParameters noc;
  DramParameters dram;
  VramParameters vram;

  GpuDeviceParameters();
  /// Sections gpu, gpu_mmio, cp, dispatcher, cu, l1v, l1s, l1i, l1_tlb, l2_tlb, page_walker, sdma, noc, l2, dram,
  /// vram.
  void describe(ParameterSet& set);
  /// What no single parameter's range can say; one line per problem, naming section.name.
  std::vector<std::string> check() const;
  /// Of the compute units' windows: the shortest way from a request that leaves a first-level cache, or from the issue of a
  /// store, to where a wavefront sees the answer.
  Cycles window() const;
};

class GpuDevice : public sc_core::sc_module, private ResourceMeter {
 public:
  /// Throws std::invalid_argument when check() finds a problem.
  GpuDevice(sc_core::sc_module_name name, const GpuDeviceParameters& parameters);

  auto& mmio() { return cp_->bus; }
  auto& host() { return noc_->destinations[host_destination_]; }
  sc_core::sc_out<bool>& interrupt() { return cp_->interrupt; }

  BackingStore& vram() { return vram_; }

  /// For a driver in this process: what firmware reaches by registers.
  GpuVm& vm() { return vm_; }
  PacketProcessor& packet_processor() { return cp_->packets; }
  CommandProcessor& command_processor() { return *cp_; }
  std::span<const std::unique_ptr<SdmaEngine>> sdma_engines() const { return sdma_; }
  const GpuDeviceParameters& parameters() const { return parameters_; }
  void add_observer(KernelObserver& observer);
  void describe_statistics(StatisticsGroup& group) const;
  /// Counters outside of the device that its copies make grow (DeviceCopies::count): those of the link to the host.
  void count_with_copies(const std::string& name, const DeviceCopies::Describe& describe) { copies_->count(name, describe); }
  /// Adds to these, described in `parent`, what copies in bulk have added.
  void add_copies_to(StatisticsGroup& parent) const { copies_->add_to(parent); }

  /// Progress so far: both only grow while anything happens. What copies move counts with the packets.
  std::uint64_t wavefront_instructions() const;
  std::uint64_t packets() const;
  /// No packet waits or runs.
  bool idle() const;
  /// What every queue, dispatch and wavefront waits for, a line each.
  void diagnose(std::ostream& out) const;

 private:
  ResourceAmounts used() const override;
  ResourceAmounts available(Cycles cycles) const override;
  void build_compute_units();
  void build_translation();
  void build_memory();
  void build_sdma();
  void build_noc();
  void build_copies();
  void build_edge();
  void describe_memory(const std::function<void(const std::string&, const DeviceCopies::Describe&)>& to) const;
  std::byte* host_memory(std::uint64_t bus_address, std::uint64_t bytes);

  GpuDeviceParameters parameters_;
  unsigned host_destination_;
  BackingStore vram_;
  GpuVm vm_;
  isa::DecodedCode code_;
  LdsBanks lds_banks_;
  HugePageResource huge_pages_;
  std::pmr::monotonic_buffer_resource state_memory_;  ///< of the compute units
  Windows windows_;
  Dispatcher dispatcher_;
  std::vector<std::unique_ptr<ComputeUnit>> units_;
  std::vector<std::unique_ptr<FirstLevelCache>> l1v_;
  std::vector<std::unique_ptr<FirstLevelCache>> l1s_;
  std::vector<std::unique_ptr<FirstLevelCache>> l1i_;
  std::unique_ptr<PageWalker> page_walker_;
  std::unique_ptr<Tlb> l2_tlb_;
  std::vector<std::unique_ptr<FirstLevelTlb>>
      l1_tlbs_;  ///< of the compute units, then of the shader arrays' scalar, then instruction caches
  std::vector<std::unique_ptr<SdmaEngine>> sdma_;
  std::unique_ptr<Fabric> noc_;
  std::vector<std::unique_ptr<Cache>> l2_;
  std::vector<std::unique_ptr<DramChannel>> dram_;
  std::unique_ptr<MemoryEdge> edge_;
  std::unique_ptr<CommandProcessor> cp_;
  std::unique_ptr<DeviceCopies> copies_;
};

}  // namespace lacuna
