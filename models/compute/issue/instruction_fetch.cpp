#include "models/compute/issue/instruction_fetch.h"

#include <utility>

#include "models/common/containers/pooled_records.h"

namespace lacuna {

void InstructionFetch::start(WavefrontSlot& slot) {
  slot.next = nullptr;
  slot.buffer.line = ~std::uint64_t{0} - 1;  // not adjacent to any line of code
  slot.buffer.line_open = slot.buffer.next_open = false;
  ++slot.buffer.epoch;
}

void InstructionFetch::change_line(WavefrontSlot& slot, Cycles cycle) {
  WavefrontSlot::Fetch& buffer = slot.buffer;
  const std::uint64_t first = line_of(slot.wave.pc);
  if (first == buffer.line + 1) {
    buffer.line = first;
    if (!buffer.next_open) {
      enter(slot, buffer.next_ready, cycle);
      return;
    }
    buffer.next_open = false;
  } else {
    buffer.line = first;
    buffer.next_open = false;
    ++buffer.epoch;
    Cycles there;
    if (request(slot, first, cycle, there)) {
      enter(slot, there, cycle);
      return;
    }
  }
  buffer.line_open = true;
  slot.hold(StallReason::fetch);
}

void InstructionFetch::enter(WavefrontSlot& slot, Cycles there, Cycles cycle) {
  slot.when = later(slot.when, there);
  slot.buffer.next_open = !request(slot, slot.buffer.line + 1, later(there, cycle), slot.buffer.next_ready);
  finish(slot);
}

bool InstructionFetch::request(WavefrontSlot& slot, std::uint64_t line, Cycles at, Cycles& there) {
  const std::uint64_t address = line * kLineBytes;
  const std::uint64_t where = physical_.find(address);
  there = at;
  // A prefetch past the end of the code; execution there raises a fault.
  if (where == PhysicalAddresses::kUnmapped) return true;
  ++requests_;
  if (spare_ == kNone) spare_ = take_record(pending_, free_);
  const Tick made = clock_.ticks(at);
  port_.translate(address ^ slot.group->dispatch->page_salt, made);
  MemoryResponse response;
  const MemoryRequest fetch{
      .address = where, .made = made, .bytes = kLineBytes, .requester = requester_, .kind = RequestKind::instruction};
  if (!port_.request(fetch, spare_, response)) {
    pending_[std::exchange(spare_, kNone)] = {&slot, line, slot.buffer.epoch};
    return false;
  }
  there = clock_.ceil(response.done);
  return true;
}

void InstructionFetch::on_response(std::uint32_t tag, const MemoryResponse& response) {
  const Request request = pending_[tag];
  free_.push_back(tag);
  WavefrontSlot& slot = *request.slot;
  WavefrontSlot::Fetch& buffer = slot.buffer;
  if (request.epoch != buffer.epoch) return;
  const Cycles there = clock_.ceil(response.done);
  if (request.line == buffer.line + 1) {
    buffer.next_ready = there;
    buffer.next_open = false;
    if (!slot.held_by(StallReason::fetch) || buffer.line_open) return;
    finish(slot);
  } else if (buffer.line_open) {
    buffer.line_open = false;
    enter(slot, there, there);
  }
  if (!buffer.line_open && !(buffer.next_open && line_of(slot.next->end - 1) != buffer.line)) slot.release(StallReason::fetch);
}

}  // namespace lacuna
