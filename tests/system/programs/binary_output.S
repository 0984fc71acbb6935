/* Writes bytes that are not text to the UART; the last byte is not a newline. */
  .include "finish.inc"
  .section .text.start, "ax"
  .globl _start
_start:
  la s0, bytes
  la s1, bytes_end
  li s2, 0x10000000 /* UART */
1:
  lbu a0, 0(s0)
  sb a0, 0(s2)
  addi s0, s0, 1
  bltu s0, s1, 1b
  finish 0
bytes:
  .byte 0x00, 0x0a, 0x0d, 0xff, 0x1b, 0x41
bytes_end:
