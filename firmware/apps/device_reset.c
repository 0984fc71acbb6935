/* Resets the device through its register: between kernels, during a kernel, and with a full ring. Afterwards the device behaves
 * as before, in the same time. */
#include "app.h"
#include "include/lacuna/abi/gpu_registers.h"

CODE_OBJECT(test_kernels);

#define ITEMS 4096u
#define ROUNDS 100u
#define PACKETS 8u
#define MANY (1u << 22)

static volatile uint32_t* gpu_register(uint32_t offset) {
  return (volatile uint32_t*)(uintptr_t)(LACUNA_GPU_MMIO_BASE + offset); /* NOLINT(performance-no-int-to-ptr) */
}

static void sleep_ns(lacuna_device* device, uint64_t ns) {
  const uint64_t ticks = ns * lacuna_device_properties(device)->timestamp_hz / 1000000000u;
  const uint64_t start = lacuna_device_timestamp(device);
  while (lacuna_device_timestamp(device) - start < ticks) {
  }
}

/* Opens the device, runs a kernel and checks its result. Returns the kernel's duration in nanoseconds. */
static uint64_t open_and_run(lacuna_device** device) {
  *device = app_open_device();
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(*device, NULL, &queue));
  const lacuna_kernel spin = APP_KERNEL(*device, test_kernels, "spin");
  lacuna_memory out = app_allocate(*device, ITEMS * 4);
  const struct {
    uint64_t out;
    uint32_t iterations;
  } arguments = {out.gpu_address, ROUNDS};
  CHECK(lacuna_fill(*device, out.gpu_address, 0, out.bytes));
  const uint64_t duration = app_run(queue, &spin, ITEMS, 64, &arguments, sizeof arguments);
  const volatile uint32_t* results = out.host;
  for (uint32_t i = 0; i < ITEMS; ++i) {
    uint32_t value = i + 1;
    for (uint32_t round = 0; round < ROUNDS; ++round) value = value * 1664525u + 1013904223u;
    EXPECT(results[i] == value);
  }
  lacuna_queue_destroy(queue);
  CHECK(lacuna_free(*device, &out));
  return duration;
}

/* Fills a ring with dispatches that increment a counter, and resets the device while the first one runs. */
static void reset_in_mid_kernel(lacuna_device* device) {
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(device, &(lacuna_queue_options){.packets = PACKETS}, &queue));
  const lacuna_kernel count_up = APP_KERNEL(device, test_kernels, "count_up");
  lacuna_memory counter = app_allocate(device, 4);
  volatile uint32_t* value = counter.host;
  *value = 0;
  const lacuna_dispatch_packet dispatch = {.kernel = &count_up,
                                           .grid = {MANY},
                                           .workgroup = {256},
                                           .arguments = &counter.gpu_address,
                                           .argument_bytes = sizeof counter.gpu_address};
  for (unsigned i = 0; i < PACKETS; ++i) CHECK(lacuna_dispatch(queue, &dispatch));
  EXPECT_ERROR(lacuna_dispatch(queue, &dispatch), LACUNA_ERROR_QUEUE_FULL);
  while (*value == 0) {
  }
  lacuna_queue_state state;
  lacuna_queue_get_state(queue, &state);
  EXPECT(state.status == LACUNA_QUEUE_ACTIVE);

  *gpu_register(LACUNA_GPU_CONTROL) = 1;
  const uint32_t counted = *value;
  EXPECT(counted < MANY);
  EXPECT(*gpu_register(LACUNA_GPU_CONTROL) == 0);
  EXPECT(*gpu_register(LACUNA_GPU_INTERRUPT_STATUS) == 0);
  EXPECT(*gpu_register(LACUNA_GPU_INTERRUPT_ENABLE) == 0);
  lacuna_queue_get_state(queue, &state);
  EXPECT(state.status == LACUNA_QUEUE_INACTIVE);
  EXPECT(state.read_index == 0);
  sleep_ns(device, 20000);
  EXPECT(*value == counted);
}

int main(void) {
  lacuna_device* device;
  const uint64_t before = open_and_run(&device);
  *gpu_register(LACUNA_GPU_CONTROL) = 1;
  lacuna_device_close(device);
  const uint64_t idle = open_and_run(&device);
  reset_in_mid_kernel(device);
  lacuna_device_close(device); /* its resources have already been released by the reset; the device logs this */
  const uint64_t after = open_and_run(&device);
  lacuna_device_close(device);
  printf("%llu ns on a new device, %llu ns after a reset, %llu ns after a reset in mid-kernel\n", (unsigned long long)before,
         (unsigned long long)idle, (unsigned long long)after);
  /* Allowed difference in time: the kernel starts at another position in the SIMDs' rotation and in DRAM's refresh interval. */
  const uint64_t slack = before / 50;
  EXPECT(idle + slack >= before && idle <= before + slack);
  EXPECT(after + slack >= before && after <= before + slack);
  return 0;
}
