// A research machine as an extension of a GpuDevice.
//
// A machine is a folder of models/. It joins a device without the device knowing its name:
//
//   ExtensionParameters   its parameters, with their checks; a device's parameters have those of all machines
//                         (models/extensions.h), and each of them says whether the machine is on
//   DeviceExtension       the hardware of a machine that is on: what it adds to the device, and what it is notified of
//   LoadStage             its part of a compute unit (models/compute/load_stage.h)
//
// What it adds to the records of kernels it registers (models/common/config/extension_texts.h). A machine that is off has no
// DeviceExtension and costs nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "models/cache/first_level_cache.h"
#include "models/cache/last_level_cache.h"
#include "models/common/agent.h"
#include "models/common/config/parameters.h"
#include "models/common/config/statistics.h"
#include "models/common/transport/address_slice.h"
#include "models/common/transport/cache_maintenance.h"
#include "models/common/transport/write_observer.h"
#include "models/compute/load_stage.h"
#include "models/compute/window_observer.h"
#include "models/energy/energy_meter.h"
#include "models/energy/energy_parameters.h"
#include "models/noc/placement.h"

namespace lacuna {

struct GpuDeviceParameters;
class KernelObserver;

/// A first-level cache that sends its requests into the fabric.
struct ExtensionRequester {
  FirstLevelCache& cache;
  unsigned shader_array = 0;  ///< whose units use it: they and the cache work on one thread
  std::optional<unsigned>
      shares_node_of{};  ///< the L1 vector cache whose node it shares, by number; none: it has a node of its own
};

/// Memory behind the DRAM channels' data, of which there are times and traffic but no contents, with a cache before each
/// channel.
struct ExtensionMemory {
  std::string name;                       ///< of the address range, in messages
  AddressSlice slice;                     ///< partition 0's share; bus addresses outside of all others
  std::vector<LastLevelCache*> caches{};  ///< by memory partition, each for its share
  bool shares_l2_nodes = false;           ///< the caches share the nodes of the L2 banks
};

/// The hardware of a machine in one device. Functions are called in this order while the device is built, each once.
class DeviceExtension {
 public:
  virtual ~DeviceExtension() = default;

  /// The part of the machine in a compute unit. Null: it has none.
  virtual std::unique_ptr<LoadStage> make_stage(const LoadStageContext& context) {
    static_cast<void>(context);
    return nullptr;
  }
  /// A cache that a unit's instructions invalidate together with its L1 vector cache. Null: there is none.
  virtual CacheMaintenance* invalidated_with_l1v(unsigned unit) {
    static_cast<void>(unit);
    return nullptr;
  }
  virtual std::vector<ExtensionRequester> requesters() { return {}; }
  /// At most one extension of a device has memory.
  virtual std::optional<ExtensionMemory> memory() { return std::nullopt; }
  /// What works without being called: it keeps the device busy, and is reset with it. It outlives the device's last use.
  virtual std::vector<Agent*> agents() { return {}; }

  // What the extension is notified of. Null: of nothing.
  virtual WindowObserver* window_observer() { return nullptr; }
  virtual WriteObserver* write_observer() { return nullptr; }
  virtual KernelObserver* kernel_observer() { return nullptr; }

  /// The device has been reset, the caches above included.
  virtual void reset() {}
  /// Adds the extension's own groups to the device's statistics. The caches above have theirs.
  virtual void describe(StatisticsGroup& device) const { static_cast<void>(device); }
  /// Registers the energy of the caches above and of everything else outside of the compute units.
  virtual void describe_energy(EnergyMeter& meter, const EnergyParameters& energy) const {
    static_cast<void>(meter), static_cast<void>(energy);
  }
};

/// Nodes of the fabric that a machine takes: of its own, and those that it shares.
struct ExtensionNodes {
  unsigned sources = 0;
  unsigned destinations = 0;
  FabricGuests guests;  ///< by number of the L1 vector cache, and of the L2 bank
};

/// The parameters of a machine.
class ExtensionParameters {
 public:
  virtual ~ExtensionParameters() = default;
  virtual std::unique_ptr<ExtensionParameters> clone() const = 0;
  /// Describes the machine's sections.
  virtual void describe(ParameterSet& set) = 0;
  /// Whether the device has the machine. The functions below are called only then.
  virtual bool is_on() const = 0;
  /// Adds what no single parameter's range can say; one line per problem, naming section.name.
  virtual void check(const GpuDeviceParameters& device, std::vector<std::string>& problems) const {
    static_cast<void>(device), static_cast<void>(problems);
  }
  virtual ExtensionNodes nodes(const GpuDeviceParameters& device) const {
    static_cast<void>(device);
    return {};
  }
  /// The time from a request of the machine to where a wavefront sees the answer, at least: windows are no longer.
  virtual Tick min_response_time(const GpuDeviceParameters& device) const {
    static_cast<void>(device);
    return kNever;
  }
  /// Builds the machine, as a part of the sc_module that is being constructed.
  virtual std::unique_ptr<DeviceExtension> make(const GpuDeviceParameters& device) const = 0;
};

/// The parameters of several machines; a copy has its own.
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
  /// Those of one machine. std::bad_cast: they are not in the set.
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
