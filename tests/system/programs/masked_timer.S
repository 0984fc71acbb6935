/* Sleeps with only the software interrupt enabled: the timer's line rises but must not wake the hart, and no event follows. */
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
