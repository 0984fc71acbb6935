#include "models/sida/device/vm_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace lacuna::sida {

isa::MemoryWindow VmMemory::window(std::uint64_t address, Access access) const {
  const isa::MemoryWindow window = vm_.find(address);
  if (window.size == 0) throw ProgramError(LACUNA_SIDA_ERROR_ADDRESS, "memory is not mapped: " + vm_.nearest(address), address);
  const isa::Access wanted = access == Access::write ? isa::Access::write : isa::Access::read;
  if (!isa::allows(window.granted, wanted))
    throw ProgramError(LACUNA_SIDA_ERROR_ADDRESS,
                       access == Access::write ? "memory may not be written" : "memory may not be read", address);
  return window;
}

template <typename Visit>
void VmMemory::for_each(std::uint64_t address, std::uint64_t bytes, Access access, const Visit& visit) const {
  if (bytes != 0 && address + (bytes - 1) < address)
    throw ProgramError(LACUNA_SIDA_ERROR_ADDRESS, "memory beyond the end of the address space", address);
  while (bytes != 0) {
    const isa::MemoryWindow found = window(address, access);
    const std::uint64_t offset = address - found.base, piece = std::min(bytes, found.size - offset);
    visit(found.host + offset, found.physical + offset, piece);
    address += piece;
    bytes -= piece;
  }
}

void VmMemory::check(std::uint64_t address, std::uint64_t bytes, Access access) const {
  for_each(address, bytes, access, [](std::byte*, std::uint64_t, std::uint64_t) {});
}

void VmMemory::read(std::uint64_t address, std::span<std::byte> data) const {
  std::byte* to = data.data();
  for_each(address, data.size(), Access::read, [&to](const std::byte* from, std::uint64_t, std::uint64_t bytes) {
    std::memcpy(to, from, bytes);
    to += bytes;
  });
}

void VmMemory::write(std::uint64_t address, std::span<const std::byte> data) {
  const std::byte* from = data.data();
  for_each(address, data.size(), Access::write, [&](std::byte* to, std::uint64_t bus_address, std::uint64_t bytes) {
    std::memcpy(to, from, bytes);
    from += bytes;
    for (WriteObserver* const observer : observers_) observer->written(bus_address, bytes, false);
  });
}

const std::byte* VmMemory::view(std::uint64_t address, std::uint64_t bytes) const {
  const isa::MemoryWindow found = window(address, Access::read);
  return found.contains(address, bytes) ? found.host + (address - found.base) : nullptr;
}

}  // namespace lacuna::sida
