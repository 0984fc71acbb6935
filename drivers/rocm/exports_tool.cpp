// Exported for a runtime that is told to load this library as a tool, too: HSA_TOOLS_LIB=libhsakmt.so.1.
#include <cstdint>

#include "drivers/rocm/signal_waits.h"

extern "C" {

// The name that the runtime looks for. false: the runtime drops the tool with a warning.
bool OnLoad(HsaApiTable* table, std::uint64_t /*runtime_version*/, std::uint64_t /*failed_tools*/,
            const char* const* /*names*/) {
  lacuna::rocm::replace_waits(*table);
  return true;
}

// The runtime unloads its tools before it ends its threads.
void OnUnload() { lacuna::rocm::end_signal_handlers(); }
}
