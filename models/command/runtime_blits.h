// The ROCm runtime's own copy and fill kernels: what they do is known without executing them, and they can be cut into pieces.
//
// Three of them come with the HSA runtime (ROCR-Runtime 5.2: CopyAligned, CopyMisaligned, Fill): they have no name and are
// known by their code (hsa_runtime_kernel(), from which a dispatch has its name). Others come with HIP's runtime (ROCclr 5.2:
// __amd_rocclr_copyBuffer, _copyBufferAligned, _fillBufferAligned): they are known by their name. What they do is in their
// arguments, whose layouts are in runtime_blits.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/compute/dispatch.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

/// The name for reports of a kernel of the HSA runtime whose code begins at `entry`; empty when it is none.
std::string_view hsa_runtime_kernel(const GpuVm& vm, std::uint64_t entry);

/// What such a kernel does: bytes [0, bytes) of `source`, or of a pattern that repeats, go to `destination`.
struct Blit {
  enum class Kernel : std::uint8_t {
    copy_aligned,
    copy_misaligned,
    fill,
    copy_buffer,
    copy_buffer_aligned,
    fill_buffer_aligned
  };

  Kernel kernel = Kernel::copy_aligned;
  std::uint64_t source = 0;  ///< GPU virtual address; of copies
  std::uint64_t destination = 0;
  std::uint64_t bytes = 0;
  std::vector<std::byte> pattern{};  ///< empty: a copy
  std::uint64_t element = 0;         ///< bytes of a work-item's turn
  /// The kernel can be cut in two at byte cut_begin + k * cut_step (k >= 0) up to cut_end. A step of 0: nowhere.
  std::uint64_t cut_begin = 0;
  std::uint64_t cut_end = 0;
  std::uint64_t cut_step = 0;
  std::vector<std::byte> arguments{};  ///< as the dispatch has them

  bool is_fill() const { return !pattern.empty(); }
  /// A copy onto itself: the order in which the kernel moves its bytes shows in the result.
  bool overlaps() const { return !is_fill() && (source < destination ? destination - source : source - destination) < bytes; }
  /// The last place at or before byte `at` where it can be cut, or 0 when there is none.
  std::uint64_t cut_before(std::uint64_t at) const {
    const std::uint64_t last = at < cut_end ? at : cut_end;
    return cut_step == 0 || last < cut_begin ? 0 : last - (last - cut_begin) % cut_step;
  }
};

class RuntimeBlits {
 public:
  explicit RuntimeBlits(const GpuVm& vm) : vm_(vm) {}

  /// What the dispatch does. Nothing when it is no such kernel, or when only executing it shows what it does: arguments that do
  /// not fit together, memory that is not mapped.
  std::optional<Blit> find(const Dispatch& dispatch) const;
  /// Does bytes [from, to), in ascending order of addresses or as if so: for ranges that do not overlap.
  void move(const Blit& blit, std::uint64_t from, std::uint64_t to) const;
  /// Changes the dispatch and its arguments in memory so that it does bytes [from, to) and no others. Both are places to cut,
  /// or the blit's ends.
  void narrow(const Blit& blit, Dispatch& dispatch, std::uint64_t from, std::uint64_t to) const;
  /// Puts the arguments in memory back. Nothing happens when they are no longer mapped.
  void restore(const Blit& blit, const Dispatch& dispatch) const;
  /// Does all that the dispatch would do. False, and nothing has happened, when find() finds nothing.
  bool perform(const Dispatch& dispatch) const;

 private:
  std::optional<Blit> find_by_code(const Dispatch& dispatch) const;
  std::optional<Blit> find_by_name(const Dispatch& dispatch) const;
  bool read_pattern(Blit& blit, std::uint64_t address, std::uint64_t bytes) const;
  bool mapped(std::uint64_t address, std::uint64_t bytes, isa::Access wanted) const;
  /// Calls back with the pieces of host memory behind a mapped range.
  template <class Piece>
  void pieces(std::uint64_t address, std::uint64_t bytes, const Piece& piece) const;

  const GpuVm& vm_;
};

}  // namespace lacuna
