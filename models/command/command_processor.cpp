#include "models/command/command_processor.h"

#include <optional>
#include <string_view>

#include "include/lacuna/abi/gpu_registers.h"
#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"

namespace lacuna {

namespace {

struct RegisterRow {
  std::string_view name;
  std::uint64_t offset;
  RegisterMode mode;
  std::uint32_t reset;
};

constexpr RegisterMode RO = RegisterMode::read_only;
constexpr RegisterMode RW = RegisterMode::read_write;
constexpr RegisterMode W1C = RegisterMode::read_write;
constexpr RegisterMode WO = RegisterMode::write_only;
#define LACUNA_REGISTER_ROW(name, offset, access, reset, description) {#name, offset, access, reset},
constexpr RegisterRow kRegisters[] = {LACUNA_GPU_REGISTERS(LACUNA_REGISTER_ROW)};
#undef LACUNA_REGISTER_ROW

constexpr std::uint32_t low(std::uint64_t v) { return static_cast<std::uint32_t>(v); }
constexpr std::uint32_t high(std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); }

}  // namespace

CommandProcessor::CommandProcessor(sc_core::sc_module_name module_name, const MmioParameters& mmio,
                                   const PacketProcessorParameters& packet_parameters, CommandProcessorContext context)
    : MmioPeripheral(module_name, mmio, Bytes{LACUNA_GPU_REGISTER_SPACE}),
      interrupt("interrupt"),
      packets("packets", packet_parameters,
              {.clock = Clock(context.device.core_clock),
               .timestamp = Clock(context.device.timestamp_clock),
               .mode = context.mode,
               .target = context.device.target,
               .vm = context.vm,
               .code = context.code,
               .dispatcher = context.dispatcher,
               .interrupts = *this}),
      device_(context.device),
      vm_(context.vm),
      units_(std::move(context.units)),
      timestamp_(context.device.timestamp_clock),
      words_(LACUNA_DOORBELL_OFFSET / 4),
      interrupt_changed_("interrupt_changed") {
  for (const RegisterRow& row : kRegisters) {
    add_register({.name = std::string(row.name), .offset = row.offset, .width = 4, .mode = row.mode});
    word(row.offset) = row.reset;
  }
  add_register({.name = "DOORBELL",
                .offset = LACUNA_DOORBELL_OFFSET,
                .width = 8,
                .mode = RegisterMode::write_only,
                .count = packet_parameters.queue_slots,
                .stride = LACUNA_DOORBELL_STRIDE});
  SC_HAS_PROCESS(CommandProcessor);
  SC_METHOD(drive_interrupt);
  sensitive << interrupt_changed_;
  forward_apertures();
}

// -- interrupts

void CommandProcessor::drive_interrupt() {
  interrupt.write((word(LACUNA_GPU_INTERRUPT_STATUS) & word(LACUNA_GPU_INTERRUPT_ENABLE)) != 0);
}

void CommandProcessor::update_interrupt(Tick at) { interrupt_changed_.notify(delay_until(at)); }

void CommandProcessor::raise(std::uint32_t interrupts, Tick at) {
  word(LACUNA_GPU_INTERRUPT_STATUS) |= interrupts;
  update_interrupt(at);
}

void CommandProcessor::record_fault(std::uint32_t queue_slot, const WavefrontFault& fault) {
  word(LACUNA_GPU_FAULT_STATUS) = fault.code;
  word(LACUNA_GPU_FAULT_QUEUE) = queue_slot;
  word(LACUNA_GPU_FAULT_ADDRESS_LO) = low(fault.address);
  word(LACUNA_GPU_FAULT_ADDRESS_HI) = high(fault.address);
  word(LACUNA_GPU_FAULT_PC_LO) = low(fault.pc);
  word(LACUNA_GPU_FAULT_PC_HI) = high(fault.pc);
}

// -- registers

std::uint64_t CommandProcessor::pair(std::uint64_t low_offset) const {
  return word(low_offset) | std::uint64_t{word(low_offset + 4)} << 32;
}

std::uint64_t CommandProcessor::read_register(const RegisterAccess& access) {
  return read_word(access.reg.offset, access.at, access.debug);
}

void CommandProcessor::write_register(const RegisterAccess& access, std::uint64_t value) {
  if (access.reg.offset >= LACUNA_DOORBELL_OFFSET) {
    packets.ring(access.index, value, access.at);
  } else {
    write_word(access.reg.offset, low(value), access.at);
  }
}

std::uint32_t CommandProcessor::read_word(std::uint64_t offset, Tick at, bool debug) {
  const unsigned slot = word(LACUNA_GPU_QUEUE_SELECT);
  const bool slot_exists = slot < packets.queue_slots();
  switch (offset) {
    case LACUNA_GPU_TIMESTAMP_LO: {
      const std::uint64_t now = timestamp_.floor(at).n;
      if (!debug) latched_timestamp_hi_ = high(now);
      return low(now);
    }
    case LACUNA_GPU_TIMESTAMP_HI:
      return latched_timestamp_hi_;
    case LACUNA_GPU_QUEUE_STATUS:
      return slot_exists ? static_cast<std::uint32_t>(packets.queue(slot).state) : LACUNA_QUEUE_INACTIVE;
    case LACUNA_GPU_QUEUE_ERROR:
      // The error of a failed slot, otherwise the result of the last command.
      if (slot_exists && packets.queue(slot).state == QueueSlot::State::failed) return packets.queue(slot).error;
      return word(offset);
    case LACUNA_GPU_QUEUE_ERROR_PACKET_LO:
      return slot_exists ? low(packets.queue(slot).error_packet) : 0;
    case LACUNA_GPU_QUEUE_ERROR_PACKET_HI:
      return slot_exists ? high(packets.queue(slot).error_packet) : 0;
    default:
      if (offset >= LACUNA_GPU_SIDA_PES) return engine_word(offset);
      return offset >= LACUNA_GPU_TARGET && offset <= LACUNA_GPU_TIMESTAMP_HZ ? device_word(offset) : word(offset);
  }
}

/// Value of an engine's register; 0 if no engine has the register.
std::uint32_t CommandProcessor::engine_word(std::uint64_t offset) const {
  for (const PacketEngine* const engine : packets.engines()) {
    if (const std::optional<std::uint32_t> value = engine->read_register(offset)) return *value;
  }
  return 0;
}

std::uint32_t CommandProcessor::device_word(std::uint64_t offset) const {
  switch (offset) {
    case LACUNA_GPU_TARGET:
      return device_.target == isa::Target::gfx803 ? 0x080003u : 0x09000au;
    case LACUNA_GPU_SHADER_ARRAYS:
      return device_.shader_arrays;
    case LACUNA_GPU_COMPUTE_UNITS:
      return device_.compute_units;
    case LACUNA_GPU_SIMDS_PER_CU:
      return device_.compute_unit.simds;
    case LACUNA_GPU_WAVEFRONTS_PER_SIMD:
      return device_.compute_unit.wavefronts_per_simd;
    case LACUNA_GPU_WAVEFRONT_SIZE:
      return isa::kLanes;
    case LACUNA_GPU_VGPRS_PER_SIMD:
      return device_.compute_unit.vgprs_per_simd;
    case LACUNA_GPU_SGPRS_PER_SIMD:
      return device_.compute_unit.sgprs_per_simd;
    case LACUNA_GPU_LDS_BYTES_PER_CU:
      return low(device_.compute_unit.lds.n);
    case LACUNA_GPU_QUEUE_SLOTS:
      return packets.queue_slots();
    case LACUNA_GPU_VRAM_BASE_LO:
      return low(device_.vram_base);
    case LACUNA_GPU_VRAM_BASE_HI:
      return high(device_.vram_base);
    case LACUNA_GPU_VRAM_SIZE_LO:
      return low(device_.vram_size);
    case LACUNA_GPU_VRAM_SIZE_HI:
      return high(device_.vram_size);
    case LACUNA_GPU_CORE_CLOCK_KHZ:
      return low(device_.core_clock.hz / 1000);
    case LACUNA_GPU_TIMESTAMP_HZ:
      return low(device_.timestamp_clock.hz);
    default:
      return 0;
  }
}

void CommandProcessor::write_word(std::uint64_t offset, std::uint32_t value, Tick at) {
  switch (offset) {
    case LACUNA_GPU_CONTROL:
      if ((value & 1) != 0) reset_device();
      update_interrupt(at);
      return;
    case LACUNA_GPU_INTERRUPT_STATUS:
      word(offset) &= ~value;
      update_interrupt(at);
      return;
    case LACUNA_GPU_INTERRUPT_ENABLE:
      word(offset) = value;
      update_interrupt(at);
      return;
    case LACUNA_GPU_VM_COMMAND:
      vm_command(value);
      return;
    case LACUNA_GPU_QUEUE_COMMAND:
      queue_command(value);
      return;
    case LACUNA_GPU_SHARED_APERTURE_HI:
    case LACUNA_GPU_PRIVATE_APERTURE_HI:
      word(offset) = value;
      forward_apertures();
      return;
    default:
      word(offset) = value;
      return;
  }
}

void CommandProcessor::set_apertures(std::uint64_t shared, std::uint64_t private_base) {
  word(LACUNA_GPU_SHARED_APERTURE_HI) = high(shared);
  word(LACUNA_GPU_PRIVATE_APERTURE_HI) = high(private_base);
  forward_apertures();
}

void CommandProcessor::forward_apertures() {
  for (ComputeUnit* unit : units_) {
    unit->set_apertures(std::uint64_t{word(LACUNA_GPU_SHARED_APERTURE_HI)} << 32,
                        std::uint64_t{word(LACUNA_GPU_PRIVATE_APERTURE_HI)} << 32);
  }
}

void CommandProcessor::vm_command(std::uint32_t command) {
  const std::uint64_t va = pair(LACUNA_GPU_VM_VA_LO);
  const std::uint64_t size = pair(LACUNA_GPU_VM_SIZE_LO);
  const auto result = [&](GpuVm::Status status) -> std::uint32_t {
    switch (status) {
      case GpuVm::Status::ok:
        return LACUNA_VM_OK;
      case GpuVm::Status::misaligned:
        return LACUNA_VM_MISALIGNED;
      case GpuVm::Status::overlap:
        return LACUNA_VM_OVERLAP;
      case GpuVm::Status::not_mapped:
        return LACUNA_VM_NOT_MAPPED;
    }
    return LACUNA_VM_BAD_ADDRESS;
  };
  std::uint32_t status = LACUNA_VM_BAD_ADDRESS;
  if (command == LACUNA_VM_UNMAP) {
    status = result(vm_.unmap(va, size));
  } else if (command == LACUNA_VM_MAP) {
    const std::uint64_t pa = pair(LACUNA_GPU_VM_PA_LO);
    const std::uint32_t flags = word(LACUNA_GPU_VM_FLAGS);
    isa::Access granted = isa::Access::none;
    if ((flags & LACUNA_VM_READ) != 0) granted = granted | isa::Access::read;
    if ((flags & LACUNA_VM_WRITE) != 0) granted = granted | isa::Access::write;
    if ((flags & LACUNA_VM_EXECUTE) != 0) granted = granted | isa::Access::execute;
    const isa::Grain grain = (flags & LACUNA_VM_FINE_GRAINED) != 0 ? isa::Grain::fine : isa::Grain::coarse;
    std::byte* host = size > 0 && host_memory_ ? host_memory_(pa, size) : nullptr;
    if (host != nullptr) status = result(vm_.map(va, size, pa, host, granted, isa::Sharing::device, grain));
  }
  word(LACUNA_GPU_VM_STATUS) = status;
  if (status != LACUNA_VM_OK) {
    guest_error("refused GPUVM commands", "{}: GPUVM command {} refused with status {}: virtual {:#x}, bus {:#x}, {} bytes",
                name(), command, status, va, pair(LACUNA_GPU_VM_PA_LO), size);
  }
}

void CommandProcessor::queue_command(std::uint32_t command) {
  const unsigned slot = word(LACUNA_GPU_QUEUE_SELECT);
  std::uint32_t error = LACUNA_QUEUE_ERROR_SLOT;
  if (command == LACUNA_QUEUE_CREATE) {
    error = packets.create_queue(slot, pair(LACUNA_GPU_QUEUE_AQL_LO));
  } else if (command == LACUNA_QUEUE_DESTROY) {
    error = packets.destroy_queue(slot);
  } else {
    guest_error("refused queue commands", "{}: unknown queue command {}", name(), command);
  }
  word(LACUNA_GPU_QUEUE_ERROR) = error;
}

void CommandProcessor::reset_device() {
  reset_rest_();
  vm_.clear();
  latched_timestamp_hi_ = 0;
  for (const RegisterRow& row : kRegisters) word(row.offset) = row.reset;
  forward_apertures();
}

}  // namespace lacuna
