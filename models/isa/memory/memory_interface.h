// Memory as the executor accesses it: host pointers to ranges of GPU virtual addresses. Does not depend on simulated time or
// SystemC.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/isa/target.h"

namespace lacuna::isa {

enum class Access : std::uint8_t { none = 0, read = 1, write = 2, read_write = 3, execute = 4 };
constexpr bool allows(Access granted, Access wanted) {
  return (static_cast<unsigned>(granted) & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
}
constexpr Access operator|(Access a, Access b) {
  return static_cast<Access>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// Agents that may access memory while a kernel runs: only the device, or also other threads of the process that contains the
/// model.
enum class Sharing : std::uint8_t { device, other_threads };

/// Coherence of an allocation while a kernel runs. It determines where atomic operations are performed: in the GPU's L2 cache,
/// or downstream of it, since L2 does not keep lines of fine-grained memory. MI200 has floating-point atomics only in L2, see
/// FineGrainedFloatAtomics.
enum class Grain : std::uint8_t { coarse, fine };

/// Effect of a floating-point atomic of gfx90a (FLAT, GLOBAL and MUBUF add_f32, pk_add_f16, add_f64, min_f64, max_f64) on
/// fine-grained memory. MI200 passes it on to the Infinity Fabric, which does not support it: memory keeps its value, and the
/// lane receives zero (ROCm documentation, "Hardware atomics operation support", MI200 and NOP; OLCF, "Frontier User Guide",
/// "Floating-Point (FP) Atomic Operations and Coarse/Fine Grained Memory Allocations").
enum class FineGrainedFloatAtomics : std::uint8_t { apply, drop };

/// A contiguous range of GPU virtual addresses with one set of permissions and contiguous host memory.
struct MemoryWindow {
  std::uint64_t base = 0;      ///< first GPU virtual address
  std::uint64_t size = 0;      ///< bytes; 0 = an empty window that contains nothing
  std::byte* host = nullptr;   ///< host address of `base`
  std::uint64_t physical = 0;  ///< bus address of `base`, for caches and channels
  Access granted = Access::none;
  Sharing sharing = Sharing::device;
  Grain grain = Grain::coarse;

  bool contains(std::uint64_t address, std::uint64_t bytes) const {
    const std::uint64_t offset = address - base;  // wraps to a huge value if address < base
    return offset < size && bytes <= size - offset;
  }
};

/// Virtual address space of a memory system, as the executor accesses it.
class MemoryInterface {
 public:
  virtual ~MemoryInterface() = default;
  /// The largest window that contains `address`, regardless of its permissions, or an empty window if the address is not
  /// mapped. The result is valid until epoch() changes.
  virtual MemoryWindow find(std::uint64_t address) const = 0;
  /// Returns a number that changes whenever a mapping changes; cached windows are then stale.
  virtual std::uint64_t epoch() const = 0;
};

/// Memory accesses of one instruction, for the timing model and the checkers. Reused from instruction to instruction.
struct MemoryAccess {
  enum class Space : std::uint8_t { none, global, scratch, lds, scalar };
  enum class Operation : std::uint8_t { load, store, atomic };

  Space space = Space::none;
  Operation operation = Operation::load;
  bool returns_data = false;  ///< loads, and atomics with GLC
  bool glc = false;
  bool slc = false;
  std::uint8_t bytes_per_lane = 0;   ///< bytes per lane, contiguous except in private memory; 0: cache control
  std::uint64_t lanes = 0;           ///< lanes that access memory (FLAT: except lanes in LDS, see `lds_lanes`)
  std::uint64_t lds_lanes = 0;       ///< FLAT only: lanes whose addresses are in the shared aperture
  bool deferred = false;             ///< no data have been moved yet: see Wavefront::stores
  bool dual = false;                 ///< DS read2/write2: each lane has a second address
  std::uint32_t dual_distance = 0;   ///< distance in bytes of the second address from the first (modulo 2^32)
  std::uint64_t scalar_address = 0;  ///< GPU virtual address of a scalar access
};

/// Addresses of the lanes of the last vector memory instruction; MemoryAccess::lanes and lds_lanes specify which are valid.
/// Separate from the wavefront's state, so that wavefronts that execute in turn share one object, which stays in the host's
/// caches.
struct LaneAddresses {
  std::array<std::uint64_t, kLanes> global{};  ///< global and scratch: GPU virtual addresses
  std::array<std::uint32_t, kLanes> lds{};     ///< byte offsets in the workgroup's allocation
};

}  // namespace lacuna::isa
