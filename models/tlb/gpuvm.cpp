#include "models/tlb/gpuvm.h"

#include <fmt/format.h>

#include <iterator>
#include <vector>

namespace lacuna {

namespace {
bool aligned(std::uint64_t value) { return value % GpuVm::kPage == 0; }
bool wraps(std::uint64_t base, std::uint64_t size) { return base + size < base; }
}  // namespace

GpuVm::Status GpuVm::map(std::uint64_t va, std::uint64_t size, std::uint64_t pa, std::byte* host, isa::Access granted,
                         isa::Sharing sharing, isa::Grain grain) {
  if (!aligned(va) || !aligned(size) || !aligned(pa) || size == 0 || wraps(va, size)) return Status::misaligned;
  const auto next = ranges_.lower_bound(va);
  if (next != ranges_.end() && next->first < va + size) return Status::overlap;
  if (next != ranges_.begin() && std::prev(next)->second.contains(va, 1)) return Status::overlap;
  ranges_.emplace(
      va, isa::MemoryWindow{
              .base = va, .size = size, .host = host, .physical = pa, .granted = granted, .sharing = sharing, .grain = grain});
  ++epoch_;
  return Status::ok;
}

GpuVm::Status GpuVm::unmap(std::uint64_t va, std::uint64_t size) {
  if (!aligned(va) || !aligned(size) || size == 0 || wraps(va, size)) return Status::misaligned;
  const std::uint64_t end = va + size;
  for (std::uint64_t at = va; at < end;) {
    const isa::MemoryWindow window = find(at);
    if (window.size == 0) return Status::not_mapped;
    at = window.base + window.size;
  }
  for (std::uint64_t at = va; at < end;) {
    const isa::MemoryWindow window = find(at);
    ranges_.erase(window.base);
    if (window.base < va) {
      isa::MemoryWindow front = window;
      front.size = va - window.base;
      ranges_.emplace(front.base, front);
    }
    const std::uint64_t window_end = window.base + window.size;
    if (window_end > end) {
      isa::MemoryWindow back = window;
      const std::uint64_t cut = end - window.base;
      back.base = end;
      back.size = window_end - end;
      back.host = window.host + cut;
      back.physical = window.physical + cut;
      ranges_.emplace(back.base, back);
    }
    at = window_end;
  }
  ++epoch_;
  invalidate_();
  return Status::ok;
}

void GpuVm::clear() {
  ranges_.clear();
  ++epoch_;
  invalidate_();
}

isa::MemoryWindow GpuVm::find(std::uint64_t address) const {
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return {};
  const isa::MemoryWindow& window = std::prev(after)->second;
  return window.contains(address, 1) ? window : isa::MemoryWindow{};
}

std::byte* GpuVm::pointer(std::uint64_t address, std::uint64_t bytes, isa::Access wanted) const {
  const isa::MemoryWindow window = find(address);
  if (!window.contains(address, bytes) || !isa::allows(window.granted, wanted)) return nullptr;
  return window.host + (address - window.base);
}

std::string GpuVm::nearest(std::uint64_t address) const {
  if (ranges_.empty()) return "nothing is mapped";
  const auto after = ranges_.upper_bound(address);
  const auto describe = [](const isa::MemoryWindow& w) { return fmt::format("[{:#x}, {:#x})", w.base, w.base + w.size); };
  if (after != ranges_.begin()) {
    const isa::MemoryWindow& below = std::prev(after)->second;
    if (below.contains(address, 1)) return fmt::format("inside the mapping {}", describe(below));
    const std::uint64_t past = address - (below.base + below.size);
    if (after == ranges_.end() || past <= after->first - address) {
      return fmt::format("{} bytes past the end of the mapping {}", past, describe(below));
    }
  }
  return fmt::format("{} bytes before the mapping {}", after->first - address, describe(after->second));
}

}  // namespace lacuna
