#include "check.h"

/* addi a0, a0, n; ret */
static uint32_t code[2] = {0x00150513, 0x00008067};

void test_code_modification(void) {
  uint64_t (*const function)(uint64_t) = (uint64_t(*)(uint64_t))code;
  for (uint32_t n = 1; n <= 20; ++n) {
    code[0] = 0x00050513 | n << 20;
    __asm__ volatile("fence.i" ::: "memory");
    CHECK_EQUAL(function(100), 100 + n);
  }
}

void test_counters(void) {
  uint64_t first, second;
  __asm__ volatile("csrr %0, minstret\n nop\n nop\n csrr %1, minstret" : "=r"(first), "=r"(second)::"memory");
  CHECK_EQUAL(second - first, 3);
  CSR_WRITE(minstret, 1000);
  CHECK_EQUAL(CSR_READ(minstret), 1000);
  CSR_WRITE(mcountinhibit, 5);
  const uint64_t cycles = CSR_READ(mcycle), instructions = CSR_READ(minstret);
  CHECK_EQUAL(CSR_READ(mcycle), cycles);
  CHECK_EQUAL(CSR_READ(minstret), instructions);
  CSR_WRITE(mcountinhibit, 0);
  __asm__ volatile("nop");
  CHECK_EQUAL(CSR_READ(minstret) - instructions < 10 && CSR_READ(minstret) > instructions, 1);
  /* The time base is 10 MHz, the clock 1 GHz; neither has been changed above. */
  CSR_WRITE(mcycle, 0);
  const uint64_t start = CSR_READ(time);
  for (volatile int i = 0; i < 10000; ++i) {
  }
  const uint64_t ticks = CSR_READ(time) - start, elapsed = CSR_READ(mcycle);
  CHECK_EQUAL(ticks >= elapsed / 100 - 2 && ticks <= elapsed / 100 + 2, 1);
  CHECK_EQUAL(CSR_READ(misa), 2ull << 62 | 0x10112d);
}
