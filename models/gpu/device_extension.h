// A research machine as an extension of a GpuDevice.
//
// A machine is a folder of models/ that joins a device through these interfaces; the device's code does not name it.
//
//   ExtensionParameters   its parameters, with their checks; a device's parameters contain those of all machines
//                         (models/extensions.h), each with a switch that turns the machine on
//   DeviceExtension       the hardware of a machine that is on: its parts of the device, and its observers
//   LoadStage             its part of a compute unit (models/compute/load_stage.h)
//
// A machine registers its columns in kernel records (models/common/config/extension_texts.h). A machine that is off has no
// DeviceExtension and costs nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "models/cache/first_level_cache.h"
#include "models/cache/last_level_cache.h"
#include "models/command/dispatch_packet.h"
#include "models/command/packet_engine.h"
#include "models/common/agent.h"
#include "models/common/config/parameters.h"
#include "models/common/config/statistics.h"
#include "models/common/host/worker_threads.h"
#include "models/common/transport/address_slice.h"
#include "models/common/transport/cache_maintenance.h"
#include "models/common/transport/write_observer.h"
#include "models/compute/load_stage.h"
#include "models/compute/window_observer.h"
#include "models/compute/windows.h"
#include "models/energy/energy_meter.h"
#include "models/energy/energy_parameters.h"
#include "models/gpu/node_requester.h"
#include "models/isa/decode/decoded_code.h"
#include "models/noc/fabric.h"
#include "models/noc/placement.h"
#include "models/sdma/copy_context.h"
#include "models/tlb/tlb.h"

namespace lacuna {

struct GpuDeviceParameters;
class KernelObserver;

/// A first-level cache of an extension, which is a source of the fabric.
struct ExtensionRequester {
  FirstLevelCache& cache;
  unsigned shader_array = 0;  ///< shader array whose compute units use the cache, on the same thread
  std::optional<unsigned>
      shares_node_of{};  ///< number of the L1 vector cache whose node this cache shares; nullopt: a separate node
};

/// A unit of an extension at a node of the fabric.
struct ExtensionUnit {
  enum class At : std::uint8_t {
    l1v,      ///< the node of an L1 vector cache
    l2_bank,  ///< the node of an L2 bank
    node,     ///< the node with number `number`
    own       ///< a separate node: element `number` of ExtensionNodes::units
  };
  NodeRequester& unit;
  At at;
  unsigned number;  ///< number of the cache, bank or node that `at` selects
  /// If set, the unit acts in windows, together with the compute units of this shader array; otherwise it acts only in memory
  /// phases.
  std::optional<unsigned> shader_array{};
};

/// Memory of an extension in the DRAM channels, in addition to GPU memory, with a cache above each channel. Only its timing and
/// traffic are simulated; it holds no data.
struct ExtensionMemory {
  std::string name;                       ///< name of the address range, in messages
  AddressSlice slice;                     ///< partition 0's share; bus addresses that no other memory uses
  std::vector<LastLevelCache*> caches{};  ///< caches by memory partition
  bool shares_l2_nodes = false;           ///< whether the caches share the nodes of the L2 banks
};

/// The hardware of a machine in one device.
class DeviceExtension {
 public:
  virtual ~DeviceExtension() = default;

  /// Called once, before all other functions. `vm`: memory of GPU kernels; `code`: the instructions decoded from `vm`, which a
  /// machine that changes code must revalidate.
  virtual void attach_code(const GpuVm& vm, isa::DecodedCode& code) { static_cast<void>(vm), static_cast<void>(code); }
  /// Called once if the device has several host threads: a machine may distribute its work over them.
  virtual void attach_threads(WorkerThreads& threads) { static_cast<void>(threads); }
  /// Called once, with the object that runs the windows in which compute units advance. A machine whose units act in memory
  /// phases requests further windows from `windows`.
  virtual void attach_windows(Windows& windows) { static_cast<void>(windows); }
  /// Called once if translation takes time. A machine that translates addresses returns its TLB, which the device invalidates
  /// and resets with the device's TLBs; other machines return null.
  virtual Tlb* attach_translation(TranslationLevel& l2_tlb) {
    static_cast<void>(l2_tlb);
    return nullptr;
  }
  /// Called once, with the observers of writes that no compute unit makes, for a machine that makes such writes.
  virtual void attach_writes(const std::vector<WriteObserver*>& observers) { static_cast<void>(observers); }
  /// Called once, for a machine that makes bulk copies or whose work competes with them for memory: it announces its work to
  /// `context`.
  virtual void attach_copies(CopyContext& context) { static_cast<void>(context); }
  /// Creates the machine's part of a compute unit; returns null if the machine has none.
  virtual std::unique_ptr<LoadStage> make_stage(const LoadStageContext& context) {
    static_cast<void>(context);
    return nullptr;
  }
  /// A cache that the instructions of compute unit `unit` invalidate together with the unit's L1 vector cache, or null.
  virtual CacheMaintenance* invalidated_with_l1v(unsigned unit) {
    static_cast<void>(unit);
    return nullptr;
  }
  /// Called for each compute unit, with the L1 vector cache that serves it.
  virtual void attach_l1v(unsigned unit, FirstLevelCache& cache) { static_cast<void>(unit), static_cast<void>(cache); }
  /// Called for each L2 bank.
  virtual void attach_l2(unsigned bank, const Cache& cache) { static_cast<void>(bank), static_cast<void>(cache); }
  /// Called when the fabric has been built. The destinations from `first_l2` on are the L2 banks.
  virtual void attach_fabric(const Fabric& fabric, unsigned first_l2) {
    static_cast<void>(fabric), static_cast<void>(first_l2);
  }
  /// The machine's units at nodes of the fabric, other than first-level caches. Called after attach_fabric().
  virtual std::vector<ExtensionUnit> units() { return {}; }
  /// The machine's sources of the fabric.
  virtual std::vector<ExtensionRequester> requesters() { return {}; }
  /// The machine's memory. At most one extension of a device has memory.
  virtual std::optional<ExtensionMemory> memory() { return std::nullopt; }
  /// Components that act independently: they keep the device busy and are reset with it. They outlive the device's last use.
  virtual std::vector<Agent*> agents() { return {}; }

  /// Observer of the ends of windows, or null.
  virtual WindowObserver* window_observer() { return nullptr; }
  /// Observer of writes that no compute unit makes, or null.
  virtual WriteObserver* write_observer() { return nullptr; }
  /// Observer of changes of code, or null.
  virtual isa::CodeObserver* code_observer() { return nullptr; }
  /// Observer of the starts and ends of GPU kernels, or null.
  virtual KernelObserver* kernel_observer() { return nullptr; }

  /// The machine's engine for vendor-specific packets, or null.
  virtual PacketEngine* packet_engine() { return nullptr; }
  /// Check that is made before a dispatch starts, or null.
  virtual DispatchCheck* dispatch_check() { return nullptr; }

  /// Called when the device is reset: after the reset of agents and of the caches of requesters() and memory(), before that of
  /// the memory phase.
  virtual void reset() {}
  /// Adds the extension's statistics groups to `device`, except those of the caches of requesters() and memory().
  virtual void describe(StatisticsGroup& device) const { static_cast<void>(device); }
  /// Registers the energy of the caches of requesters() and memory(), and of all other parts outside of the compute units.
  virtual void describe_energy(EnergyMeter& meter, const EnergyParameters& energy) const {
    static_cast<void>(meter), static_cast<void>(energy);
  }
};

/// Nodes of the fabric that a machine uses.
struct ExtensionNodes {
  unsigned sources = 0;       ///< number of sources with separate nodes
  unsigned units = 0;         ///< number of units with separate nodes, in addition to `sources`
  unsigned destinations = 0;  ///< number of destinations with separate nodes
  bool switches = false;      ///< whether the last switches of a butterfly are nodes (FabricParameters::switch_nodes)
  FabricGuests guests;        ///< sources that share the nodes of L1 vector caches, and destinations that share those of L2
                              ///< banks
};

/// The parameters of a machine.
class ExtensionParameters {
 public:
  virtual ~ExtensionParameters() = default;
  virtual std::unique_ptr<ExtensionParameters> clone() const = 0;
  /// Adds the machine's parameter sections to `set`.
  virtual void describe(ParameterSet& set) = 0;
  /// Whether the device has the machine. The functions below are called only if the device has the machine.
  virtual bool is_on() const = 0;
  /// Checks relations between parameters. Adds one line per problem, which names the parameter (section.name).
  virtual void check(const GpuDeviceParameters& device, std::vector<std::string>& problems) const {
    static_cast<void>(device), static_cast<void>(problems);
  }
  /// The nodes of the fabric that the machine uses.
  virtual ExtensionNodes nodes(const GpuDeviceParameters& device) const {
    static_cast<void>(device);
    return {};
  }
  /// Minimum time from a request of the machine until its response can affect a wavefront; limits the length of windows.
  virtual Tick min_response_time(const GpuDeviceParameters& device) const {
    static_cast<void>(device);
    return kNever;
  }
  /// Creates the machine, as a part of the sc_module that is being constructed.
  virtual std::unique_ptr<DeviceExtension> make(const GpuDeviceParameters& device) const = 0;
};

/// The parameters of several machines. Copies are deep.
class ExtensionSet {
 public:
  ExtensionSet() = default;
  ExtensionSet(const ExtensionSet& other) { *this = other; }
  ExtensionSet(ExtensionSet&&) = default;
  ~ExtensionSet() = default;
  ExtensionSet& operator=(const ExtensionSet& other) {
    if (this == &other) return *this;
    all_.clear();
    for (const auto& parameters : other.all_) all_.push_back(parameters->clone());
    return *this;
  }
  ExtensionSet& operator=(ExtensionSet&&) = default;

  void add(std::unique_ptr<ExtensionParameters> parameters) { all_.push_back(std::move(parameters)); }
  const std::vector<std::unique_ptr<ExtensionParameters>>& all() const { return all_; }
  /// The parameters of one machine. Throws std::bad_cast if they are not in the set.
  template <typename Parameters>
  Parameters& get() {
    for (const auto& parameters : all_) {
      if (auto* const found = dynamic_cast<Parameters*>(parameters.get())) return *found;
    }
    throw std::bad_cast();
  }

 private:
  std::vector<std::unique_ptr<ExtensionParameters>> all_;
};

}  // namespace lacuna
