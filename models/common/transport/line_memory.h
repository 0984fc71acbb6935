// What a compute unit asks of its first-level memory: transactions of one line each, answered at once or later.
//
// The data have been moved already; these transactions charge time and change the state of caches. A memory that does not know
// the answer yet, because it depends on what others ask for in the same window of time, says so and answers its client when it
// does (models/compute/windows.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/common/time/units.h"
#include "models/common/transport/latency_breakdown.h"
#include "models/common/transport/memory_attributes.h"

namespace lacuna {

/// One transaction. It lies in one line of the memory that it is for.
struct LineAccess {
  std::uint64_t address = 0;                    ///< bus address of its first byte
  std::uint64_t byte_mask = ~std::uint64_t{0};  ///< bytes that a write or an atomic touches, bit i = byte i of the transaction
  unsigned bytes = 0;
  RequestKind kind = RequestKind::vector;
  bool write = false;  ///< atomics included
  bool atomic = false;
  bool bypass_l1 = false;
  std::uint16_t requester = 0;
  Tick made{};  ///< before its address was translated; only for the answer
};

/// What tells one request of an instruction from the others: see LineAccess.
struct InstructionLine {
  std::uint64_t address;  ///< a multiple of LineAccess::bytes, which is a power of two
  std::uint64_t byte_mask;
  Tick made;
  Tick arrives;  ///< at the memory
};

/// When the answer is there, and where the time from the request to it went.
struct LineAnswer {
  Tick made{};     ///< of the request
  Tick arrived{};  ///< there
  Tick done{};
  Tick queueing{};  ///< at this level, waiting
  Tick service{};   ///< at this level, working
  Tick mshr{};      ///< of the queueing, for an MSHR
  MemoryLevel level = MemoryLevel::l1;
  const LatencyBreakdown* below = nullptr;  ///< what the levels behind added; null: nothing. Valid during the call
};

class LineClient {
 public:
  virtual ~LineClient() = default;
  /// The answer to the request that was made with `tag`.
  virtual void answered(std::uint32_t tag, const LineAnswer& answer) = 0;

  /// The number that a memory has given to this client. The memory checks it: another one may have written it.
  std::uint16_t number_in_memory = 0;
};

class LineMemory {
 public:
  virtual ~LineMemory() = default;
  /// A request that arrives at `at`. True: `answer` holds the answer. False: `client` gets it later, under `tag`.
  virtual bool access(const LineAccess& request, Tick at, LineClient& client, std::uint32_t tag, LineAnswer& answer) = 0;
  /// access() for each line of an instruction, in their order; `common` says what they have in common. Answers that are known
  /// go to `answers`, which has room for all: returns how many. The client gets the others later, under `tag`.
  virtual std::size_t access_lines(const LineAccess& common, std::span<const InstructionLine> lines, LineClient& client,
                                   std::uint32_t tag, LineAnswer* answers) {
    std::size_t known = 0;
    LineAccess request = common;
    for (const InstructionLine& line : lines) {
      request.address = line.address;
      request.byte_mask = line.byte_mask;
      request.made = line.made;
      known += access(request, line.arrives, client, tag, answers[known]) ? 1 : 0;
    }
    return known;
  }
};

}  // namespace lacuna
