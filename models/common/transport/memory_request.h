// A memory request, from the coalescer to DRAM, and the response to it.
//
// Requests charge time and change the state of caches, TLBs and DRAM; the data have been moved already, when the instruction
// executed. One type each for request and response serves all levels:
//
//   created by                        request                                    response, completed by
//   VectorMemory, ScalarMemory,       one line of an instruction: byte_mask of   a hit of FirstLevelCache within the call;
//   InstructionFetch, machines        stores and atomics, `made` when created    otherwise MemoryClient::on_response()
//   FirstLevelCache (a miss)          a sector (`kind` fill), or the forwarded   LastLevelCache by MemoryPhase: `below` has
//                                     write, atomic or bypass                    network, L2 and DRAM
//   LastLevelCache (a miss)           a sector (fill), or a victim's dirty       DramChannel, when its command scheduler has
//                                     bytes (`kind` write_back, `byte_mask`)     decided
//
// "Machines" are the stages and units of research machines (models/compute/load_stage.h, models/gpu/node_requester.h).
//
// Each level makes a new request to the next one, for whole sectors; several requests may wait for one. The records that a
// level keeps in the meantime (misses, waiting requests, requests in flight in the network) are private to that level. An
// address is translated once, before the first-level cache: requests carry bus addresses.
//
// A target that cannot complete a request within the call, because the time depends on what others request in the same window
// (models/compute/windows.h), returns false and calls its client later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/common/time/units.h"
#include "models/common/transport/byte_mask.h"
#include "models/common/transport/latency_breakdown.h"
#include "models/common/transport/memory_attributes.h"

namespace lacuna {

struct MemoryRequest {
  std::uint64_t address = 0;             ///< bus address of its first byte
  ByteMask byte_mask = ByteMask::all();  ///< bytes that a write or an atomic changes, counted from `address`
  Tick made{};                           ///< time of its creation, before its address was translated; the response repeats it
  std::uint16_t bytes = 0;               ///< at most ByteMask::kBytes
  std::uint16_t requester = 0;           ///< MemoryAttributes::requester
  RequestKind kind = RequestKind::vector;
  bool write = false;  ///< also of atomics
  bool atomic = false;
  bool bypass_l1 = false;
};
// MemoryPhase::Flight stores a request and 24 other bytes in one cache line of the host.
static_assert(sizeof(MemoryRequest) == 40);

/// Completion time of a request, and the breakdown of the time since it was made.
struct MemoryResponse {
  Tick made{};      ///< MemoryRequest::made
  Tick arrived{};   ///< time at which the request reached the target
  Tick done{};      ///< completion: for a read, arrival of its last byte; for a write, its acceptance by the target
  Tick queueing{};  ///< part of the time from `arrived` to `done` that it waited in the target
  Tick service{};   ///< part that the target itself took
  Tick mshr{};      ///< part of `queueing` for an MSHR
  MemoryLevel level = MemoryLevel::l1;      ///< level of the target
  bool failed = false;                      ///< no memory at the address
  const LatencyBreakdown* below = nullptr;  ///< time in the levels below the target; null: none. Valid during the call
};

class MemoryClient {
 public:
  virtual ~MemoryClient() = default;
  /// The request that was made with `tag` is complete. The client may make further requests within the call.
  virtual void on_response(std::uint32_t tag, const MemoryResponse& response) = 0;

  /// Number of this client in a target. Targets verify it, since another target may have overwritten it.
  std::uint16_t number_in_target = 0;
};

class MemoryTarget {
 public:
  virtual ~MemoryTarget() = default;
  /// Serves a request that arrives at `at` and lies in one line of the target. True: `response` is valid. False: the client
  /// receives it later by client.on_response(), with `tag`.
  virtual bool request(const MemoryRequest& request, Tick at, MemoryClient& client, std::uint32_t tag,
                       MemoryResponse& response) = 0;
  /// As request(), for the lines of one instruction, in order; they differ only in address, byte_mask and `made`. `at`: arrival
  /// of each. Immediate responses are stored in `responses`, which has room for all. Returns their number.
  virtual std::size_t request_all(std::span<const MemoryRequest> requests, const Tick* at, MemoryClient& client,
                                  std::uint32_t tag, MemoryResponse* responses) {
    std::size_t known = 0;
    for (std::size_t i = 0; i < requests.size(); ++i)
      known += request(requests[i], at[i], client, tag, responses[known]) ? 1 : 0;
    return known;
  }
};

/// A memory that schedules requests in batches: they arrive in nearly the order of time, and the client declares from time to
/// time that no more arrive before a certain time. request() that returns false sets response.done to the time of an idle
/// memory.
class DeferredMemory : public MemoryTarget {
 public:
  /// Declares that no request arrives before `until`: completes all requests, of all clients, that no later one can affect.
  /// Clients may make requests within on_response(), for times that are no earlier.
  virtual void decide(Tick until) = 0;
  /// Earliest `until` for which decide() can complete a request if no further ones arrive. kNever: no request waits.
  virtual Tick next_decision() = 0;
};

}  // namespace lacuna
