#include "models/command/host_notifier.h"

#include "include/lacuna/abi/gpu_registers.h"
#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"

namespace lacuna {

namespace {

/// Error codes of AMD's runtime in the inactive signal of a failed queue.
std::int64_t runtime_error_code(std::uint32_t error) {
  switch (error) {
    case LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS:
      return 2;
    case LACUNA_QUEUE_ERROR_PACKET_SEGMENT:
      return 4;
    case LACUNA_QUEUE_ERROR_KERNEL_OBJECT:
      return 8;
    case LACUNA_QUEUE_ERROR_MEMORY_FAULT:
      return 0x20000000;
    case LACUNA_QUEUE_ERROR_ILLEGAL_INSTRUCTION:
      return 0x40000000;
    case LACUNA_QUEUE_ERROR_TRAP:
      return 0x80000000;
    default:
      return 0x20;
  }
}

bool is_memory_fault(std::uint32_t fault) {
  return fault == LACUNA_FAULT_NOT_MAPPED || fault == LACUNA_FAULT_NOT_PERMITTED || fault == LACUNA_FAULT_FETCH;
}

}  // namespace

std::uint32_t queue_error_of_fault(std::uint32_t fault) {
  switch (fault) {
    case LACUNA_FAULT_ILLEGAL_INSTRUCTION:
      return LACUNA_QUEUE_ERROR_ILLEGAL_INSTRUCTION;
    case LACUNA_FAULT_TRAP:
      return LACUNA_QUEUE_ERROR_TRAP;
    default:
      return LACUNA_QUEUE_ERROR_MEMORY_FAULT;
  }
}

void HostNotifier::complete_signal(std::uint64_t handle, Tick start, Tick end) {
  if (!context_.signals.valid(handle)) {
    guest_error("unmapped completion signals", "{}: completion signal {:#x} is no longer mapped; {}", context_.owner, handle,
                context_.vm.nearest(handle));
    return;
  }
  ++context_.statistics.signals;
  value_changed(context_.signals.complete(handle, context_.timestamp.floor(start).n, context_.timestamp.floor(end).n));
}

bool HostNotifier::store_inactive_signal(const hsa::Queue* aql, std::int64_t value) {
  if (aql == nullptr || aql->queue_inactive_signal == 0 || !context_.signals.valid(aql->queue_inactive_signal)) return false;
  value_changed(context_.signals.store(aql->queue_inactive_signal, value));
  return true;
}

void HostNotifier::value_changed(const std::optional<SignalEvent>& event) {
  if (event) {
    ++context_.statistics.events;
    context_.interrupts.raise(LACUNA_INTERRUPT_SIGNAL, kernel_time());
    if (driver_ != nullptr) driver_->signal_event(event->id, event->mailbox);
  }
  if (driver_ != nullptr) driver_->progress_visible();
}

void HostNotifier::read_index_changed() {
  if (driver_ != nullptr) driver_->progress_visible();
}

void HostNotifier::message_interrupt(std::uint32_t m0, Tick at) {
  context_.interrupts.raise(LACUNA_INTERRUPT_SIGNAL, at);
  if (driver_ != nullptr) driver_->message_interrupt(m0);
}

void HostNotifier::record_illegal_instruction(unsigned slot, std::uint64_t pc) {
  context_.interrupts.record_fault(slot,
                                   {.code = LACUNA_FAULT_ILLEGAL_INSTRUCTION, .address = 0, .pc = pc, .what = {}, .where = {}});
}

bool HostNotifier::wavefront_fault(unsigned slot, const WavefrontFault& fault) {
  context_.interrupts.record_fault(slot, fault);
  context_.interrupts.raise(LACUNA_INTERRUPT_MEMORY_FAULT, kernel_time());
  return driver_ != nullptr && is_memory_fault(fault.code) && driver_->memory_fault(slot, fault);
}

void HostNotifier::queue_failed(unsigned slot, const hsa::Queue* aql, std::uint32_t error, bool store_error) {
  if (store_error) store_inactive_signal(aql, runtime_error_code(error));
  context_.interrupts.raise(LACUNA_INTERRUPT_QUEUE_ERROR, kernel_time());
  if (driver_ != nullptr) driver_->queue_failed(slot, error);
}

}  // namespace lacuna
