/* Computes in an endless loop. */
  .section .text.start, "ax"
  .globl _start
_start:
  addi a0, a0, 1
  j _start
