// The ROCm runtime's own copy and fill kernels: what they do is known without executing them, and they can be cut into pieces.
//
// Three of them come with the HSA runtime (ROCR-Runtime 5.2: CopyAligned, CopyMisaligned, Fill): they have no name and are
// known by their code. Others come with HIP's runtime (ROCclr 5.2: __amd_rocclr_copyBuffer, _copyBufferAligned,
// _fillBufferAligned): they are known by their name. What they do is in their arguments, whose layouts are in
// runtime_blits.cpp.
#pragma once

#include "models/command/blit_recogniser.h"

namespace lacuna::rocm {

class RuntimeBlits : public BlitRecogniser {
 public:
  std::string_view name(const GpuVm& vm, std::uint64_t entry) const override;
  /// Nothing for arguments that do not fit together.
  std::optional<Blit> find(const GpuVm& vm, const Dispatch& dispatch) const override;
  void narrow(const GpuVm& vm, const Blit& blit, Dispatch& dispatch, std::uint64_t from, std::uint64_t to) const override;
};

}  // namespace lacuna::rocm
