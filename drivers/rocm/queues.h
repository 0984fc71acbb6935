// User-mode queues: rings allocated by the program and processed by the packet processors and SDMA engines of the GPUs.
//
// Doorbells are plain memory, so a store to a doorbell notifies no GPU: the simulation thread polls the write pointers instead.
#pragma once

#include <hsakmttypes.h>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "drivers/rocm/memory.h"
#include "drivers/rocm/runtime_packets.h"
#include "drivers/rocm/simulation.h"
#include "models/isa/target.h"

namespace lacuna::rocm {

class Queues {
 public:
  Queues(Simulation& simulation, Memory& memory, std::vector<isa::Target> targets, bool sdma);
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;

  HSAKMT_STATUS create(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage, HSA_QUEUE_PRIORITY priority, void* ring,
                       std::uint64_t bytes, HsaQueueResource& resource);
  /// Changes a queue's settings. `percentage` 0 suspends the queue, any other value resumes it.
  HSAKMT_STATUS update(HSA_QUEUEID queue, HSAuint32 percentage, HSA_QUEUE_PRIORITY priority);
  /// Destroys the queue. After the function returns, no GPU accesses the queue.
  HSAKMT_STATUS destroy(HSA_QUEUEID queue);
  HSAKMT_STATUS set_cu_mask(HSA_QUEUEID queue, std::span<const HSAuint32> mask);
  HSAKMT_STATUS allocate_gws(HSA_QUEUEID queue, HSAuint32 count, HSAuint32& first);
  void destroy_all();

  /// Called on the simulation thread: notifies the GPUs of packets announced since the last poll; true if there are any.
  bool poll_doorbells(ProcessPlatform& platform);
  /// Whether poll_doorbells() would find new packets.
  bool has_doorbells(ProcessPlatform& platform) const;
  /// Number of threads that spin until a packet that they have submitted is done.
  unsigned spinning_threads(ProcessPlatform& platform, RuntimePackets& packets) const;

 private:
  /// Memory of all doorbells, and of the read and write indices of SDMA queues.
  struct Page;
  struct Queue {
    unsigned gpu = 0;
    bool sdma = false;
    unsigned slot = 0;             // AQL: queue slot of the packet processor
    unsigned engine = 0;           // SDMA: index of the engine
    std::uint32_t sdma_queue = 0;  // SDMA: number of the queue in its engine
    unsigned doorbell = 0;         // index in Page::doorbells
  };
  /// An SDMA queue whose write pointer the simulation thread polls.
  struct SdmaDoorbell {
    unsigned gpu;
    unsigned engine;
    std::uint32_t queue;
    std::uint64_t* write_pointer;
    std::uint64_t seen;
  };

  Queue* find(HSA_QUEUEID queue);
  HSAKMT_STATUS create_aql(Queue& queue, HSA_QUEUE_PRIORITY priority, HsaQueueResource& resource);
  HSAKMT_STATUS create_sdma(Queue& queue, void* ring, std::uint64_t bytes, HsaQueueResource& resource);
  void destroy(const Queue& queue);
  static void suspend(ProcessPlatform& platform, const Queue& queue, bool suspended);
  std::optional<unsigned> take_doorbell();

  Simulation& simulation_;
  Memory& memory_;
  const std::vector<isa::Target> targets_;
  const bool sdma_;
  std::mutex mutex_;
  std::map<HSA_QUEUEID, Queue> queues_;
  HSA_QUEUEID last_queue_ = 0;
  Page* page_ = nullptr;  // never released
  std::vector<bool> doorbell_used_;
  std::vector<SdmaDoorbell> sdma_doorbells_;  // used on the simulation thread only
};

}  // namespace lacuna::rocm
