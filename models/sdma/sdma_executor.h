// Execution of SDMA packets of each type, in the calling SC_THREAD.
//
// Copies, fills and writes overlap with later packets. Packets that other agents observe (fence, trap, atomic, timestamp, poll,
// conditional execution, start of an indirect buffer) wait until all earlier data are in memory. Polls and looping atomics
// whose condition is not met return SdmaStep::poll and are retried after sdma.poll_interval.
#pragma once

#include <cstdint>
#include <span>

#include "models/sdma/sdma_bulk_copies.h"
#include "models/sdma/sdma_data_mover.h"
#include "models/sdma/sdma_memory.h"
#include "models/sdma/sdma_notifier.h"
#include "models/sdma/sdma_packets.h"
#include "models/sdma/sdma_parameters.h"
#include "models/sdma/sdma_queue.h"
#include "models/sdma/sdma_queue_table.h"
#include "models/sdma/sdma_timeline.h"

namespace lacuna {

struct SdmaExecutorContext {
  const SdmaParameters& parameters;
  const sdma::Format& format;
  Clock timestamp;
  SdmaMemory& memory;
  SdmaDataMover& mover;
  SdmaBulkCopies& bulk;
  SdmaTimeline& timeline;
  SdmaQueueTable& queues;
  SdmaNotifier& notifier;
  SdmaStatistics& statistics;
};

class SdmaExecutor {
 public:
  explicit SdmaExecutor(const SdmaExecutorContext& context) : context_(context) {}

  /// Executes a packet. `words`: all words of the queue's next packet. Returns progress if the packet was executed and consumed
  /// or the queue was stopped or destroyed; idle if the words that a conditional packet may skip have not all been announced.
  SdmaStep execute(SdmaQueue& queue, std::span<const std::uint32_t> words);
  /// Sets the local timestamp counter to the value of the global counter.
  void reset() { timestamp_offset_ = 0; }

 private:
  enum class Result : std::uint8_t {
    done,
    aborted,  ///< the queue was stopped or destroyed
    blocked,  ///< the packet must be retried later (SdmaStep::idle)
    poll
  };
  Result run(SdmaQueue&, const sdma::Nop&) { return Result::done; }
  Result run(SdmaQueue& queue, const sdma::Copy& packet);
  Result run(SdmaQueue& queue, const sdma::CopyWindow& packet);
  Result run(SdmaQueue& queue, const sdma::Write& packet);
  Result run(SdmaQueue& queue, const sdma::Fill& packet);
  Result run(SdmaQueue& queue, const sdma::Indirect& packet);
  Result run(SdmaQueue& queue, const sdma::Fence& packet);
  Result run(SdmaQueue& queue, const sdma::Trap& packet);
  Result run(SdmaQueue& queue, const sdma::Poll& packet);
  Result run(SdmaQueue& queue, const sdma::Conditional& packet);
  Result run(SdmaQueue& queue, const sdma::Atomic& packet);
  Result run(SdmaQueue& queue, const sdma::Timestamp& packet);
  Result run(SdmaQueue& queue, const sdma::Invalid& packet);

  bool copy(SdmaQueue& queue, std::uint64_t source, std::span<const std::uint64_t> destinations, std::uint64_t bytes);
  /// Waits until all data of earlier packets are in memory.
  bool drain(SdmaQueue& queue);
  Result wait_for_memory(SdmaQueue& queue) const;

  SdmaExecutorContext context_;
  std::span<const std::uint32_t> words_;  // words of the packet that is being executed
  std::int64_t timestamp_offset_ = 0;     // offset of the engine's local timestamp counter from the global counter
};

}  // namespace lacuna
