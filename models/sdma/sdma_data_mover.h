// The data path of an SDMA engine: copies, fills and writes in requests of `request_bytes`.
//
// Time: a read request departs every request_bytes / bytes_per_cycle cycles, at most `requests_in_flight` are in flight, and
// each write departs when its data have arrived. All other delays are those of the memory system. SdmaTimeline::at() is the
// earliest issue time of the next request, SdmaQueue::done the completion time of the last write.
//
// Every function that moves data returns false if the queue was stopped or destroyed; bytes written before stay written.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "models/common/time/calendar.h"
#include "models/sdma/copy_context.h"
#include "models/sdma/sdma_memory.h"
#include "models/sdma/sdma_parameters.h"
#include "models/sdma/sdma_queue.h"
#include "models/sdma/sdma_timeline.h"

namespace lacuna {

/// A copy to one destination, or a fill.
struct SdmaTransfer {
  std::uint64_t source = 0;
  std::uint64_t destination = 0;
  std::uint64_t bytes = 0;
  std::span<const std::byte> pattern{};  ///< fills only: the pattern, repeated so that a request can start at any of its bytes
  std::uint64_t unit = 0;                ///< fills only: length of the pattern in bytes

  bool is_fill() const { return !pattern.empty(); }
  CopiedRange range(std::uint64_t first, std::uint64_t count) const {
    return {.source = source + first, .destination = destination + first, .bytes = count, .has_source = !is_fill()};
  }
};

class SdmaDataMover {
 public:
  static constexpr std::uint64_t kLargestRequest = 256;  ///< maximum of `request_bytes`

  /// `clock`: clock of bytes_per_cycle. The mover increments bytes_read and bytes_written of `statistics`.
  SdmaDataMover(const SdmaParameters& parameters, Clock clock, SdmaMemory& memory, SdmaTimeline& timeline,
                SdmaStatistics& statistics)
      : parameters_(parameters),
        clock_(clock),
        memory_(memory),
        timeline_(timeline),
        statistics_(statistics),
        in_flight_(parameters.requests_in_flight) {}

  /// Copies to all destinations with one read of the source. In TimingMode::functional, copies large pieces without requests.
  bool copy(SdmaQueue& queue, std::uint64_t source, std::span<const std::uint64_t> destinations, std::uint64_t bytes);
  /// Copies bytes [first, first + bytes) of a transfer.
  bool transfer(SdmaQueue& queue, const SdmaTransfer& transfer, std::uint64_t first, std::uint64_t bytes);
  bool write(SdmaQueue& queue, std::uint64_t destination, std::span<const std::byte> data);
  /// As transfer(), but without requests and without time.
  bool move(SdmaQueue& queue, const SdmaTransfer& transfer, std::uint64_t first, std::uint64_t bytes);

  /// Drops past bookings: no later request departs before `horizon`.
  void retire(Tick horizon);
  void reset();

 private:
  bool copy_requests(SdmaQueue& queue, std::uint64_t source, std::span<const std::uint64_t> destinations, std::uint64_t bytes);
  bool copy_untimed(SdmaQueue& queue, std::uint64_t source, std::span<const std::uint64_t> destinations, std::uint64_t bytes);
  /// Reads data by a request that departs at the engine's local time, and appends the data to staging_. Returns the completion
  /// time of the request.
  std::optional<Tick> read_request(SdmaQueue& queue, std::uint64_t address, std::uint64_t bytes);
  /// Writes through the write port, in requests that do not cross a line. Returns the completion time of the last one.
  std::optional<Tick> write_requests(SdmaQueue& queue, std::uint64_t address, std::span<const std::byte> data, Tick at);
  Tick transfer_time(std::uint64_t bytes) const;

  const SdmaParameters& parameters_;
  const Clock clock_;
  SdmaMemory& memory_;
  SdmaTimeline& timeline_;
  SdmaStatistics& statistics_;
  PoolCalendar in_flight_;
  Calendar write_port_;
  std::array<std::byte, 2 * kLargestRequest> staging_{};  // bytes that have been read but not written
  std::uint64_t staged_ = 0;                              // number of bytes in staging_
};

}  // namespace lacuna
