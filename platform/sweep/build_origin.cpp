#include "platform/sweep/build_origin.h"

#include "platform/sweep/digest.h"

namespace lacuna {

std::string build_commit() {
  static const std::string kCommit = elf_section("/proc/self/exe", ".lacuna.commit");
  return kCommit.empty() ? "unknown" : kCommit;
}

std::string build_compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

}  // namespace lacuna
