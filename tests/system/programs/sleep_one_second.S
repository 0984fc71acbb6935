/* Sleeps for one second of simulated time, woken by the timer: mtime counts at 10 MHz. */
  .include "finish.inc"
  .section .text.start, "ax"
  .globl _start
_start:
  li t0, 0x02000000 + 0xbff8
  ld t1, 0(t0)
  li t2, 10000000
  add t1, t1, t2
  li t0, 0x02000000 + 0x4000
  sd t1, 0(t0)
  li t0, 0x80
  csrw mie, t0
  wfi
  finish 0
