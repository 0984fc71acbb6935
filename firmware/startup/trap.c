/* Traps: interrupts go to the HAL; an unhandled semihosting breakpoint makes the call return -1; any other trap is printed and
 * ends the program. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "hal/riscv_interrupts.h"
#include "hal/uart.h"
#include "startup/runtime.h"

#define CAUSE_INTERRUPT (1ull << 63)
#define CAUSE_BREAKPOINT 3u
#define SYS_GET_CMDLINE 0x15

extern const char semihosting_ebreak[];

static const char* cause_name(uint64_t cause) {
  /* RISC-V privileged specification, table "Machine cause register values after trap". */
  static const char* const names[] = {"instruction address misaligned",
                                      "instruction access fault",
                                      "illegal instruction",
                                      "breakpoint",
                                      "load address misaligned",
                                      "load access fault",
                                      "store address misaligned",
                                      "store access fault",
                                      "environment call from U mode",
                                      "environment call from S mode",
                                      "reserved",
                                      "environment call from M mode",
                                      "instruction page fault",
                                      "load page fault",
                                      "reserved",
                                      "store page fault"};
  return cause < sizeof names / sizeof names[0] ? names[cause] : "unknown cause";
}

/* Prints without printf, in which the trap may have occurred. */
static void print_hexadecimal(const char* name, uint64_t value) {
  uart_put_text(name);
  uart_put_text("0x");
  for (int shift = 60; shift >= 0; shift -= 4) uart_put("0123456789abcdef"[value >> shift & 15u]);
}

void trap_fatal(uint64_t cause, uint64_t pc, uint64_t value) {
  uart_put_text("\r\nfirmware: unexpected trap: ");
  uart_put_text(cause_name(cause));
  print_hexadecimal(", mcause ", cause);
  print_hexadecimal(", mepc ", pc);
  print_hexadecimal(", mtval ", value);
  uart_put_text("\r\n");
  machine_finish(MACHINE_TRAP_EXIT_CODE);
}

uint64_t trap_handle(uint64_t cause, uint64_t pc, uint64_t value, uint64_t* argument_registers) {
  if (cause & CAUSE_INTERRUPT) {
    riscv_interrupt(cause & ~CAUSE_INTERRUPT);
    return pc;
  }
  if (cause == CAUSE_BREAKPOINT && pc == (uint64_t)(uintptr_t)semihosting_ebreak) {
    argument_registers[0] = UINT64_MAX;
    return pc + 4;
  }
  trap_fatal(cause, pc, value);
  return pc;
}

void machine_command_line(char* buffer, uint64_t size) {
  const struct {
    char* buffer;
    uint64_t size;
  } parameters = {buffer, size};
  if (size == 0) return;
  memset(buffer, 0, size);
  if (semihosting_call(SYS_GET_CMDLINE, &parameters) != 0) buffer[0] = '\0';
  buffer[size - 1] = '\0';
}
