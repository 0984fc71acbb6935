// The workspace of an explicitly lowered convolution.
#pragma once

#include "workloads/conv2d/convolution.h"

namespace conv {

constexpr unsigned kLoweringItems = 256, kLoweringRows = 4;

/// Writes kLoweringRows rows of the workspace per workgroup, one per wavefront, and kGroup channels per work-item and step.
/// Columns after the convolution's last column, up to `end`, are set to zero. `channels` and `end` must be multiples of kGroup.
template <unsigned kGroup>
__device__ inline void lower(const Convolution& c, const Half* x, Half* workspace, unsigned pitch, unsigned end) {
  using Group = Half __attribute__((ext_vector_type(kGroup)));
  const unsigned row =
      blockIdx.x * kLoweringRows + static_cast<unsigned>(__builtin_amdgcn_readfirstlane(static_cast<int>(threadIdx.x / 64)));
  if (row >= c.rows()) return;
  const Convolution::Corner corner = c.corner(row);
  Half* const to = workspace + static_cast<size_t>(row) * pitch;
  const unsigned columns = c.columns();
  for (unsigned column = threadIdx.x % 64 * kGroup; column < end; column += 64 * kGroup) {
    const unsigned tap = column / c.channels, channel = column % c.channels;
    const int y = corner.y + static_cast<int>(tap / c.filter_width), at = corner.x + static_cast<int>(tap % c.filter_width);
    Group value = {};
    if (column < columns && c.inside(y, at)) {
      value = *reinterpret_cast<const Group*>(x + c.element(corner.image, y, at) + channel);
    }
    *reinterpret_cast<Group*>(to + column) = value;
  }
}

}  // namespace conv

#define LOWERING_KERNEL(name, group)                                                                    \
  extern "C" __global__ void __launch_bounds__(conv::kLoweringItems)                                    \
      name(conv::Convolution c, const _Float16* x, _Float16* workspace, unsigned pitch, unsigned end) { \
    conv::lower<group>(c, x, workspace, pitch, end);                                                    \
  }
