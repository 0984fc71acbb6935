// Launching the kernels of a network layer by layer, so that a reader of kernels.csv can tell whose each kernel is.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdio>
#include <string>

#include "workloads/common/device_array.h"

namespace workload {

/// Says on stdout which layer the following kernels belong to, and counts kernels:
///
///   layer: conv5_2_1 pass=forward first=57
///
/// means that the program's kernels from number 57 on, to the one before the next such line, are of this layer. Kernels are
/// numbered from 0 in the order in which the program launches them: the order of kernels.csv without the runtime's own (those
/// whose name ends in `(HSA runtime)` or begins with `__amd_rocclr_`). After the last layer there is no other kernel.
class LayerLog {
 public:
  void begin(const std::string& layer, const std::string& pass) {
    std::printf("layer: %s pass=%s first=%u\n", layer.c_str(), pass.c_str(), kernels_);
  }
  template <typename... Parameter, typename... Argument>
  void launch(void (*kernel)(Parameter...), dim3 workgroups, dim3 size, Argument&&... arguments) {
    hipLaunchKernelGGL(kernel, workgroups, size, 0, nullptr, static_cast<Parameter>(arguments)...);
    require(hipGetLastError(), "launching a kernel");
    ++kernels_;
  }
  /// How many kernels were launched so far.
  unsigned kernels() const { return kernels_; }

 private:
  unsigned kernels_ = 0;
};

}  // namespace workload
