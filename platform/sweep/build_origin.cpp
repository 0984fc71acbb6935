#include "platform/sweep/build_origin.h"

#include "platform/sweep/digest.h"

namespace lacuna {

namespace {

/// Text of the executable's section .lacuna.commit: "3ce795e0ef72", or with a description "3ce795e0ef72
/// v0.2.0-12-g3ce795e0ef72".
const std::string& origin() {
  static const std::string kOrigin = elf_section("/proc/self/exe", ".lacuna.commit");
  return kOrigin;
}

}  // namespace

std::string build_commit() {
  const std::string commit = origin().substr(0, origin().find(' '));
  return commit.empty() ? "unknown" : commit;
}

std::string build_description() {
  const std::size_t blank = origin().find(' ');
  return blank == std::string::npos ? std::string() : origin().substr(blank + 1);
}

std::string build_compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

}  // namespace lacuna
