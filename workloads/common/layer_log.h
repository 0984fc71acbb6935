// Launches the kernels of a network layer by layer and logs the layers, so that kernels in kernels.csv can be assigned to
// layers.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdio>
#include <string>

#include "workloads/common/device_array.h"

namespace workload {

/// Counts kernels, and prints the layer of the following kernels to stdout. For example,
///
///   layer: conv5_2_1 pass=forward first=57
///
/// means that the program's kernels from number 57 to the last before the next such line belong to this layer. Kernels are
/// numbered from 0 in launch order, which is the order of kernels.csv without the runtime's kernels (names that end in `(HSA
/// runtime)` or begin with `__amd_rocclr_`). No kernel follows the last layer.
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
  /// Number of kernels launched so far.
  unsigned kernels() const { return kernels_; }

 private:
  unsigned kernels_ = 0;
};

}  // namespace workload
