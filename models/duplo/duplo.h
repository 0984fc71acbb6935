// Duplo (Kim et al., "Duplo: Lifting Redundant Memory Accesses of Deep Neural Networks for GPU Tensor Cores", MICRO '20) as an
// extension of a device: a detection unit in each compute unit.
//
// A kernel KERNEL with a convolution has an object KERNEL_duplo in its code object (parameter_block.h). The packet processor
// reads the object at dispatch, and rejects the dispatch if the object describes no valid convolution. A kernel without such an
// object is not affected.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "models/command/code_check.h"
#include "models/command/kernel_record.h"
#include "models/command/kernel_symbols.h"
#include "models/compute/window_observer.h"
#include "models/duplo/active_convolution.h"
#include "models/duplo/detection_unit.h"
#include "models/duplo/duplo_parameters.h"
#include "models/gpu/device_extension.h"
#include "models/gpu/gpu_parameters.h"

namespace lacuna {

/// Parameter section duplo.
class DuploParameterSet : public ExtensionParameters {
 public:
  DuploParameters duplo;

  DuploParameterSet();
  std::unique_ptr<ExtensionParameters> clone() const override { return std::make_unique<DuploParameterSet>(*this); }
  void describe(ParameterSet& set) override { set.describe("duplo", duplo); }
  bool is_on() const override { return duplo.mode != DuploMode::off; }
  void check(const GpuDeviceParameters& device, std::vector<std::string>& problems) const override;
  std::unique_ptr<DeviceExtension> make(const GpuDeviceParameters& device) const override;
};

class Duplo final : public DeviceExtension, private KernelObserver, private DispatchCheck, private WindowObserver {
 public:
  /// `l1v`: size of an L1 vector cache, from which static power is scaled.
  Duplo(const DuploParameters& parameters, Bytes l1v) : parameters_(parameters), l1v_(l1v), numbers_(parameters.convolutions) {}

  void attach_code(const GpuVm& vm, isa::DecodedCode& code) override;
  std::unique_ptr<LoadStage> make_stage(const LoadStageContext& context) override;
  void attach_l1v(unsigned unit, FirstLevelCache& cache) override { units_[unit]->attach_l1v(cache); }
  CacheMaintenance* invalidated_with_l1v(unsigned unit) override { return units_[unit]; }
  KernelObserver* kernel_observer() override { return this; }
  DispatchCheck* dispatch_check() override { return this; }
  WindowObserver* window_observer() override { return parameters_.trace ? this : nullptr; }
  void reset() override;
  void describe(StatisticsGroup& device) const override;
  void describe_energy(EnergyMeter& meter, const EnergyParameters& energy) const override;

  const std::vector<DetectionUnit*>& detection_units() const { return units_; }
  /// Receives the events of a compute unit's load history buffer in the order in which they occurred.
  using HistoryTrace = std::function<void(unsigned unit, const std::vector<HistoryEvent>& events)>;
  /// Whether duplo.trace is set.
  bool has_trace() const { return parameters_.trace; }
  /// With duplo.trace: `trace` receives all events from now on, with a delay; finish_trace() sends the rest.
  void trace_to(HistoryTrace trace);
  void finish_trace();
  /// For tests: from now on each write to a shared register and each renaming is followed by a check of the register maps.
  void check_registers_at_each_change();
  /// Number of times that symbols of code objects have been read.
  std::uint64_t symbol_readings() const { return symbols_->readings(); }

 private:
  void kernel_started(const Dispatch& dispatch) override;
  void kernel_ended(const KernelRecord& record) override;
  std::optional<std::string> refusal(Dispatch& dispatch) override;
  void window_ended() override;
  /// The kernel's parameter block, or a description of the block's first error.
  std::variant<ParameterBlock, std::string> read_block(const Dispatch& dispatch, const std::string& name,
                                                       const KernelSymbols::DataObject& object);
  /// Reason why the dispatch cannot have a workspace in LDS; nullopt: it can.
  std::optional<std::string> lds_problem(const Dispatch& dispatch, const LdsBuffers& buffers);
  /// Ends the run with an error: with exact IDs a hit is wrong only if the block describes another convolution, or if another
  /// compute unit or the host has stored into the workspace since the register was loaded.
  void report(const KernelRecord& record, const LoweredConvolution& c, const WrongHit& wrong) const;
  /// Warns, once per pair of kernels, that a kernel stores into the workspace of the kernel of `record`, which may be itself.
  /// `dropped`: entries that stores have dropped while the kernel of `record` ran.
  void warn_of_store(const KernelRecord& record, const WorkspaceStore& store, std::uint64_t dropped);
  /// Warns of parameter blocks in a kernel's code object whose name is not that of a kernel followed by `_duplo`.
  void warn_of_lost_block(std::uint64_t kernel_object);

  /// Adds the time since the last call to `powered_ps_`, if a convolution runs.
  void count_powered(Tick until) const;
  void power_off(Tick at);

  const DuploParameters parameters_;
  const Bytes l1v_;
  const GpuVm* vm_ = nullptr;
  std::optional<KernelSymbols> symbols_;
  std::optional<CodeCheck> slab_check_;  ///< finds code in which M0 cannot name slabs
  /// The dispatch checked last, and its block. The dispatch starts before another dispatch is checked, or never.
  std::optional<std::pair<const Dispatch*, ParameterBlock>> checked_;
  std::vector<DetectionUnit*> units_;  ///< indexed by compute unit
  ActiveConvolutions convolutions_;
  std::vector<bool> numbers_;                                      ///< whether each number of a convolution is in use
  std::unordered_map<std::uint64_t, const Dispatch*> dispatches_;  ///< dispatches with a convolution, by index
  // The detection units are powered from the start of the first kernel with a convolution to the end of the last such kernel.
  // The powered time is updated when the energy meter reads it.
  mutable std::optional<Tick> powered_since_;
  mutable std::uint64_t powered_ps_ = 0;
  std::uint64_t unserved_ = 0;
  std::set<std::pair<std::string, std::string>> warned_;  ///< kernels with a convolution, and kernels that store into their
                                                          ///< workspaces, of which a warning has reported
  std::uint64_t searched_ = 0;  ///< KernelSymbols::readings() at the last search for misnamed parameter blocks
  HistoryTrace trace_;          ///< null: events are not recorded
};

}  // namespace lacuna
