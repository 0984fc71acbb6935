// Common code of all exported functions.
#pragma once

#include <hsakmt.h>
#include <exception>
#include <new>

#include "drivers/rocm/driver.h"
#include "models/common/config/guest_mistake.h"

namespace lacuna::rocm {

/// Whether a function still runs after the simulation has ended.
enum class AfterTheEnd : bool { no, yes };

/// Runs `function` on the driver; no exception reaches the runtime. At the end of the process, when the simulation and the log
/// no longer exist, it returns SUCCESS without doing anything: the runtime's destructors only release resources then, and its
/// threads continue until the process is gone.
template <AfterTheEnd kAfterTheEnd = AfterTheEnd::no, class Function>
HSAKMT_STATUS with_driver(Function function) noexcept {
  HostThreads::note_call();
  Driver* driver = Driver::get();
  if (driver == nullptr) return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
  if (kAfterTheEnd == AfterTheEnd::no && driver->simulation().ended()) return HSAKMT_STATUS_SUCCESS;
  try {
    return function(*driver);
  } catch (const std::bad_alloc&) {
    return HSAKMT_STATUS_NO_MEMORY;
  } catch (const std::exception& e) {
    guest_error("failed driver calls", "{}", e.what());
    return HSAKMT_STATUS_ERROR;
  }
}

/// Returns NOT_SUPPORTED; logs a warning on the first call for each function.
HSAKMT_STATUS not_supported(const char* function) noexcept;

}  // namespace lacuna::rocm

#define LACUNA_NOT_SUPPORTED lacuna::rocm::not_supported(__func__)
