// The ROCm runtime's own copy and fill kernels, done at once instead of being executed.
//
// Three of them come with the HSA runtime (ROCR-Runtime 5.2: CopyAligned, CopyMisaligned, Fill): they have no name and are
// known by their code (hsa_runtime_kernel(), from which a dispatch has its name). Others come with HIP's runtime (ROCclr 5.2:
// __amd_rocclr_copyBuffer, _copyBufferAligned, _fillBufferAligned): they are known by their name. What they do is in their
// arguments, whose layouts are in runtime_blits.cpp.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/gpu/dispatch.h"
#include "models/gpu/gpuvm.h"

namespace lacuna {

/// The name for reports of a kernel of the HSA runtime whose code begins at `entry`; empty when it is none.
std::string_view hsa_runtime_kernel(const GpuVm& vm, std::uint64_t entry);

class RuntimeBlits {
 public:
  explicit RuntimeBlits(const GpuVm& vm) : vm_(vm) {}

  /// Does what the dispatch would do. False, and nothing has happened, when it is no such kernel or when it is to be executed
  /// for another reason: arguments that do not fit together, memory that is not mapped.
  bool perform(const Dispatch& dispatch) const;

 private:
  struct Copy {
    std::uint64_t source, destination, bytes;
  };
  struct Fill {
    std::uint64_t destination, bytes;
    std::uint64_t pattern;  ///< GPU virtual address
    std::uint64_t pattern_bytes;
  };

  bool perform_by_code(const Dispatch& dispatch) const;
  bool perform_by_name(const Dispatch& dispatch) const;
  bool copy(const Copy& copy) const;
  bool fill(const Fill& fill) const;
  bool mapped(std::uint64_t address, std::uint64_t bytes, isa::Access wanted) const;
  /// Calls back with the pieces of host memory behind a mapped range.
  template <class Piece>
  void pieces(std::uint64_t address, std::uint64_t bytes, const Piece& piece) const;

  const GpuVm& vm_;
};

}  // namespace lacuna
