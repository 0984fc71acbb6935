#include "driver/queue_state.h"

#include "driver/registers.h"
#include "hal/hal.h"

void lacuna_queue_get_state(lacuna_queue* queue, lacuna_queue_state* state) {
  const lacuna_device* device = queue->device;
  driver_write(device, LACUNA_GPU_QUEUE_SELECT, queue->slot);
  hal_fence();
  *state = (lacuna_queue_state){.slot = queue->slot,
                                .status = driver_read(device, LACUNA_GPU_QUEUE_STATUS),
                                .write_index = queue->write_index,
                                .read_index = queue->memory->read_dispatch_id};
  if (state->status != LACUNA_QUEUE_FAILED) return;
  state->error = driver_read(device, LACUNA_GPU_QUEUE_ERROR);
  state->error_packet = driver_read_pair(device, LACUNA_GPU_QUEUE_ERROR_PACKET_LO);
  const bool faulted = state->error == LACUNA_QUEUE_ERROR_MEMORY_FAULT ||
                       state->error == LACUNA_QUEUE_ERROR_ILLEGAL_INSTRUCTION || state->error == LACUNA_QUEUE_ERROR_TRAP;
  if (queue->failed) {
    /* The registers contain the latest fault of any queue; `failure` was read when this queue failed. */
    state->fault = queue->failure.fault;
    state->fault_address = queue->failure.fault_address;
    state->fault_pc = queue->failure.fault_pc;
  } else if (faulted && driver_read(device, LACUNA_GPU_FAULT_QUEUE) == queue->slot) {
    state->fault = driver_read(device, LACUNA_GPU_FAULT_STATUS);
    state->fault_address = driver_read_pair(device, LACUNA_GPU_FAULT_ADDRESS_LO);
    state->fault_pc = driver_read_pair(device, LACUNA_GPU_FAULT_PC_LO);
  }
}

void driver_check_queues(lacuna_device* device) {
  const uint64_t interrupts = hal_disable_interrupts();
  const uint32_t pending = device->pending_interrupts;
  device->pending_interrupts = 0;
  hal_restore_interrupts(interrupts);
  if ((pending & (LACUNA_INTERRUPT_QUEUE_ERROR | LACUNA_INTERRUPT_MEMORY_FAULT)) == 0) return;
  for (unsigned i = 0; i < DRIVER_MAX_QUEUES; ++i) {
    lacuna_queue* queue = device->queues[i];
    if (queue == NULL || queue->failed) continue;
    lacuna_queue_state state;
    lacuna_queue_get_state(queue, &state);
    if (state.status != LACUNA_QUEUE_FAILED) continue;
    queue->failure = state;
    queue->failed = true;
  }
}
