/* HSA structures in memory shared with the device. Sources: HSA Platform System Architecture 1.2, sections 2.8 and 2.9; field
 * offsets of amd_queue_t and amd_signal_t as in the public amd_hsa_queue.h and amd_hsa_signal.h. */
#ifndef FIRMWARE_DRIVER_HSA_H
#define FIRMWARE_DRIVER_HSA_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define HSA_PACKET_BYTES 64u

enum hsa_packet_type {
  HSA_PACKET_VENDOR_SPECIFIC = 0,
  HSA_PACKET_INVALID = 1,
  HSA_PACKET_KERNEL_DISPATCH = 2,
  HSA_PACKET_BARRIER_AND = 3,
  HSA_PACKET_AGENT_DISPATCH = 4,
  HSA_PACKET_BARRIER_OR = 5
};

/* 16-bit packet header. */
#define HSA_HEADER(type, barrier, acquire, release) \
  ((uint16_t)((unsigned)(type) | (unsigned)(barrier) << 8 | (unsigned)(acquire) << 9 | (unsigned)(release) << 11))

typedef struct hsa_dispatch_packet {
  uint16_t header;
  uint16_t setup; /* dimensions */
  uint16_t workgroup_size[3];
  uint16_t reserved0;
  uint32_t grid_size[3];
  uint32_t private_segment_size;
  uint32_t group_segment_size;
  uint64_t kernel_object;
  uint64_t kernarg_address;
  uint64_t reserved2;
  uint64_t completion_signal;
} hsa_dispatch_packet;
static_assert(sizeof(hsa_dispatch_packet) == HSA_PACKET_BYTES, "AQL packet");

typedef struct hsa_barrier_packet {
  uint16_t header;
  uint16_t reserved0;
  uint32_t reserved1;
  uint64_t dependencies[5];
  uint64_t reserved2;
  uint64_t completion_signal;
} hsa_barrier_packet;
static_assert(sizeof(hsa_barrier_packet) == HSA_PACKET_BYTES, "AQL packet");

#define HSA_SIGNAL_KIND_USER 1

typedef struct hsa_signal {
  int64_t kind;
  int64_t value;
  uint64_t event_mailbox;
  uint32_t event_id;
  uint32_t reserved1;
  uint64_t start_timestamp;
  uint64_t end_timestamp;
  uint64_t queue;
  uint32_t reserved3[2];
} hsa_signal;
static_assert(sizeof(hsa_signal) == 64 && offsetof(hsa_signal, start_timestamp) == 32, "amd_signal_t");

#define HSA_QUEUE_FEATURE_KERNEL_DISPATCH 1u

typedef struct hsa_queue {
  uint32_t type; /* 0 = several producers */
  uint32_t features;
  uint64_t base_address;
  uint64_t doorbell_signal;
  uint32_t size; /* packets */
  uint32_t reserved1;
  uint64_t id;
  uint32_t reserved2[4];
  uint64_t write_dispatch_id;
  uint32_t group_segment_aperture_base_hi;
  uint32_t private_segment_aperture_base_hi;
  uint32_t max_cu_id;
  uint32_t max_wave_id;
  uint64_t max_legacy_doorbell_dispatch_id_plus_1;
  uint32_t legacy_doorbell_lock;
  uint32_t reserved3[9];
  uint64_t read_dispatch_id;
  uint32_t read_dispatch_id_field_base_byte_offset;
  uint32_t compute_tmpring_size;
  uint32_t scratch_resource_descriptor[4];
  uint64_t scratch_backing_memory_location;
  uint64_t scratch_backing_memory_byte_size;
  uint32_t scratch_wave64_lane_byte_size;
  uint32_t queue_properties;
  uint32_t reserved4[2];
  uint64_t queue_inactive_signal;
  uint32_t reserved5[14];
} hsa_queue;
static_assert(sizeof(hsa_queue) == 256, "amd_queue_t");
static_assert(offsetof(hsa_queue, write_dispatch_id) == 56 && offsetof(hsa_queue, read_dispatch_id) == 128, "amd_queue_t");
static_assert(offsetof(hsa_queue, scratch_wave64_lane_byte_size) == 176, "amd_queue_t");
static_assert(offsetof(hsa_queue, queue_inactive_signal) == 192, "amd_queue_t");

#endif
