// What a copy that is done in bulk asks of the device around it.
#pragma once

#include <cstdint>
#include <vector>

namespace lacuna {

/// Bytes that have been copied or filled. Addresses are GPU virtual addresses, all of them mapped.
struct CopiedRange {
  std::uint64_t source = 0;  ///< of copies
  std::uint64_t destination = 0;
  std::uint64_t bytes = 0;
  bool has_source = true;  ///< false: a fill
};

class CopyContext {
 public:
  virtual ~CopyContext() = default;
  /// Dispatches and copies that use memory now, those in bulk included. Who is one of them counts itself.
  virtual unsigned at_work() const = 0;
  /// Somebody begins to use memory: copies that were alone are not any more.
  virtual void work_begins() = 0;
  /// The GPU virtual address is of memory behind the host link.
  virtual bool in_host_memory(std::uint64_t address) const = 0;
  /// Bytes of all L2 banks.
  virtual std::uint64_t l2_bytes() const = 0;
  /// What a copy of the range would find in L2, in a few classes: how much of its source, and how many dirty lines.
  virtual std::uint32_t l2_state(const CopiedRange& range) const = 0;
  /// L2 and the TLBs are as after a copy of the range: what they can hold of its last lines and pages, in its order; what was
  /// written is dirty in L2. `by_compute_units`: the first-level TLBs of these, too.
  virtual void install_copied(const CopiedRange& range, bool by_compute_units) = 0;
  /// The memory system's counters, always the same ones in the same order.
  virtual std::vector<std::uint64_t> traffic() const = 0;
  /// Adds to what is reported of them.
  virtual void add_traffic(const std::vector<std::uint64_t>& amounts) = 0;
};

/// How the copies and fills of the ROCm runtime are carried out: `gpu.copies`.
enum class CopyMode : std::uint8_t {
  detailed,  ///< as everything else: instruction by instruction, request by request
  bulk       ///< large ones are sampled, and then done at the rate that the samples had
};

}  // namespace lacuna
