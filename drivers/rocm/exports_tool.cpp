// Entry points for a runtime that also loads this library as a tool: HSA_TOOLS_LIB=libhsakmt.so.1.
#include <cstdint>

#include "drivers/rocm/signal_waits.h"

extern "C" {

// Called by the runtime, which finds it by name. If it returned false, the runtime would unload the tool with a warning.
bool OnLoad(HsaApiTable* table, std::uint64_t /*runtime_version*/, std::uint64_t /*failed_tools*/,
            const char* const* /*names*/) {
  lacuna::rocm::replace_waits(*table);
  return true;
}

// The runtime unloads its tools before it ends its threads.
void OnUnload() { lacuna::rocm::end_signal_handlers(); }
}
