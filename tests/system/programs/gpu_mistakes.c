/* Repeats driver mistakes: 1000 times, commands and doorbells that the device refuses; 200 times, packets of unknown type. */
#include "app.h"
#include "driver/hsa.h"
#include "hal/hal.h"
#include "include/lacuna/abi/gpu_registers.h"
#include "include/lacuna/abi/memory_map.h"

enum { kUnusedSlot = 5 };

int main(void) {
  lacuna_device* device = app_open_device();
  for (unsigned i = 0; i < 1000; ++i) {
    hal_write32(LACUNA_GPU_MMIO_BASE + LACUNA_GPU_VM_COMMAND, 99);
    hal_write32(LACUNA_GPU_MMIO_BASE + LACUNA_GPU_QUEUE_COMMAND, 99);
    hal_write64(LACUNA_GPU_MMIO_BASE + LACUNA_DOORBELL_OFFSET + kUnusedSlot * LACUNA_DOORBELL_STRIDE, 0);
  }
  for (unsigned i = 0; i < 200; ++i) {
    lacuna_queue* queue;
    CHECK(lacuna_queue_create(device, NULL, &queue));
    lacuna_signal* never = app_signal(device, 1);
    const hsa_dispatch_packet packet = {.header = 0xff};
    CHECK(lacuna_queue_submit(queue, &packet, true, NULL));
    if (lacuna_signal_wait_zero(never) != LACUNA_ERROR_QUEUE_FAILED) return 1;
    lacuna_queue_destroy(queue);
    lacuna_signal_destroy(never);
  }
  return 0;
}
