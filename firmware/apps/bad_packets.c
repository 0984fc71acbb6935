/* Tests that an invalid packet or doorbell stops its queue with the right error code and an interrupt, while the device
 * continues with other queues; and that queues cannot be created with invalid registers. */
#include <string.h>

#include "app.h"
#include "driver/hsa.h"
#include "hal/hal.h"
#include "include/lacuna/abi/gpu_registers.h"

CODE_OBJECT(test_kernels);

static lacuna_device* device;
static lacuna_queue* good;
static lacuna_kernel count_up;
static lacuna_memory counter;

static hsa_dispatch_packet good_packet(void) {
  return (hsa_dispatch_packet){.header = HSA_HEADER(HSA_PACKET_KERNEL_DISPATCH, 0, LACUNA_SCOPE_SYSTEM, LACUNA_SCOPE_SYSTEM),
                               .setup = 1,
                               .workgroup_size = {64, 1, 1},
                               .grid_size = {64, 1, 1},
                               .kernel_object = count_up.object,
                               .kernarg_address = counter.gpu_address + 64};
}

/* Checks that the device still works: a kernel on the intact queue increments a counter. */
static void check_device(void) {
  volatile uint32_t* value = counter.host;
  *value = 0;
  app_run(good, &count_up, 64, 64, &counter.gpu_address, sizeof counter.gpu_address);
  EXPECT(*value == 64);
}

/* Submits the packet to a new queue, which must fail with `error`. */
static void refuse(const char* what, const void* packet, uint32_t error) {
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(device, NULL, &queue));
  lacuna_signal* never = app_signal(device, 1);
  CHECK(lacuna_queue_submit(queue, packet, true, NULL));
  printf("%s: ", what);
  EXPECT_ERROR(lacuna_signal_wait_zero(never), LACUNA_ERROR_QUEUE_FAILED);
  lacuna_queue_state state;
  lacuna_queue_get_state(queue, &state);
  EXPECT(state.status == LACUNA_QUEUE_FAILED);
  EXPECT(state.error == error);
  EXPECT(state.error_packet == 0);
  EXPECT(lacuna_queue_submit(queue, packet, true, NULL) == LACUNA_ERROR_QUEUE_FAILED);
  check_device();
  lacuna_queue_destroy(queue);
  lacuna_signal_destroy(never);
}

static void bad_types(void) {
  static const uint8_t types[] = {HSA_PACKET_VENDOR_SPECIFIC, HSA_PACKET_AGENT_DISPATCH, 6, 0xff};
  for (size_t i = 0; i < sizeof types; ++i) {
    hsa_dispatch_packet packet = good_packet();
    packet.header = types[i];
    refuse("packet type", &packet, LACUNA_QUEUE_ERROR_PACKET_TYPE);
  }
}

static void bad_dimensions(void) {
  hsa_dispatch_packet packet = good_packet();
  packet.setup = 0;
  refuse("no dimensions", &packet, LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS);
  packet = good_packet();
  packet.grid_size[0] = 0;
  refuse("empty grid", &packet, LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS);
  packet = good_packet();
  packet.setup = 2;
  packet.workgroup_size[1] = 0;
  refuse("empty workgroup", &packet, LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS);
  packet = good_packet();
  packet.workgroup_size[0] = 1025;
  refuse("workgroup of 1025", &packet, LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS);
}

static void bad_segments(void) {
  hsa_dispatch_packet packet = good_packet();
  packet.group_segment_size = lacuna_device_properties(device)->lds_bytes_per_compute_unit + 1;
  refuse("too much LDS", &packet, LACUNA_QUEUE_ERROR_PACKET_SEGMENT);
  packet = good_packet();
  packet.private_segment_size = 16;
  refuse("scratch on a queue without", &packet, LACUNA_QUEUE_ERROR_PACKET_SEGMENT);
}

static void bad_kernel_objects(void) {
  hsa_dispatch_packet packet = good_packet();
  packet.kernel_object = 0x123456780000;
  refuse("unmapped kernel object", &packet, LACUNA_QUEUE_ERROR_KERNEL_OBJECT);
  packet.kernel_object = count_up.object + 4;
  refuse("misaligned kernel object", &packet, LACUNA_QUEUE_ERROR_KERNEL_OBJECT);
  memset((uint8_t*)counter.host + 128, 0, 64);
  packet.kernel_object = counter.gpu_address + 128;
  refuse("kernel object of zeros", &packet, LACUNA_QUEUE_ERROR_KERNEL_OBJECT);
}

static void bad_signals(void) {
  hsa_dispatch_packet packet = good_packet();
  packet.completion_signal = 0x123456780000;
  refuse("unmapped completion signal", &packet, LACUNA_QUEUE_ERROR_SIGNAL);
  packet.completion_signal = counter.gpu_address + 8;
  refuse("misaligned completion signal", &packet, LACUNA_QUEUE_ERROR_SIGNAL);
  hsa_barrier_packet barrier = {.header = HSA_HEADER(HSA_PACKET_BARRIER_AND, 0, 0, 0)};
  barrier.dependencies[4] = 0x123456780000;
  refuse("unmapped dependency", &barrier, LACUNA_QUEUE_ERROR_SIGNAL);
}

static void bad_doorbell(void) {
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(device, &(lacuna_queue_options){.packets = 4}, &queue));
  lacuna_signal* never = app_signal(device, 1);
  lacuna_queue_ring(queue, 4);
  printf("doorbell beyond the ring: ");
  EXPECT_ERROR(lacuna_signal_wait_zero(never), LACUNA_ERROR_QUEUE_FAILED);
  lacuna_queue_state state;
  lacuna_queue_get_state(queue, &state);
  EXPECT(state.error == LACUNA_QUEUE_ERROR_OVERFLOW);
  check_device();
  lacuna_queue_destroy(queue);
  lacuna_signal_destroy(never);
}

static uint32_t create_by_registers(uint32_t slot, uint64_t address) {
  hal_write32(LACUNA_GPU_MMIO_BASE + LACUNA_GPU_QUEUE_SELECT, slot);
  hal_write32(LACUNA_GPU_MMIO_BASE + LACUNA_GPU_QUEUE_AQL_LO, (uint32_t)address);
  hal_write32(LACUNA_GPU_MMIO_BASE + LACUNA_GPU_QUEUE_AQL_HI, (uint32_t)(address >> 32));
  hal_write32(LACUNA_GPU_MMIO_BASE + LACUNA_GPU_QUEUE_COMMAND, LACUNA_QUEUE_CREATE);
  return hal_read32(LACUNA_GPU_MMIO_BASE + LACUNA_GPU_QUEUE_ERROR);
}

static void bad_queues(void) {
  const uint32_t last = lacuna_device_properties(device)->queue_slots - 1;
  EXPECT(create_by_registers(last, 0x123456780000) == LACUNA_QUEUE_ERROR_DESCRIPTOR);
  hsa_queue* memory = (hsa_queue*)((uint8_t*)counter.host + 1024);
  memset(memory, 0, sizeof *memory);
  memory->base_address = counter.gpu_address + 2048;
  memory->size = 3;
  EXPECT(create_by_registers(last, counter.gpu_address + 1024) == LACUNA_QUEUE_ERROR_DESCRIPTOR);
  memory->size = 4;
  EXPECT(create_by_registers(last, counter.gpu_address + 1024 + 4) == LACUNA_QUEUE_ERROR_DESCRIPTOR);
  EXPECT(create_by_registers(last + 1, counter.gpu_address + 1024) == LACUNA_QUEUE_ERROR_SLOT);
  EXPECT(create_by_registers(last, counter.gpu_address + 1024) == LACUNA_QUEUE_ERROR_NONE);
  EXPECT(create_by_registers(last, counter.gpu_address + 1024) == LACUNA_QUEUE_ERROR_SLOT);
  hal_write32(LACUNA_GPU_MMIO_BASE + LACUNA_GPU_QUEUE_SELECT, last);
  hal_write32(LACUNA_GPU_MMIO_BASE + LACUNA_GPU_QUEUE_COMMAND, LACUNA_QUEUE_DESTROY);
  check_device();
  printf("queue creation: refused as it should be\n");
}

int main(void) {
  device = app_open_device();
  CHECK(lacuna_queue_create(device, NULL, &good));
  count_up = APP_KERNEL(device, test_kernels, "count_up");
  counter = app_allocate(device, 4096);
  *(uint64_t*)(void*)((uint8_t*)counter.host + 64) = counter.gpu_address;
  bad_types();
  bad_dimensions();
  bad_segments();
  bad_kernel_objects();
  bad_signals();
  bad_doorbell();
  bad_queues();
  lacuna_device_close(device);
  return 0;
}
