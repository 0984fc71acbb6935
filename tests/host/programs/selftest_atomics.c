#include "check.h"

static uint64_t cell[2];

static uint64_t load_reserved(uint64_t* p) {
  uint64_t value;
  __asm__ volatile("lr.d %0, (%1)" : "=r"(value) : "r"(p) : "memory");
  return value;
}
static uint64_t store_conditional(uint64_t* p, uint64_t value) {
  uint64_t failed;
  __asm__ volatile("sc.d %0, %2, (%1)" : "=r"(failed) : "r"(p), "r"(value) : "memory");
  return failed;
}

void test_atomics(void) {
  cell[0] = 5;
  CHECK_EQUAL(load_reserved(&cell[0]), 5);
  CHECK_EQUAL(store_conditional(&cell[0], 6), 0);
  CHECK_EQUAL(cell[0], 6);
  CHECK_EQUAL(store_conditional(&cell[0], 7), 1); /* the reservation is used up */
  CHECK_EQUAL(cell[0], 6);
  load_reserved(&cell[0]);
  CHECK_EQUAL(store_conditional(&cell[1], 8), 1); /* not the reserved address */
  CHECK_EQUAL(store_conditional(&cell[0], 8), 1); /* the SC above has ended the reservation, although it failed */
  load_reserved(&cell[0]);
  __asm__ volatile("ecall" ::: "memory"); /* a trap in between ends the reservation at mret */
  CHECK_EQUAL(store_conditional(&cell[0], 8), 1);
  CHECK_EQUAL(cell[0], 6);

  trap_reset();
  uint64_t value = 0;
  __asm__ volatile("amoadd.d %0, %2, (%1)" : "=r"(value) : "r"((char*)cell + 4), "r"(1) : "memory");
  CHECK_EQUAL(trap.cause, 6);
  CHECK_EQUAL(trap.value, (uint64_t)cell + 4);
  __asm__ volatile("lr.w %0, (%1)" : "=r"(value) : "r"((char*)cell + 2) : "memory");
  CHECK_EQUAL(trap.cause, 4);
  __asm__ volatile("amoswap.w %0, zero, (%1)" : "=r"(value) : "r"(NOTHING_THERE) : "memory");
  CHECK_EQUAL(trap.cause, 7);

  *DEVICE_SCRATCH = 100;
  __asm__ volatile("amoadd.d %0, %2, (%1)" : "=r"(value) : "r"(DEVICE_SCRATCH), "r"(11) : "memory");
  CHECK_EQUAL(value, 100);
  CHECK_EQUAL(*DEVICE_SCRATCH, 111);

  int counter = 0;
  for (int i = 0; i < 1000; ++i) __atomic_fetch_add(&counter, i, __ATOMIC_SEQ_CST);
  CHECK_EQUAL(counter, 499500);
}
