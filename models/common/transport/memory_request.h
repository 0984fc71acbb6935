// A memory request, from the coalescer to DRAM, and the response to it.
//
// Requests charge time and change the state of caches, TLBs and DRAM; the data were already transferred when the instruction
// executed. All levels use the same types for requests and responses:
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
// Each level makes a new request to the next level, for whole sectors; several requests may wait for the same sector. The
// records that a level keeps in the meantime (misses, waiting requests, requests in flight in the network) are private to that
// level. An address is translated once, before the first-level cache, so requests carry bus addresses.
//
// If the completion time depends on requests of other clients in the same window (models/compute/windows.h), the target returns
// false and calls the client later.
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
  std::uint64_t address = 0;             ///< bus address of the first byte
  ByteMask byte_mask = ByteMask::all();  ///< bytes that a write or an atomic changes, counted from `address`
  Tick made{};                           ///< time of creation, before address translation; copied to the response
  std::uint16_t bytes = 0;               ///< number of bytes, at most ByteMask::kBytes
  std::uint16_t requester = 0;           ///< MemoryAttributes::requester
  RequestKind kind = RequestKind::vector;
  bool write = false;  ///< true for stores and atomics
  bool atomic = false;
  bool bypass_l1 = false;
};
// MemoryPhase::Flight stores a request and 24 further bytes in one cache line of the host.
static_assert(sizeof(MemoryRequest) == 40);

/// Completion time of a request, and the breakdown of the time since it was made.
struct MemoryResponse {
  Tick made{};      ///< MemoryRequest::made
  Tick arrived{};   ///< time at which the request reached the target
  Tick done{};      ///< completion time: a read's last byte has arrived; a write has been accepted by the target
  Tick queueing{};  ///< part of the time from `arrived` to `done` in which the request waited in the target
  Tick service{};   ///< part of the time from `arrived` to `done` in which the target served it
  Tick mshr{};      ///< part of `queueing` spent waiting for an MSHR
  MemoryLevel level = MemoryLevel::l1;      ///< level of the target
  bool failed = false;                      ///< whether there is no memory at the address
  const LatencyBreakdown* below = nullptr;  ///< time in the levels below the target, or null; valid during the call
};

class MemoryClient {
 public:
  virtual ~MemoryClient() = default;
  /// Called when the request with `tag` is complete. The client may make further requests within the call.
  virtual void on_response(std::uint32_t tag, const MemoryResponse& response) = 0;

  /// Number of this client in a target. Targets verify the number, since another target may have overwritten the number.
  std::uint16_t number_in_target = 0;
};

class MemoryTarget {
 public:
  virtual ~MemoryTarget() = default;
  /// Serves a request that arrives at `at` and lies in one line of the target. Returns true if `response` is valid; otherwise
  /// the target calls client.on_response() with `tag` later.
  virtual bool request(const MemoryRequest& request, Tick at, MemoryClient& client, std::uint32_t tag,
                       MemoryResponse& response) = 0;
  /// Like request(), for the lines of one instruction, in order, which differ only in address, byte_mask and `made`. `at`:
  /// arrival time of each request. Stores immediate responses in `responses`, which must have room for all, and returns their
  /// number.
  virtual std::size_t request_all(std::span<const MemoryRequest> requests, const Tick* at, MemoryClient& client,
                                  std::uint32_t tag, MemoryResponse* responses) {
    std::size_t known = 0;
    for (std::size_t i = 0; i < requests.size(); ++i)
      known += request(requests[i], at[i], client, tag, responses[known]) ? 1 : 0;
    return known;
  }
};

/// A memory that schedules requests in batches. Requests arrive nearly in order of time; by decide(), the client declares a
/// time before which all requests have arrived. If request() returns false, the memory has set response.done to the completion
/// time in an idle memory.
class DeferredMemory : public MemoryTarget {
 public:
  /// Declares that no further request arrives before `until`, and completes all requests of all clients that later requests
  /// cannot affect. Clients may make requests within on_response(), for times no earlier than the reported completion.
  virtual void decide(Tick until) = 0;
  /// Earliest `until` for which decide() can complete a request if no further requests arrive. kNever if no request waits.
  virtual Tick next_decision() = 0;
};

}  // namespace lacuna
