/* Waits for an interrupt, although all interrupts are disabled. */
  .section .text.start, "ax"
  .globl _start
_start:
  csrw mie, zero
1:
  wfi
  j 1b
