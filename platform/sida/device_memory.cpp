#include "platform/sida/device_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "include/lacuna/abi/memory_map.h"
#include "platform/configuration.h"
#include "platform/sida/job_arrays_csv.h"

namespace lacuna {
namespace {

constexpr std::uint64_t kVirtual = 0x7100'0000'0000;  ///< GPU virtual address of byte 0 of GPU memory
constexpr std::uint64_t kDistance = std::uint64_t{1}
                                    << 40;  ///< from kVirtual to the next base, if arrays of the file are there
constexpr std::uint64_t kQueueBytes = std::uint64_t{1} << 20;  ///< more than a queue with its ring and signal takes

constexpr std::uint64_t page_floor(std::uint64_t address) { return address / GpuVm::kPage * GpuVm::kPage; }
constexpr std::uint64_t page_ceil(std::uint64_t address) { return page_floor(address + GpuVm::kPage - 1); }

}  // namespace

DeviceMemory::DeviceMemory(GpuDevice& gpu)
    : vm_(gpu.vm()), vram_(gpu.vram()), memory_(gpu.vm()), base_(kVirtual), end_(gpu.vram().size().n) {
  map_rest();
}

DeviceMemory::DeviceMemory(GpuDevice& gpu, const std::string& file)
    : vm_(gpu.vm()),
      vram_(gpu.vram()),
      memory_(gpu.vm()),
      file_(file),
      places_(read_job_arrays_csv(file)),
      base_(kVirtual),
      end_(gpu.vram().size().n) {
  map_arrays();
  map_rest();
}

void DeviceMemory::refuse(const std::string& why) const { throw ConfigurationError("--addresses " + file_ + ": " + why); }

/// Maps the pages of the arrays and leaves for allocate() the memory below them or, if there is too little, above them.
void DeviceMemory::map_arrays() {
  std::map<std::uint64_t, std::uint64_t> pages;  // bus addresses by virtual addresses
  std::uint64_t first = end_, last = 0;
  for (const SidaJobArray& part : places_) {
    const std::uint64_t offset = part.bus_address - LACUNA_VRAM_BASE;  // wraps to a huge value below GPU memory
    if (part.bytes == 0 || offset > end_ || part.bytes > end_ - offset)
      refuse(fmt::format("{}: bus address {:#x} with {} bytes is not in GPU memory, {} bytes from {:#x} on", part.name,
                         part.bus_address, part.bytes, end_, LACUNA_VRAM_BASE));
    if (part.address % GpuVm::kPage != part.bus_address % GpuVm::kPage)
      refuse(fmt::format("{}: addresses {:#x} and {:#x} are not at the same place of a page", part.name, part.address,
                         part.bus_address));
    first = std::min(first, page_floor(offset));
    last = std::max(last, page_ceil(offset + part.bytes));
    for (std::uint64_t page = page_floor(part.address); page < part.address + part.bytes; page += GpuVm::kPage) {
      const std::uint64_t bus = page_floor(part.bus_address) + (page - page_floor(part.address));
      if (!pages.emplace(page, bus).second && pages.at(page) != bus)
        refuse(fmt::format("{}: the page at {:#x} has two bus addresses", part.name, page));
    }
  }
  for (auto page = pages.begin(); page != pages.end();) {
    const auto [address, bus] = *page;
    std::uint64_t bytes = 0;
    while (page != pages.end() && page->first == address + bytes && page->second == bus + bytes) {
      bytes += GpuVm::kPage;
      ++page;
    }
    vm_.map(address, bytes, bus, vram_.data() + (bus - LACUNA_VRAM_BASE), isa::Access::read_write);
  }
  if (first >= kQueueBytes) {
    end_ = first;
  } else {
    next_ = last;
  }
  const auto is_in_the_way = [&](const SidaJobArray& part) {
    return part.address + part.bytes > base_ && part.address < base_ + vram_.size().n;
  };
  while (std::any_of(places_.begin(), places_.end(), is_in_the_way)) base_ += kDistance;
}

void DeviceMemory::map_rest() {
  vm_.map(base_ + next_, end_ - next_, LACUNA_VRAM_BASE + next_, vram_.data() + next_, isa::Access::read_write);
}

std::uint64_t DeviceMemory::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t begin = (next_ + alignment - 1) / alignment * alignment;
  if (begin > end_ || bytes > end_ - begin)
    throw ConfigurationError(
        fmt::format("matrix, vectors and program take more than the GPU's memory: {} bytes of {}; set vram.size", begin + bytes,
                    vram_.size().n));
  next_ = begin + bytes;
  return base_ + begin;
}

std::uint64_t DeviceMemory::next_place(std::uint64_t bytes) {
  if (used_ == places_.size()) refuse(fmt::format("the program has more arrays than the {} there", places_.size()));
  const SidaJobArray& array = places_[used_];
  std::uint64_t there = 0;
  for (; used_ < places_.size() && places_[used_].name == array.name; ++used_) there += places_[used_].bytes;
  if (there != bytes)
    refuse(fmt::format("{} has {} bytes there and {} here: not the same program on the same matrix", array.name, there, bytes));
  return array.address;
}

std::uint64_t DeviceMemory::put(std::span<const std::byte> bytes) {
  if (bytes.empty()) return allocate(0);
  const std::uint64_t address = file_.empty() ? allocate(bytes.size()) : next_place(bytes.size());
  memory_.write(address, bytes);
  return address;
}

void DeviceMemory::check_all_used() const {
  if (used_ != places_.size())
    refuse(fmt::format("{} is not an array of this program: not the same program on the same matrix", places_[used_].name));
}

}  // namespace lacuna
