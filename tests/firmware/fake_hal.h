// A HAL and a GPU's registers for driver tests on the build machine: memory is that of the process, and queues do not execute
// anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "include/lacuna/abi/gpu_registers.h"

namespace lacuna::testing {

/// The device that implements the HAL functions. Only one exists at a time; the functions use it.
class FakeGpu {
 public:
  static constexpr std::uint64_t kMmio = 0x2000'0000;
  static constexpr std::uint64_t kVram = 0x10'0000'0000;
  static constexpr std::uint64_t kVramBytes = 64 << 20;

  struct Mapping {
    std::uint64_t bus_address;
    std::uint64_t bytes;
    std::uint32_t flags;
  };
  struct Slot {
    std::uint32_t status = LACUNA_QUEUE_INACTIVE;
    std::uint32_t error = LACUNA_QUEUE_ERROR_NONE;
    std::uint64_t error_packet = 0;
    std::uint64_t aql = 0;
    std::vector<std::uint64_t> doorbells;
  };

  FakeGpu();
  ~FakeGpu();
  FakeGpu(const FakeGpu&) = delete;
  FakeGpu& operator=(const FakeGpu&) = delete;

  std::uint32_t read(std::uint32_t offset);
  void write(std::uint32_t offset, std::uint32_t value);
  void ring(unsigned slot, std::uint64_t value) { slots[slot].doorbells.push_back(value); }

  /// Host memory of a GPU virtual address; null if it is unmapped or lacks the permissions in `flags`.
  std::byte* memory(std::uint64_t gpu_address, std::uint64_t bytes, std::uint32_t flags = LACUNA_VM_READ);
  /// Raises interrupts as the device does: sets the status bits, then calls the handler if one of them is enabled.
  void interrupt(std::uint32_t status);
  void fail_queue(unsigned slot, std::uint32_t error, std::uint64_t packet);

  std::map<std::uint32_t, std::uint32_t> registers;
  std::map<std::uint64_t, Mapping> mappings;  ///< mappings by GPU address
  std::vector<Slot> slots{4};
  std::vector<std::byte> vram;
  std::uint64_t time = 0;  ///< current time, nanoseconds
  /// Called by hal_wait_for_interrupt, which then advances `time` by a microsecond, to simulate events while the program
  /// sleeps. If null, a wait without a deadline throws std::logic_error.
  std::function<void()> while_asleep;
  void (*handler)(void*) = nullptr;
  void* handler_context = nullptr;
  bool interrupts_enabled = true;
  unsigned sleeps = 0;

 private:
  std::uint32_t vm_command(std::uint32_t command);
};

}  // namespace lacuna::testing
