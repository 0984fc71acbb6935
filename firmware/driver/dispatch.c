/* Kernel dispatch packets, barrier packets, and packets of sparse dataflow accelerator jobs. */
#include <string.h>

#include "driver/error.h"
#include "driver/failure.h"
#include "driver/queue_state.h"
#include "driver/signal.h"
#include "hal/hal.h"
#include "include/lacuna/abi/gpu_registers.h"
#include "include/lacuna/abi/sida.h"

/* Polling interval of a full ring: retiring a packet without a signal raises no interrupt. */
#define FULL_QUEUE_NANOSECONDS 10000u

static const lacuna_dispatch_options default_options = {false, LACUNA_SCOPE_SYSTEM, LACUNA_SCOPE_SYSTEM};

static uint16_t header(enum hsa_packet_type type, const lacuna_dispatch_options* options) {
  if (options == NULL) options = &default_options;
  return HSA_HEADER(type, options->barrier, options->acquire, options->release);
}

static lacuna_error submit_with_signal(lacuna_queue* queue, const void* packet, lacuna_signal* completion) {
  const lacuna_error error = lacuna_queue_submit(queue, packet, true, NULL);
  if (error == LACUNA_OK && completion != NULL) completion->queue = queue;
  return error;
}

static lacuna_error check_dispatch(const lacuna_queue* queue, const lacuna_dispatch_packet* dispatch) {
  if (queue == NULL || dispatch == NULL || dispatch->kernel == NULL) {
    return driver_error(LACUNA_ERROR_INVALID_ARGUMENT, "lacuna_dispatch: null argument");
  }
  const lacuna_kernel* kernel = dispatch->kernel;
  if (kernel->kernarg_segment_bytes > queue->kernarg_bytes) {
    return driver_error(LACUNA_ERROR_SEGMENT_TOO_LARGE, "kernel with %u bytes of arguments on a queue with room for %u",
                        (unsigned)kernel->kernarg_segment_bytes, (unsigned)queue->kernarg_bytes);
  }
  if (kernel->private_segment_bytes > queue->private_segment_bytes) {
    return driver_error(LACUNA_ERROR_SEGMENT_TOO_LARGE, "kernel with %u bytes of scratch per work-item on a queue with %u",
                        (unsigned)kernel->private_segment_bytes, (unsigned)queue->private_segment_bytes);
  }
  return LACUNA_OK;
}

static uint16_t dimensions(const lacuna_dispatch_packet* dispatch) {
  for (uint16_t d = 3; d > 1; --d) {
    if (dispatch->grid[d - 1] > 1 || dispatch->workgroup[d - 1] > 1) return d;
  }
  return 1;
}

lacuna_error lacuna_dispatch(lacuna_queue* queue, const lacuna_dispatch_packet* dispatch) {
  lacuna_error error = check_dispatch(queue, dispatch);
  if (error != LACUNA_OK) return error;
  const lacuna_kernel* kernel = dispatch->kernel;
  hsa_dispatch_packet packet = {
      .header = header(HSA_PACKET_KERNEL_DISPATCH, dispatch->options),
      .setup = dimensions(dispatch),
      .private_segment_size = kernel->private_segment_bytes,
      .group_segment_size = kernel->group_segment_bytes + dispatch->dynamic_group_segment_bytes,
      .kernel_object = kernel->object,
      .completion_signal = dispatch->completion != NULL ? dispatch->completion->gpu_address : 0,
  };
  lacuna_launch_shape shape = {.dimensions = packet.setup,
                               .private_aperture_hi = queue->memory->private_segment_aperture_base_hi,
                               .shared_aperture_hi = queue->memory->group_segment_aperture_base_hi,
                               .queue_address = queue->gpu_address};
  for (unsigned i = 0; i < 3; ++i) {
    packet.grid_size[i] = shape.grid[i] = dispatch->grid[i] != 0 ? dispatch->grid[i] : 1;
    packet.workgroup_size[i] = shape.workgroup[i] = dispatch->workgroup[i] != 0 ? dispatch->workgroup[i] : 1;
  }
  /* Each ring slot has memory for arguments, which is free whenever the slot is free. */
  if (queue->write_index - queue->memory->read_dispatch_id < queue->packets) {
    const uint64_t offset = (queue->write_index & (queue->packets - 1)) * queue->kernarg_bytes;
    /* Host writes to GPU memory are slow: lay out the segment in host memory, then write each word once. */
    const size_t words = (kernel->kernarg_segment_bytes + 7u) / 8u;
    error = lacuna_kernel_arguments(kernel, &shape, dispatch->arguments, dispatch->argument_bytes, queue->staging, words * 8);
    if (error != LACUNA_OK) return error;
    volatile uint64_t* place = (volatile uint64_t*)(void*)(queue->kernargs + offset);
    for (size_t i = 0; i < words; ++i) place[i] = queue->staging[i];
    packet.kernarg_address = queue->kernarg_address + offset;
  }
  return submit_with_signal(queue, &packet, dispatch->completion);
}

lacuna_error lacuna_queue_wait_room(lacuna_queue* queue) {
  if (queue == NULL) return driver_error(LACUNA_ERROR_INVALID_ARGUMENT, "lacuna_queue_wait_room: null queue");
  for (;;) {
    driver_check_queues(queue->device);
    if (queue->failed) return driver_report_failure(queue);
    if (queue->write_index - queue->memory->read_dispatch_id < queue->packets) return LACUNA_OK;
    const uint64_t interrupts = hal_disable_interrupts();
    hal_wait_for_interrupt(hal_time() + FULL_QUEUE_NANOSECONDS);
    hal_restore_interrupts(interrupts);
  }
}

lacuna_error lacuna_dispatch_blocking(lacuna_queue* queue, const lacuna_dispatch_packet* dispatch) {
  for (;;) {
    const lacuna_error error = lacuna_dispatch(queue, dispatch);
    if (error != LACUNA_ERROR_QUEUE_FULL) return error;
    const lacuna_error waited = lacuna_queue_wait_room(queue);
    if (waited != LACUNA_OK) return waited;
  }
}

static lacuna_error barrier(lacuna_queue* queue, enum hsa_packet_type type, lacuna_signal* const dependencies[], unsigned count,
                            lacuna_signal* completion, const lacuna_dispatch_options* options) {
  hsa_barrier_packet packet = {.header = header(type, options),
                               .completion_signal = completion != NULL ? completion->gpu_address : 0};
  const unsigned most = sizeof packet.dependencies / sizeof packet.dependencies[0];
  if (queue == NULL || count > most || (count != 0 && dependencies == NULL)) {
    return driver_error(LACUNA_ERROR_INVALID_ARGUMENT, "barrier packet with %u dependencies, at most %u fit", count, most);
  }
  for (unsigned i = 0; i < count; ++i) packet.dependencies[i] = dependencies[i] != NULL ? dependencies[i]->gpu_address : 0;
  return submit_with_signal(queue, &packet, completion);
}

lacuna_error lacuna_barrier_and(lacuna_queue* queue, lacuna_signal* const dependencies[], unsigned count,
                                lacuna_signal* completion, const lacuna_dispatch_options* options) {
  return barrier(queue, HSA_PACKET_BARRIER_AND, dependencies, count, completion, options);
}

lacuna_error lacuna_barrier_or(lacuna_queue* queue, lacuna_signal* const dependencies[], unsigned count,
                               lacuna_signal* completion, const lacuna_dispatch_options* options) {
  return barrier(queue, HSA_PACKET_BARRIER_OR, dependencies, count, completion, options);
}

lacuna_error lacuna_dispatch_sida(lacuna_queue* queue, uint64_t program, lacuna_signal* completion,
                                  const lacuna_dispatch_options* options) {
  if (queue == NULL || program % 16 != 0) {
    return driver_error(LACUNA_ERROR_INVALID_ARGUMENT, "lacuna_dispatch_sida: %s",
                        queue == NULL ? "null queue" : "the program is not aligned to 16 bytes");
  }
  if (hal_read32(queue->device->mmio + LACUNA_GPU_SIDA_PES) == 0) {
    return driver_error(LACUNA_ERROR_NO_ACCELERATOR, "the device has no sparse dataflow accelerator (sida.present)");
  }
  const struct lacuna_sida_packet packet = {.header = header(HSA_PACKET_VENDOR_SPECIFIC, options),
                                            .format = LACUNA_SIDA_PACKET_FORMAT,
                                            .program = program,
                                            .completion_signal = completion != NULL ? completion->gpu_address : 0};
  return submit_with_signal(queue, &packet, completion);
}
