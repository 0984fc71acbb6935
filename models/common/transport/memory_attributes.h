// Payload extension that every Lacuna memory transaction carries in addition to the generic payload.
//
// A transaction without it is legal (a foreign initiator): targets then treat it as a plain data access of requester 0.
#pragma once

#include <cstdint>
#include <tlm>

#include "models/common/transport/byte_mask.h"
#include "models/common/transport/latency_breakdown.h"

namespace lacuna {

/// The initiator of a request: selects the virtual network, the statistics bucket, and which caches may hold the line.
/// `direct`: a unit next to a last-level cache that accesses the memory below it, bypassing the cache: the line is neither
/// looked up nor kept.
enum class RequestKind : std::uint8_t {
  host,
  command_processor,
  vector,
  scalar,
  instruction,
  fill,
  write_back,
  page_walk,
  direct
};

/// Extension of tlm_generic_payload.
struct MemoryAttributes : tlm::tlm_extension<MemoryAttributes> {
  RequestKind kind = RequestKind::host;
  /// The data have already been moved through DMI: the target charges time and changes cache state but must not touch data. The
  /// data pointer is then null, and the length is the number of bytes of the transaction.
  bool timing_only = false;
  /// A read-modify-write performed at the first cache that is coherent for its scope (L2), command WRITE.
  bool atomic = false;
  /// Bypass L1 (GLC/SLC bits of the instruction).
  bool bypass_l1 = false;
  /// Stable index of the requesting unit (compute unit, command processor queue, ...), for statistics and routing of replies.
  std::uint16_t requester = 0;
  /// Bytes that a timing_only write of up to ByteMask::kBytes changes, counted from the transaction's first byte; longer writes
  /// change all of theirs.
  ByteMask byte_mask = ByteMask::all();
  LatencyBreakdown latency;

  /// Resets to a plain data access of requester 0.
  void reset() {
    kind = RequestKind::host;
    timing_only = false;
    atomic = false;
    bypass_l1 = false;
    requester = 0;
    byte_mask = ByteMask::all();
    latency = {};
  }

  tlm::tlm_extension_base* clone() const override { return new MemoryAttributes(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const MemoryAttributes&>(other); }
};

}  // namespace lacuna
