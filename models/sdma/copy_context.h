// Interface between bulk work, such as large copies, and the device in which the work is done.
#pragma once

#include <cstdint>
#include <vector>

namespace lacuna {

/// Bytes that have been copied or filled. Addresses are mapped GPU virtual addresses.
struct CopiedRange {
  std::uint64_t source = 0;  ///< source address, for copies only
  std::uint64_t destination = 0;
  std::uint64_t bytes = 0;
  bool has_source = true;  ///< false for a fill
};

/// A user of memory that can perform bulk work while no other user is active.
class BulkUser {
 public:
  virtual ~BulkUser() = default;
  /// Called before another dispatch, copy or job begins to use memory.
  virtual void others_begin() = 0;
};

class CopyContext {
 public:
  virtual ~CopyContext() = default;
  /// Registers `user`, whose others_begin() is called for each further user of memory.
  virtual void attach(BulkUser& user) = 0;
  /// Number of dispatches and copies that use memory now, including bulk copies and those of the caller.
  virtual unsigned active_users() const = 0;
  /// Announces that the caller begins to use memory. Other bulk work stops.
  virtual void work_begins() = 0;
  /// Whether a GPU virtual address is in memory that is accessed over the host link.
  virtual bool in_host_memory(std::uint64_t address) const = 0;
  /// Capacity of all L2 banks in bytes.
  virtual std::uint64_t l2_bytes() const = 0;
  /// Class of the L2 state, as far as the state affects a copy of the range: the part of the source that is present, and the
  /// number of dirty lines.
  virtual std::uint32_t l2_state(const CopiedRange& range) const = 0;
  /// Sets L2 and the TLBs to the state after a copy of the range: L2 holds the last lines and the TLBs the last pages, in the
  /// order of the copy, as far as they fit; written lines are dirty in L2. `by_compute_units`: also sets the compute units'
  /// first-level TLBs.
  virtual void install_copied(const CopiedRange& range, bool by_compute_units) = 0;
  /// Values of the memory system's counters, always in the same order.
  virtual std::vector<std::uint64_t> traffic() const = 0;
  /// Adds amounts to the reported values of the memory system's counters, in the order of traffic().
  virtual void add_traffic(const std::vector<std::uint64_t>& amounts) = 0;
};

/// Simulation of the ROCm runtime's copies and fills: `gpu.copies`.
enum class CopyMode : std::uint8_t {
  detailed,  ///< every instruction and request is simulated
  bulk       ///< large copies are sampled, then performed at the rate of the samples
};

}  // namespace lacuna
