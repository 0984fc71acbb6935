#include "models/sdma/sdma_notifier.h"

#include <fmt/format.h>

#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"

namespace lacuna {

void SdmaNotifier::trap(const SdmaQueue& queue, std::uint32_t context) {
  ++statistics_.traps;
  if (listener_ != nullptr) {
    listener_->sdma_trap(queue.id, context, kernel_time());
  } else {
    guest_warning("unhandled SDMA traps", "{}: queue {}: unhandled trap {:#x}", owner_, queue.id, context);
  }
}

void SdmaNotifier::stop(SdmaQueue& queue, SdmaFault fault) {
  fault.queue = queue.id;
  fault.text = fmt::format("{}: SDMA queue {} ({}) stopped at byte {:#x}: {}", owner_, queue.id, queue.description.name,
                           queue.read, fault.text);
  guest_error("stopped SDMA queues", "{}", fault.text);
  queue.stopped = true;
  ++statistics_.errors;
  if (listener_ != nullptr) listener_->sdma_fault(fault, kernel_time());
}

}  // namespace lacuna
