// Recognises the ROCm runtime's own copy and fill kernels: their effect is known without executing them, and they can be cut
// into pieces.
//
// Three of them are part of the HSA runtime (ROCR-Runtime 5.2: CopyAligned, CopyMisaligned, Fill); they have no names and are
// recognised by their code. Others are part of HIP's runtime (ROCclr 5.2: __amd_rocclr_copyBuffer, _copyBufferAligned,
// _fillBufferAligned) and are recognised by name. Ranges and patterns are read from the kernel arguments, whose layouts are in
// runtime_blits.cpp.
#pragma once

#include "models/command/blit_recogniser.h"

namespace lacuna::rocm {

class RuntimeBlits : public BlitRecogniser {
 public:
  std::string_view name(const GpuVm& vm, std::uint64_t entry) const override;
  /// Returns nullopt if the dispatch runs none of the runtime's copy and fill kernels, or if its arguments are inconsistent.
  std::optional<Blit> find(const GpuVm& vm, const Dispatch& dispatch) const override;
  void narrow(const GpuVm& vm, const Blit& blit, Dispatch& dispatch, std::uint64_t from, std::uint64_t to) const override;
};

}  // namespace lacuna::rocm
