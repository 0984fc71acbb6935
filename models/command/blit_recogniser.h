// Kernels whose effect is known without executing them: what a driver knows of the copy and fill kernels of its runtime.
//
// The packet processor knows no runtime. A driver that does attaches a recogniser, which says of a dispatch that it is a blit:
// a copy or a fill, described well enough to be done without its instructions or to be cut into shorter dispatches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/compute/dispatch.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

/// Bytes [0, bytes) of `source`, or of a pattern that repeats, go to `destination`.
struct Blit {
  std::uint32_t kernel = 0;  ///< which one: the recogniser's own number
  /// Each workgroup moves `cut_step` bytes and ends. Otherwise workgroups loop until all is done.
  bool workgroup_per_step = false;
  std::uint64_t source = 0;  ///< GPU virtual address; of copies
  std::uint64_t destination = 0;
  std::uint64_t bytes = 0;
  std::vector<std::byte> pattern{};  ///< empty: a copy
  std::uint64_t element = 0;         ///< bytes of a work-item's turn
  /// The kernel can be cut in two at byte cut_begin + k * cut_step (k >= 0) up to cut_end. A step of 0: nowhere.
  std::uint64_t cut_begin = 0;
  std::uint64_t cut_end = 0;
  std::uint64_t cut_step = 0;
  std::vector<std::byte> arguments{};  ///< as the dispatch has them; narrow() may change all of them in memory

  bool is_fill() const { return !pattern.empty(); }
  /// A copy onto itself: the order in which the kernel moves its bytes shows in the result.
  bool overlaps() const { return !is_fill() && (source < destination ? destination - source : source - destination) < bytes; }
  /// The last place at or before byte `at` where it can be cut, or 0 when there is none.
  std::uint64_t cut_before(std::uint64_t at) const {
    const std::uint64_t last = at < cut_end ? at : cut_end;
    return cut_step == 0 || last < cut_begin ? 0 : last - (last - cut_begin) % cut_step;
  }
};

/// One may serve several GPUs: it has no state, and is told whose memory to look at.
class BlitRecogniser {
 public:
  virtual ~BlitRecogniser() = default;
  /// The name for reports of a kernel that has none in its code object and whose code begins at `entry`; empty when it is not
  /// known. find() meets it again in Dispatch::kernel.
  virtual std::string_view name(const GpuVm& vm, std::uint64_t entry) const = 0;
  /// What the dispatch does. Nothing when it is no such kernel, or when only executing it shows what it does. Source and
  /// destination need not be mapped.
  virtual std::optional<Blit> find(const GpuVm& vm, const Dispatch& dispatch) const = 0;
  /// Changes the dispatch and its arguments in memory so that it does bytes [from, to) and no others. Both are places to cut,
  /// or the blit's ends.
  virtual void narrow(const GpuVm& vm, const Blit& blit, Dispatch& dispatch, std::uint64_t from, std::uint64_t to) const = 0;
};

}  // namespace lacuna
