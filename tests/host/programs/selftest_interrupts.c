#include "check.h"

#include <stdbool.h>

enum { SOFTWARE = 3, TIMER = 7, EXTERNAL = 11 };
#define INTERRUPT(number) (1ull << 63 | (number))

static void wait_until_trap(uint64_t count) {
  for (unsigned i = 0; i < 100000 && trap.count < count; ++i) __asm__ volatile("" ::: "memory");
}

static uint64_t spin_for_interrupt(uint64_t rounds) {
  while (rounds-- != 0 && trap.count == 0) __asm__ volatile("" ::: "memory");
  return 0;
}

void test_interrupts(void) {
  volatile uint64_t* const lines[] = {DEVICE_SOFTWARE, DEVICE_TIMER, DEVICE_EXTERNAL};
  const unsigned numbers[] = {SOFTWARE, TIMER, EXTERNAL};

  CSR_WRITE(mie, ~0ull);
  CHECK_EQUAL(CSR_READ(mie), 0x888);
  CSR_WRITE(mie, 0);
  CSR_WRITE(mip, ~0ull); /* the three bits are inputs */
  CHECK_EQUAL(CSR_READ(mip), 0);

  for (unsigned i = 0; i < 3; ++i) {
    const uint64_t bit = 1ull << numbers[i];
    /* Pending but not enabled anywhere. */
    trap_reset();
    *lines[i] = 1;
    while ((CSR_READ(mip) & bit) == 0) {
    }
    CHECK_EQUAL(CSR_READ(mip), bit);
    CHECK_EQUAL(trap.count, 0);
    /* Enabled in mie, masked by mstatus.MIE. */
    CSR_WRITE(mie, bit);
    CHECK_EQUAL(trap.count, 0);
    /* Taken immediately when MIE is set, once, with interrupts disabled in the handler. */
    __asm__ volatile("csrsi mstatus, 8\n nop" ::: "memory");
    CHECK_EQUAL(trap.count, 1);
    CHECK_EQUAL(trap.cause, INTERRUPT(numbers[i]));
    CHECK_EQUAL(trap.value, 0);
    CHECK_EQUAL(trap.status & 0x88, 0x80);
    CHECK_EQUAL(trap.vector, ~0ull);
    CHECK_EQUAL(CSR_READ(mip), 0);
    CHECK_EQUAL(CSR_READ(mstatus) & 0x88, 0x88);
    wait_until_trap(2); /* the line was lowered in the handler: no second trap */
    CHECK_EQUAL(trap.count, 1);

    /* Vectored mode: the interrupt arrives while the program runs. */
    trap_reset();
    CSR_WRITE(mtvec, (uint64_t)trap_vectored | 1);
    *lines[i] = 3000;
    wait_until_trap(1);
    CHECK_EQUAL(trap.cause, INTERRUPT(numbers[i]));
    CHECK_EQUAL(trap.vector, numbers[i]);
    /* In vectored mode, exceptions still enter at the base. */
    __asm__ volatile("ecall" ::: "memory");
    CHECK_EQUAL(trap.cause, 11);
    CHECK_EQUAL(trap.vector, ~0ull);
    CSR_CLEAR(mstatus, 8);
    CSR_WRITE(mie, 0);
  }

  /* Order of priority: external, software, timer. */
  trap_reset();
  for (unsigned i = 0; i < 3; ++i) *lines[i] = 1;
  while (CSR_READ(mip) != 0x888) {
  }
  CSR_WRITE(mie, 0x888);
  /* Each mret sets MIE again, so the next interrupt is taken before the program continues. */
  __asm__ volatile("csrsi mstatus, 8\n csrci mstatus, 8" ::: "memory");
  CHECK_EQUAL(trap.count, 3);
  CHECK_EQUAL(trap.causes[0], INTERRUPT(EXTERNAL));
  CHECK_EQUAL(trap.causes[1], INTERRUPT(SOFTWARE));
  CHECK_EQUAL(trap.causes[2], INTERRUPT(TIMER));

  /* wfi wakes when the line rises, even with interrupts masked, and simulated time has passed. */
  trap_reset();
  CSR_WRITE(mie, 1 << TIMER);
  const uint64_t before = CSR_READ(mcycle);
  const uint64_t retired = CSR_READ(minstret);
  *DEVICE_TIMER = 5000000; /* 5 ms */
  __asm__ volatile("wfi" ::: "memory");
  CHECK_EQUAL(trap.count, 0);
  CHECK_EQUAL(CSR_READ(mip), 1 << TIMER);
  const uint64_t cycles = CSR_READ(mcycle) - before;
  CHECK_EQUAL(cycles >= 5000000 && cycles < 5010000, true);
  CHECK_EQUAL(CSR_READ(minstret) - retired < 100, true);
  CSR_SET(mstatus, 8);
  CHECK_EQUAL(trap.count, 1);
  CSR_CLEAR(mstatus, 8);

  /* U mode is interruptible with MIE clear. */
  trap_reset();
  CSR_WRITE(pmpaddr0, ~0ull);
  CSR_WRITE(pmpcfg0, 0x1f);
  CSR_WRITE(mie, 1 << SOFTWARE);
  *DEVICE_SOFTWARE = 2000;
  run_in_user_mode(spin_for_interrupt, 1000000);
  CHECK_EQUAL(trap.count, 2); /* the interrupt, then the ecall that leaves U mode */
  CSR_WRITE(mie, 0);
  CSR_WRITE(pmpcfg0, 0);
  trap_reset();
}
