// One kernel for each subset of the six ids of a work-item. The kernel uses only the ids of its subset: the fields that the
// kernel descriptor enables, and the code that extracts an id from its register, differ between subsets.
//
// ids_<subset>: bit d of the subset is the local id of dimension d, bit 3 + d the group id. A work-item increments the cell
// that its ids select, or the cell after the last one if they select none.
#define ID(subset, bit, id, stride) ((subset)&1u << (bit) ? (uint)(id)*strides.stride : 0)
#define KERNEL(subset)                                                                                            \
  kernel __attribute__((amdgpu_flat_work_group_size(1, 1024))) void ids_##subset(global uint* counts, uint cells, \
                                                                                 uint8 strides) {                 \
    const uint cell = ID(subset, 0, get_local_id(0), s0) + ID(subset, 1, get_local_id(1), s1) +                   \
                      ID(subset, 2, get_local_id(2), s2) + ID(subset, 3, get_group_id(0), s3) +                   \
                      ID(subset, 4, get_group_id(1), s4) + ID(subset, 5, get_group_id(2), s5);                    \
    atomic_inc(counts + min(cell, cells));                                                                        \
  }
#define EIGHT(a, b, c, d, e, f, g, h) KERNEL(a) KERNEL(b) KERNEL(c) KERNEL(d) KERNEL(e) KERNEL(f) KERNEL(g) KERNEL(h)

EIGHT(0, 1, 2, 3, 4, 5, 6, 7)
EIGHT(8, 9, 10, 11, 12, 13, 14, 15)
EIGHT(16, 17, 18, 19, 20, 21, 22, 23)
EIGHT(24, 25, 26, 27, 28, 29, 30, 31)
EIGHT(32, 33, 34, 35, 36, 37, 38, 39)
EIGHT(40, 41, 42, 43, 44, 45, 46, 47)
EIGHT(48, 49, 50, 51, 52, 53, 54, 55)
EIGHT(56, 57, 58, 59, 60, 61, 62, 63)
