/* Layout of a kernel's argument segment. */
#include <string.h>

#include "driver/error.h"
#include "lacuna.h"

/* Offsets of version 5's hidden arguments, from the first of them. Source: LLVM "User Guide for AMDGPU Backend", table
 * "Code Object V5 kernel argument metadata" and section "Kernel Argument Metadata". */
enum {
  HIDDEN_BLOCK_COUNT = 0, /* 3 x 32 bits */
  HIDDEN_GROUP_SIZE = 12, /* 3 x 16 bits */
  HIDDEN_REMAINDER = 18,  /* 3 x 16 bits */
  HIDDEN_GRID_DIMS = 64,  /* 16 bits */
  HIDDEN_PRIVATE_BASE = 192,
  HIDDEN_SHARED_BASE = 196,
  HIDDEN_QUEUE_PTR = 200
};
#define HIDDEN_ALIGNMENT 8u

/* Stores a hidden argument, unless it lies beyond the segment, which ends after the last argument that the kernel uses. */
static void put(uint8_t* hidden, size_t hidden_bytes, size_t offset, const void* value, size_t bytes) {
  if (offset + bytes <= hidden_bytes) memcpy(hidden + offset, value, bytes);
}

static void fill_hidden(uint8_t* hidden, size_t bytes, const lacuna_launch_shape* shape) {
  for (unsigned i = 0; i < 3; ++i) {
    const uint16_t group = shape->workgroup[i] != 0 ? shape->workgroup[i] : 1;
    const uint32_t grid = shape->grid[i] != 0 ? shape->grid[i] : 1;
    const uint32_t blocks = grid / group;
    const uint16_t remainder = (uint16_t)(grid % group);
    put(hidden, bytes, HIDDEN_BLOCK_COUNT + 4 * i, &blocks, sizeof blocks);
    put(hidden, bytes, HIDDEN_GROUP_SIZE + 2 * i, &group, sizeof group);
    put(hidden, bytes, HIDDEN_REMAINDER + 2 * i, &remainder, sizeof remainder);
  }
  put(hidden, bytes, HIDDEN_GRID_DIMS, &shape->dimensions, sizeof shape->dimensions);
  put(hidden, bytes, HIDDEN_PRIVATE_BASE, &shape->private_aperture_hi, sizeof shape->private_aperture_hi);
  put(hidden, bytes, HIDDEN_SHARED_BASE, &shape->shared_aperture_hi, sizeof shape->shared_aperture_hi);
  put(hidden, bytes, HIDDEN_QUEUE_PTR, &shape->queue_address, sizeof shape->queue_address);
}

lacuna_error lacuna_kernel_arguments(const lacuna_kernel* kernel, const lacuna_launch_shape* shape, const void* arguments,
                                     size_t argument_bytes, void* segment, size_t segment_bytes) {
  if (kernel == NULL || shape == NULL || (arguments == NULL && argument_bytes != 0) ||
      (segment == NULL && segment_bytes != 0)) {
    return driver_error(LACUNA_ERROR_INVALID_ARGUMENT, "lacuna_kernel_arguments: null argument");
  }
  /* Version 2 rounds the segment up; later versions do not: a C struct may end in padding that the segment lacks. */
  const size_t copied = argument_bytes < kernel->kernarg_segment_bytes ? argument_bytes : kernel->kernarg_segment_bytes;
  if (argument_bytes - copied >= HIDDEN_ALIGNMENT || segment_bytes < kernel->kernarg_segment_bytes) {
    return driver_error(LACUNA_ERROR_SEGMENT_TOO_LARGE,
                        "%zu bytes of arguments for a kernel that takes %u, into a segment of %zu bytes", argument_bytes,
                        (unsigned)kernel->kernarg_segment_bytes, segment_bytes);
  }
  uint8_t* bytes = segment;
  if (segment_bytes != 0) memset(bytes, 0, segment_bytes);
  if (copied != 0) memcpy(bytes, arguments, copied);
  const size_t hidden = (argument_bytes + HIDDEN_ALIGNMENT - 1) & ~(size_t)(HIDDEN_ALIGNMENT - 1);
  if (kernel->code_object_version >= 5 && hidden < kernel->kernarg_segment_bytes) {
    fill_hidden(bytes + hidden, kernel->kernarg_segment_bytes - hidden, shape);
  }
  return LACUNA_OK;
}
