/* Queues: creation with scratch memory, raw packets and the doorbell. */
#include <stdlib.h>
#include <string.h>

#include "driver/error.h"
#include "driver/failure.h"
#include "driver/queue_state.h"
#include "driver/registers.h"
#include "driver/signal.h"
#include "hal/hal.h"

#define DEFAULT_PACKETS 64u
#define MAX_PACKETS 65536u
#define DEFAULT_KERNARG_BYTES 512u
#define KERNARG_ALIGNMENT 64u

/* compute_tmpring_size: WAVES in bits 11:0, WAVESIZE in units of 1 KiB in bits 24:12. */
#define TMPRING_MAX_WAVES 0xfffu
#define TMPRING_MAX_WAVE_KIB 0x1fffu
/* Word 3 of the scratch buffer descriptor (GCN3 ISA manual, table "Buffer Resource Descriptor"): DST_SEL x y z w, NUM_FORMAT
 * uint, DATA_FORMAT 32, ELEMENT_SIZE 4 bytes, INDEX_STRIDE 64, ADD_TID_ENABLE. Word 1 bit 31: SWIZZLE_ENABLE. */
#define SCRATCH_DESCRIPTOR_WORD3 0x00ea4facu
#define SCRATCH_DESCRIPTOR_SWIZZLE 0x80000000u

#define QUEUE_PROPERTIES_IS_PTR64 2u

static lacuna_error check_options(const lacuna_device* device, lacuna_queue_options* options) {
  if (options->packets == 0) options->packets = DEFAULT_PACKETS;
  if (options->kernarg_bytes == 0) options->kernarg_bytes = DEFAULT_KERNARG_BYTES;
  if ((options->packets & (options->packets - 1)) != 0 || options->packets > MAX_PACKETS) {
    return driver_error(LACUNA_ERROR_INVALID_ARGUMENT, "queue of %u packets: not a power of two up to %u",
                        (unsigned)options->packets, MAX_PACKETS);
  }
  if (options->kernarg_bytes > 1u << 20) {
    return driver_error(LACUNA_ERROR_SEGMENT_TOO_LARGE, "%u bytes of kernel arguments for each packet",
                        (unsigned)options->kernarg_bytes);
  }
  options->kernarg_bytes = (options->kernarg_bytes + KERNARG_ALIGNMENT - 1) & ~(KERNARG_ALIGNMENT - 1);
  const uint64_t most = (uint64_t)TMPRING_MAX_WAVE_KIB * 1024u / device->properties.wavefront_size;
  if (options->private_segment_bytes > most) {
    return driver_error(LACUNA_ERROR_SEGMENT_TOO_LARGE, "scratch of %u bytes per work-item, at most %llu are possible",
                        (unsigned)options->private_segment_bytes, (unsigned long long)most);
  }
  return LACUNA_OK;
}

/* Allocates backing memory for all wavefronts that the device can hold concurrently, but for at most TMPRING_MAX_WAVES. While
 * that takes more than a quarter of GPU memory, halves the number of wavefronts, unless it is 16 or less. */
static lacuna_error add_scratch(lacuna_queue* queue) {
  lacuna_device* device = queue->device;
  const lacuna_properties* p = &device->properties;
  const uint64_t wave_bytes = ((uint64_t)queue->private_segment_bytes * p->wavefront_size + 1023u) & ~1023ull;
  uint64_t waves = (uint64_t)p->compute_units * p->simds_per_compute_unit * p->wavefronts_per_simd;
  if (waves > TMPRING_MAX_WAVES) waves = TMPRING_MAX_WAVES;
  while (waves > 16 && waves * wave_bytes > p->memory_bytes / 4) waves /= 2;
  const lacuna_error error = lacuna_allocate(device, waves * wave_bytes, &queue->scratch);
  if (error != LACUNA_OK) return error;
  volatile hsa_queue* memory = queue->memory;
  const uint64_t address = queue->scratch.gpu_address;
  memory->compute_tmpring_size = (uint32_t)(waves | wave_bytes / 1024u << 12);
  memory->scratch_resource_descriptor[0] = (uint32_t)address;
  memory->scratch_resource_descriptor[1] = (uint32_t)(address >> 32) | SCRATCH_DESCRIPTOR_SWIZZLE;
  memory->scratch_resource_descriptor[2] = (uint32_t)(waves * wave_bytes);
  memory->scratch_resource_descriptor[3] = SCRATCH_DESCRIPTOR_WORD3;
  /* gfx8: offset from the pool that the descriptor specifies. gfx9: address. */
  memory->scratch_backing_memory_location = p->target >> 16 == 8 ? 0 : address;
  memory->scratch_backing_memory_byte_size = waves * wave_bytes;
  memory->scratch_wave64_lane_byte_size = (uint32_t)(wave_bytes / p->wavefront_size);
  return LACUNA_OK;
}

static lacuna_error lay_out(lacuna_queue* queue) {
  lacuna_device* device = queue->device;
  const uint64_t ring_bytes = (uint64_t)queue->packets * HSA_PACKET_BYTES;
  const uint64_t ring_offset = DRIVER_PAGE;
  const uint64_t kernarg_offset = (ring_offset + ring_bytes + DRIVER_PAGE - 1) & ~(DRIVER_PAGE - 1);
  const lacuna_error error =
      lacuna_allocate(device, kernarg_offset + (uint64_t)queue->packets * queue->kernarg_bytes, &queue->block);
  if (error != LACUNA_OK) return error;
  uint8_t* host = queue->block.host;
  queue->gpu_address = queue->block.gpu_address;
  queue->memory = (volatile hsa_queue*)queue->block.host;
  queue->ring = host + ring_offset;
  queue->kernargs = host + kernarg_offset;
  queue->kernarg_address = queue->gpu_address + kernarg_offset;

  memset(host, 0, sizeof(hsa_queue));
  memset(queue->ring, 0, ring_bytes);
  for (uint32_t i = 0; i < queue->packets; ++i) queue->ring[i * HSA_PACKET_BYTES] = HSA_PACKET_INVALID;
  volatile hsa_queue* memory = queue->memory;
  memory->features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH;
  memory->base_address = queue->gpu_address + ring_offset;
  memory->size = queue->packets;
  memory->id = queue->slot;
  memory->group_segment_aperture_base_hi = driver_read(device, LACUNA_GPU_SHARED_APERTURE_HI);
  memory->private_segment_aperture_base_hi = driver_read(device, LACUNA_GPU_PRIVATE_APERTURE_HI);
  memory->max_cu_id = device->properties.compute_units - 1;
  memory->max_wave_id = device->properties.simds_per_compute_unit * device->properties.wavefronts_per_simd - 1;
  memory->read_dispatch_id_field_base_byte_offset = offsetof(hsa_queue, read_dispatch_id);
  memory->queue_properties = QUEUE_PROPERTIES_IS_PTR64;
  return queue->private_segment_bytes != 0 ? add_scratch(queue) : LACUNA_OK;
}

static void release_memory(lacuna_queue* queue) {
  if (queue->scratch.bytes != 0) lacuna_free(queue->device, &queue->scratch);
  if (queue->block.bytes != 0) lacuna_free(queue->device, &queue->block);
  free(queue->staging);
}

lacuna_error lacuna_queue_create(lacuna_device* device, const lacuna_queue_options* options, lacuna_queue** queue) {
  if (device == NULL || queue == NULL) return driver_error(LACUNA_ERROR_INVALID_ARGUMENT, "lacuna_queue_create: null argument");
  lacuna_queue_options wanted = options != NULL ? *options : (lacuna_queue_options){0};
  lacuna_error error = check_options(device, &wanted);
  if (error != LACUNA_OK) return error;
  const uint32_t slots =
      device->properties.queue_slots < DRIVER_MAX_QUEUES ? device->properties.queue_slots : DRIVER_MAX_QUEUES;
  uint32_t slot = 0;
  while (slot < slots && device->queues[slot] != NULL) ++slot;
  if (slot == slots) return driver_error(LACUNA_ERROR_NO_FREE_SLOT, "all %u queue slots are in use", (unsigned)slots);

  lacuna_queue* made = calloc(1, sizeof *made);
  if (made == NULL) return driver_error(LACUNA_ERROR_OUT_OF_HOST_MEMORY, "no host memory for a queue");
  made->device = device;
  made->slot = slot;
  made->packets = wanted.packets;
  made->kernarg_bytes = wanted.kernarg_bytes;
  made->private_segment_bytes = wanted.private_segment_bytes;
  made->staging = malloc(wanted.kernarg_bytes);
  error = made->staging != NULL ? lay_out(made) : driver_error(LACUNA_ERROR_OUT_OF_HOST_MEMORY, "no host memory for a queue");
  if (error == LACUNA_OK) {
    hal_fence();
    driver_write(device, LACUNA_GPU_QUEUE_SELECT, slot);
    driver_write_pair(device, LACUNA_GPU_QUEUE_AQL_LO, made->gpu_address);
    driver_write(device, LACUNA_GPU_QUEUE_COMMAND, LACUNA_QUEUE_CREATE);
    if (driver_read(device, LACUNA_GPU_QUEUE_STATUS) != LACUNA_QUEUE_ACTIVE) {
      error = driver_error(LACUNA_ERROR_QUEUE_REFUSED, "the device refused queue slot %u, error %u", (unsigned)slot,
                           (unsigned)driver_read(device, LACUNA_GPU_QUEUE_ERROR));
    }
  }
  if (error != LACUNA_OK) {
    release_memory(made);
    free(made);
    return error;
  }
  device->queues[slot] = made;
  *queue = made;
  return LACUNA_OK;
}

void lacuna_queue_destroy(lacuna_queue* queue) {
  if (queue == NULL) return;
  lacuna_device* device = queue->device;
  driver_write(device, LACUNA_GPU_QUEUE_SELECT, queue->slot);
  driver_write(device, LACUNA_GPU_QUEUE_COMMAND, LACUNA_QUEUE_DESTROY);
  driver_detach_queue(queue);
  device->queues[queue->slot] = NULL;
  release_memory(queue);
  free(queue);
}

lacuna_device* lacuna_queue_device(const lacuna_queue* queue) { return queue->device; }

lacuna_error lacuna_queue_submit(lacuna_queue* queue, const void* packet, bool doorbell, uint64_t* index) {
  if (queue == NULL || packet == NULL) return driver_error(LACUNA_ERROR_INVALID_ARGUMENT, "lacuna_queue_submit: null argument");
  driver_check_queues(queue->device);
  if (queue->failed) return driver_report_failure(queue);
  const uint64_t at = queue->write_index;
  const uint64_t in_use = at - queue->memory->read_dispatch_id;
  if (in_use >= queue->packets) {
    return driver_error(LACUNA_ERROR_QUEUE_FULL, "queue %u is full: %llu of %u packets are not retired, the oldest is %llu",
                        (unsigned)queue->slot, (unsigned long long)in_use, (unsigned)queue->packets,
                        (unsigned long long)queue->memory->read_dispatch_id);
  }
  uint64_t words[HSA_PACKET_BYTES / 8];
  memcpy(words, packet, sizeof words);
  volatile uint64_t* slot = (volatile uint64_t*)(void*)(queue->ring + (at & (queue->packets - 1)) * HSA_PACKET_BYTES);
  for (unsigned i = 1; i < HSA_PACKET_BYTES / 8; ++i) slot[i] = words[i];
  volatile uint32_t* first = (volatile uint32_t*)slot;
  first[1] = (uint32_t)(words[0] >> 32);
  queue->write_index = at + 1;
  queue->memory->write_dispatch_id = at + 1;
  /* The header makes the packet valid: all other words must be visible first. */
  hal_fence();
  first[0] = (uint32_t)words[0];
  hal_fence();
  if (doorbell) lacuna_queue_ring(queue, at);
  if (index != NULL) *index = at;
  return LACUNA_OK;
}

void lacuna_queue_ring(lacuna_queue* queue, uint64_t index) {
  hal_fence();
  hal_write64(queue->device->mmio + LACUNA_DOORBELL_OFFSET + (uint64_t)LACUNA_DOORBELL_STRIDE * queue->slot, index);
}

uint64_t lacuna_queue_address(const lacuna_queue* queue) { return queue->gpu_address; }
