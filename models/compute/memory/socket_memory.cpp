#include "models/compute/memory/socket_memory.h"

#include "models/common/time/tlm_time.h"

namespace lacuna {

bool SocketMemory::request(const MemoryRequest& request, Tick at, MemoryClient&, std::uint32_t, MemoryResponse& response) {
  payload_.renew(request);
  const Tick now = kernel_time();
  // A wavefront that was launched in the middle of a window lags the SystemC kernel slightly.
  const Tick behind = at < now ? now - at : Tick{};
  sc_core::sc_time delay = to_sc_time(at + behind - now);
  socket_->b_transport(*payload_, delay);
  if (payload_->is_response_error()) {
    SC_REPORT_FATAL(socket_.name(),
                    ("no memory at the bus address of a mapped page: " + payload_->get_response_string()).c_str());
  }
  response = {.made = request.made,
              .arrived = at,
              .done = now + to_tick(delay) - behind,
              .queueing = {},
              .service = {},
              .mshr = {},
              .level = MemoryLevel::l1,
              .below = &payload_.latency()};
  return true;
}

}  // namespace lacuna
