/* Runs every section and prints "ok <section>" for those without a failure; exits with the number of failures. */
#include "check.h"

#include <string.h>

unsigned failures;
volatile struct trap_record trap;
volatile uint64_t trap_resume;
volatile uint64_t user_result;

uint64_t trap_handler(uint64_t vector, uint64_t a0, uint64_t a7) {
  trap.cause = CSR_READ(mcause);
  if (trap.count < 4) trap.causes[trap.count] = trap.cause;
  trap.count++;
  trap.pc = CSR_READ(mepc);
  trap.value = CSR_READ(mtval);
  trap.status = CSR_READ(mstatus);
  trap.vector = vector;
  switch (trap.cause) {
    case 1ull << 63 | 3:
      *DEVICE_SOFTWARE = 0;
      return 0;
    case 1ull << 63 | 7:
      *DEVICE_TIMER = 0;
      return 0;
    case 1ull << 63 | 11:
      *DEVICE_EXTERNAL = 0;
      return 0;
    default:
      break;
  }
  if ((trap.status >> 11 & 3) == 0) {
    /* In U mode, ecall with a7 = 93 and any fault return to the caller of run_in_user_mode(). */
    user_result = a0;
    if (trap.cause != 8 || a7 == 93) return 1;
  }
  if (trap_resume != 0) {
    CSR_WRITE(mepc, trap_resume);
  } else {
    uint16_t parcel;
    memcpy(&parcel, (const void*)trap.pc, sizeof parcel);
    CSR_WRITE(mepc, trap.pc + ((parcel & 3) == 3 ? 4 : 2));
  }
  return 0;
}

void trap_reset(void) {
  memset((void*)&trap, 0, sizeof trap);
  trap_resume = 0;
  CSR_WRITE(mtvec, trap_direct);
}

static void section(const char* name, unsigned before) {
  if (failures == before) printf("ok %s\n", name);
}

#define SECTION(name, call)     \
  do {                          \
    unsigned before = failures; \
    trap_reset();               \
    call;                       \
    section(name, before);      \
  } while (0)

int main(int argc, char** argv) {
  SECTION("traps", test_traps());
  SECTION("user_mode", test_user_mode());
  SECTION("interrupts", test_interrupts());
  SECTION("atomics", test_atomics());
  SECTION("floating_point", test_floating_point());
  SECTION("code_modification", test_code_modification());
  SECTION("counters", test_counters());
  SECTION("files", test_files(argc, argv));
  return (int)failures;
}
