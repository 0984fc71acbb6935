/* Signals: a pool in GPU memory, each with an event mailbox, and waits for changes of signals. */
#include "driver/signal.h"

#include <stdlib.h>
#include <string.h>

#include "driver/error.h"
#include "driver/failure.h"
#include "driver/queue_state.h"
#include "hal/hal.h"

enum { SIGNALS_PER_DEVICE = 1024 };

lacuna_error driver_create_signals(lacuna_device* device) {
  const uint64_t bytes = SIGNALS_PER_DEVICE * (sizeof(hsa_signal) + sizeof(uint64_t));
  lacuna_error error = lacuna_allocate(device, bytes, &device->signal_memory);
  if (error != LACUNA_OK) return error;
  device->signals = calloc(SIGNALS_PER_DEVICE, sizeof *device->signals);
  if (device->signals == NULL) {
    lacuna_free(device, &device->signal_memory);
    return driver_error(LACUNA_ERROR_OUT_OF_HOST_MEMORY, "no host memory for the signal table");
  }
  for (unsigned i = SIGNALS_PER_DEVICE; i-- > 0;) {
    lacuna_signal* signal = &device->signals[i];
    signal->device = device;
    signal->index = i;
    signal->memory = (volatile hsa_signal*)device->signal_memory.host + i;
    signal->gpu_address = device->signal_memory.gpu_address + i * sizeof(hsa_signal);
    signal->next_free = device->free_signals;
    device->free_signals = signal;
  }
  return LACUNA_OK;
}

void driver_destroy_signals(lacuna_device* device) { free(device->signals); }

void driver_detach_queue(const lacuna_queue* queue) {
  for (unsigned i = 0; i < SIGNALS_PER_DEVICE; ++i) {
    if (queue->device->signals[i].queue == queue) queue->device->signals[i].queue = NULL;
  }
}

lacuna_error lacuna_signal_create(lacuna_device* device, int64_t initial_value, lacuna_signal** signal) {
  if (device == NULL || signal == NULL)
    return driver_error(LACUNA_ERROR_INVALID_ARGUMENT, "lacuna_signal_create: null argument");
  lacuna_signal* made = device->free_signals;
  if (made == NULL) {
    return driver_error(LACUNA_ERROR_OUT_OF_DEVICE_MEMORY, "all %d signals of the device are in use", SIGNALS_PER_DEVICE);
  }
  device->free_signals = made->next_free;
  made->queue = NULL;
  made->memory->kind = HSA_SIGNAL_KIND_USER;
  made->memory->value = initial_value;
  made->memory->event_mailbox =
      device->signal_memory.gpu_address + SIGNALS_PER_DEVICE * sizeof(hsa_signal) + made->index * sizeof(uint64_t);
  made->memory->event_id = made->index + 1;
  made->memory->start_timestamp = 0;
  made->memory->end_timestamp = 0;
  made->memory->queue = 0;
  hal_fence();
  *signal = made;
  return LACUNA_OK;
}

void lacuna_signal_destroy(lacuna_signal* signal) {
  if (signal == NULL) return;
  signal->memory->kind = 0;
  signal->queue = NULL;
  signal->next_free = signal->device->free_signals;
  signal->device->free_signals = signal;
}

int64_t lacuna_signal_load(const lacuna_signal* signal) {
  const int64_t value = signal->memory->value;
  hal_fence();
  return value;
}

void lacuna_signal_store(lacuna_signal* signal, int64_t value) {
  hal_fence();
  signal->memory->value = value;
  hal_fence();
}

uint64_t lacuna_signal_handle(const lacuna_signal* signal) { return signal->gpu_address; }

void lacuna_signal_times(const lacuna_signal* signal, uint64_t* start, uint64_t* end) {
  hal_fence();
  *start = signal->memory->start_timestamp;
  *end = signal->memory->end_timestamp;
}

uint64_t lacuna_signal_duration(const lacuna_signal* signal) {
  uint64_t start, end;
  lacuna_signal_times(signal, &start, &end);
  const uint64_t rate = signal->device->properties.timestamp_hz;
  const uint64_t ticks = end - start;
  /* Converted in two steps, because ticks * 10^9 would overflow within seconds. */
  return rate == 0 ? 0 : ticks / rate * 1000000000u + ticks % rate * 1000000000u / rate;
}

static bool holds(int64_t actual, lacuna_condition condition, int64_t value) {
  switch (condition) {
    case LACUNA_CONDITION_EQUAL:
      return actual == value;
    case LACUNA_CONDITION_NOT_EQUAL:
      return actual != value;
    case LACUNA_CONDITION_LESS:
      return actual < value;
    case LACUNA_CONDITION_GREATER_OR_EQUAL:
      return actual >= value;
  }
  return true;
}

/* A failed queue to be reported by this wait: the queue of the signal, or a queue whose failure has not been reported. */
static lacuna_queue* failure_to_report(lacuna_signal* signal) {
  if (signal->queue != NULL && signal->queue->failed) return signal->queue;
  for (unsigned i = 0; i < DRIVER_MAX_QUEUES; ++i) {
    lacuna_queue* queue = signal->device->queues[i];
    if (queue != NULL && queue->failed && !queue->reported) return queue;
  }
  return NULL;
}

lacuna_error lacuna_signal_wait(lacuna_signal* signal, lacuna_condition condition, int64_t value, uint64_t nanoseconds) {
  if (signal == NULL) return driver_error(LACUNA_ERROR_INVALID_ARGUMENT, "lacuna_signal_wait: null signal");
  lacuna_device* device = signal->device;
  uint64_t deadline = LACUNA_WAIT_FOREVER;
  if (nanoseconds != LACUNA_WAIT_FOREVER) deadline = hal_time() + nanoseconds;
  for (;;) {
    /* Interrupts stay off between the check and the wait: one that arrives in between ends the wait immediately. */
    const uint64_t interrupts = hal_disable_interrupts();
    driver_check_queues(device);
    if (holds(lacuna_signal_load(signal), condition, value)) {
      hal_restore_interrupts(interrupts);
      return LACUNA_OK;
    }
    lacuna_queue* failed = failure_to_report(signal);
    if (failed != NULL) {
      hal_restore_interrupts(interrupts);
      return driver_report_failure(failed);
    }
    if (deadline != LACUNA_WAIT_FOREVER && hal_time() >= deadline) {
      hal_restore_interrupts(interrupts);
      return driver_error(LACUNA_ERROR_TIMEOUT, "signal %u is still %lld after %llu ns", signal->index,
                          (long long)signal->memory->value, (unsigned long long)nanoseconds);
    }
    hal_wait_for_interrupt(deadline);
    hal_restore_interrupts(interrupts);
  }
}

lacuna_error lacuna_signal_wait_zero(lacuna_signal* signal) {
  return lacuna_signal_wait(signal, LACUNA_CONDITION_EQUAL, 0, LACUNA_WAIT_FOREVER);
}
