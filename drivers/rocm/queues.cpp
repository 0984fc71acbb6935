#include "drivers/rocm/queues.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <new>

#include "drivers/rocm/address_space.h"
#include "include/lacuna/abi/hsa.h"
#include "models/common/config/guest_mistake.h"

namespace lacuna::rocm {
namespace {

/// The runtime hashes bits 12:3 of a doorbell's address: 1024 doorbells of 8 bytes, aligned to their total size, do not
/// collide.
constexpr unsigned kDoorbells = 1024;

int priority_number(HSA_QUEUE_PRIORITY priority) { return static_cast<int>(priority); }

}  // namespace

struct Queues::Page {
  alignas(kDoorbells * 8) std::array<std::uint64_t, kDoorbells> doorbells;
  std::array<std::uint64_t, kDoorbells> read_pointers;
  std::array<std::uint64_t, kDoorbells> write_pointers;
};

Queues::Queues(Simulation& simulation, Memory& memory, std::vector<isa::Target> targets, bool sdma)
    : simulation_(simulation), memory_(memory), targets_(std::move(targets)), sdma_(sdma), doorbell_used_(kDoorbells) {}

std::optional<unsigned> Queues::take_doorbell() {
  if (page_ == nullptr) {
    // Never released: the runtime may touch doorbells until the process ends.
    const std::optional<Reservation> memory = allocate_pages(sizeof(Page), alignof(Page));
    if (!memory) return std::nullopt;
    page_ = new (reinterpret_cast<void*>(memory->start)) Page{};
    memory_.map_own(page_, sizeof(Page));
  }
  const auto free = std::find(doorbell_used_.begin(), doorbell_used_.end(), false);
  if (free == doorbell_used_.end()) return std::nullopt;
  *free = true;
  const auto index = static_cast<unsigned>(free - doorbell_used_.begin());
  page_->doorbells[index] = page_->read_pointers[index] = page_->write_pointers[index] = 0;
  return index;
}

Queues::Queue* Queues::find(HSA_QUEUEID queue) {
  const auto found = queues_.find(queue);
  return found == queues_.end() ? nullptr : &found->second;
}

HSAKMT_STATUS Queues::create(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage, HSA_QUEUE_PRIORITY priority, void* ring,
                             std::uint64_t bytes, HsaQueueResource& resource) {
  if (node == 0 || node > targets_.size()) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  const bool sdma = type == HSA_QUEUE_SDMA;
  if (type != HSA_QUEUE_COMPUTE_AQL && !(sdma && sdma_)) {
    if (!sdma) guest_warning("unsupported queues", "queues of type {} are not supported", static_cast<int>(type));
    return HSAKMT_STATUS_NOT_SUPPORTED;
  }
  simulation_.open_results();
  const std::lock_guard lock(mutex_);
  const std::optional<unsigned> doorbell = take_doorbell();
  if (!doorbell) return HSAKMT_STATUS_OUT_OF_RESOURCES;
  Queue queue{.gpu = node - 1, .sdma = sdma, .doorbell = *doorbell};
  const HSAKMT_STATUS status = sdma ? create_sdma(queue, ring, bytes, resource) : create_aql(queue, priority, resource);
  if (status != HSAKMT_STATUS_SUCCESS) {
    doorbell_used_[*doorbell] = false;
    return status;
  }
  resource.QueueId = ++last_queue_;
  resource.QueueDoorBell = reinterpret_cast<HSAuint64>(&page_->doorbells[*doorbell]);
  queues_.emplace(last_queue_, queue);
  if (percentage == 0) simulation_.call([&](ProcessPlatform& p) { suspend(p, queue, true); });
  return HSAKMT_STATUS_SUCCESS;
}

// The caller has allocated the amd_queue_t and passes the address of its read index, from which the address of the structure
// follows.
HSAKMT_STATUS Queues::create_aql(Queue& queue, HSA_QUEUE_PRIORITY priority, HsaQueueResource& resource) {
  const std::uint64_t aql_queue = resource.QueueRptrValue - offsetof(hsa::Queue, read_dispatch_id);
  QueueSetup setup;
  setup.doorbell = targets_[queue.gpu] == isa::Target::gfx803 ? DoorbellKind::legacy_index : DoorbellKind::write_index;
  setup.priority = priority_number(priority);
  std::uint32_t error = LACUNA_QUEUE_ERROR_SLOT;
  const bool called = simulation_.call([&](ProcessPlatform& platform) {
    PacketProcessor& packets = platform.gpu(queue.gpu).packet_processor();
    queue.slot = packets.free_slot();
    error = packets.create_queue(queue.slot, aql_queue, setup);
  });
  if (!called) return HSAKMT_STATUS_ERROR;
  return error == LACUNA_QUEUE_ERROR_NONE ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_PARAMETER;
}

HSAKMT_STATUS Queues::create_sdma(Queue& queue, void* ring, std::uint64_t bytes, HsaQueueResource& resource) {
  std::uint64_t* read_pointer = &page_->read_pointers[queue.doorbell];
  std::uint64_t* write_pointer = &page_->write_pointers[queue.doorbell];
  const SdmaQueueDescription description{.ring = reinterpret_cast<std::uint64_t>(ring),
                                         .ring_bytes = bytes,
                                         .read_pointer = reinterpret_cast<std::uint64_t>(read_pointer),
                                         .name = "SDMA queue " + std::to_string(last_queue_ + 1)};
  bool made = false;
  simulation_.call([&](ProcessPlatform& platform) {
    const auto engines = platform.gpu(queue.gpu).sdma_engines();
    if (engines.empty()) return;
    queue.engine = static_cast<unsigned>(last_queue_ % engines.size());
    const std::optional<std::uint32_t> number = engines[queue.engine]->create_queue(description);
    if (!number) return;
    made = true;
    queue.sdma_queue = *number;
    sdma_doorbells_.push_back({queue.gpu, queue.engine, *number, write_pointer, 0});
  });
  resource.QueueRptrValue = reinterpret_cast<HSAuint64>(read_pointer);
  resource.QueueWptrValue = reinterpret_cast<HSAuint64>(write_pointer);
  return made ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_PARAMETER;
}

void Queues::suspend(ProcessPlatform& platform, const Queue& queue, bool suspended) {
  GpuDevice& gpu = platform.gpu(queue.gpu);
  if (queue.sdma) {
    gpu.sdma_engines()[queue.engine]->suspend_queue(queue.sdma_queue, suspended);
  } else if (suspended) {
    gpu.packet_processor().suspend_queue(queue.slot);
  } else {
    gpu.packet_processor().resume_queue(queue.slot);
  }
}

HSAKMT_STATUS Queues::update(HSA_QUEUEID id, HSAuint32 percentage, HSA_QUEUE_PRIORITY priority) {
  const std::lock_guard lock(mutex_);
  const Queue* queue = find(id);
  if (queue == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
  simulation_.call([&](ProcessPlatform& platform) {
    suspend(platform, *queue, percentage == 0);
    if (!queue->sdma) platform.gpu(queue->gpu).packet_processor().set_priority(queue->slot, priority_number(priority));
  });
  return HSAKMT_STATUS_SUCCESS;
}

void Queues::destroy(const Queue& queue) {
  simulation_.call([&](ProcessPlatform& platform) {
    GpuDevice& gpu = platform.gpu(queue.gpu);
    if (queue.sdma) {
      gpu.sdma_engines()[queue.engine]->destroy_queue(queue.sdma_queue);
      std::erase_if(sdma_doorbells_,
                    [&](const SdmaDoorbell& bell) { return bell.gpu == queue.gpu && bell.queue == queue.sdma_queue; });
    } else {
      gpu.packet_processor().destroy_queue(queue.slot);
    }
  });
  doorbell_used_[queue.doorbell] = false;
}

HSAKMT_STATUS Queues::destroy(HSA_QUEUEID id) {
  const std::lock_guard lock(mutex_);
  const auto found = queues_.find(id);
  if (found == queues_.end()) return HSAKMT_STATUS_INVALID_HANDLE;
  destroy(found->second);
  queues_.erase(found);
  return HSAKMT_STATUS_SUCCESS;
}

void Queues::destroy_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, queue] : queues_) destroy(queue);
  queues_.clear();
}

HSAKMT_STATUS Queues::set_cu_mask(HSA_QUEUEID id, std::span<const HSAuint32> mask) {
  const std::lock_guard lock(mutex_);
  const Queue* queue = find(id);
  if (queue == nullptr || queue->sdma) return HSAKMT_STATUS_INVALID_HANDLE;
  std::uint32_t error = LACUNA_QUEUE_ERROR_SLOT;
  simulation_.call([&](ProcessPlatform& platform) {
    error = platform.gpu(queue->gpu).packet_processor().set_cu_mask(queue->slot, {mask.begin(), mask.end()});
  });
  return error == LACUNA_QUEUE_ERROR_NONE ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_PARAMETER;
}

HSAKMT_STATUS Queues::allocate_gws(HSA_QUEUEID id, HSAuint32 count, HSAuint32& first) {
  const std::lock_guard lock(mutex_);
  const Queue* queue = find(id);
  if (queue == nullptr || queue->sdma) return HSAKMT_STATUS_INVALID_HANDLE;
  if (count == 0) return HSAKMT_STATUS_SUCCESS;
  std::uint32_t error = LACUNA_QUEUE_ERROR_SLOT;
  simulation_.call(
      [&](ProcessPlatform& platform) { error = platform.gpu(queue->gpu).packet_processor().allocate_gws(queue->slot); });
  first = 0;
  return error == LACUNA_QUEUE_ERROR_NONE ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_OUT_OF_RESOURCES;
}

bool Queues::has_doorbells(ProcessPlatform& platform) const {
  for (unsigned i = 0; i < platform.gpus(); ++i)
    if (platform.gpu(i).packet_processor().has_doorbells()) return true;
  return std::any_of(sdma_doorbells_.begin(), sdma_doorbells_.end(), [](const SdmaDoorbell& bell) {
    return std::atomic_ref(*bell.write_pointer).load(std::memory_order_acquire) != bell.seen;
  });
}

unsigned Queues::spinning_threads(ProcessPlatform& platform, RuntimePackets& packets) const {
  unsigned threads = 0;
  for (unsigned i = 0; i < platform.gpus(); ++i) {
    platform.gpu(i).packet_processor().visit_packets(
        [&](const std::byte* packet) { threads += packets.submitter_spins(packet) ? 1 : 0; });
  }
  return threads;
}

bool Queues::poll_doorbells(ProcessPlatform& platform) {
  bool rung = false;
  for (unsigned i = 0; i < platform.gpus(); ++i) rung |= platform.gpu(i).packet_processor().poll_doorbells();
  for (SdmaDoorbell& bell : sdma_doorbells_) {
    const std::uint64_t written = std::atomic_ref(*bell.write_pointer).load(std::memory_order_acquire);
    if (written == bell.seen) continue;
    bell.seen = written;
    rung = true;
    platform.gpu(bell.gpu).sdma_engines()[bell.engine]->ring(bell.queue, written);
  }
  return rung;
}

}  // namespace lacuna::rocm
