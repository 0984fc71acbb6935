/* Sleeps with the software interrupt enabled while the timer's line rises: that is no reason to wake, and nothing else comes. */
  .section .text.start, "ax"
  .globl _start
_start:
  csrwi mie, 8
  li t1, 0x2004000 /* mtimecmp */
  li t0, 100
  sd t0, 0(t1)
  wfi
1:
  j 1b
