/* The HAL on Lacuna's RV64 hart: identity addresses, CLINT timer, PLIC. */
#include <stddef.h>

#include "hal/hal.h"
#include "hal/riscv_interrupts.h"
#include "include/lacuna/abi/memory_map.h"

/* Rate of mtime: default of clint.timebase. */
#define NANOSECONDS_PER_TICK 100u

#define MSTATUS_MIE 0x8u
#define MIE_TIMER (1u << 7)
#define MIE_EXTERNAL (1u << 11)
#define CODE_TIMER 7u
#define CODE_EXTERNAL 11u

#define CLINT_MTIMECMP (LACUNA_CLINT_BASE + 0x4000u)
#define CLINT_MTIME (LACUNA_CLINT_BASE + 0xbff8u)

/* RISC-V platform-level interrupt controller specification, chapter 3; context 0 = hart 0, M mode. */
#define PLIC_PRIORITY(source) (LACUNA_PLIC_BASE + 4u * (source))
#define PLIC_ENABLE (LACUNA_PLIC_BASE + 0x2000u)
#define PLIC_THRESHOLD (LACUNA_PLIC_BASE + 0x200000u)
#define PLIC_CLAIM (LACUNA_PLIC_BASE + 0x200004u)

#define SOURCES 32u

static struct {
  hal_interrupt_handler handler;
  void* context;
} handlers[SOURCES];

uint32_t hal_read32(uint64_t bus_address) { return *(volatile uint32_t*)bus_address; }
void hal_write32(uint64_t bus_address, uint32_t value) { *(volatile uint32_t*)bus_address = value; }
uint64_t hal_read64(uint64_t bus_address) { return *(volatile uint64_t*)bus_address; }
void hal_write64(uint64_t bus_address, uint64_t value) { *(volatile uint64_t*)bus_address = value; }
void hal_fence(void) { __asm__ volatile("fence iorw, iorw" ::: "memory"); }

void* hal_map(uint64_t bus_address, uint64_t bytes) {
  (void)bytes;
  return (void*)bus_address;
}

uint64_t hal_bus_address(const void* pointer) { return (uint64_t)pointer; }

uint64_t hal_time(void) { return hal_read64(CLINT_MTIME) * NANOSECONDS_PER_TICK; }

uint64_t hal_disable_interrupts(void) {
  uint64_t status;
  __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(status)::"memory");
  return status & MSTATUS_MIE;
}

void hal_restore_interrupts(uint64_t state) { __asm__ volatile("csrs mstatus, %0" ::"r"(state & MSTATUS_MIE) : "memory"); }

void hal_register_interrupt(unsigned source, hal_interrupt_handler handler, void* context) {
  if (source == 0 || source >= SOURCES) return;
  const uint64_t state = hal_disable_interrupts();
  handlers[source].handler = handler;
  handlers[source].context = context;
  hal_write32(PLIC_PRIORITY(source), handler != NULL ? 1u : 0u);
  hal_write32(PLIC_THRESHOLD, 0);
  const uint32_t enabled = hal_read32(PLIC_ENABLE);
  hal_write32(PLIC_ENABLE, handler != NULL ? enabled | 1u << source : enabled & ~(1u << source));
  __asm__ volatile("csrs mie, %0" ::"r"((uint64_t)MIE_EXTERNAL));
  hal_restore_interrupts(state);
  /* The first handler enables interrupts for the program. */
  if (handler != NULL) __asm__ volatile("csrsi mstatus, 8" ::: "memory");
}

void hal_wait_for_interrupt(uint64_t deadline) {
  if (deadline != UINT64_MAX) {
    hal_write64(CLINT_MTIMECMP, (deadline + NANOSECONDS_PER_TICK - 1) / NANOSECONDS_PER_TICK);
    __asm__ volatile("csrs mie, %0" ::"r"((uint64_t)MIE_TIMER));
  }
  __asm__ volatile("wfi" ::: "memory");
  __asm__ volatile("csrc mie, %0" ::"r"((uint64_t)MIE_TIMER));
}

void riscv_interrupt(uint64_t code) {
  if (code == CODE_TIMER) {
    /* The timer is only used for deadlines, and the code that it wakes checks the time. */
    __asm__ volatile("csrc mie, %0" ::"r"((uint64_t)MIE_TIMER));
    return;
  }
  if (code != CODE_EXTERNAL) return;
  for (uint32_t source = hal_read32(PLIC_CLAIM); source != 0; source = hal_read32(PLIC_CLAIM)) {
    if (source < SOURCES && handlers[source].handler != NULL) handlers[source].handler(handlers[source].context);
    hal_write32(PLIC_CLAIM, source);
  }
}
