/* Performs MISTAKES times a refused access to the PLIC, a load from an unmapped address, and an invalid finisher command. */
  .include "finish.inc"
  .section .text.start, "ax"
  .globl _start
_start:
  la t0, handler
  csrw mtvec, t0
  li s0, MISTAKES
  li s1, 0x0c000000 /* PLIC */
  li s2, 0x40000000
  li s3, 0x00100000 /* finisher */
  li s4, 0x1234
next:
  lb a0, 1(s1)
  ld a0, 0(s2)
  sw s4, 0(s3)
  addi s0, s0, -1
  bnez s0, next
  finish 0
  .balign 4
handler:
  csrr t0, mepc
  addi t0, t0, 4
  csrw mepc, t0
  mret
