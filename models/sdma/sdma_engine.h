// An SDMA engine: copies, fills and writes memory, and signals, as the packets of user-mode rings ask it to.
//
// Socket `memory` (initiator): requests of `request_bytes`, timing only; the data move through the GPUVM's windows.
//
// Queues: a ring of bytes in GPU-visible memory. Software writes packets behind the write pointer and tells the new one with
// ring(); the engine stores how far it has read to the queue's read pointer. On gfx8 both are 32-bit offsets into the ring, on
// gfx9 64-bit byte counts that only grow. Packets of a queue are carried out in order; copies, fills and writes overlap, but a
// packet that others can see it by (fence, trap, atomic, timestamp, poll, end of an indirect buffer) waits until all data
// before it are in memory. The engine serves its queues round robin, one packet at a time. A packet or an address that cannot
// be used stops its queue, and only it.
//
// Packets (Linux amdgpu, iceland_sdma_pkt_open.h for gfx8, vega10_sdma_pkt_open.h for gfx9): NOP, COPY linear, broadcast and
// sub-window, WRITE linear, INDIRECT, FENCE, TRAP, POLL_REGMEM (HDP flushes do nothing), COND_EXE, ATOMIC, CONST_FILL,
// TIMESTAMP.
//
// Time: a read request leaves every request_bytes / bytes_per_cycle cycles, at most `requests_in_flight` are under way, and
// each write leaves when its data have come. Beside that, time is the memory system's. Large copies and fills may go in bulk,
// when the device lets them (attach(CopyContext&)): models/sdma/sdma_bulk.cpp.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <array>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <systemc>
#include <vector>

#include "models/common/agent.h"
#include "models/common/config/parameters.h"
#include "models/common/config/statistics.h"
#include "models/common/time/calendar.h"
#include "models/common/transport/payload_pool.h"
#include "models/common/transport/translation_level.h"
#include "models/common/transport/write_observer.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/isa/target.h"
#include "models/sdma/copy_context.h"
#include "models/sdma/copy_costs.h"
#include "models/sdma/sdma_packets.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

struct SdmaParameters {
  unsigned engines = 2;
  unsigned bytes_per_cycle = 32;
  unsigned request_bytes = 128;
  unsigned requests_in_flight = 256;
  Cycles packet_latency{100};
  Tick poll_interval{1'000'000};
  sdma::Gfx8Pitch gfx8_pitch = sdma::Gfx8Pitch::rocm;

  void describe(ParameterSection& s);
};

struct SdmaStatistics {
  std::uint64_t packets = 0;
  std::uint64_t copies = 0;  ///< linear and sub-window
  std::uint64_t fills = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t fences = 0;
  std::uint64_t traps = 0;
  std::uint64_t atomics = 0;
  std::uint64_t polls = 0;   ///< looks at memory by POLL_REGMEM
  std::uint64_t errors = 0;  ///< queues stopped
  Tick busy{};               ///< time during which packets were carried out, waiting at polls apart
  void describe(StatisticsGroup& g) const;
};

/// Why a queue has stopped.
struct SdmaFault {
  std::uint32_t queue = 0;    ///< as create_queue() named it
  std::uint32_t code = 0;     ///< LACUNA_FAULT_* for an address; LACUNA_FAULT_NONE when the packet makes no sense
  std::uint64_t address = 0;  ///< GPU virtual address that could not be used
  bool write = false;         ///< the access was a write
  std::string text;           ///< one line: what, queue, packet, address, nearest mapping
};

/// Told of what others have to hear, at the time it happens.
class SdmaListener {
 public:
  virtual ~SdmaListener() = default;
  /// A TRAP packet; `context` (28 bits) is the packet's: ROCm puts the id of the event there.
  virtual void sdma_trap(std::uint32_t queue, std::uint32_t context, Tick at) = 0;
  virtual void sdma_fault(const SdmaFault& fault, Tick at) = 0;
};

/// What software says of a queue when it makes one. Addresses are GPU virtual addresses that must be mapped.
struct SdmaQueueDescription {
  std::uint64_t ring = 0;          ///< 256-byte aligned
  std::uint64_t ring_bytes = 0;    ///< a power of two from 256 on
  std::uint64_t read_pointer = 0;  ///< 8 bytes that the engine stores its read pointer to; 8-byte aligned
  std::string name;                ///< for reports
};

class SdmaEngine : public sc_core::sc_module, public Agent {
 public:
  tlm_utils::simple_initiator_socket<SdmaEngine> memory;

  /// `vm` is shared with the GPU and outlives the engine. `lookahead`: how far requests may be made ahead of the kernel's time
  /// (a window).
  SdmaEngine(sc_core::sc_module_name name, const SdmaParameters& parameters, unsigned index, Clock clock, Clock timestamp,
             TimingMode mode, Cycles lookahead, isa::Target target, GpuVm& vm);
  ~SdmaEngine() override;

  /// Before the first trap or fault; without, they are logged and nothing else.
  void set_listener(SdmaListener& listener) { listener_ = &listener; }
  /// What translates addresses; null: translation takes no time.
  void attach_tlb(TranslationLevel* tlb) { tlb_ = tlb; }
  /// Notified of every write of the engine.
  void attach(WriteObserver& observer) { write_observers_.push_back(&observer); }
  /// From now on large copies and fills go in bulk.
  void attach(CopyContext& context) { context_ = &context; }

  /// The new queue's number, which is never 0 and never used again; nothing, and a line in the log, when the description makes
  /// no sense. Numbers of different engines differ.
  std::optional<std::uint32_t> create_queue(const SdmaQueueDescription& description);
  /// Nothing of the queue's memory is touched after this returns. False when there is no such queue.
  bool destroy_queue(std::uint32_t queue);
  /// A suspended queue finishes the packet it is at and starts no other, until it is resumed. False when there is no such
  /// queue.
  bool suspend_queue(std::uint32_t queue, bool suspended);
  /// Doorbell: packets up to the write pointer are in the ring. False when there is no such queue.
  bool ring(std::uint32_t queue, std::uint64_t write_pointer);
  /// Queues are gone, in the middle of a packet as between two: what has been written stays, nothing more is. Numbers of queues
  /// go on.
  void reset() override;

  bool has_queue(std::uint32_t queue) const { return queues_.contains(queue); }
  /// No queue has anything to do. Suspended and stopped queues count as having nothing to do.
  bool idle() const override;
  /// Not idle, but all that is left to do waits for memory that somebody else has to change.
  bool polling() const;
  bool busy() const override { return !idle() && !polling(); }
  /// Grows also within a packet that copies much.
  std::uint64_t progress() const override { return statistics_.packets + statistics_.bytes_read + statistics_.bytes_written; }
  const SdmaStatistics& statistics() const { return statistics_; }
  void describe_statistics(StatisticsGroup& device) const override;
  void retire(Tick horizon) override;
  void diagnose(std::ostream& out) const override;

 private:
  struct Queue;
  enum class Step : std::uint8_t { idle, progress, poll };
  enum class Fetched : std::uint8_t { nothing, packet, stopped };
  static constexpr std::uint64_t kLargestRequest = 256;

  /// A copy to one destination, or a fill.
  struct Transfer {
    std::uint64_t source = 0;
    std::uint64_t destination = 0;
    std::uint64_t bytes = 0;
    std::span<const std::byte> pattern{};  ///< of a fill: `unit` bytes, repeated for a request at any phase
    std::uint64_t unit = 0;

    bool is_fill() const { return !pattern.empty(); }
    CopiedRange range(std::uint64_t first, std::uint64_t count) const {
      return {.source = source + first, .destination = destination + first, .bytes = count, .has_source = !is_fill()};
    }
  };

  // sdma_engine.cpp: packets; store_read_pointer() is in sdma_queues.cpp
  void serve();
  Step step(Queue& queue);
  Fetched fetch(Queue& queue);
  Step execute(Queue& queue);
  void consume(Queue& queue, std::uint64_t words);
  void store_read_pointer(const Queue& queue);
  Step look(Queue& queue);
  Step wait_for_memory(Queue& queue);
  bool fence(Queue& queue, const sdma::Fence& fence);
  bool timestamp(Queue& queue, const sdma::Timestamp& timestamp);
  void stop(Queue& queue, SdmaFault fault);
  void stop(Queue& queue, std::string why);
  Tick now() const;
  /// Lets the kernel's time catch up with `at`, and the calendars forget the past. False when the queue has gone meanwhile.
  bool wait_until(const Queue& queue, Tick at);
  /// Waits until all data of earlier packets are in memory.
  bool drain(Queue& queue);

  // sdma_transfer.cpp: data. All return false when the queue was stopped or has gone.
  bool copy(Queue& queue, std::uint64_t source, std::span<const std::uint64_t> destinations, std::uint64_t bytes);
  bool copy_lines(Queue& queue, std::uint64_t source, std::span<const std::uint64_t> destinations, std::uint64_t bytes);
  /// Request by request: `bytes` bytes from byte `first` on.
  bool transfer_lines(Queue& queue, const Transfer& transfer, std::uint64_t first, std::uint64_t bytes);
  bool copy_untimed(Queue& queue, std::uint64_t source, std::span<const std::uint64_t> destinations, std::uint64_t bytes);
  bool copy_window(Queue& queue, const sdma::CopyWindow& window);
  bool fill(Queue& queue, const sdma::Fill& fill);
  bool write(Queue& queue, std::uint64_t destination, std::span<const std::byte> data);
  /// Reads to the end of `staging_`: a request that is ready to leave at `at`. When the data are there.
  std::optional<Tick> read_request(Queue& queue, std::uint64_t address, std::uint64_t bytes, Tick at);
  /// Writes through the write port, in requests that do not cross a line. When memory has taken them.
  std::optional<Tick> write_requests(Queue& queue, std::uint64_t address, std::span<const std::byte> data, Tick at);
  /// A small object in memory, naturally aligned; null when the queue was stopped. Takes the time of one request.
  std::byte* object(Queue& queue, std::uint64_t address, unsigned bytes, bool write, const char* what);
  std::optional<isa::MemoryWindow> window(Queue& queue, std::uint64_t address, std::uint64_t bytes, bool write);
  std::optional<Tick> transport(Queue& queue, const isa::MemoryWindow& window, std::uint64_t address, std::uint64_t bytes,
                                bool write, Tick at);
  /// Keeps the engine's time from running further ahead than it may.
  bool keep_up(const Queue& queue);
  Tick transfer_time(std::uint64_t bytes) const;

  // sdma_bulk.cpp
  bool may_go_in_bulk(const Transfer& transfer) const;
  CopyKind kind_of(const Transfer& transfer) const;
  bool transfer_large(Queue& queue, const Transfer& transfer);
  void expect_writes_to(std::uint64_t destination, std::uint64_t bytes) const;
  bool move(Queue& queue, const Transfer& transfer, std::uint64_t first, std::uint64_t bytes);

  const SdmaParameters parameters_;
  const unsigned index_;
  const Clock clock_;
  const Clock timestamp_;
  const TimingMode mode_;
  const Cycles lookahead_;
  const sdma::Format format_;
  GpuVm& vm_;
  SdmaListener* listener_ = nullptr;
  TranslationLevel* tlb_ = nullptr;
  CopyContext* context_ = nullptr;
  std::vector<WriteObserver*> write_observers_;
  CopyCosts costs_;                 // up to when the last request is issued
  std::map<CopyKind, Tick> tails_;  // from then to when all is done

  std::map<std::uint32_t, std::shared_ptr<Queue>> queues_;  // shared: serve() holds the one it is at over waits
  std::uint32_t made_ = 0;
  std::uint32_t served_ = 0;
  std::vector<std::uint32_t> words_;  // of the packet at hand
  Tick at_{};                         // the engine's own time: reads are issued up to here
  PoolCalendar in_flight_;
  Calendar write_port_;
  std::array<std::byte, 2 * kLargestRequest> staging_{};
  std::uint64_t staged_ = 0;
  std::array<isa::MemoryWindow, 2> windows_{};  // last used for reads and for writes
  std::uint64_t windows_epoch_ = ~std::uint64_t{0};
  std::int64_t timestamp_offset_ = 0;  // of the engine's local counter
  PayloadPool payloads_;
  sc_core::sc_process_handle server_;  // of serve(), once it has begun
  sc_core::sc_event work_;
  SdmaStatistics statistics_;
};

}  // namespace lacuna
