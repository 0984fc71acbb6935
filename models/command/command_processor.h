// The command processor: MMIO registers, interrupts, the GPUVM's front end, and the packet processor, to which it forwards
// doorbell writes.
//
// Sockets: `bus` (target, registers of include/lacuna/abi/gpu_registers.h and doorbells), `packets.memory` (initiator, see
// PacketProcessor). `interrupt` is the level of (INTERRUPT_STATUS & INTERRUPT_ENABLE) != 0.
#pragma once

#include <functional>
#include <systemc>
#include <vector>

#include "models/command/packet_processor.h"
#include "models/common/transport/mmio_peripheral.h"

namespace lacuna {

/// Contents of the discovery registers; see gpu_registers.h for units.
struct DeviceDescription {
  isa::Target target = isa::Target::gfx803;
  unsigned shader_arrays = 0;
  unsigned compute_units = 0;
  ComputeUnitParameters compute_unit;
  std::uint64_t vram_base = 0;
  std::uint64_t vram_size = 0;
  Frequency core_clock;
  Frequency timestamp_clock;
};

/// The device around a command processor. All referenced objects outlive it.
struct CommandProcessorContext {
  DeviceDescription device;
  TimingMode mode;
  GpuVm& vm;
  isa::DecodedCode& code;
  Dispatcher& dispatcher;
  std::vector<ComputeUnit*> units;  ///< indexed by the compute unit's number
};

class CommandProcessor : public MmioPeripheral, public InterruptSink {
 public:
  sc_core::sc_out<bool> interrupt;

  /// Returns the host memory of a bus address range; nullptr if no memory with direct access serves the range.
  using HostMemory = std::function<std::byte*(std::uint64_t bus_address, std::uint64_t bytes)>;

  CommandProcessor(sc_core::sc_module_name name, const MmioParameters& mmio, const PacketProcessorParameters& packet_parameters,
                   CommandProcessorContext context);

  /// Sets the aperture registers: first addresses of the 4 GiB windows to LDS and to scratch.
  void set_apertures(std::uint64_t shared, std::uint64_t private_base);
  void set_host_memory(HostMemory host_memory) { host_memory_ = std::move(host_memory); }
  /// Sets the function that resets the rest of the device when software writes a reset to CONTROL; registers and GPUVM are
  /// reset in any case. Default: resets the packet processor only.
  void set_device_reset(std::function<void()> reset) { reset_rest_ = std::move(reset); }

  PacketProcessor packets;

  void raise(std::uint32_t interrupts, Tick at) override;
  void record_fault(std::uint32_t queue_slot, const WavefrontFault& fault) override;

 protected:
  std::uint64_t read_register(const RegisterAccess& access) override;
  void write_register(const RegisterAccess& access, std::uint64_t value) override;

 private:
  void drive_interrupt();
  void update_interrupt(Tick at);
  std::uint32_t read_word(std::uint64_t offset, Tick at, bool debug);
  void write_word(std::uint64_t offset, std::uint32_t value, Tick at);
  std::uint32_t device_word(std::uint64_t offset) const;
  std::uint32_t engine_word(std::uint64_t offset) const;
  void vm_command(std::uint32_t command);
  void queue_command(std::uint32_t command);
  void forward_apertures();
  void reset_device();
  std::uint64_t pair(std::uint64_t low_offset) const;
  std::uint32_t& word(std::uint64_t offset) { return words_[offset / 4]; }
  std::uint32_t word(std::uint64_t offset) const { return words_[offset / 4]; }

  DeviceDescription device_;
  GpuVm& vm_;
  std::vector<ComputeUnit*> units_;
  Clock timestamp_;
  HostMemory host_memory_;
  std::function<void()> reset_rest_ = [this] { packets.reset(); };
  std::vector<std::uint32_t> words_;  // values of the stored registers, by offset / 4
  std::uint32_t latched_timestamp_hi_ = 0;
  sc_core::sc_event interrupt_changed_;
};

}  // namespace lacuna
