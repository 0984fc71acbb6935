#include "check.h"

#include <string.h>

enum { PMP_R = 1, PMP_W = 2, PMP_X = 4, PMP_TOR = 8, PMP_NAPOT = 24 };

static uint64_t secret[64] __attribute__((aligned(512))) = {42};
static uint64_t shared;

static uint64_t add_one(uint64_t value) { return value + 1; }
static uint64_t write_shared(uint64_t value) {
  shared = value;
  return shared;
}
static uint64_t read_secret(uint64_t index) { return *(volatile uint64_t*)&secret[index]; }
static uint64_t write_secret(uint64_t index) {
  *(volatile uint64_t*)&secret[index] = 1;
  return 0;
}
static uint64_t read_mstatus(uint64_t value) {
  __asm__ volatile("csrr %0, mstatus" : "=r"(value));
  return value;
}
static uint64_t read_instret(uint64_t value) {
  __asm__ volatile("csrr %0, instret" : "=r"(value));
  return value;
}
static uint64_t try_mret(uint64_t value) {
  __asm__ volatile("mret");
  return value;
}
static uint64_t try_wfi(uint64_t value) {
  __asm__ volatile("wfi");
  return value;
}

#define EXPECT_FAULT(function, argument, expected_cause) \
  do {                                                   \
    trap_reset();                                        \
    run_in_user_mode(function, argument);                \
    CHECK_EQUAL(trap.cause, expected_cause);             \
    CHECK_EQUAL(trap.status >> 11 & 3, 0);               \
  } while (0)

void test_user_mode(void) {
  /* Without a PMP entry, U mode cannot even fetch instructions. */
  EXPECT_FAULT(add_one, 1, 1);
  CHECK_EQUAL(trap.value, (uint64_t)add_one);

  /* PMP entry 0 denies access to `secret`; entry 1 permits all accesses to all memory. */
  CSR_WRITE(pmpaddr0, (uint64_t)secret >> 2 | (sizeof secret / 8 - 1));
  CSR_WRITE(pmpaddr1, ~0ull);
  CSR_WRITE(pmpcfg0, PMP_NAPOT | (PMP_NAPOT | PMP_R | PMP_W | PMP_X) << 8);
  trap_reset();
  CHECK_EQUAL(run_in_user_mode(add_one, 41), 42);
  CHECK_EQUAL(trap.cause, 8);
  CHECK_EQUAL(run_in_user_mode(write_shared, 7), 7);
  EXPECT_FAULT(read_secret, 0, 5);
  CHECK_EQUAL(trap.value, (uint64_t)secret);
  EXPECT_FAULT(write_secret, 63, 7);
  CHECK_EQUAL(trap.value, (uint64_t)&secret[63]);
  CHECK_EQUAL(secret[0], 42); /* M mode is not bound by unlocked entries */

  /* PMP entry 0 makes `secret` read-only. */
  CSR_WRITE(pmpcfg0, PMP_NAPOT | PMP_R | (PMP_NAPOT | PMP_R | PMP_W | PMP_X) << 8);
  trap_reset();
  CHECK_EQUAL(run_in_user_mode(read_secret, 0), 42);
  EXPECT_FAULT(write_secret, 0, 7);

  /* With MPRV set, loads have the rights of the mode in MPP. */
  CSR_WRITE(pmpcfg0, PMP_NAPOT | (PMP_NAPOT | PMP_R | PMP_W | PMP_X) << 8);
  trap_reset();
  uint64_t value = 0;
  __asm__ volatile("li t0, 3 << 11\n csrc mstatus, t0\n li t0, 1 << 17\n csrs mstatus, t0\n ld %0, 0(%1)\n csrc mstatus, t0"
                   : "+r"(value)
                   : "r"(secret)
                   : "t0", "memory");
  CHECK_EQUAL(trap.cause, 5);
  CHECK_EQUAL(value, 0);
  CSR_CLEAR(mstatus, 1 << 17);

  /* Privileged instructions and registers are illegal. */
  EXPECT_FAULT(read_mstatus, 0, 2);
  EXPECT_FAULT(try_mret, 0, 2);
  CSR_WRITE(mcounteren, 0);
  EXPECT_FAULT(read_instret, 0, 2);
  CSR_WRITE(mcounteren, 4);
  trap_reset();
  CHECK_EQUAL(run_in_user_mode(read_instret, 0) != 0, 1);
  CHECK_EQUAL(trap.cause, 8);
  CSR_SET(mstatus, 1 << 21); /* TW */
  EXPECT_FAULT(try_wfi, 0, 2);
  CSR_CLEAR(mstatus, 1 << 21);

  /* A write of the reserved value 2 to MPP leaves MPP unchanged. */
  CSR_SET(mstatus, 3 << 11);
  __asm__ volatile(
      "li t0, 2 << 11\n li t1, 3 << 11\n csrr t2, mstatus\n not t1, t1\n and t2, t2, t1\n or t2, t2, t0\n"
      "csrw mstatus, t2" ::
          : "t0", "t1", "t2", "memory");
  CHECK_EQUAL(CSR_READ(mstatus) >> 11 & 3, 3);
  CSR_WRITE(pmpcfg0, 0);
  trap_reset();
}
