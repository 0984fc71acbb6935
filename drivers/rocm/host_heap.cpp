// Where the program's large buffers begin within a page.
//
// HIP copies from and to large buffers of the host in place: the copy's kernel reads them, and how many cache lines and pages
// it touches depends on where in a page they begin. The C library takes buffers from its heap once a buffer of their size has
// been freed, and what lies before them in the heap depends on when threads of the runtime have freed memory. With a constant
// limit such buffers are mappings of their own, which all begin in the same place of a page.
#include <malloc.h>

namespace {

/// Smaller than what HIP copies in place: from 1 MiB on.
constexpr int kOwnMapping = 512 * 1024;

/// When the library is loaded, and so before main().
[[gnu::constructor]] void fix_limit() { mallopt(M_MMAP_THRESHOLD, kOwnMapping); }

}  // namespace
