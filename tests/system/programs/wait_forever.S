/* Waits for an interrupt that nobody will send. */
  .section .text.start, "ax"
  .globl _start
_start:
  csrw mie, zero
1:
  wfi
  j 1b
