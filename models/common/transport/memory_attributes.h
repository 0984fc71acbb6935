// Payload extension that every Lacuna memory transaction carries in addition to the generic payload.
//
// A transaction without the extension, for instance from a third-party initiator, is treated as a plain data access of
// requester 0.
#pragma once

#include <cstdint>
#include <tlm>

#include "models/common/transport/byte_mask.h"
#include "models/common/transport/latency_breakdown.h"

namespace lacuna {

/// The kind of initiator of a request. Only `direct` affects how the request is served: a unit next to a last-level cache
/// accesses the memory below this cache; the cache neither looks up nor keeps the line.
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
  /// The data have already been transferred through DMI: the target charges time and changes cache state, but must not access
  /// data. The data pointer is null, and the length is the number of bytes of the transaction.
  bool timing_only = false;
  /// Whether the access is a read-modify-write; its command is WRITE. L2, the first coherent cache, executes the access.
  bool atomic = false;
  /// Whether the access bypasses L1 (GLC/SLC bits of the instruction).
  bool bypass_l1 = false;
  /// Index of the requesting unit, such as a compute unit's number in the GPU; passed on with the request. No model depends on
  /// it.
  std::uint16_t requester = 0;
  /// Bytes that a timing_only write of up to ByteMask::kBytes bytes changes, counted from the transaction's first byte. Longer
  /// writes change all their bytes.
  ByteMask byte_mask = ByteMask::all();
  LatencyBreakdown latency;

  /// Resets the attributes to those of a plain data access of requester 0.
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
