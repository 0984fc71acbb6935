// Queue slots of the packet processor: existing queues, their announced packets and their free ring slots.
//
// create() checks the amd_queue_t and its ring and copies the ring's address and size. From then on ring() and poll_doorbells()
// advance QueueSlot::announced, the packet processor advances QueueSlot::next, retire() advances QueueSlot::retired and
// amd_queue_t.read_dispatch_id:
//
//   read_dispatch_id = retired <= next <= announced <= retired + size        indices of packets, which only increase
//
// The table takes no simulated time and accesses only memory of existing queues. Requests for a slot that is not in use return
// LACUNA_QUEUE_ERROR_SLOT and log a guest error that begins with the owner's name.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/command/queue.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

class QueueTable {
 public:
  /// Whether a mask (QueueSetup::cu_mask) enables at least one compute unit.
  using MaskCheck = std::function<bool(std::span<const std::uint32_t>)>;

  /// `owner`: name in messages. `slots`: slots with registers and a doorbell. `vm` outlives the table.
  QueueTable(std::string owner, unsigned slots, const GpuVm& vm, MaskCheck mask_selects_any);

  /// A slot that is not in use; a slot without registers if all slots with registers are in use.
  unsigned free_slot();
  /// Creates a queue. LACUNA_QUEUE_ERROR_NONE: the slot is active, and begins at the ring's read index.
  /// LACUNA_QUEUE_ERROR_SLOT: the slot does not exist or is in use. LACUNA_QUEUE_ERROR_DESCRIPTOR: the amd_queue_t (64-byte
  /// aligned), its ring or the mask is unusable.
  std::uint32_t create(unsigned slot, std::uint64_t aql_queue, const QueueSetup& setup);
  /// Deactivates a slot, which loses global wave sync. Its dispatches must have been dropped.
  void remove(unsigned slot);
  /// Deactivates all slots. Generation numbers continue.
  void clear();
  /// Changes a slot from active to failed; false if it is not active. `error`: LACUNA_QUEUE_ERROR_*.
  bool fail(unsigned slot, std::uint32_t error, std::uint64_t packet);

  /// Whether the slot is in use, active or failed; false is logged as a refused request for `what`.
  bool in_use(unsigned slot, const char* what) const;
  /// Suspends or resumes a slot; returns LACUNA_QUEUE_ERROR_*. A suspended slot starts no packet, and its dispatches start no
  /// workgroup (Dispatch::held).
  std::uint32_t suspend(unsigned slot, bool suspended);
  std::uint32_t set_priority(unsigned slot, int priority);
  std::uint32_t set_cu_mask(unsigned slot, std::vector<std::uint32_t> mask);
  /// Grants the slot global wave sync, which only one slot at a time can have: LACUNA_QUEUE_ERROR_SLOT while another slot has
  /// it.
  std::uint32_t allocate_gws(unsigned slot);
  bool has_gws(unsigned slot) const { return gws_ == slot; }

  /// Writes a doorbell register: packets up to index `last` are in the ring. False, with a warning, if the slot is not active.
  bool ring(unsigned slot, std::uint64_t last);
  /// Reads the doorbells that are in memory (DoorbellKind). Returns the number of queues that have announced new packets.
  unsigned poll_doorbells();
  /// Whether poll_doorbells() would find new packets.
  bool has_doorbells() const;
  /// Index after the last packet that may start. Greater than retired + size only if a doorbell register has received an
  /// invalid value.
  static std::uint64_t end_of_packets(const QueueSlot& queue);
  /// Calls `visit` for each announced packet that is not retired, in queues whose doorbell is in memory.
  void visit_packets(const std::function<void(const std::byte*)>& visit) const;
  /// Retires the packets at the front of in_flight that are done: their ring slots get INVALID headers, then the read index
  /// advances. True if it has advanced.
  bool retire(QueueSlot& queue) const;

  /// The queue's amd_queue_t; null if it is no longer mapped.
  hsa::Queue* memory(const QueueSlot& queue) const;
  /// The packet at an index; null if the ring is no longer mapped.
  std::byte* packet(const QueueSlot& queue, std::uint64_t index) const;

  /// The slot with this number. References stay valid while slots are added.
  QueueSlot& operator[](unsigned slot) { return slots_[slot]; }
  const QueueSlot& operator[](unsigned slot) const { return slots_[slot]; }
  unsigned size() const { return static_cast<unsigned>(slots_.size()); }
  /// Slots in use, by descending priority, then by number.
  const std::vector<unsigned>& by_priority() const { return order_; }

  /// Whether no active queue has a packet that has been announced and is not retired.
  bool idle() const;
  /// Activity of all queues that are not suspended.
  QueueActivity activity() const;
  /// Writes a line for each slot in use.
  void diagnose(std::ostream& out) const;

 private:
  void sort();
  /// Index after the last announced packet, read from memory; 0 without a doorbell in memory.
  std::uint64_t doorbell(const QueueSlot& queue) const;
  std::uint64_t written_packets(const QueueSlot& queue, hsa::Queue& aql) const;
  bool check_mask(unsigned slot, std::span<const std::uint32_t> mask) const;

  const std::string owner_;
  const GpuVm& vm_;
  const MaskCheck mask_selects_any_;
  std::deque<QueueSlot> slots_;
  std::vector<unsigned> order_;
  std::optional<unsigned> gws_;
  std::uint64_t generations_ = 0;
};

}  // namespace lacuna
