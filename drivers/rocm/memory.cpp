#include "drivers/rocm/memory.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include "drivers/rocm/address_space.h"
#include "include/lacuna/abi/memory_map.h"
#include "models/common/config/guest_mistake.h"

namespace lacuna::rocm {
namespace {

constexpr std::uint64_t kLargePage = std::uint64_t{2} << 20;
/// First bus address of host memory, which occupies all addresses below VRAM except the first 4 GiB, where firmware's devices
/// are.
constexpr std::uint64_t kHostBase = std::uint64_t{4} << 30;

constexpr std::uint64_t page_down(std::uint64_t n) { return n & ~(Memory::kPage - 1); }
constexpr std::uint64_t page_up(std::uint64_t n) { return page_down(n + Memory::kPage - 1); }
std::uint64_t number(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }
constexpr std::uint64_t alignment_of(std::uint64_t size) { return size >= kLargePage ? kLargePage : Memory::kPage; }

}  // namespace

/// A change to the address map of one GPU.
struct Memory::Edit {
  unsigned gpu = 0;
  bool map = false;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t physical = 0;
  std::byte* host = nullptr;
  isa::Access access = isa::Access::none;
  isa::Sharing sharing = isa::Sharing::device;
  isa::Grain grain = isa::Grain::coarse;
};

Memory::Memory(Simulation& simulation, unsigned gpus, std::uint64_t vram, bool fine_grained_host)
    : simulation_(simulation),
      fine_grained_host_(fine_grained_host),
      vram_(gpus, AddressRanges(LACUNA_VRAM_BASE, vram)),
      host_(gpus, AddressRanges(kHostBase, LACUNA_VRAM_BASE - kHostBase)) {}

// -- allocations

// Registrations may overlap. Returns the registration with the highest start address among those that contain `address`; among
// equal starts, the most recent.
Memory::Allocation* Memory::containing_registered(std::uint64_t address) {
  for (auto at = registered_.upper_bound(address); at != registered_.begin();) {
    Allocation& below = (--at)->second;
    if (address - below.address < below.bytes) return &below;
  }
  return nullptr;
}

Memory::Allocation* Memory::containing(std::uint64_t address) {
  if (const auto after = allocations_.upper_bound(address); after != allocations_.begin()) {
    Allocation& below = std::prev(after)->second;
    if (address - below.base < (below.doubled ? 2 * below.size : below.size)) return &below;
  }
  if (Allocation* registered = containing_registered(address)) return registered;
  const auto alias = aliases_.upper_bound(address);
  if (alias == aliases_.begin()) return nullptr;
  Allocation& below = *std::prev(alias)->second;
  return address - below.gpu_base < below.size ? &below : nullptr;
}

HSAKMT_STATUS Memory::allocate(HSAuint32 node, std::uint64_t size, HsaMemFlags flags, void*& address) {
  if (node > vram_.size()) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  if (size == 0 || size % kPage != 0) return HSAKMT_STATUS_INVALID_PARAMETER;
  if (flags.ui32.GDSMemory != 0 || flags.ui32.FixedAddress != 0) {
    guest_warning("unsupported allocations",
                  "allocation of {} bytes with flags {:#x} (GDS memory, fixed address) is not supported", size, flags.Value);
    return HSAKMT_STATUS_NOT_SUPPORTED;
  }
  const std::lock_guard lock(mutex_);
  Allocation made;
  made.size = made.bytes = size;
  made.flags = flags;
  made.node = node;
  made.kind = flags.ui32.Scratch != 0 ? Kind::scratch : is_gpu(node) ? Kind::vram : Kind::host;
  made.doubled = flags.ui32.AQLQueueMemory != 0;
  if (made.kind == Kind::scratch && !is_gpu(node)) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  if (made.kind == Kind::vram) {
    made.vram = vram_[node - 1].take(size, alignment_of(size));
    if (!made.vram) return HSAKMT_STATUS_NO_MEMORY;
  }
  const std::optional<Reservation> memory = made.doubled ? allocate_doubled(size) : allocate_pages(size, alignment_of(size));
  if (!memory) {
    if (made.vram) vram_[node - 1].give_back(*made.vram, size);
    return HSAKMT_STATUS_NO_MEMORY;
  }
  made.reserved = memory->base;
  made.reserved_size = memory->size;
  made.base = made.gpu_base = made.address = memory->start;
  address = reinterpret_cast<void*>(made.base);
  allocations_.emplace(made.base, std::move(made));
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Memory::free(void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(number(address));
  if (found == allocations_.end()) return HSAKMT_STATUS_INVALID_PARAMETER;
  Allocation& allocation = found->second;
  unmap_all(allocation);
  if (allocation.vram) vram_[allocation.node - 1].give_back(*allocation.vram, allocation.size);
  release_addresses(allocation.reserved, allocation.reserved_size);
  allocations_.erase(found);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Memory::register_memory(void* address, std::uint64_t size, HsaMemFlags flags) {
  if (address == nullptr || size == 0 || number(address) + size < number(address)) return HSAKMT_STATUS_INVALID_PARAMETER;
  const std::lock_guard lock(mutex_);
  const std::uint64_t base = page_down(number(address));
  const std::uint64_t end = page_up(number(address) + size);
  const auto [first, last] = registered_.equal_range(number(address));
  const auto known = std::find_if(first, last, [&](const auto& entry) { return entry.second.bytes == size; });
  if (known != last) {
    ++known->second.references;
    return HSAKMT_STATUS_SUCCESS;
  }
  if (const Allocation* own = containing(base); own != nullptr && own->kind != Kind::registered)
    return HSAKMT_STATUS_MEMORY_ALREADY_REGISTERED;
  Allocation made;
  made.kind = Kind::registered;
  made.base = base;
  made.size = end - base;
  made.address = number(address);
  made.bytes = size;
  made.flags = flags;
  const std::optional<Reservation> alias = reserve_addresses(made.size);
  if (!alias) return HSAKMT_STATUS_NO_MEMORY;
  made.reserved = alias->base;
  made.reserved_size = alias->size;
  made.gpu_base = alias->start;
  Allocation& kept = registered_.emplace(made.address, std::move(made))->second;
  aliases_.emplace(kept.gpu_base, &kept);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Memory::deregister(void* address) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = registered_.equal_range(number(address));
  if (first == last) return HSAKMT_STATUS_MEMORY_NOT_REGISTERED;
  const auto latest = std::prev(last);
  Allocation& allocation = latest->second;
  if (--allocation.references != 0) return HSAKMT_STATUS_SUCCESS;
  unmap_all(allocation);
  release_addresses(allocation.reserved, allocation.reserved_size);
  aliases_.erase(allocation.gpu_base);
  registered_.erase(latest);
  return HSAKMT_STATUS_SUCCESS;
}

// -- mappings

std::optional<std::uint64_t> Memory::take_physical(const Allocation& allocation, std::uint64_t offset, std::uint64_t size,
                                                   HSAuint32 node) {
  if (allocation.vram && allocation.node == node) return *allocation.vram + offset;
  auto& ranges = allocation.kind == Kind::scratch && allocation.node == node ? vram_ : host_;
  return ranges[node - 1].take(size, alignment_of(size));
}

void Memory::give_back_physical(const Allocation& allocation, std::uint64_t physical, std::uint64_t size, HSAuint32 node) {
  if (allocation.vram && allocation.node == node) return;
  auto& ranges = allocation.kind == Kind::scratch && allocation.node == node ? vram_ : host_;
  ranges[node - 1].give_back(physical, size);
}

void Memory::add_edits(const Allocation& allocation, std::uint64_t offset, std::uint64_t size, HSAuint32 node,
                       std::uint64_t physical, bool map, std::vector<Edit>& edits) const {
  Edit edit;
  edit.gpu = node - 1;
  edit.map = map;
  edit.address = allocation.gpu_base + offset;
  edit.size = size;
  edit.physical = physical;
  edit.host = reinterpret_cast<std::byte*>(allocation.base + offset);
  edit.access = allocation.flags.ui32.ReadOnly != 0 ? isa::Access::read : isa::Access::read_write;
  if (allocation.flags.ui32.ExecuteAccess != 0) edit.access = edit.access | isa::Access::execute;
  // Threads of the program access host memory while kernels run, but not a GPU's own memory.
  const bool own = allocation.kind == Kind::vram || allocation.kind == Kind::scratch;
  edit.sharing = own ? isa::Sharing::device : isa::Sharing::other_threads;
  // As with ROCm's thunk, which translates the flags (KFD_IOC_ALLOC_MEM_FLAGS_COHERENT and _UNCACHED), and Linux, which sets
  // the memory type on gfx90a: L2 holds no dirty lines of fine-grained memory, whether host memory (MTYPE_UC) or a GPU's own
  // memory (MTYPE_CC). Scratch memory belongs to the driver and is coarse-grained.
  const bool asked = allocation.flags.ui32.CoarseGrain != 0 && allocation.flags.ui32.Uncached == 0;
  const bool coarse = allocation.kind == Kind::scratch || (asked && (own || !fine_grained_host_));
  edit.grain = coarse ? isa::Grain::coarse : isa::Grain::fine;
  edits.push_back(edit);
  if (!allocation.doubled) return;
  edit.address += allocation.size;
  edit.host += allocation.size;
  edits.push_back(edit);
}

bool Memory::apply(const std::vector<Edit>& edits) {
  bool done = true;
  if (edits.empty()) return done;
  const bool called = simulation_.call([&](ProcessPlatform& platform) {
    for (const Edit& edit : edits) {
      GpuVm& vm = platform.gpu(edit.gpu).vm();
      const GpuVm::Status status =
          edit.map ? vm.map(edit.address, edit.size, edit.physical, edit.host, edit.access, edit.sharing, edit.grain)
                   : vm.unmap(edit.address, edit.size);
      if (status == GpuVm::Status::ok) continue;
      guest_error("refused GPU mappings", "GPU {}: {} of [{:#x}, {:#x}) refused ({}); {}", edit.gpu, edit.map ? "map" : "unmap",
                  edit.address, edit.address + edit.size, static_cast<int>(status), vm.nearest(edit.address));
      done = false;
      return;
    }
  });
  return called && done;
}

HSAKMT_STATUS Memory::map(Allocation& allocation, std::uint64_t offset, std::uint64_t size, std::span<const HSAuint32> nodes) {
  std::vector<Edit> edits;
  // A mapping of a different size at the same offset is replaced.
  if (const auto old = allocation.mappings.find(offset); old != allocation.mappings.end() && old->second.size != size) {
    unmap(allocation, offset, old->second, edits);
    allocation.mappings.erase(old);
  }
  Mapping& mapping = allocation.mappings[offset];
  mapping.size = size;
  for (std::size_t i = mapping.nodes.size(); i-- > 0;) {
    if (std::find(nodes.begin(), nodes.end(), mapping.nodes[i]) != nodes.end()) continue;
    add_edits(allocation, offset, size, mapping.nodes[i], mapping.physical[i], false, edits);
    give_back_physical(allocation, mapping.physical[i], size, mapping.nodes[i]);
    mapping.nodes.erase(mapping.nodes.begin() + static_cast<std::ptrdiff_t>(i));
    mapping.physical.erase(mapping.physical.begin() + static_cast<std::ptrdiff_t>(i));
  }
  HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;
  for (const HSAuint32 node : nodes) {
    if (std::find(mapping.nodes.begin(), mapping.nodes.end(), node) != mapping.nodes.end()) continue;
    const std::optional<std::uint64_t> physical = take_physical(allocation, offset, size, node);
    if (!physical) {
      status = HSAKMT_STATUS_NO_MEMORY;
      break;
    }
    add_edits(allocation, offset, size, node, *physical, true, edits);
    mapping.nodes.push_back(node);
    mapping.physical.push_back(*physical);
  }
  if (!apply(edits)) status = HSAKMT_STATUS_ERROR;
  if (mapping.nodes.empty()) allocation.mappings.erase(offset);
  return status;
}

void Memory::unmap(Allocation& allocation, std::uint64_t offset, Mapping& mapping, std::vector<Edit>& edits) {
  for (std::size_t i = 0; i < mapping.nodes.size(); ++i) {
    add_edits(allocation, offset, mapping.size, mapping.nodes[i], mapping.physical[i], false, edits);
    give_back_physical(allocation, mapping.physical[i], mapping.size, mapping.nodes[i]);
  }
}

void Memory::unmap_all(Allocation& allocation) {
  std::vector<Edit> edits;
  for (auto& [offset, mapping] : allocation.mappings) unmap(allocation, offset, mapping, edits);
  allocation.mappings.clear();
  apply(edits);
}

HSAKMT_STATUS Memory::map(void* address, std::uint64_t size, std::span<const HSAuint32> nodes, HSAuint64& gpu_address) {
  if (!std::all_of(nodes.begin(), nodes.end(), [this](HSAuint32 node) { return node <= vram_.size(); }))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  // Node 0 is skipped: the host reaches all memory without a map.
  std::vector<HSAuint32> gpus;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(gpus), [this](HSAuint32 node) { return is_gpu(node); });
  const std::lock_guard lock(mutex_);
  Allocation* allocation = containing(number(address));
  if (allocation == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  if (allocation->kind == Kind::scratch) {
    const std::uint64_t offset = number(address) - allocation->base;
    if (offset % kPage != 0 || size == 0 || size % kPage != 0 || size > allocation->size - offset)
      return HSAKMT_STATUS_INVALID_PARAMETER;
    gpu_address = number(address);
    return map(*allocation, offset, size, std::array{allocation->node});
  }
  const bool registered = allocation->kind == Kind::registered;
  gpu_address = number(address);
  if (registered && number(address) - allocation->base < allocation->size)
    gpu_address = allocation->gpu_base + (number(address) - allocation->base);
  return map(*allocation, 0, allocation->size, gpus);
}

HSAKMT_STATUS Memory::map_to_all(void* address, std::uint64_t size, HSAuint64& gpu_address) {
  std::vector<HSAuint32> nodes(vram_.size());
  std::iota(nodes.begin(), nodes.end(), 1);
  return map(address, size, nodes, gpu_address);
}

HSAKMT_STATUS Memory::unmap(void* address) {
  const std::lock_guard lock(mutex_);
  Allocation* allocation = containing(number(address));
  if (allocation == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  if (allocation->kind != Kind::scratch) {
    // Several copies, of one or more threads, may have pinned the same memory: the memory stays mapped for the other copies.
    if (allocation->references == 1) unmap_all(*allocation);
    return HSAKMT_STATUS_SUCCESS;
  }
  const auto mapping = allocation->mappings.find(number(address) - allocation->base);
  if (mapping == allocation->mappings.end()) return HSAKMT_STATUS_INVALID_PARAMETER;
  std::vector<Edit> edits;
  unmap(*allocation, mapping->first, mapping->second, edits);
  allocation->mappings.erase(mapping);
  apply(edits);
  return HSAKMT_STATUS_SUCCESS;
}

// -- queries

HSAKMT_STATUS Memory::query(const void* pointer, HsaPointerInfo& info) {
  info = HsaPointerInfo{};
  const std::lock_guard lock(mutex_);
  const Allocation* allocation = containing(number(pointer));
  if (allocation == nullptr || allocation->kind == Kind::scratch) return HSAKMT_STATUS_INVALID_PARAMETER;
  const bool registered = allocation->kind == Kind::registered;
  const std::uint64_t offset = allocation->address - allocation->base;
  info.Type = registered ? HSA_POINTER_REGISTERED_USER : HSA_POINTER_ALLOCATED;
  info.Node = allocation->node;
  info.MemFlags = allocation->flags;
  info.CPUAddress = reinterpret_cast<void*>(allocation->address);
  info.GPUAddress = allocation->gpu_base + offset;
  info.SizeInBytes = allocation->bytes;
  info.UserData = allocation->user_data;
  if (const auto mapping = allocation->mappings.find(0); mapping != allocation->mappings.end()) {
    info.NMappedNodes = static_cast<HSAuint32>(mapping->second.nodes.size());
    info.MappedNodes = mapping->second.nodes.data();
  }
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Memory::set_user_data(const void* pointer, void* data) {
  const std::lock_guard lock(mutex_);
  Allocation* allocation = containing(number(pointer));
  if (allocation == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  allocation->user_data = data;
  return HSAKMT_STATUS_SUCCESS;
}

void Memory::map_own(void* address, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  Allocation made;
  made.base = made.gpu_base = made.address = number(address);
  made.size = made.bytes = size;
  std::vector<HSAuint32> nodes(vram_.size());
  std::iota(nodes.begin(), nodes.end(), 1);
  map(allocations_.emplace(made.base, std::move(made)).first->second, 0, size, nodes);
}

}  // namespace lacuna::rocm
