/* NS16550 UART, polled. */
#ifndef FIRMWARE_HAL_UART_H
#define FIRMWARE_HAL_UART_H

void uart_put(char character);
void uart_put_text(const char* text);
/* Waits for a character and returns it. */
int uart_get(void);

#endif
