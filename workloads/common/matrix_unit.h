// Support for programs that can use a matrix unit, but also run on GPUs without matrix units.
#pragma once

#include <hip/hip_runtime_api.h>

#include <string>

#include "workloads/common/device_array.h"
#include "workloads/common/error.h"

namespace workload {

/// Throws a UsageError unless the GPU is a gfx90a. Missing extensions are only detected when a kernel starts. `option`: the
/// option that requires the unit.
inline void require_matrix_unit(const std::string& option) {
  hipDeviceProp_t properties;
  require(hipGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
  const std::string name = properties.gcnArchName;
  if (name.compare(0, 6, "gfx90a") != 0) {
    throw UsageError(option +
                     " needs the matrix unit of a gfx90a: --config mi210 --set mfma.extensions=simd2 of `lacuna exec`, not " +
                     name.substr(0, name.find(':')));
  }
}

}  // namespace workload
