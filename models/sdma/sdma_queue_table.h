// Queues of an SDMA engine: creation, suspension, doorbells, and the read pointer in memory.
//
// On gfx8, ring pointers are 32-bit offsets into the ring, on gfx9 64-bit byte counts that only increase; SdmaQueue::read and
// SdmaQueue::written are byte counts on both. The table's functions take no simulated time.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>

#include "models/sdma/sdma_notifier.h"
#include "models/sdma/sdma_packets.h"
#include "models/sdma/sdma_queue.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

class SdmaQueueTable {
 public:
  /// Ids of queues are first_id, first_id + stride, ..., so that ids of different engines differ.
  struct Numbering {
    std::uint32_t first_id = 1;
    std::uint32_t stride = 1;
  };
  /// All arguments except `numbering` must outlive the table.
  SdmaQueueTable(const GpuVm& vm, const sdma::Format& format, Numbering numbering, SdmaNotifier& notifier)
      : vm_(vm), format_(format), numbering_(numbering), notifier_(notifier) {}

  /// Creates a queue and sets its read pointer in memory to 0. Returns its id, which is never 0 and never reused; nullopt, with
  /// a guest error, if the description is invalid.
  std::optional<std::uint32_t> create(const SdmaQueueDescription& description);
  /// Destroys a queue; the queue's memory is not accessed afterwards. Returns false if the queue does not exist.
  bool destroy(std::uint32_t id);
  /// Suspends or resumes a queue. Returns false if the queue does not exist.
  bool suspend(std::uint32_t id, bool suspended);
  enum class Doorbell : std::uint8_t { unknown_queue, ignored, rung };
  /// Rings the doorbell: packets up to the write pointer are in the ring. Ignored if the queue is stopped; an invalid write
  /// pointer stops the queue.
  Doorbell ring(std::uint32_t id, std::uint64_t write_pointer);
  /// Destroys all queues. Numbering of ids continues.
  void clear();

  bool contains(std::uint32_t id) const { return queues_.contains(id); }
  std::size_t size() const { return queues_.size(); }
  /// Round robin: the queue after the one that was returned last. The returned pointer keeps the queue alive during waits.
  /// Requires at least one queue.
  std::shared_ptr<SdmaQueue> next();
  /// Consumes `count` executed words of the indirect buffer or, without one, of the ring, whose read pointer is then stored to
  /// memory.
  void consume(SdmaQueue& queue, std::uint64_t count) const;

  /// Whether all queues are drained, suspended or stopped.
  bool idle() const;
  /// Whether all pending packets wait until another agent changes memory; false if idle.
  bool polling() const;
  /// Whether all queues that poll memory have read it after `time`.
  bool polled_after(Tick time) const;
  /// Writes a line for each queue.
  void diagnose(std::ostream& out) const;

 private:
  void store_read_pointer(const SdmaQueue& queue) const;

  const GpuVm& vm_;
  const sdma::Format& format_;
  const Numbering numbering_;
  SdmaNotifier& notifier_;
  std::map<std::uint32_t, std::shared_ptr<SdmaQueue>> queues_;
  std::uint32_t created_ = 0;  // number of queues created
  std::uint32_t served_ = 0;   // id of the queue that next() returned last
};

}  // namespace lacuna
