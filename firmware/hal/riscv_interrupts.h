/* Interface between the trap entry and the HAL. */
#ifndef FIRMWARE_HAL_RISCV_INTERRUPTS_H
#define FIRMWARE_HAL_RISCV_INTERRUPTS_H

#include <stdint.h>

/* Serves one interrupt; `code` is mcause without its top bit. */
void riscv_interrupt(uint64_t code);

#endif
