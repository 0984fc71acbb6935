// Makes the program's large buffers begin at the same offset within a page in every run.
//
// HIP copies from and to large host buffers in place: the copy kernel accesses them, and the number of cache lines and pages it
// touches depends on their offset within a page. By default the C library raises its mmap threshold once a large buffer has
// been freed and then allocates buffers of that size from its heap, where their offset depends on when threads of the runtime
// have freed memory. With a constant threshold each such buffer is a separate mapping, and all of them begin at the same
// offset.
#include <malloc.h>

namespace {

/// Minimum size in bytes of an allocation that becomes a separate mapping: less than the smallest buffer that HIP copies in
/// place, which has 1 MiB.
constexpr int kOwnMapping = 512 * 1024;

/// Runs when the library is loaded, and so before main().
[[gnu::constructor]] void fix_limit() { mallopt(M_MMAP_THRESHOLD, kOwnMapping); }

}  // namespace
