// Instruction fetch: each wavefront buffers the current and the next line of code.
//
// The buffer holds the line of the PC; when the wavefront enters this line, the next line is requested. Straight-line code
// therefore stalls only for the time by which the fetch of a line exceeds the execution of the line before it. A branch out of
// the buffered lines stalls for the whole fetch.
#pragma once

#include <cstdint>
#include <vector>

#include "models/compute/memory/memory_port.h"
#include "models/compute/memory/physical_addresses.h"
#include "models/compute/wavefront_pool.h"
#include "models/isa/decode/decoded_code.h"

namespace lacuna {

class InstructionFetch : private MemoryClient {
 public:
  static constexpr std::uint64_t kLineBytes = 64;

  /// If `timed` is false, instructions are available immediately.
  InstructionFetch(Clock clock, bool timed, GpuVm& vm, isa::DecodedCode& code, MemoryTarget& memory, std::uint16_t requester)
      : clock_(clock), timed_(timed), code_(code), port_(*this, memory), physical_(vm), requester_(requester) {}

  MemoryPort& port() { return port_; }
  /// Sets whether instruction fetches take time from now on. Call start() for every resident wavefront after a change.
  void set_timed(bool timed) { timed_ = timed; }
  /// Empties the buffer of a wavefront that starts.
  void start(WavefrontSlot& slot);
  /// Fetches the instruction at the wavefront's PC in `cycle`; slot.next is the previous instruction. Delays slot.when until
  /// the arrival, or holds the slot (StallReason::fetch) if the arrival is not known yet. Publishes the slot.
  void fetch(WavefrontSlot& slot, Cycles cycle) {
    const isa::DecodedInstruction* next = slot.next = code_.after(slot.next, slot.wave.pc);
    if (next == nullptr) [[unlikely]] {
      slot.publish(isa::Unit::special);
      return;
    }
    if (timed_) {
      if (line_of(slot.wave.pc) == slot.buffer.line) [[likely]] {
        finish(slot);
      } else {
        change_line(slot, cycle);
      }
    }
    slot.publish(next->unit);
  }
  /// Like fetch(), after an instruction other than a branch. All cycles up to slot.when are accounted for, unless the slot is
  /// held.
  void follow(WavefrontSlot& slot, const isa::DecodedInstruction& before, Cycles cycle) {
    const isa::DecodedInstruction* next = code_.after(&before, before.end);
    if (next == nullptr || line_of(next->end - 1) != slot.buffer.line) [[unlikely]] {
      fetch(slot, cycle);
      return;
    }
    slot.next = next;
    slot.publish(next->unit);
  }
  isa::DecodedCode& code() const { return code_; }
  void reset() {
    port_.reset();
    pending_.clear();
    free_.clear();
    spare_ = kNone;
  }
  /// Number of line transactions so far.
  const std::uint64_t& requests() const { return requests_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Request {
    WavefrontSlot* slot = nullptr;
    std::uint64_t line = 0;
    std::uint32_t epoch = 0;
  };
  static std::uint64_t line_of(std::uint64_t address) { return address / kLineBytes; }
  /// Slow path of fetch(): the PC has left the buffer's line.
  void change_line(WavefrontSlot& slot, Cycles cycle);
  /// Requests a line. Returns true if its arrival is known, and then stores the arrival in `there`.
  bool request(WavefrontSlot& slot, std::uint64_t line, Cycles at, Cycles& there);
  void on_response(std::uint32_t tag, const MemoryResponse& response) override;
  /// Continues in the PC's line, which arrives at `there`, and requests the line after it.
  void enter(WavefrontSlot& slot, Cycles there, Cycles cycle);
  /// Delays or holds the slot for the next line, if the instruction extends into it. The arrival of the PC's line is known.
  void finish(WavefrontSlot& slot) {
    if (line_of(slot.next->end - 1) != slot.buffer.line) {
      if (slot.buffer.next_open) {
        slot.hold(StallReason::fetch);
        return;
      }
      slot.when = later(slot.when, slot.buffer.next_ready);
    }
    if (!slot.held_by_other_than(StallReason::fetch)) slot.account(StallCause::fetch, slot.when);
  }

  Clock clock_;
  bool timed_;
  isa::DecodedCode& code_;
  MemoryPort port_;
  PhysicalAddresses physical_;
  std::uint16_t requester_;
  std::vector<Request> pending_;
  std::vector<std::uint32_t> free_;
  std::uint32_t spare_ = kNone;  ///< index in pending_, for the next request without an immediate response
  std::uint64_t requests_ = 0;
};

}  // namespace lacuna
