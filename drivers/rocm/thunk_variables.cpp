#include "drivers/rocm/thunk_variables.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

namespace lacuna::rocm {
namespace {

struct ThunkVariable {
  const char* name;
  std::string_view standard;  ///< default value, equivalent to not setting the variable
  std::string_view effect;    ///< effect in ROCm's thunk
  std::string_view here;      ///< behaviour of this library
};

constexpr ThunkVariable kVariables[] = {
    {"HSA_DISABLE_CACHE", "0", "maps all memory uncached", "caches are those of the configuration"},
    {"HSA_ZFB", "0", "places GPU memory in host memory", "GPU memory is vram.size"},
    {"HSA_USERPTR_FOR_PAGED_MEM", "1", "chooses how the kernel driver pins host memory", "host memory needs no pinning"},
    {"HSA_CHECK_USERPTR", "0", "touches registered memory when it is registered", "kernels that touch unmapped memory fault"},
    {"HSA_RESERVE_SVM", "0", "reserves addresses for a replay", "addresses are the host's"},
    {"HSA_SVM_GUARD_PAGES", "1", "sets the unmapped pages between allocations", "one page lies between allocations"},
    {"HSA_MAX_VA_ALIGN", "9", "sets the largest alignment of addresses", "it is 2 MiB"},
    {"HSAKMT_DEBUG_LEVEL", "3", "prints the thunk's messages", "messages are in log.txt"},
};

}  // namespace

std::vector<std::string> ignored_thunk_variables() {
  std::vector<std::string> lines;
  for (const ThunkVariable& variable : kVariables) {
    const char* const value = std::getenv(variable.name);
    if (value == nullptr || value == variable.standard) continue;
    lines.push_back(fmt::format("{}={} has no effect: in ROCm's libhsakmt it {}, here {}", variable.name, value,
                                variable.effect, variable.here));
  }
  return lines;
}

}  // namespace lacuna::rocm
