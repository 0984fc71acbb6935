/* Self-checking programs for the hart: trap recording, privileged access, the test device. */
#ifndef LACUNA_TESTS_HOST_CHECK_H
#define LACUNA_TESTS_HOST_CHECK_H

#include <stdint.h>
#include <stdio.h>

#define CSR_READ(name)                                     \
  ({                                                       \
    uint64_t csr_value;                                    \
    __asm__ volatile("csrr %0, " #name : "=r"(csr_value)); \
    csr_value;                                             \
  })
#define CSR_WRITE(name, value) __asm__ volatile("csrw " #name ", %0" ::"r"((uint64_t)(value)) : "memory")
#define CSR_SET(name, value) __asm__ volatile("csrs " #name ", %0" ::"r"((uint64_t)(value)) : "memory")
#define CSR_CLEAR(name, value) __asm__ volatile("csrc " #name ", %0" ::"r"((uint64_t)(value)) : "memory")

extern unsigned failures;

#define CHECK_EQUAL(actual, expected)                                                                               \
  do {                                                                                                              \
    const uint64_t check_actual = (uint64_t)(actual), check_expected = (uint64_t)(expected);                        \
    if (check_actual != check_expected) {                                                                           \
      ++failures;                                                                                                   \
      printf("%s:%d: %s is %#llx, expected %#llx\n", __FILE__, __LINE__, #actual, (unsigned long long)check_actual, \
             (unsigned long long)check_expected);                                                                   \
    }                                                                                                               \
  } while (0)

/* The last trap, recorded by the handlers of trap.S. After an exception the program resumes at `trap_resume`, or after the
 * faulting instruction if `trap_resume` is 0. After an interrupt the handler makes the device lower its line. */
struct trap_record {
  uint64_t count;
  uint64_t cause;
  uint64_t pc;
  uint64_t value;
  uint64_t status;
  uint64_t causes[4]; /* causes of the first four traps, in order */
  uint64_t vector;    /* interrupt number of the vectored entry that was taken, or -1 for the direct entry */
};
extern volatile struct trap_record trap;
extern volatile uint64_t trap_resume;

void trap_direct(void);
void trap_vectored(void);
/* Clears the record and installs the direct handler. */
void trap_reset(void);
/* Runs function(argument) in U mode until it executes ecall with a7 = 93 or faults; returns a0 of the ecall. */
uint64_t run_in_user_mode(uint64_t (*function)(uint64_t), uint64_t argument);

/* Test device: writing n to a line register raises the interrupt n nanoseconds later, 0 lowers it. */
#define DEVICE_EXTERNAL ((volatile uint64_t*)0x10000000)
#define DEVICE_TIMER ((volatile uint64_t*)0x10000008)
#define DEVICE_SOFTWARE ((volatile uint64_t*)0x10000010)
#define DEVICE_SCRATCH ((volatile uint64_t*)0x10000018)
#define NOTHING_THERE 0x30000000ul

void test_traps(void);
void test_user_mode(void);
void test_interrupts(void);
void test_atomics(void);
void test_floating_point(void);
void test_code_modification(void);
void test_counters(void);
void test_files(int argc, char** argv);

#endif
