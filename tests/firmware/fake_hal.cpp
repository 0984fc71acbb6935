#include "tests/firmware/fake_hal.h"

#include <stdexcept>

#include "firmware/hal/hal.h"

namespace lacuna::testing {

namespace {

FakeGpu* gpu = nullptr;

std::uint64_t pair(FakeGpu& device, std::uint32_t low) {
  return device.registers[low] | std::uint64_t{device.registers[low + 4]} << 32;
}

}  // namespace

FakeGpu::FakeGpu() : vram(kVramBytes) {
  if (gpu != nullptr) throw std::logic_error("a second FakeGpu");
  gpu = this;
  registers[LACUNA_GPU_MAGIC] = LACUNA_GPU_MAGIC_VALUE;
  registers[LACUNA_GPU_VERSION] = LACUNA_GPU_VERSION_VALUE;
  registers[LACUNA_GPU_TARGET] = 0x080003;
  registers[LACUNA_GPU_SHADER_ARRAYS] = 1;
  registers[LACUNA_GPU_COMPUTE_UNITS] = 2;
  registers[LACUNA_GPU_SIMDS_PER_CU] = 4;
  registers[LACUNA_GPU_WAVEFRONTS_PER_SIMD] = 10;
  registers[LACUNA_GPU_WAVEFRONT_SIZE] = 64;
  registers[LACUNA_GPU_QUEUE_SLOTS] = 4;
  registers[LACUNA_GPU_VRAM_BASE_LO] = static_cast<std::uint32_t>(kVram);
  registers[LACUNA_GPU_VRAM_BASE_HI] = static_cast<std::uint32_t>(kVram >> 32);
  registers[LACUNA_GPU_VRAM_SIZE_LO] = static_cast<std::uint32_t>(kVramBytes);
  registers[LACUNA_GPU_TIMESTAMP_HZ] = 1'000'000'000;
  registers[LACUNA_GPU_SHARED_APERTURE_HI] = 0x2000'0000;
  registers[LACUNA_GPU_PRIVATE_APERTURE_HI] = 0x2000'0001;
}

FakeGpu::~FakeGpu() { gpu = nullptr; }

std::uint32_t FakeGpu::read(std::uint32_t offset) {
  const std::uint32_t selected = registers[LACUNA_GPU_QUEUE_SELECT];
  switch (offset) {
    case LACUNA_GPU_QUEUE_STATUS:
      return slots.at(selected).status;
    case LACUNA_GPU_QUEUE_ERROR:
      return slots.at(selected).error;
    case LACUNA_GPU_QUEUE_ERROR_PACKET_LO:
      return static_cast<std::uint32_t>(slots.at(selected).error_packet);
    case LACUNA_GPU_QUEUE_ERROR_PACKET_HI:
      return static_cast<std::uint32_t>(slots.at(selected).error_packet >> 32);
    default:
      return registers[offset];
  }
}

void FakeGpu::write(std::uint32_t offset, std::uint32_t value) {
  switch (offset) {
    case LACUNA_GPU_INTERRUPT_STATUS:
      registers[offset] &= ~value;
      return;
    case LACUNA_GPU_VM_COMMAND:
      registers[LACUNA_GPU_VM_STATUS] = vm_command(value);
      return;
    case LACUNA_GPU_QUEUE_COMMAND: {
      Slot& slot = slots.at(registers[LACUNA_GPU_QUEUE_SELECT]);
      slot = Slot{};
      if (value == LACUNA_QUEUE_CREATE) {
        slot.status = LACUNA_QUEUE_ACTIVE;
        slot.aql = pair(*this, LACUNA_GPU_QUEUE_AQL_LO);
      }
      return;
    }
    case LACUNA_GPU_CONTROL:
      mappings.clear();
      slots.assign(slots.size(), Slot{});
      return;
    default:
      registers[offset] = value;
  }
}

std::uint32_t FakeGpu::vm_command(std::uint32_t command) {
  const std::uint64_t va = pair(*this, LACUNA_GPU_VM_VA_LO);
  const std::uint64_t pa = pair(*this, LACUNA_GPU_VM_PA_LO);
  const std::uint64_t bytes = pair(*this, LACUNA_GPU_VM_SIZE_LO);
  if (va % 4096 != 0 || bytes % 4096 != 0 || bytes == 0) return LACUNA_VM_MISALIGNED;
  if (command == LACUNA_VM_UNMAP) {
    const auto found = mappings.find(va);
    if (found == mappings.end() || found->second.bytes != bytes) return LACUNA_VM_NOT_MAPPED;
    mappings.erase(found);
    return LACUNA_VM_OK;
  }
  for (const auto& [base, mapping] : mappings) {
    if (va < base + mapping.bytes && base < va + bytes) return LACUNA_VM_OVERLAP;
  }
  mappings[va] = {pa, bytes, registers[LACUNA_GPU_VM_FLAGS]};
  return LACUNA_VM_OK;
}

std::byte* FakeGpu::memory(std::uint64_t gpu_address, std::uint64_t bytes, std::uint32_t flags) {
  for (const auto& [base, mapping] : mappings) {
    if (gpu_address < base || gpu_address + bytes > base + mapping.bytes || (mapping.flags & flags) != flags) continue;
    return static_cast<std::byte*>(hal_map(mapping.bus_address + (gpu_address - base), bytes));
  }
  return nullptr;
}

void FakeGpu::interrupt(std::uint32_t status) {
  registers[LACUNA_GPU_INTERRUPT_STATUS] |= status;
  if ((registers[LACUNA_GPU_INTERRUPT_ENABLE] & status) != 0 && handler != nullptr) handler(handler_context);
}

void FakeGpu::fail_queue(unsigned slot, std::uint32_t error, std::uint64_t packet) {
  slots.at(slot).status = LACUNA_QUEUE_FAILED;
  slots.at(slot).error = error;
  slots.at(slot).error_packet = packet;
  interrupt(LACUNA_INTERRUPT_QUEUE_ERROR);
}

}  // namespace lacuna::testing

using lacuna::testing::FakeGpu;
using lacuna::testing::gpu;

std::uint32_t hal_read32(std::uint64_t address) { return gpu->read(static_cast<std::uint32_t>(address - FakeGpu::kMmio)); }
void hal_write32(std::uint64_t address, std::uint32_t value) {
  gpu->write(static_cast<std::uint32_t>(address - FakeGpu::kMmio), value);
}
std::uint64_t hal_read64(std::uint64_t address) { return hal_read32(address); }

void hal_write64(std::uint64_t address, std::uint64_t value) {
  gpu->ring(static_cast<unsigned>((address - FakeGpu::kMmio - LACUNA_DOORBELL_OFFSET) / LACUNA_DOORBELL_STRIDE), value);
}

void hal_fence() {}

void* hal_map(std::uint64_t bus_address, std::uint64_t bytes) {
  if (bus_address >= FakeGpu::kVram && bus_address + bytes <= FakeGpu::kVram + FakeGpu::kVramBytes) {
    return gpu->vram.data() + (bus_address - FakeGpu::kVram);
  }
  return reinterpret_cast<void*>(bus_address);
}

std::uint64_t hal_bus_address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }
std::uint64_t hal_time() { return gpu->time; }

void hal_register_interrupt(unsigned, hal_interrupt_handler handler, void* context) {
  gpu->handler = handler;
  gpu->handler_context = context;
}

std::uint64_t hal_disable_interrupts() {
  const std::uint64_t was = gpu->interrupts_enabled ? 1 : 0;
  gpu->interrupts_enabled = false;
  return was;
}

void hal_restore_interrupts(std::uint64_t state) { gpu->interrupts_enabled = state != 0; }

void hal_wait_for_interrupt(std::uint64_t deadline) {
  ++gpu->sleeps;
  if (gpu->while_asleep) {
    gpu->while_asleep();
  } else if (deadline == UINT64_MAX) {
    throw std::logic_error("the driver sleeps for ever");
  }
  gpu->time += 1000;
}
