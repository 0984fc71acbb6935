/* Tests timestamps of the device and of signals: more work takes longer. */
#include "app.h"

CODE_OBJECT(test_kernels);

static lacuna_device* device;
static lacuna_queue* queue;

int main(void) {
  device = app_open_device();
  CHECK(lacuna_queue_create(device, NULL, &queue));
  const lacuna_kernel spin = APP_KERNEL(device, test_kernels, "spin");
  lacuna_memory out = app_allocate(device, 4096);
  lacuna_signal* signals[3];
  const uint64_t before = lacuna_device_timestamp(device);
  const lacuna_dispatch_options ordered = {true, LACUNA_SCOPE_SYSTEM, LACUNA_SCOPE_SYSTEM};
  for (uint32_t i = 0; i < 3; ++i) {
    const struct {
      uint64_t out;
      uint32_t iterations;
    } arguments = {out.gpu_address, i == 0 ? 10u : i == 1 ? 1000u : 4000u};
    signals[i] = app_signal(device, 1);
    CHECK(lacuna_dispatch(queue, &(lacuna_dispatch_packet){.kernel = &spin,
                                                           .grid = {64},
                                                           .workgroup = {64},
                                                           .arguments = &arguments,
                                                           .argument_bytes = sizeof arguments,
                                                           .completion = signals[i],
                                                           .options = &ordered}));
  }
  CHECK(lacuna_signal_wait_zero(signals[2]));
  const uint64_t after = lacuna_device_timestamp(device);
  uint64_t last = before;
  for (unsigned i = 0; i < 3; ++i) {
    uint64_t start, end;
    lacuna_signal_times(signals[i], &start, &end);
    EXPECT(last <= start && start < end);
    last = end;
    printf("dispatch %u: %llu ns\n", i, (unsigned long long)lacuna_signal_duration(signals[i]));
  }
  EXPECT(last <= after);
  const uint64_t medium = lacuna_signal_duration(signals[1]);
  const uint64_t longest = lacuna_signal_duration(signals[2]);
  EXPECT(lacuna_signal_duration(signals[0]) < medium);
  /* Four times the iterations take about four times as long. */
  EXPECT(longest > 3 * medium && longest < 5 * medium);
  lacuna_device_close(device);
  return 0;
}
