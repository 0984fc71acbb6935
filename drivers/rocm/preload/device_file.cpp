// Simulates the presence of the amdgpu kernel driver for rocminfo, which checks for it before it calls the runtime: for its
// module in the output of lsmod, and for its device file. Preloaded by `lacuna exec -- rocminfo`; all other calls of popen()
// and open() are forwarded to the C library.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "drivers/rocm/preload/interposed.h"

namespace {

constexpr const char* kDeviceFile = "/dev/kfd";
/// File that is opened instead of the device file: it always exists and has no effect.
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

// On 64-bit hosts, open64() and open() are the same function.
LACUNA_INTERPOSED int open64(const char* path, int flags, ...) __attribute__((nonnull(1), alias("open")));
