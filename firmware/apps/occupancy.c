/* Tests kernels whose LDS or vector registers fill a compute unit, and LDS whose size is set by the packet. */
#include "app.h"

CODE_OBJECT(test_kernels);

#define WORKGROUP 64u
#define LDS_GROUPS 200u
#define LDS_WORDS 6144u
#define VGPR_GROUPS 200u
#define LIVE_VALUES 160u

static lacuna_device* device;
static lacuna_queue* queue;

static void much_lds(void) {
  const lacuna_kernel kernel = APP_KERNEL(device, test_kernels, "much_lds");
  EXPECT(kernel.group_segment_bytes == LDS_WORDS * sizeof(uint32_t));
  lacuna_memory out = app_allocate(device, LDS_GROUPS * WORKGROUP * sizeof(uint32_t));
  app_run(queue, &kernel, LDS_GROUPS * WORKGROUP, WORKGROUP, &out.gpu_address, sizeof out.gpu_address);
  const uint32_t* sums = out.host;
  for (uint32_t group = 0; group < LDS_GROUPS; ++group) {
    for (uint32_t item = 0; item < WORKGROUP; ++item) {
      uint32_t sum = 0;
      for (uint32_t i = item; i < LDS_WORDS; i += WORKGROUP) sum += group * LDS_WORDS + LDS_WORDS - 1 - i;
      EXPECT(*sums++ == sum);
    }
  }
  CHECK(lacuna_free(device, &out));
  printf("LDS-bound kernel: correct\n");
}

static void many_vgprs(void) {
  const lacuna_kernel kernel = APP_KERNEL(device, test_kernels, "many_vgprs");
  const uint32_t items = VGPR_GROUPS * WORKGROUP;
  lacuna_memory in = app_allocate(device, (items + LIVE_VALUES * 64) * sizeof(uint32_t));
  lacuna_memory out = app_allocate(device, items * sizeof(uint32_t));
  uint32_t* values = in.host;
  uint64_t seed = 1;
  for (uint32_t i = 0; i < items + LIVE_VALUES * 64; ++i) values[i] = (uint32_t)app_random(&seed);
  const uint64_t arguments[2] = {in.gpu_address, out.gpu_address};
  app_run(queue, &kernel, items, WORKGROUP, arguments, sizeof arguments);
  const uint32_t* sums = out.host;
  for (uint32_t item = 0; item < items; ++item) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < LIVE_VALUES; ++i)
      sum = sum * 3 + (values[item + i * 64] ^ values[item + (LIVE_VALUES - 1 - i) * 64]);
    EXPECT(sums[item] == sum);
  }
  CHECK(lacuna_free(device, &in));
  CHECK(lacuna_free(device, &out));
  printf("VGPR-bound kernel: correct\n");
}

static void dynamic_lds(void) {
  const lacuna_kernel kernel = APP_KERNEL(device, test_kernels, "reverse");
  enum { ITEMS = 4096, GROUP = 256 };
  lacuna_memory data = app_allocate(device, ITEMS * sizeof(uint32_t));
  uint32_t* values = data.host;
  for (uint32_t i = 0; i < ITEMS; ++i) values[i] = i;
  /* A pointer to local memory is passed as its offset in the workgroup's LDS. */
  const struct {
    uint64_t data;
    uint32_t words;
  } arguments = {data.gpu_address, kernel.group_segment_bytes};
  lacuna_signal* done = app_signal(device, 1);
  CHECK(lacuna_dispatch(queue, &(lacuna_dispatch_packet){.kernel = &kernel,
                                                         .grid = {ITEMS},
                                                         .workgroup = {GROUP},
                                                         .arguments = &arguments,
                                                         .argument_bytes = sizeof arguments,
                                                         .dynamic_group_segment_bytes = GROUP * sizeof(uint32_t),
                                                         .completion = done}));
  CHECK(lacuna_signal_wait_zero(done));
  for (uint32_t i = 0; i < ITEMS; ++i) EXPECT(values[i] == i / GROUP * GROUP + GROUP - 1 - i % GROUP);
  lacuna_signal_destroy(done);
  CHECK(lacuna_free(device, &data));
  printf("dynamic LDS: correct\n");
}

int main(void) {
  device = app_open_device();
  CHECK(lacuna_queue_create(device, NULL, &queue));
  much_lds();
  many_vgprs();
  dynamic_lds();
  lacuna_device_close(device);
  return 0;
}
