/* The functions that picolibc requires: standard streams over the UART, and _exit. They are in a separate object file, so that
 * a program linked with picolibc's semihosting library uses the functions of that library instead. */
#include "startup/runtime.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "hal/hal.h"
#include "hal/uart.h"
#include "include/lacuna/abi/memory_map.h"

/* HTIF mailbox: a simulator that finds it by its symbol ends at an odd value, with exit code value >> 1. */
__attribute__((section(".tohost"), used, aligned(64))) volatile uint64_t tohost;
__attribute__((section(".tohost"), used, aligned(64))) volatile uint64_t fromhost;

static int put_character(char character, FILE* stream) {
  (void)stream;
  if (character == '\n') uart_put('\r');
  uart_put(character);
  return (unsigned char)character;
}

static int get_character(FILE* stream) {
  (void)stream;
  return uart_get();
}

static FILE uart_stream = FDEV_SETUP_STREAM(put_character, get_character, NULL, _FDEV_SETUP_RW);
FILE* const stdin = &uart_stream;
FILE* const stdout = &uart_stream;
FILE* const stderr = &uart_stream;

void machine_finish(int code) {
  hal_fence();
  hal_write32(LACUNA_FINISHER_BASE, code == 0 ? 0x5555u : ((uint32_t)code & 0xffffu) << 16 | 0x3333u);
  tohost = (uint64_t)(uint32_t)code << 1 | 1u;
  for (;;) hal_wait_for_interrupt(UINT64_MAX);
}

_Noreturn void _exit(int code) {
  machine_finish(code);
  __builtin_unreachable();
}
