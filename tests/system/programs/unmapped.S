/* Loads from an unmapped address; the trap handler exits with 7 if the cause is a load access fault (5), otherwise with 8. */
  .include "finish.inc"
  .section .text.start, "ax"
  .globl _start
_start:
  la t0, handler
  csrw mtvec, t0
  li t0, 0x40000000
  ld t1, 0(t0)
  finish 9
  .balign 4
handler:
  csrr t2, mcause
  li t3, 5
  bne t2, t3, other
  finish 7
other:
  finish 8
