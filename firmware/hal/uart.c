#include "hal/uart.h"

#include <stdint.h>

#include "include/lacuna/abi/memory_map.h"

/* Register offsets and line status bits of the NS16550A data sheet. */
#define DATA 0
#define LINE_STATUS 5
#define LINE_STATUS_DATA_READY 0x01
#define LINE_STATUS_TRANSMIT_EMPTY 0x20

static volatile uint8_t* uart(unsigned offset) { return (volatile uint8_t*)(uintptr_t)LACUNA_UART_BASE + offset; }

void uart_put(char character) {
  while (!(*uart(LINE_STATUS) & LINE_STATUS_TRANSMIT_EMPTY)) {
  }
  *uart(DATA) = (uint8_t)character;
}

void uart_put_text(const char* text) {
  while (*text) uart_put(*text++);
}

int uart_get(void) {
  while (!(*uart(LINE_STATUS) & LINE_STATUS_DATA_READY)) {
  }
  return *uart(DATA);
}
