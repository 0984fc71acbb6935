// For rocminfo, which looks for the kernel driver before it asks the runtime: its module in the output of lsmod, and its device
// file. Preloaded by `lacuna exec -- rocminfo`; everything else of popen() and open() goes on to the C library.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "drivers/rocm/preload/interposed.h"

namespace {

constexpr const char* kDeviceFile = "/dev/kfd";
/// What opening the device file opens: something that is there and does nothing.
constexpr const char* kStandIn = "/dev/null";

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

const char* stand_in(const char* path) { return path != nullptr && std::strcmp(path, kDeviceFile) == 0 ? kStandIn : path; }

}  // namespace

LACUNA_INTERPOSED FILE* popen(const char* command, const char* type) {
  const bool asks = std::strstr(command, "lsmod") != nullptr && std::strstr(command, "amdgpu") != nullptr;
  return next<FILE*(const char*, const char*)>("popen")(asks ? "echo amdgpu 0 0" : command, type);
}

LACUNA_INTERPOSED int open(const char* path, int flags, ...) {
  std::va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return next<int(const char*, int, ...)>("open")(stand_in(path), flags, mode);
}

// On 64-bit hosts the two are one function.
LACUNA_INTERPOSED int open64(const char* path, int flags, ...) __attribute__((nonnull(1), alias("open")));
