/* Exits immediately with exit code 42. */
  .include "finish.inc"
  .section .text.start, "ax"
  .globl _start
_start:
  finish 42
