#include "check.h"

#include <math.h>
#include <string.h>

static uint64_t bits(double value) {
  uint64_t raw;
  memcpy(&raw, &value, sizeof raw);
  return raw;
}

static volatile double one = 1.0, three = 3.0, tiny = 0x1p-1022, huge_value = 0x1.fffffffffffffp1023;

void test_floating_point(void) {
  /* 1/3 and its neighbours by rounding mode: RNE, RTZ, RDN, RUP, RMM. */
  static const uint64_t third[5] = {0x3fd5555555555555, 0x3fd5555555555555, 0x3fd5555555555555, 0x3fd5555555555556,
                                    0x3fd5555555555555};
  static const uint64_t minus_third[5] = {0xbfd5555555555555, 0xbfd5555555555555, 0xbfd5555555555556, 0xbfd5555555555555,
                                          0xbfd5555555555555};
  for (unsigned mode = 0; mode < 5; ++mode) {
    CSR_WRITE(fcsr, mode << 5);
    CHECK_EQUAL(bits(one / three), third[mode]);
    CHECK_EQUAL(CSR_READ(fflags), 1);
    CHECK_EQUAL(bits(-one / three), minus_third[mode]);
  }
  /* 1 + 2^-53 is halfway between two doubles: RNE and RMM round it differently. */
  volatile double half_ulp = 0x1p-53;
  CSR_WRITE(fcsr, 0);
  CHECK_EQUAL(bits(one + half_ulp), 0x3ff0000000000000);
  CSR_WRITE(fcsr, 4 << 5);
  CHECK_EQUAL(bits(one + half_ulp), 0x3ff0000000000001);
  /* The static rounding mode of an instruction overrides frm. */
  uint64_t integer;
  __asm__ volatile("fcvt.l.d %0, %1, rtz" : "=r"(integer) : "f"(2.75));
  CHECK_EQUAL(integer, 2);
  __asm__ volatile("fcvt.l.d %0, %1, rmm" : "=r"(integer) : "f"(-2.5));
  CHECK_EQUAL(integer, (uint64_t)-3);

  /* Exception flags: DZ 8, NV 16, OF and NX 5, UF and NX 3. */
  CSR_WRITE(fcsr, 0);
  volatile double result = one / 0.0;
  CHECK_EQUAL(CSR_READ(fflags), 8);
  CSR_WRITE(fflags, 0);
  result = sqrt(-one);
  CHECK_EQUAL(CSR_READ(fflags), 16);
  CSR_WRITE(fflags, 0);
  result = huge_value * 2.0;
  CHECK_EQUAL(CSR_READ(fflags), 5);
  CSR_WRITE(fflags, 0);
  result = tiny / three;
  CHECK_EQUAL(CSR_READ(fflags), 3);
  CSR_WRITE(fflags, 0);
  result = tiny / 2.0; /* exact subnormal: no underflow */
  CHECK_EQUAL(CSR_READ(fflags), 0);
  (void)result;

  /* A single that is not NaN-boxed reads as the canonical NaN. */
  uint64_t mask;
  __asm__ volatile("fmv.d.x ft0, %1\n fclass.s %0, ft0" : "=r"(mask) : "r"(0x3f800000ull) : "ft0");
  CHECK_EQUAL(mask, 1 << 9);
  __asm__ volatile("fmv.w.x ft0, %1\n fmv.x.d %0, ft0" : "=r"(integer) : "r"(0x3f800000ull) : "ft0");
  CHECK_EQUAL(integer, 0xffffffff3f800000);

  /* A reserved frm makes dynamic rounding illegal; FS = 0 makes all floating-point instructions and CSRs illegal; any write
   * makes FS dirty. */
  trap_reset();
  CSR_WRITE(frm, 5);
  __asm__ volatile("fadd.d ft0, ft0, ft0" ::: "ft0", "memory");
  CHECK_EQUAL(trap.cause, 2);
  CSR_WRITE(frm, 0);
  trap_reset();
  CSR_CLEAR(mstatus, 3 << 13);
  CHECK_EQUAL(CSR_READ(mstatus) >> 63, 0);
  __asm__ volatile("fmv.d.x ft0, zero" ::: "ft0", "memory");
  CHECK_EQUAL(trap.count, 1);
  __asm__ volatile("fld ft0, 0(%0)" ::"r"(&one) : "ft0", "memory");
  CHECK_EQUAL(trap.count, 2);
  __asm__ volatile("csrr t0, fflags" ::: "t0", "memory");
  CHECK_EQUAL(trap.count, 3);
  CSR_SET(mstatus, 1 << 13);
  __asm__ volatile("fmv.d.x ft0, zero" ::: "ft0", "memory");
  CHECK_EQUAL(CSR_READ(mstatus) >> 13 & 3, 3);
  CHECK_EQUAL(CSR_READ(mstatus) >> 63, 1);

  char text[64];
  snprintf(text, sizeof text, "%.8f %g", one / three, 1e300 * 10);
  CHECK_EQUAL(strcmp(text, "0.33333333 1e+301"), 0);
  CHECK_EQUAL(bits(sin(one)), 0x3feaed548f090cee);
}
