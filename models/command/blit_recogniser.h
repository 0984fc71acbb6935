// Recognition of a runtime's copy and fill kernels, whose effect is known without executing them.
//
// The packet processor is independent of runtimes. A driver attaches a recogniser for its runtime's kernels, which identifies a
// dispatch as a blit: a copy or a fill, described in enough detail to be performed without its instructions or to be cut into
// shorter dispatches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/compute/dispatch.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

/// A copy of `bytes` bytes from `source` to `destination`, or a fill of `destination` with a repeating pattern.
struct Blit {
  std::uint32_t kernel = 0;  ///< identifies the kernel; meaning private to the recogniser
  /// True: each workgroup moves `cut_step` bytes and ends. False: workgroups loop until all bytes are moved.
  bool workgroup_per_step = false;
  std::uint64_t source = 0;  ///< GPU virtual address; copies only
  std::uint64_t destination = 0;
  std::uint64_t bytes = 0;
  std::vector<std::byte> pattern{};  ///< empty: a copy
  std::uint64_t element = 0;         ///< bytes that a work-item moves in an iteration
  /// The kernel can be cut in two at byte cut_begin + k * cut_step (k >= 0) up to cut_end. cut_step 0: it cannot be cut.
  std::uint64_t cut_begin = 0;
  std::uint64_t cut_end = 0;
  std::uint64_t cut_step = 0;
  std::vector<std::byte> arguments{};  ///< copy of the dispatch's arguments; narrow() may change all of them in memory

  bool is_fill() const { return !pattern.empty(); }
  /// Whether source and destination overlap, in which case the result depends on the order in which the kernel moves bytes.
  bool overlaps() const { return !is_fill() && (source < destination ? destination - source : source - destination) < bytes; }
  /// The last byte at or before `at` at which the blit can be cut, or 0 if there is none.
  std::uint64_t cut_before(std::uint64_t at) const {
    const std::uint64_t last = at < cut_end ? at : cut_end;
    return cut_step == 0 || last < cut_begin ? 0 : last - (last - cut_begin) % cut_step;
  }
};

/// Stateless: one recogniser may serve several GPUs, because each call passes the memory to read.
class BlitRecogniser {
 public:
  virtual ~BlitRecogniser() = default;
  /// Name, for reports, of the kernel whose code begins at `entry`, if its code object contains no name; empty if unknown.
  /// find() receives the name in Dispatch::kernel.
  virtual std::string_view name(const GpuVm& vm, std::uint64_t entry) const = 0;
  /// The blit that the dispatch performs; nullopt if the kernel is not a blit, or if its effect can only be determined by
  /// executing it. Source and destination need not be mapped.
  virtual std::optional<Blit> find(const GpuVm& vm, const Dispatch& dispatch) const = 0;
  /// Changes the dispatch and its arguments in memory so that the dispatch moves bytes [from, to) only. `from` and `to` must be
  /// bytes at which the blit can be cut, or its ends.
  virtual void narrow(const GpuVm& vm, const Blit& blit, Dispatch& dispatch, std::uint64_t from, std::uint64_t to) const = 0;
};

}  // namespace lacuna
