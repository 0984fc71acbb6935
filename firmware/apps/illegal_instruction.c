/* Tests an invalid encoding and s_trap: the queue fails with the instruction's PC, and the device continues. */
#include <string.h>

#include "app.h"
#include "include/lacuna/abi/gpu_registers.h"

CODE_OBJECT(test_kernels);

static lacuna_device* device;

/* Offset in its page of the only instruction with this encoding: the code object's file and its image in memory agree in
 * the low bits of addresses. */
static uint64_t place_in_page(uint32_t encoding) {
  uint64_t place = 0;
  unsigned found = 0;
  for (size_t i = 0; i + 4 <= CODE_OBJECT_BYTES(test_kernels); i += 4) {
    uint32_t word;
    memcpy(&word, code_object_test_kernels + i, sizeof word);
    if (word != encoding) continue;
    place = i % 4096;
    ++found;
  }
  EXPECT(found == 1);
  return place;
}

static void exception(const char* name, uint32_t error, uint32_t fault, uint32_t encoding) {
  const lacuna_kernel kernel = APP_KERNEL(device, test_kernels, name);
  lacuna_memory out = app_allocate(device, 4);
  *(uint32_t*)out.host = 0;
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(device, NULL, &queue));
  lacuna_signal* done = app_signal(device, 1);
  CHECK(lacuna_dispatch(queue, &(lacuna_dispatch_packet){.kernel = &kernel,
                                                         .grid = {256},
                                                         .workgroup = {64},
                                                         .arguments = &out.gpu_address,
                                                         .argument_bytes = sizeof out.gpu_address,
                                                         .completion = done}));
  printf("%s: ", name);
  EXPECT_ERROR(lacuna_signal_wait_zero(done), LACUNA_ERROR_EXCEPTION);
  lacuna_queue_state state;
  lacuna_queue_get_state(queue, &state);
  EXPECT(state.error == error);
  EXPECT(state.fault == fault);
  EXPECT(state.fault_pc > kernel.object && state.fault_pc < kernel.object + 65536);
  EXPECT(state.fault_pc % 4096 == place_in_page(encoding));
  EXPECT(*(volatile uint32_t*)out.host == 0);
  lacuna_queue_destroy(queue);
  lacuna_signal_destroy(done);

  const lacuna_kernel count_up = APP_KERNEL(device, test_kernels, "count_up");
  CHECK(lacuna_queue_create(device, NULL, &queue));
  app_run(queue, &count_up, 64, 64, &out.gpu_address, sizeof out.gpu_address);
  EXPECT(*(volatile uint32_t*)out.host == 64);
  lacuna_queue_destroy(queue);
  CHECK(lacuna_free(device, &out));
}

int main(void) {
  device = app_open_device();
  exception("illegal", LACUNA_QUEUE_ERROR_ILLEGAL_INSTRUCTION, LACUNA_FAULT_ILLEGAL_INSTRUCTION, 0xbfff0000);
  exception("trap", LACUNA_QUEUE_ERROR_TRAP, LACUNA_FAULT_TRAP, 0xbf920002); /* as compilers generate for a trap */
  exception("trap_7", LACUNA_QUEUE_ERROR_TRAP, LACUNA_FAULT_TRAP, 0xbf920007);
  lacuna_device_close(device);
  return 0;
}
