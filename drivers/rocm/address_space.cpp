#include "drivers/rocm/address_space.h"

#include <sys/mman.h>
#include <unistd.h>

namespace lacuna::rocm {
namespace {

constexpr std::uint64_t kGuard = 4096;

std::optional<Reservation> reserve(std::uint64_t size, std::uint64_t alignment) {
  const std::uint64_t total = size + 2 * kGuard + (alignment > kGuard ? alignment : 0);
  void* memory = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return std::nullopt;
  const auto base = reinterpret_cast<std::uint64_t>(memory);
  return Reservation{.base = base, .size = total, .start = (base + kGuard + alignment - 1) & ~(alignment - 1)};
}

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

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
  const int file = memfd_create("lacuna-ring", MFD_CLOEXEC);
  bool done = file >= 0 && ftruncate(file, static_cast<off_t>(size)) == 0;
  for (int half = 0; half < 2 && done; ++half) {
    done = mmap(pointer(reservation->start + half * size), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) !=
           MAP_FAILED;
  }
  if (file >= 0) close(file);
  if (done) return reservation;
  release_addresses(reservation->base, reservation->size);
  return std::nullopt;
}

std::optional<Reservation> reserve_addresses(std::uint64_t size) { return reserve(size, kGuard); }

void release_addresses(std::uint64_t base, std::uint64_t size) { munmap(pointer(base), size); }

}  // namespace lacuna::rocm
