// Memory that GPUs can access: allocations of the driver, and memory that the program has registered.
//
// A GPU accesses memory at the program's own address, except registered memory, which it accesses at an alias (the runtime
// requires the two addresses to differ). The data are always in the program's memory. Each mapping also has a bus address,
// which caches and channels use: a GPU's own memory has a range of its VRAM; all other memory, that of other GPUs included, has
// a range of host addresses below VRAM and is reached through the host link.
//
// GPUs can access exactly what Map calls have mapped and Unmap calls have not removed; a kernel that touches any other address
// faults.
#pragma once

#include <hsakmttypes.h>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "drivers/rocm/address_ranges.h"
#include "drivers/rocm/simulation.h"

namespace lacuna::rocm {

class Memory {
 public:
  static constexpr std::uint64_t kPage = 4096;

  /// Nodes 1 to `gpus` are GPUs with `vram` bytes each; node 0 is the host.
  /// `fine_grained_host`: host memory is always fine-grained, even if the program requests coarse-grained memory.
  Memory(Simulation& simulation, unsigned gpus, std::uint64_t vram, bool fine_grained_host);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  HSAKMT_STATUS allocate(HSAuint32 node, std::uint64_t size, HsaMemFlags flags, void*& address);
  HSAKMT_STATUS free(void* address);
  /// Registers a range of the program's memory. Registering the same range again increments its reference count; each
  /// registration requires a deregister().
  HSAKMT_STATUS register_memory(void* address, std::uint64_t size, HsaMemFlags flags);
  HSAKMT_STATUS deregister(void* address);
  /// Maps the allocation or registration that contains `address` for the GPUs `nodes`, and unmaps it from other GPUs. Of
  /// scratch memory, maps only [address, address + size), for its own GPU. `gpu_address` receives the address that the GPUs
  /// use.
  HSAKMT_STATUS map(void* address, std::uint64_t size, std::span<const HSAuint32> nodes, HSAuint64& gpu_address);
  HSAKMT_STATUS map_to_all(void* address, std::uint64_t size, HSAuint64& gpu_address);
  /// Unmaps the memory that contains `address` from all GPUs; no effect if the memory has more than one registration. Of
  /// scratch memory, unmaps only the mapping that begins at `address`.
  HSAKMT_STATUS unmap(void* address);
  HSAKMT_STATUS query(const void* pointer, HsaPointerInfo& info);
  HSAKMT_STATUS set_user_data(const void* pointer, void* data);

  /// Maps page-aligned memory of the driver itself for all GPUs.
  void map_own(void* address, std::uint64_t size);

 private:
  enum class Kind : std::uint8_t { host, vram, scratch, registered };
  /// A part of an allocation that is mapped for GPUs.
  struct Mapping {
    std::uint64_t size = 0;
    std::vector<HSAuint32> nodes;
    std::vector<std::uint64_t> physical;  // bus address for each of `nodes`
  };
  struct Allocation {
    Kind kind = Kind::host;
    std::uint64_t base = 0;      // host address, page-aligned
    std::uint64_t size = 0;      // bytes, whole pages
    std::uint64_t gpu_base = 0;  // address of `base` for GPUs
    std::uint64_t address = 0;   // first byte as given by the program; registered memory need not be page-aligned
    std::uint64_t bytes = 0;     // size as given by the program
    std::uint64_t reserved = 0;  // first reserved address: Reservation::base
    std::uint64_t reserved_size = 0;
    bool doubled = false;  // mapped twice, at consecutive addresses: allocate_doubled()
    HSAuint32 node = 0;
    HsaMemFlags flags{};
    unsigned references = 1;
    void* user_data = nullptr;
    std::optional<std::uint64_t> vram;          // physical address in its node's VRAM
    std::map<std::uint64_t, Mapping> mappings;  // mappings by offset from `base`
  };
  struct Edit;
  using Allocations = std::map<std::uint64_t, Allocation>;

  bool is_gpu(HSAuint32 node) const { return node >= 1 && node <= vram_.size(); }
  Allocation* containing(std::uint64_t address);
  Allocation* containing_registered(std::uint64_t address);
  HSAKMT_STATUS map(Allocation& allocation, std::uint64_t offset, std::uint64_t size, std::span<const HSAuint32> nodes);
  void unmap(Allocation& allocation, std::uint64_t offset, Mapping& mapping, std::vector<Edit>& edits);
  void unmap_all(Allocation& allocation);
  std::optional<std::uint64_t> take_physical(const Allocation& allocation, std::uint64_t offset, std::uint64_t size,
                                             HSAuint32 node);
  void give_back_physical(const Allocation& allocation, std::uint64_t physical, std::uint64_t size, HSAuint32 node);
  void add_edits(const Allocation& allocation, std::uint64_t offset, std::uint64_t size, HSAuint32 node, std::uint64_t physical,
                 bool map, std::vector<Edit>& edits) const;
  /// Applies the edits in order, up to the first that a GPU refuses. Returns false if an edit was refused or the simulation has
  /// ended.
  bool apply(const std::vector<Edit>& edits);

  Simulation& simulation_;
  const bool fine_grained_host_;
  std::mutex mutex_;
  Allocations allocations_;                              // memory allocated by the driver, by base
  std::multimap<std::uint64_t, Allocation> registered_;  // registered memory, by address; registrations may overlap
  std::map<std::uint64_t, Allocation*> aliases_;         // registered memory, by gpu_base
  std::vector<AddressRanges> vram_;                      // free bus addresses in VRAM, for each GPU
  std::vector<AddressRanges> host_;                      // free bus addresses in the host range, for each GPU
};

}  // namespace lacuna::rocm
