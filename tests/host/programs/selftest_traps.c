#include "check.h"

extern char illegal_compressed[], illegal_word[], ecall_machine[], breakpoint_word[], breakpoint_compressed[];

static uint64_t load_from(uint64_t address) {
  uint64_t value = 0x5a5a;
  __asm__ volatile("ld %0, 0(%1)" : "+r"(value) : "r"(address) : "memory");
  return value;
}

static void store_to(uint64_t address) { __asm__ volatile("sd zero, 0(%0)" ::"r"(address) : "memory"); }

static void expect_trap(unsigned line, uint64_t count, uint64_t cause, uint64_t value) {
  if (trap.count == count && trap.cause == cause && trap.value == value) return;
  ++failures;
  printf("line %u: %llu traps, cause %#llx, mtval %#llx; expected %llu, %#llx, %#llx\n", line, (unsigned long long)trap.count,
         (unsigned long long)trap.cause, (unsigned long long)trap.value, (unsigned long long)count, (unsigned long long)cause,
         (unsigned long long)value);
}
#define EXPECT_TRAP(cause, value) (expect_trap(__LINE__, 1, cause, value), trap_reset())
#define EXPECT_NO_TRAP() (expect_trap(__LINE__, 0, 0, 0), trap_reset())

void test_traps(void) {
  __asm__ volatile(".globl illegal_compressed\nillegal_compressed: .2byte 0" ::: "memory");
  CHECK_EQUAL(trap.pc, illegal_compressed);
  EXPECT_TRAP(2, 0);
  __asm__ volatile(".option push\n.option norvc\n.globl illegal_word\nillegal_word: .4byte 0xffffffff\n.option pop" ::
                       : "memory");
  CHECK_EQUAL(trap.pc, illegal_word);
  EXPECT_TRAP(2, 0xffffffff);
  __asm__ volatile("csrr t0, 0x302" ::: "t0", "memory"); /* medeleg does not exist without S mode */
  EXPECT_TRAP(2, 0x302022f3);
  __asm__ volatile("csrw mhartid, zero" ::: "memory");
  EXPECT_TRAP(2, 0xf1401073);
  __asm__ volatile("csrr t0, mhartid" ::: "t0", "memory");
  EXPECT_NO_TRAP();
  __asm__ volatile(".globl ecall_machine\necall_machine: ecall" ::: "memory");
  CHECK_EQUAL(trap.pc, ecall_machine);
  EXPECT_TRAP(11, 0);
  __asm__ volatile(".option push\n.option norvc\n.globl breakpoint_word\nbreakpoint_word: ebreak\n.option pop" ::: "memory");
  EXPECT_TRAP(3, (uint64_t)breakpoint_word);
  __asm__ volatile(".globl breakpoint_compressed\nbreakpoint_compressed: c.ebreak" ::: "memory");
  EXPECT_TRAP(3, (uint64_t)breakpoint_compressed);

  CHECK_EQUAL(load_from(NOTHING_THERE + 8), 0x5a5a); /* the destination keeps its value */
  EXPECT_TRAP(5, NOTHING_THERE + 8);
  store_to(NOTHING_THERE + 16);
  EXPECT_TRAP(7, NOTHING_THERE + 16);
  __asm__ volatile("la t0, 1f\n la t1, trap_resume\n sd t0, 0(t1)\n jr %0\n1:" ::"r"(NOTHING_THERE) : "t0", "t1", "memory");
  CHECK_EQUAL(trap.pc, NOTHING_THERE);
  EXPECT_TRAP(1, NOTHING_THERE);

  /* Misaligned accesses work in memory and trap on a device. */
  static const uint64_t words[2] = {0x1122334455667788, 0x99aabbccddeeff00};
  CHECK_EQUAL(load_from((uint64_t)words + 3), 0xeeff001122334455);
  EXPECT_NO_TRAP();
  load_from((uint64_t)DEVICE_SCRATCH + 1);
  EXPECT_TRAP(4, (uint64_t)DEVICE_SCRATCH + 1);
  store_to((uint64_t)DEVICE_SCRATCH + 2);
  EXPECT_TRAP(6, (uint64_t)DEVICE_SCRATCH + 2);
  *DEVICE_SCRATCH = 0x0123456789abcdef;
  CHECK_EQUAL(*DEVICE_SCRATCH, 0x0123456789abcdef);
  CHECK_EQUAL(*((volatile uint8_t*)DEVICE_SCRATCH + 6), 0x23);
  EXPECT_NO_TRAP();
}
