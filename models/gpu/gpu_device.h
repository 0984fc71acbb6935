// The GPU as a device: command processor, compute units, caches, NoC and DRAM, and their connections.
//
// The device is used by the platform and by in-process drivers. Sockets: mmio() (target: registers and doorbells), host()
// (initiator: host memory, which the GPU accesses over the bus); interrupt() is a level signal. GPU memory is `vram()`, at bus
// address LACUNA_VRAM_BASE.
//
//   CU x n --+-- L1V --+
//            +-- L1S --+-- NoC --+-- L2 bank x p -- DRAM channel x p
//            +-- L1I --+         +-- host
//   CP, SDMA x m ------+
//
// Research machines extend the device (models/gpu/device_extension.h).
//
// Each L1 cache has TLBs in front of it: one for each compute unit's vector memory, one for each shader array's scalar cache
// and one for its instruction cache. Below them are an L2 TLB and a page walker.
//
// Components that act independently are agents, registered where they are built: packet processor, dispatcher with the compute
// units, SDMA engines.
//
// Reset (register CONTROL): agents drop their work, then caches, TLBs, NoC and DRAM return to their initial state: nothing
// cached, no row open, nothing in flight. Dirty lines of L2 are not written to DRAM; since the data are always in the backing
// store, GPU memory nevertheless holds the values written last (docs/DEVIATIONS.md). Vector registers and LDS keep their
// contents. Statistics continue: they belong to the simulator, not to the device. Refreshes of DRAM stay due at fixed simulated
// times, whatever the time of a reset. A GPU kernel takes the same number of cycles after a reset as on a new device that
// starts at the same time between two refreshes.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <functional>
#include <iosfwd>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <systemc>
#include <vector>

#include "models/cache/first_level_cache.h"
#include "models/command/command_processor.h"
#include "models/common/config/statistics.h"
#include "models/common/host/huge_page_resource.h"
#include "models/common/transport/backing_store.h"
#include "models/compute/windows.h"
#include "models/dram/dram_channel.h"
#include "models/gpu/agent_registry.h"
#include "models/gpu/device_copies.h"
#include "models/gpu/device_energy.h"
#include "models/gpu/device_extension.h"
#include "models/gpu/device_requests.h"
#include "models/gpu/gpu_parameters.h"
#include "models/gpu/memory_phase.h"
#include "models/noc/fabric.h"
#include "models/sdma/sdma_engine.h"
#include "models/tlb/first_level_tlb.h"

namespace lacuna {

class KernelSampler;
class SkippedResults;
class UntimedUnits;

/// Caches and TLBs that the compute units of a shader array share. The TLBs are null if translation takes no time.
struct ShaderArray {
  std::unique_ptr<FirstLevelCache> l1s;
  std::unique_ptr<FirstLevelCache> l1i;
  std::unique_ptr<FirstLevelTlb> l1s_tlb;
  std::unique_ptr<FirstLevelTlb> l1i_tlb;
};

/// Connections of a compute unit's ports. A port has a cache, that cache's socket for the unit, and the TLB in front of the
/// cache (null: none).
struct ComputeUnitPorts {
  struct Port {
    FirstLevelCache& cache;
    Cache::UpstreamPort& socket;
    FirstLevelTlb* tlb;
  };
  Port vector;
  Port scalar;
  Port instruction;
};

/// Occupies the fabric's source port of an extension's unit. The unit uses only its node; the socket makes no transactions.
struct UnitNode {
  explicit UnitNode(const char* name) : socket(name) {}
  tlm_utils::simple_initiator_socket<UnitNode> socket;
};

/// A source of the fabric.
struct Requester {
  tlm::tlm_initiator_socket<>& socket;
  FirstLevelCache* cache = nullptr;          ///< null: an agent, which waits for each of its requests, or a unit node
  unsigned shader_array = 0;                 ///< shader array of a cache
  std::optional<unsigned> shares_node_of{};  ///< source whose node this source shares; nullopt: a separate node
};

class GpuDevice : public sc_core::sc_module, private ResourceMeter, private KernelObserver {
 public:
  /// Throws std::invalid_argument if check() finds a problem. `threads`: threads that simulate the compute units, without
  /// influence on results; null: the caller's thread.
  GpuDevice(sc_core::sc_module_name name, const GpuDeviceParameters& parameters, WorkerThreads* threads = nullptr);
  ~GpuDevice() override;

  auto& mmio() { return cp_->bus; }
  Fabric::DestinationPort& host() { return noc_->destinations[destinations_.host]; }
  sc_core::sc_out<bool>& interrupt() { return cp_->interrupt; }

  BackingStore& vram() { return vram_; }

  // Components that firmware accesses through registers, for a driver in this process.

  GpuVm& vm() { return vm_; }
  PacketProcessor& packet_processor() { return cp_->packets; }
  CommandProcessor& command_processor() { return *cp_; }
  std::span<const std::unique_ptr<SdmaEngine>> sdma_engines() const { return sdma_; }
  const GpuDeviceParameters& parameters() const { return parameters_; }
  void add_observer(KernelObserver& observer);
  /// Call it at the end of a run: passes the records of kernels that have not ended to the observers
  /// (PacketProcessor::report_unfinished).
  void report_unfinished_kernels() { cp_->packets.report_unfinished(); }
  void describe_statistics(StatisticsGroup& group) const;
  /// Registers counters outside of the device that the device's copies increment (DeviceCopies::count), such as those of the
  /// host link.
  void count_with_copies(const std::string& name, const DeviceCopies::Describe& describe) { copies_->count(name, describe); }
  /// Adds the amounts of bulk copies to the registered counters in `parent`.
  void add_copies_to(StatisticsGroup& parent) const { copies_->add_to(parent); }

  /// The hardware of a research machine; null if the machine is off.
  template <typename Extension>
  Extension* extension() {
    for (const auto& extension : extensions_) {
      if (auto* const found = dynamic_cast<Extension*>(extension.get())) return found;
    }
    return nullptr;
  }
  const Fabric& fabric() const { return *noc_; }
  /// Number of the fabric's destination that is L2 bank 0.
  unsigned first_l2() const { return destinations_.first_l2; }
  /// The barrier that serves the compute units' requests at the end of a window; null without timing.
  WindowBarrier* barrier() { return memory_phase_.get(); }

  /// Energy accounting; null if energy.model is off.
  DeviceEnergy* energy() { return energy_.get(); }
  /// Requests over time; null if gpu.request_interval is 0.
  DeviceRequests* requests() { return requests_.get(); }

  std::uint64_t wavefront_instructions() const { return dispatcher_.wavefront_instructions(); }
  // State of all agents together (models/common/agent.h).
  bool idle() const { return agents_.idle(); }
  bool busy() const { return agents_.busy(); }
  bool polled_after(Tick time) const { return agents_.polled_after(time); }
  std::uint64_t progress() const { return agents_.progress(); }
  void diagnose(std::ostream& out) const { agents_.diagnose(out); }

 private:
  /// Destinations of the NoC.
  struct Destinations {
    unsigned first_l2 = 0;
    unsigned l2_banks;
    unsigned host = first_l2 + l2_banks;
    unsigned first_of_extension = host + 1;  ///< first destination of an extension's memory, which has one per L2 bank
  };

  ResourceAmounts used() const override;
  ResourceAmounts used_by_units() const;
  ResourceAmounts available(Cycles cycles) const override;
  std::uint64_t reachable_dram_bytes(Cycles cycles) const override;
  MemoryCounts memory_counts() const override;
  void kernel_started(const Dispatch&) override {}
  /// Drops past bookings of all agents and reports requests over time. Does not wait for the end of a window, since the next
  /// window may be much later.
  void kernel_ended(const KernelRecord& record) override;
  void build_l1_caches();
  void build_extensions();
  void build_translation();
  void build_compute_units();
  void build_command_processor();
  void build_sdma();
  void find_requesters();
  void build_noc();
  void build_memory();
  void build_extension_memory(unsigned partition);
  void build_memory_phase();
  void build_copies();
  void build_requests();
  void build_energy();
  void describe_energy(EnergyMeter& meter, const EnergyParameters& e);
  void measure_toggles(EnergyMeter& meter, const EnergyParameters& e);
  void build_sampler();
  void start_of_simulation() override;
  void reset();
  ComputeUnitPorts ports_of(const ComputeUnitPlace& place);
  /// The device's L1 caches, without those of extensions.
  std::vector<FirstLevelCache*> l1_caches() const;
  std::vector<FirstLevelTlb*> l1_tlbs() const;
  std::vector<ComputeUnit*> unit_pointers() const;
  void describe_memory(const std::function<void(const std::string&, const DeviceCopies::Describe&)>& to) const;
  std::byte* host_memory(std::uint64_t bus_address, std::uint64_t bytes);

  GpuDeviceParameters parameters_;
  Destinations destinations_;
  BackingStore vram_;
  GpuVm vm_;
  WorkerThreads* threads_;
  isa::DecodedCode code_;
  std::vector<LdsBanks> lds_banks_;                 ///< one per shader array
  std::vector<VectorWorkspace> vector_workspaces_;  ///< one per shader array
  HugePageResource huge_pages_;
  std::pmr::monotonic_buffer_resource state_memory_;  ///< memory of the compute units' state
  AgentRegistry agents_;
  Windows windows_;
  Dispatcher dispatcher_;
  std::vector<std::unique_ptr<ComputeUnit>> units_;
  std::vector<std::unique_ptr<FirstLevelCache>> l1v_;     ///< one for every gpu.cus_per_l1v compute units
  std::vector<std::unique_ptr<FirstLevelTlb>> l1v_tlbs_;  ///< one per compute unit
  std::vector<ShaderArray> arrays_;
  std::vector<std::unique_ptr<DeviceExtension>> extensions_;
  std::vector<Agent*> extension_agents_;
  std::vector<Tlb*> extension_tlbs_;
  std::vector<std::unique_ptr<UnitNode>> unit_nodes_;  ///< nodes of units of all extensions, in the extensions' order
  unsigned first_unit_node_ = 0;                       ///< source number of the first element of unit_nodes_
  std::vector<ExtensionRequester> extension_requesters_;
  std::optional<ExtensionMemory> extension_memory_;
  /// The L1V of each compute unit whose instructions also invalidate caches of extensions, together with those caches.
  std::vector<std::unique_ptr<CachesTogether>> vector_caches_;
  std::vector<Requester> requesters_;        ///< indexed by the fabric's source number
  std::unique_ptr<PageWalker> page_walker_;  ///< null if translation takes no time
  std::unique_ptr<Tlb> l2_tlb_;              ///< null if translation takes no time
  std::vector<std::unique_ptr<SdmaEngine>> sdma_;
  std::unique_ptr<Fabric> noc_;
  std::vector<std::unique_ptr<LastLevelCache>> l2_;
  std::vector<std::unique_ptr<DramChannel>> dram_;
  std::unique_ptr<MemoryPhase> memory_phase_;  ///< null without timing
  std::unique_ptr<CommandProcessor> cp_;
  std::unique_ptr<DeviceCopies> copies_;
  std::unique_ptr<DeviceRequests> requests_;
  struct UsedByUnits {
    std::uint64_t windows = 0;  ///< Windows::count() when `sum` was computed
    ResourceAmounts sum{};
  };
  mutable UsedByUnits used_by_units_;
  std::unique_ptr<DeviceEnergy> energy_;
  std::unique_ptr<SkippedResults> skipped_results_;
  std::unique_ptr<UntimedUnits> untimed_units_;  ///< units that run untimed parts for the sampler
  std::unique_ptr<KernelSampler> sampler_;       ///< null: kernels are not sampled
};

}  // namespace lacuna
