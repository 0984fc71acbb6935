// Memory of the program that GPUs reach: what the driver has allocated, and what the program has registered.
//
// Addresses: a GPU sees memory at the address where the program has it, except registered memory, which it sees at an alias
// (the runtime wants the two to differ). Data are always the program's own memory; beside it there is a bus address, for caches
// and channels: memory of a GPU has a range of that GPU's VRAM, everything else, another GPU's memory included, one of the host
// range below VRAM, across the link.
//
// Mappings follow Map and Unmap calls; a kernel that touches anything else faults.
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

  /// `gpus` GPUs with `vram` bytes each: nodes 1 to gpus. Node 0 is the host.
  /// `fine_grained_host`: host memory is fine-grained whatever is asked for.
  Memory(Simulation& simulation, unsigned gpus, std::uint64_t vram, bool fine_grained_host);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  HSAKMT_STATUS allocate(HSAuint32 node, std::uint64_t size, HsaMemFlags flags, void*& address);
  HSAKMT_STATUS free(void* address);
  /// Counts references: each needs its own deregister().
  HSAKMT_STATUS register_memory(void* address, std::uint64_t size, HsaMemFlags flags);
  HSAKMT_STATUS deregister(void* address);
  /// Makes [address, address + size) reachable for these GPUs and no others; `gpu_address` is where they see it.
  HSAKMT_STATUS map(void* address, std::uint64_t size, std::span<const HSAuint32> nodes, HSAuint64& gpu_address);
  HSAKMT_STATUS map_to_all(void* address, std::uint64_t size, HSAuint64& gpu_address);
  /// Of memory that has been registered several times: nothing, as long as there are other registrations.
  HSAKMT_STATUS unmap(void* address);
  HSAKMT_STATUS query(const void* pointer, HsaPointerInfo& info);
  HSAKMT_STATUS set_user_data(const void* pointer, void* data);

  /// Maps memory of the driver itself, page-aligned, for all GPUs.
  void map_own(void* address, std::uint64_t size);

 private:
  enum class Kind : std::uint8_t { host, vram, scratch, registered };
  /// Part of an allocation that GPUs reach.
  struct Mapping {
    std::uint64_t size = 0;
    std::vector<HSAuint32> nodes;
    std::vector<std::uint64_t> physical;  // of each node
  };
  struct Allocation {
    Kind kind = Kind::host;
    std::uint64_t base = 0;      // host address, page-aligned
    std::uint64_t size = 0;      // bytes, whole pages
    std::uint64_t gpu_base = 0;  // where GPUs see `base`
    std::uint64_t address = 0;   // as the program names it: registered memory need not begin with a page
    std::uint64_t bytes = 0;
    std::uint64_t reserved = 0;  // first address and size of the reservation of addresses that goes with it
    std::uint64_t reserved_size = 0;
    bool doubled = false;  // the upper half shows the same memory again
    HSAuint32 node = 0;
    HsaMemFlags flags{};
    unsigned references = 1;
    void* user_data = nullptr;
    std::optional<std::uint64_t> vram;          // physical address in its node's VRAM
    std::map<std::uint64_t, Mapping> mappings;  // by offset from base
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
  /// False when one of them was refused; those before it are done.
  bool apply(const std::vector<Edit>& edits);

  Simulation& simulation_;
  const bool fine_grained_host_;
  std::mutex mutex_;
  Allocations allocations_;                              // the driver's own, by base
  std::multimap<std::uint64_t, Allocation> registered_;  // by address: different ones may share pages
  std::map<std::uint64_t, Allocation*> aliases_;         // of registered memory, by gpu_base
  std::vector<AddressRanges> vram_;                      // of each GPU
  std::vector<AddressRanges> host_;                      // host range of each GPU
};

}  // namespace lacuna::rocm
