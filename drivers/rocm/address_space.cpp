#include "drivers/rocm/address_space.h"

#include <sys/mman.h>
#include <mutex>

#include "drivers/rocm/address_ranges.h"

namespace lacuna::rocm {
namespace {

constexpr std::uint64_t kGuard = 4096;
/// Start of a region that programs, libraries, heaps, stacks and sanitizers do not use on x86-64 Linux: far below libraries,
/// far above ASan's shadow.
constexpr std::uint64_t kRegionBase = std::uint64_t{0x200000000000};
constexpr std::uint64_t kRegionSize = std::uint64_t{1} << 44;
constexpr std::uint64_t kRegionEnd = kRegionBase + kRegionSize;

/// Never destroyed: the program may release memory until the process ends.
struct Region {
  std::mutex mutex;
  AddressRanges ranges{kRegionBase, kRegionSize};
};
Region& region() {
  static auto* const made = new Region;
  return *made;
}

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

void* map_nothing(std::uint64_t at, std::uint64_t size, int flags) {
  return mmap(pointer(at), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

std::optional<Reservation> reserve(std::uint64_t size, std::uint64_t alignment) {
  const std::uint64_t total = size + 2 * kGuard + (alignment > kGuard ? alignment : 0);
  Region& addresses = region();
  const std::lock_guard lock(addresses.mutex);
  const std::optional<std::uint64_t> place = addresses.ranges.take(total, alignment);
  void* memory = place ? map_nothing(*place, total, MAP_FIXED_NOREPLACE) : MAP_FAILED;
  if (place && memory != pointer(*place)) {
    // These addresses are in use outside of the allocator: keep them allocated here, and let Linux choose others. Linux before
    // 4.17 ignores MAP_FIXED_NOREPLACE and may have mapped other addresses instead.
    if (memory != MAP_FAILED) munmap(memory, total);
    memory = map_nothing(0, total, 0);
  }
  if (memory == MAP_FAILED) return std::nullopt;
  const auto base = reinterpret_cast<std::uint64_t>(memory);
  return Reservation{.base = base, .size = total, .start = (base + kGuard + alignment - 1) & ~(alignment - 1)};
}

}  // namespace

std::optional<Reservation> allocate_pages(std::uint64_t size, std::uint64_t alignment) {
  const std::optional<Reservation> reservation = reserve(size, alignment);
  if (!reservation) return std::nullopt;
  if (mprotect(pointer(reservation->start), size, PROT_READ | PROT_WRITE) == 0) return reservation;
  release_addresses(reservation->base, reservation->size);
  return std::nullopt;
}

std::optional<Reservation> allocate_doubled(std::uint64_t size) {
  const std::optional<Reservation> reservation = reserve(2 * size, kGuard);
  if (!reservation) return std::nullopt;
  // mremap(2) of zero bytes of a shared mapping maps its pages a second time. A file would work as well, but RLIMIT_FSIZE
  // limits its size.
  void* const first = pointer(reservation->start);
  void* const second = pointer(reservation->start + size);
  if (mmap(first, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED &&
      mremap(first, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, second) != MAP_FAILED)
    return reservation;
  release_addresses(reservation->base, reservation->size);
  return std::nullopt;
}

std::optional<Reservation> reserve_addresses(std::uint64_t size) { return reserve(size, kGuard); }

void release_addresses(std::uint64_t base, std::uint64_t size) {
  Region& addresses = region();
  const std::lock_guard lock(addresses.mutex);
  munmap(pointer(base), size);
  if (base >= kRegionBase && base < kRegionEnd) addresses.ranges.give_back(base, size);
}

}  // namespace lacuna::rocm
