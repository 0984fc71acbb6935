// Completion of the memory instructions of wavefronts with a convolution: loads that wait for other loads, and retirement.

#include <algorithm>
#include <utility>

#include "models/duplo/detection_unit.h"

namespace lacuna {

std::uint32_t DetectionUnit::new_operation() {
  if (free_operations_.empty()) {
    free_operations_.push_back(static_cast<std::uint32_t>(operations_.size()));
    operations_.emplace_back();
  }
  const std::uint32_t number = free_operations_.back();
  free_operations_.pop_back();
  Operation& operation = operations_[number];
  operation.wavefront = kNone;
  operation.done = false;
  operation.token.reset();
  operation.waits = 0;
  operation.ready = operation.copy = Cycles{0};
  operation.parts.clear();
  return number;
}

void DetectionUnit::follow(const WavefrontSlot& slot, Wavefront& w, std::uint32_t number, Token token, bool ordered) {
  Operation& operation = operations_[number];
  operation.token = token;
  if (ordered) {
    operation.wavefront = index_of(slot);
    w.operations.push_back(number);
  }
  if (operation.waits > 0) tokens_.expect(token, operation.waits);
  if (operation.ready != Cycles{0}) tokens_.include(token, operation.ready, {});
  tokens_.watch(token, *this, number);
}

// A load whose tile has equal rows may find an entry that it has made itself; it does not wait for that entry.
void DetectionUnit::wait_for(std::uint32_t number, Handle entry, Cycles copy) {
  const Contents& contents = contents_[entry];
  Operation& operation = operations_[number];
  operation.copy = later(operation.copy, copy);
  if (contents.operation == kNone) {
    operation.ready = later(operation.ready, contents.ready + copy);
  } else if (contents.operation != number) {
    operations_[contents.operation].waiters.push_back(number);
    ++operation.waits;
  }
}

void DetectionUnit::operation_done(std::uint32_t number, Cycles done) {
  const std::uint32_t wavefront = operations_[number].wavefront;
  operations_[number].done = true;
  operations_[number].at = done;
  for (const Operation::Part& part : operations_[number].parts) {
    if (!part.owner || history_.generation(part.entry) != part.generation) continue;
    contents_[part.entry].operation = kNone;
    contents_[part.entry].ready = done;
  }
  complete_waiters(number, done);
  if (wavefront == kNone) {
    retire_operation(number, done);
    return;
  }
  // Loads retire in order, as vmcnt counts them.
  Wavefront& w = wavefronts_[wavefront];
  std::size_t retired = 0;
  for (; retired < w.operations.size() && operations_[w.operations[retired]].done; ++retired) {
    w.retired = later(w.retired, operations_[w.operations[retired]].at);
    retire_operation(w.operations[retired], w.retired);
  }
  w.operations.erase(w.operations.begin(), w.operations.begin() + static_cast<std::ptrdiff_t>(retired));
}

// The completion of a waiter may allocate records. A waiter whose requests are being sent has no token yet.
void DetectionUnit::complete_waiters(std::uint32_t number, Cycles done) {
  if (operations_[number].waiters.empty()) return;
  for (const std::uint32_t waiting : std::exchange(operations_[number].waiters, {})) {
    Operation& waiter = operations_[waiting];
    waiter.ready = later(waiter.ready, done + waiter.copy);
    --waiter.waits;
    if (!waiter.token) continue;
    const Token token = *waiter.token;
    tokens_.include(token, waiter.ready, {});
    tokens_.release(token);
  }
}

void DetectionUnit::retire_operation(std::uint32_t number, Cycles at) {
  for (const Operation::Part& part : operations_[number].parts) history_.retire(part.entry, part.generation, clock_.ticks(at));
  free_operations_.push_back(number);
}

}  // namespace lacuna
