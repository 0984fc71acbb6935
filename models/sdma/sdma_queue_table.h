// Queues of an SDMA engine: creation, suspension, doorbells, and the read pointer in memory.
//
// On gfx8 ring pointers are 32-bit offsets into the ring, on gfx9 64-bit byte counts that only grow; SdmaQueue::read and
// SdmaQueue::written are byte counts on both. Takes no simulated time.
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
  /// Ids of queues are first_id, first_id + stride, ...: those of different engines differ.
  struct Numbering {
    std::uint32_t first_id = 1;
    std::uint32_t stride = 1;
  };
  /// All arguments but `numbering` outlive the table.
  SdmaQueueTable(const GpuVm& vm, const sdma::Format& format, Numbering numbering, SdmaNotifier& notifier)
      : vm_(vm), format_(format), numbering_(numbering), notifier_(notifier) {}

  /// The new queue's id, which is never 0 and never used again; its read pointer in memory is 0. Nothing, and a guest error,
  /// when the description is invalid.
  std::optional<std::uint32_t> create(const SdmaQueueDescription& description);
  /// Nothing of the queue's memory is touched afterwards. False when the queue does not exist; likewise below.
  bool destroy(std::uint32_t id);
  bool suspend(std::uint32_t id, bool suspended);
  enum class Doorbell : std::uint8_t { unknown_queue, ignored, rung };
  /// Packets up to the write pointer are in the ring. Ignored: the queue is stopped, now when the write pointer is invalid.
  Doorbell ring(std::uint32_t id, std::uint64_t write_pointer);
  /// Destroys all queues. Ids continue.
  void clear();

  bool contains(std::uint32_t id) const { return queues_.contains(id); }
  std::size_t size() const { return queues_.size(); }
  /// Round robin: the queue after the one that was returned last; kept alive over waits by the caller. Not without queues.
  std::shared_ptr<SdmaQueue> next();
  /// `count` words of the ring or of the indirect buffer have been executed; the ring's read pointer goes to memory.
  void consume(SdmaQueue& queue, std::uint64_t count) const;

  /// All queues are drained, suspended or stopped.
  bool idle() const;
  /// Not idle, and all that is left waits until another agent changes memory.
  bool polling() const;
  /// A line for each queue.
  void diagnose(std::ostream& out) const;

 private:
  void store_read_pointer(const SdmaQueue& queue) const;

  const GpuVm& vm_;
  const sdma::Format& format_;
  const Numbering numbering_;
  SdmaNotifier& notifier_;
  std::map<std::uint32_t, std::shared_ptr<SdmaQueue>> queues_;
  std::uint32_t created_ = 0;
  std::uint32_t served_ = 0;  // id
};

}  // namespace lacuna
