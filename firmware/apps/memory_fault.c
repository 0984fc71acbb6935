/* Tests kernels that access invalid addresses: the fault registers contain address and PC, the queue fails, and the device
 * continues. */
#include "app.h"
#include "include/lacuna/abi/gpu_registers.h"

CODE_OBJECT(test_kernels);

static lacuna_device* device;
static lacuna_queue* good;
static lacuna_kernel store_to;
static lacuna_kernel load_from;

static void check_device(void) {
  lacuna_memory place = app_allocate(device, 4);
  const struct {
    uint64_t address;
    uint32_t value;
  } arguments = {place.gpu_address, 0xcafe};
  app_run(good, &store_to, 1, 1, &arguments, sizeof arguments);
  EXPECT(*(volatile uint32_t*)place.host == 0xcafe);
  CHECK(lacuna_free(device, &place));
}

static void fault(const char* what, const lacuna_kernel* kernel, uint64_t first, uint64_t second, uint32_t code) {
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(device, NULL, &queue));
  lacuna_signal* done = app_signal(device, 1);
  const uint64_t arguments[2] = {first, second};
  CHECK(lacuna_dispatch(queue, &(lacuna_dispatch_packet){.kernel = kernel,
                                                         .grid = {1},
                                                         .workgroup = {1},
                                                         .arguments = arguments,
                                                         .argument_bytes = sizeof arguments,
                                                         .completion = done}));
  printf("%s: ", what);
  EXPECT_ERROR(lacuna_signal_wait_zero(done), LACUNA_ERROR_MEMORY_FAULT);
  EXPECT(lacuna_signal_load(done) == 1);
  lacuna_queue_state state;
  lacuna_queue_get_state(queue, &state);
  EXPECT(state.error == LACUNA_QUEUE_ERROR_MEMORY_FAULT);
  EXPECT(state.fault == code);
  EXPECT(state.fault_address == first);
  EXPECT(state.fault_pc > kernel->object && state.fault_pc < kernel->object + 65536);
  check_device();
  lacuna_queue_destroy(queue);
  lacuna_signal_destroy(done);
}

int main(void) {
  device = app_open_device();
  CHECK(lacuna_queue_create(device, NULL, &good));
  store_to = APP_KERNEL(device, test_kernels, "store_to");
  load_from = APP_KERNEL(device, test_kernels, "load_from");
  lacuna_memory memory = app_allocate(device, 4096);
  static _Alignas(4096) uint32_t host_page[1024];
  lacuna_memory read_only;
  CHECK(lacuna_map_host(device, host_page, sizeof host_page, LACUNA_ACCESS_READ, &read_only));

  fault("store to an unmapped address", &store_to, 0x123456789abc, 1, LACUNA_FAULT_NOT_MAPPED);
  fault("load from an unmapped address", &load_from, 0x123456789abc, memory.gpu_address, LACUNA_FAULT_NOT_MAPPED);
  fault("load from address 0", &load_from, 0, memory.gpu_address, LACUNA_FAULT_NOT_MAPPED);
  fault("store past an allocation", &store_to, memory.gpu_address + 4096, 1, LACUNA_FAULT_NOT_MAPPED);
  fault("store to read-only memory", &store_to, read_only.gpu_address + 16, 1, LACUNA_FAULT_NOT_PERMITTED);
  EXPECT(host_page[4] == 0);
  fault("store to code", &store_to, store_to.object, 1, LACUNA_FAULT_NOT_PERMITTED);

  /* Mapped memory can be read: here, host memory through the GPU. */
  host_page[5] = 0x600d;
  const uint64_t arguments[2] = {read_only.gpu_address + 20, memory.gpu_address};
  app_run(good, &load_from, 1, 1, arguments, sizeof arguments);
  EXPECT(*(volatile uint32_t*)memory.host == 0x600d);
  CHECK(lacuna_unmap_host(device, &read_only));
  fault("load after unmapping", &load_from, arguments[0], memory.gpu_address, LACUNA_FAULT_NOT_MAPPED);
  lacuna_device_close(device);
  return 0;
}
